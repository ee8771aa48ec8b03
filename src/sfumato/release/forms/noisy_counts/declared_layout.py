"""The columns of noisy counts: as a draft has them, and as a manifest declares them."""

from collections.abc import Mapping
from typing import Any, Final

from sfumato.domains.cut import Range, cross_product
from sfumato.domains.domain import Categories
from sfumato.domains.json_form import cut_from_json, domain_from_json
from sfumato.domains.sets.cut import SetCut
from sfumato.domains.sets.domain import SetDomain
from sfumato.errors import InternalError
from sfumato.release.answer.interval import Noise
from sfumato.release.draft import Draft
from sfumato.release.forms.noisy_counts.table import Layout, count_column
from sfumato.release.storage.seal import broken_bundle
from sfumato.study.view import NO_TARGET

_MOST_GROUPS: Final = 10**200  # more are as good as infinitely many, and this fits a float


def layout_of(draft: Draft) -> Layout:
    """The columns that a draft is published in."""
    view = draft.view
    names = tuple(attribute.name for attribute in view.predictors)
    domains = [attribute.domain for attribute in view.predictors]
    if view.target.domain is None or tuple(cut.attribute for cut in draft.groups.cuts) != names:
        raise InternalError("a draft reached publication without its domains, or with cuts in another order")
    return Layout(
        names=names,
        domains=tuple(domain for domain in domains if domain is not None),
        cuts=draft.groups.cuts,
        class_name=view.target.name if view.targeted else "",
        class_domain=view.target.domain,
        count=count_column([a.name for a in view.attributes]),
    )


def layout_from(content: Mapping[str, Any]) -> Layout:
    """The columns that a manifest declares."""
    entries = content["attributes"]
    roles = [entry["role"] for entry in entries]
    names = tuple(entry["name"] for entry in entries)
    targeted = content["class_column"] is not None
    declared = roles.count("class") == 1 and roles[-1] == "class" and names[-1] == content["class_column"] != ""
    if (targeted and not declared) or (not targeted and "class" in roles):
        raise broken_bundle("the manifest does not declare its class last among the attributes", code="SF-VERIFY-049")
    if len({*names, content["count_column"]}) != len(names) + 1:
        raise broken_bundle("two columns of the manifest have the same name", code="SF-VERIFY-050")
    domains = tuple(domain_from_json(entry["domain"]) for entry in entries)
    cuts = tuple(cut_from_json(entry["cut"]) for entry in entries)
    for name, domain, cut in zip(names, domains, cuts, strict=True):
        if cut.attribute != name or cut.size != domain.size:
            raise broken_bundle(f"the cut of '{name}' is not one of its domain", code="SF-VERIFY-051")
        if isinstance(domain, SetDomain) != isinstance(cut, SetCut):
            raise broken_bundle(f"the cut of '{name}' is not one of its domain", code="SF-VERIFY-051")
        if isinstance(domain, SetDomain) and isinstance(cut, SetCut) and domain.most != cut.most:
            raise broken_bundle(f"the cut of '{name}' is of sets of another size", code="SF-VERIFY-052")
        if isinstance(domain, Categories | SetDomain) and not set(cut.ranges) <= _nodes(domain):
            raise broken_bundle(f"the cut of '{name}' is not made of nodes of its taxonomy", code="SF-VERIFY-053")
    if not targeted:
        assert NO_TARGET.domain is not None, "it has one value"
        return Layout(
            names=names, domains=domains, cuts=cuts, class_name="", class_domain=NO_TARGET.domain,
            count=content["count_column"],
        )  # fmt: skip
    if not cuts[-1].is_finest:
        raise broken_bundle("the class is cut into groups of values", code="SF-VERIFY-054")
    return Layout(
        names=names[:-1], domains=domains[:-1], cuts=cuts[:-1], class_name=names[-1], class_domain=domains[-1],
        count=content["count_column"],
    )  # fmt: skip


def noise_from(content: Mapping[str, Any], layout: Layout) -> Noise:
    """The noise on the counts that a manifest states; refused where it cannot be that of a release."""
    groups = float(min(cross_product(layout.cuts), _MOST_GROUPS))
    return Noise.of_facts(content["method"]["facts"], groups=groups, classes=layout.class_domain.size)


def _nodes(domain: Categories | SetDomain) -> set[Range]:
    return set(zip(domain.taxonomy.starts, domain.taxonomy.stops, strict=True))
