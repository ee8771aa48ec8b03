"""The manifest: what a release is, what it promises and how it was made, for people and for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from pydantic import BaseModel

from sfumato.domains.cut import Range, cross_product
from sfumato.domains.domain import Categories
from sfumato.domains.json_form import cut_from_json, cut_to_json, domain_from_json, domain_to_json
from sfumato.domains.sets.cut import SetCut
from sfumato.domains.sets.domain import SetDomain
from sfumato.errors import InternalError
from sfumato.privacy.models.differential_privacy import attack_odds, membership_advantage, odds_factor
from sfumato.release.answer.interval import Noise
from sfumato.release.bundle.files import FileFacts
from sfumato.release.draft import Draft
from sfumato.release.forms.noisy_counts.manifest_schema import FORMAT, FORMAT_VERSION, Manifest
from sfumato.release.forms.noisy_counts.table import Layout, count_column
from sfumato.release.forms.records.manifest import record_layout_from, sampled_share
from sfumato.release.forms.records.manifest_schema import RecordManifest
from sfumato.release.guarantee import guarantee
from sfumato.release.storage.parquet_file import ParquetLimits
from sfumato.release.storage.seal import Json, broken, form_of, open_sealed, plain, render, seal, told_size
from sfumato.study.budget import show
from sfumato.study.view import NO_TARGET

__all__ = [
    "ManifestFacts",
    "layout_from",
    "layout_of",
    "manifest",
    "parse_manifest",
    "plain",
    "render",
    "seal",
    "table_limits",
]

FORMS: Final[Mapping[str, type[BaseModel]]] = {"counts": Manifest, "records": RecordManifest}
_MOST_NUMBERED: Final = 20  # above this ε the odds mean nothing, and no number is given

_MOST_GROUPS = 10**200  # more are as good as infinitely many, and this fits a float


@dataclass(frozen=True, kw_only=True)
class ManifestFacts:
    """What whoever publishes knows about a release beyond its draft; every field goes into the manifest.

    ``unit`` reads in a sentence: "whether or not ``unit`` is in the table". ``receipt`` has a mapping a step with
    ``on``, ``epsilon`` (as text) and ``mechanism``. ``rules`` say in words what happens to missing values and to those
    outside a domain. ``facts`` are the draft's: nothing that the promise does not cover. ``ledger`` is the hash of the
    ledger entry that paid for the release: whoever holds the bundle can later show that the entry was there.
    ``selection`` says which records it was made from (see `study.selection`), None for all.
    """

    study: str
    release: str
    method: str
    parameters: Mapping[str, Any]
    model: str
    epsilon: Fraction | None
    unit: str
    neighbouring: str
    composition: str
    receipt: Sequence[Mapping[str, str]]
    secure: bool
    chosen: str  # one of `recipe.Chosen`
    versions: Mapping[str, str]
    date: str
    rules: Sequence[str]
    facts: Mapping[str, Any]
    ledger: str | None = None
    selection: Mapping[str, Any] | None = None


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


def manifest(facts: ManifestFacts, layout: Layout, *, listed: int, files: Mapping[str, FileFacts]) -> Json:
    """The manifest as JSON, sealed."""
    threshold = int(facts.facts.get("threshold", 1))
    raw = facts.facts.get("post", "none") == "none"  # post-processing moves counts, also below the threshold
    body: Json = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "form": "counts",
        "study": facts.study,
        "release": facts.release,
        "date": facts.date,
        "guarantee": guarantee(
            model=facts.model, epsilon=facts.epsilon, unit=facts.unit, secure=facts.secure, chosen=facts.chosen
        ),
        "privacy": _privacy(facts),
        "method": {"name": facts.method, "parameters": plain(facts.parameters), "facts": plain(facts.facts)},
        "rules": list(facts.rules),
        "attributes": _attributes(layout),
        "class_column": layout.class_name or None,
        "count_column": layout.count,
        "groups": {
            "listed": listed,
            "combinations": plain(layout.combinations),
            "threshold": threshold,
            "least_count": threshold if raw else 1,
        },
        "files": {name: {"size": file.size, "sha256": file.sha256} for name, file in files.items()},
        "versions": dict(facts.versions),
        "ledger": facts.ledger,
    }
    if facts.selection is not None:
        body["selection"] = plain(facts.selection)
    return body | {"seal": seal(body)}


def parse_manifest(raw: bytes) -> Json:
    """Read and check a manifest, of either form."""
    content = open_sealed(raw, FORMS)
    if form_of(content) == "records":
        record_layout_from(content)
        sampled_share(content)
    else:
        layout = layout_from(content)
        if "noise_scale" in content["method"]["facts"]:
            noise_from(content, layout)
    return content


def noise_from(content: Mapping[str, Any], layout: Layout) -> Noise:
    """The noise on the counts that a manifest tells; refused where it cannot be that of a release."""
    groups = float(min(cross_product(layout.cuts), _MOST_GROUPS))
    return Noise.of_facts(content["method"]["facts"], groups=groups, classes=layout.class_domain.size)


def layout_from(content: Mapping[str, Any]) -> Layout:
    """The columns that a manifest declares."""
    entries = content["attributes"]
    roles = [entry["role"] for entry in entries]
    names = tuple(entry["name"] for entry in entries)
    targeted = content["class_column"] is not None
    declared = roles.count("class") == 1 and roles[-1] == "class" and names[-1] == content["class_column"] != ""
    if (targeted and not declared) or (not targeted and "class" in roles):
        raise broken("the manifest does not declare its class last among the attributes")
    if len({*names, content["count_column"]}) != len(names) + 1:
        raise broken("two columns of the manifest have the same name")
    domains = tuple(domain_from_json(entry["domain"]) for entry in entries)
    cuts = tuple(cut_from_json(entry["cut"]) for entry in entries)
    for name, domain, cut in zip(names, domains, cuts, strict=True):
        if cut.attribute != name or cut.size != domain.size:
            raise broken(f"the cut of '{name}' is not one of its domain")
        if isinstance(domain, SetDomain) != isinstance(cut, SetCut):
            raise broken(f"the cut of '{name}' is not one of its domain")
        if isinstance(domain, SetDomain) and isinstance(cut, SetCut) and domain.most != cut.most:
            raise broken(f"the cut of '{name}' is of sets of another size")
        if isinstance(domain, Categories | SetDomain) and not set(cut.ranges) <= _nodes(domain):
            raise broken(f"the cut of '{name}' is not made of nodes of its taxonomy")
    if not targeted:
        assert NO_TARGET.domain is not None, "it has one value"
        return Layout(
            names=names, domains=domains, cuts=cuts, class_name="", class_domain=NO_TARGET.domain,
            count=content["count_column"],
        )  # fmt: skip
    if not cuts[-1].is_finest:
        raise broken("the class is cut into groups of values")
    return Layout(
        names=names[:-1], domains=domains[:-1], cuts=cuts[:-1], class_name=names[-1], class_domain=domains[-1],
        count=content["count_column"],
    )  # fmt: skip


def table_limits(content: Mapping[str, Any]) -> ParquetLimits:
    """What the data of a manifest of counts may hold: a row a listed group."""
    return ParquetLimits(rows=content["groups"]["listed"], text_bytes=told_size(content, "data.csv"))


def _privacy(facts: ManifestFacts) -> Json:
    epsilon = facts.epsilon if facts.secure else None
    numbered = epsilon is not None and epsilon <= _MOST_NUMBERED
    return {
        "model": facts.model,
        "epsilon": None if facts.epsilon is None else show(facts.epsilon),
        "unit": facts.unit,
        "neighbouring": facts.neighbouring,
        "composition": facts.composition,
        "receipt": [{key: step[key] for key in ("on", "epsilon", "mechanism")} for step in facts.receipt],
        "secure": facts.secure,
        "chosen": facts.chosen,
        "odds": None if epsilon is None else attack_odds(epsilon),
        "odds_factor": float(odds_factor(epsilon)) if epsilon is not None and numbered else None,
        "membership_advantage": float(membership_advantage(epsilon)) if epsilon is not None and numbered else None,
    }


def _attributes(layout: Layout) -> list[Json]:
    roles = (*("predictor" for _ in layout.names), "class")
    return [
        {"name": name, "role": role, "domain": domain_to_json(domain), "cut": cut_to_json(labels.cut)}
        for (name, domain), labels, role in zip(layout.attributes, layout.labels, roles, strict=False)
    ]


def _nodes(domain: Categories | SetDomain) -> set[Range]:
    return set(zip(domain.taxonomy.starts, domain.taxonomy.stops, strict=True))
