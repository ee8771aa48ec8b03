"""A bundle as its owner measures it: read as its receiver reads it, and beside the table that it was made from."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.number_classes import NumberClasses
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError, UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.table_records import TableRecords
from sfumato.privacy.models import CappedConfidence
from sfumato.release.form import FORMS
from sfumato.release.release import Release, StatedRelease, stated_private, stated_roles
from sfumato.study.selection import EVERYTHING, Selection, parse_selection
from sfumato.study.span import Span
from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.workflow.steps.outcome import Published

Given = str | Path | Published | Release
"""How a caller names a release: the folder of its bundle, what publishing it gave, or the release itself."""


def open_release(given: Given, *, data: str | None = None, memory_limit: str | None = None) -> Release:
    """The release that a caller names; ``data`` is where its tables are, if the bundle does not hold them."""
    if isinstance(given, Release):
        return given
    if isinstance(given, Published):
        return Release.open(given.bundle, data=data or given.data, memory_limit=memory_limit)
    return Release.open(given, data=data, memory_limit=memory_limit)


@dataclass(frozen=True, eq=False)
class StatedBundle:
    """A bundle that agrees with a study, by its manifest: the attributes it has, as the study declares them.

    Its data are not read yet: there can be far more of them than fit, where the table does not fit either. Whoever
    compares a release with the table counts the table first, which is refused in words.
    """

    view: View
    path: Path
    manifest: Mapping[str, Any]
    given: Given

    @property
    def private(self) -> bool:
        """Whether its table was read by the rules for private releases, under which every CSV file is a table."""
        return stated_private(self.manifest)

    def read(self, *, data: str | None = None, memory_limit: str | None = None) -> "ReadBundle":
        """The same with what it holds."""
        return ReadBundle(self.view, open_release(self.given, data=data, memory_limit=memory_limit))


@dataclass(frozen=True, eq=False)
class ReadBundle:
    """A bundle that agrees with a study: the attributes it has, as the study declares them, and what it holds."""

    view: View
    release: Release

    @property
    def private(self) -> bool:
        """Whether its table was read by the rules for private releases, under which every CSV file is a table."""
        return self.release.private

    def to_evidence(self, raw: TableRecords) -> Evidence:
        """The bundle beside records of the study's table."""
        draft = self.release.to_draft(self.view)
        shown = FORMS[draft.form].shown(draft, self.view, raw.sets)
        return Evidence(view=self.view, raw=raw.cells, shown=shown, sets=raw.sets, cap=find_cap(draft.models))


def read_manifest(study: Study, bundle: Given, *, was: str | None = None) -> StatedBundle:
    """Read the manifest of a bundle; an error if the study is not the one that the bundle was made from.

    Attributes, roles and domains decide whether the two fit. That they fit does not make the table the right one: two
    tables may be declared alike. So the name has to agree too, or the owner says what the study was called (``was``).
    Nobody but the owner sees the numbers; a wrong table would only make them wrong.
    """
    if isinstance(bundle, Release):
        path, manifest, domains = bundle.path, bundle.manifest, bundle.declared_domains
    else:
        stated = StatedRelease.read(_place(bundle))
        path, manifest, domains = stated.path, stated.manifest, dict(stated.declared_domains)
    view = _match_attributes(study, domains, stated_roles(manifest))
    _refuse_name(study, str(manifest["study"]), was)
    view = replace(view, selection=_read_selection(study, manifest.get("selection")))
    return StatedBundle(view, path, manifest, bundle)


def read_bundle(study: Study, bundle: Given, *, was: str | None = None) -> ReadBundle:
    """The same with what it holds, for whoever needs no table beside it."""
    return read_manifest(study, bundle, was=was).read()


def _place(given: str | Path | Published) -> Path:
    if isinstance(given, Published):
        return given.bundle
    if isinstance(given, (str, Path)):
        return Path(given)
    raise UsageError(
        f"a release is required, and this is a value of the type '{type(given).__name__}'",
        "give the folder of its bundle, the result of `release`, or an opened `Release`",
        code="SF-USAGE-085",
    )


def find_cap(models: Iterable[object]) -> CappedConfidence | None:
    """The privacy model among these that names public statistics: shares, or rules; None if none does."""
    found = [model for model in models if isinstance(model, CappedConfidence)]
    return next((cap for cap in found if cap.shares), next((cap for cap in found if cap.rules), None))


def _refuse_name(study: Study, stated: str, was: str | None) -> None:
    """Stop at a bundle of a study with another name, unless that is what this one was called."""
    if stated not in (study.name, was):
        raise StudyError(
            f"the bundle is of the study '{stated}', not of '{was or study.name}'; its attributes and domains are "
            f"those of '{study.name}'",
            f"if '{study.name}' was called '{stated}' when the release was made, say so with --was {stated} (in Python "
            f"was='{stated}'); if not, measure it against the study that it was made from",
            code="SF-STUDY-215",
        )


def attributes_by_role(study: Study, names: Iterable[str]) -> View:
    """Some attributes of a study by their roles; identifiers and times are never measured."""
    there = set(names)
    return View.of((a for a in study.attributes.values() if a.name in there), unit=RecordUnit())


def _match_attributes(study: Study, domains: Mapping[str, Domain], roles: Mapping[str, str]) -> View:
    """The bundle's attributes as the study declares them; an error if it does not, or declares them otherwise."""
    for name, domain in domains.items():
        declared = study.attributes.get(name)
        if declared is None or declared.domain is None:
            raise StudyError(
                f"the bundle publishes '{name}', and the study '{study.name}' declares no such attribute with a domain",
                "measure it against the study that it was made from",
                code="SF-STUDY-216",
            )
        if not _same_domain(declared.domain, domain):
            raise StudyError(
                f"the domain of '{name}' in the bundle is not the one that the study '{study.name}' declares",
                "measure it against the study as it was when the bundle was made, or publish again",
                code="SF-STUDY-217",
            )
        if name in roles and declared.role.value != roles[name]:
            raise StudyError(
                f"the bundle publishes '{name}' as {_words(roles[name])}, and the study '{study.name}' declares it as "
                f"{_words(declared.role.value)}",
                "measure it against the study as it was when the bundle was made, or publish again",
                code="SF-STUDY-218",
            )
    return attributes_by_role(study, domains)


def _read_selection(study: Study, stated: Mapping[str, Any] | None) -> Selection:
    """The records that a bundle was made from, according to its manifest."""
    if stated is None:
        return EVERYTHING
    found = parse_selection(stated["where"] or "", study.attributes)
    if stated["span"] is None:
        return found
    start, stop = (dt.date.fromisoformat(day) for day in stated["span"])
    time = study.attribute(stated["time"])
    return replace(found, span=Span(time.name, start, stop), time=time)


def _same_domain(declared: Domain, published: Domain) -> bool:
    """Whether two domains are the same, apart from who declared them and where raw values stand.

    Where the codes of sets were read off the table, groups of records have categories alone; whether they are sets of
    the declared codes is seen where they are read.
    """
    if isinstance(declared, SetDomain) and isinstance(published, Categories):
        return True
    return _plain(declared) == _plain(published)


def _plain(domain: Domain) -> Domain:
    if isinstance(domain, SetDomain):
        return replace(domain, declared=True, separator=None, columns=())
    if isinstance(domain, NumberClasses):
        domain = domain.published
    return replace(cast("Categories | Grid", domain), declared=True)


def _words(role: str) -> str:
    return role.replace("_", " ")
