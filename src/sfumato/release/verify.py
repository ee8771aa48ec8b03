"""Verification: what anybody can check about a bundle, from the bundle alone."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.domains.counts import Cells
from sfumato.errors import SfumatoError, UsageError, VerifyError
from sfumato.privacy.models.differential_privacy import odds_wordings
from sfumato.release.bundle.atomic_files import MANIFEST, FileFacts, file_facts, find_bundle
from sfumato.release.bundle.datapackage import datapackage
from sfumato.release.bundle.receiver_files import RECEIVER_FILES, check_croissant, check_page, listed_files
from sfumato.release.bundle.stored_tables import read_stored
from sfumato.release.checks import TEXTS, Check, Verification, check_hashes, check_names
from sfumato.release.form import FORMATS, FORMS, Form
from sfumato.release.guarantee import Evidence, guarantee_from
from sfumato.release.manifest.read_manifest import parse_manifest
from sfumato.release.release import refuse_needless_data
from sfumato.release.storage.seal import broken_bundle
from sfumato.release.storage.untrusted import parse_json, read_bounded, refuse_unexpected
from sfumato.study.attribute import Attribute, Role
from sfumato.study.selection import parse_selection
from sfumato.tables import read_people
from sfumato.tables.publishing.destination import PublishedTables
from sfumato.tables.publishing.open_destination import AddressedTables

__all__ = ["Check", "Verification", "inspect", "verify_bundle"]

PeopleOf = Callable[[Mapping[str, Any]], Cells | None]
"""The people that a model compares with, from the manifest; None where they are not at hand."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """The checks of a bundle, and what was read where it could be."""

    verification: Verification
    content: Any = None


def verify_bundle(
    path: str | Path,
    *,
    sha256: str | None = None,
    population: str | Path | None = None,
    base: Path | None = None,
    data: str | None = None,
    memory_limit: str | None = None,
) -> Verification:
    """Check files, hashes, columns, rows and numbers of a bundle, and the privacy models of published records.

    The manifest holds the hashes of the files and is sealed against accidents, but whoever changes all of it can seal
    it again. Give ``sha256``, the hash of manifest.json from the ledger or from the publisher, to rule that out.
    ``population`` is the table of people that δ-presence compares with; without it that model cannot be checked.
    Its path starts at ``base``. ``data`` is where the tables are if they are not in the bundle: the address of a table
    of PostgreSQL or Spark, or a folder of Parquet files. They are counted there, and distinct rows are compared here,
    within ``memory_limit``.
    """
    with refuse_unexpected():
        place = find_bundle(Path(path))
        people = _nobody if population is None else partial(_people, population, base, memory_limit)
        if data is None:
            return inspect(place, sha256=sha256, people=people).verification
        with AddressedTables(data, memory_limit) as tables:
            return inspect(place, sha256=sha256, people=people, data=tables, memory_limit=memory_limit).verification


def inspect(
    place: Path,
    *,
    sha256: str | None = None,
    people: PeopleOf | None = None,
    data: PublishedTables | None = None,
    memory_limit: str | None = None,
) -> Inspection:
    """Check a bundle, whatever its form. What cannot be checked does not pass.

    ``people`` refuses a bundle that compares with no population; None gives nobody and refuses nothing. ``data`` has
    the tables of a bundle that does not hold them itself.
    """
    checks: list[Check] = []
    manifest = _manifest(place, sha256, checks)
    if manifest is None:
        return Inspection(
            Verification((check_names(place, ("data.parquet", "data.csv", *TEXTS, *_receiver_files(place))), *checks))
        )
    crowd = None if people is None else _crowd(people, manifest, checks)
    form = FORMS[manifest["form"]]
    layout = form.layout(manifest)
    stored = manifest.get("stored") is not None
    if not stored:
        refuse_needless_data(data)
    names = () if stored else form.files(layout)
    extra = listed_files(manifest)
    wanted = (*names, *TEXTS, *extra)
    checks.insert(0, check_names(place, wanted))
    files = check_hashes(place, manifest, wanted, checks)
    if stored:
        content = _stored_content(form, manifest, layout, data, checks, memory_limit)
    else:
        content = _content(form, place, manifest, layout, checks) if all(name in files for name in names) else None
    if len(files) == len(wanted):
        checks.append(_check_package(form, place, manifest, layout, files))
        if extra:
            checks.append(check_croissant(form, place, manifest, layout, files))
            checks.append(check_page(form, place, manifest, layout, content))
    evidence = None if content is None else form.evidence(layout, content, manifest)
    if evidence is not None:
        evidence = replace(evidence, people=crowd)
    checks += _check_guarantee(manifest, evidence)
    return Inspection(Verification(tuple(checks)), content)


def _manifest(place: Path, sha256: str | None, checks: list[Check]) -> dict[str, Any] | None:
    """The manifest if it is one; adds what was looked at to ``checks``."""
    try:
        manifest = parse_manifest(read_bounded(place / MANIFEST))
    except (VerifyError, OSError) as error:
        detail = error.problem if isinstance(error, VerifyError) else "manifest.json cannot be read"
        checks.append(Check("manifest", ok=False, detail=detail))
        return None
    checks.append(Check("manifest", ok=True, detail=f"format version {manifest['format_version']}, unchanged"))
    if sha256 is not None:
        same_hash = file_facts(place / MANIFEST).sha256 == sha256
        detail = "manifest.json has the expected hash" if same_hash else "manifest.json does not have the expected hash"
        checks.append(Check("expected hash", same_hash, detail))
    return manifest


def _receiver_files(place: Path) -> list[str]:
    """Those files that not every bundle has, as far as they are there."""
    return [name for name in RECEIVER_FILES if os.path.lexists(place / name)]


def _crowd(people: PeopleOf, manifest: Mapping[str, Any], checks: list[Check]) -> Cells | None:
    """The people to compare with. Nonsense in the manifest is a failed check, a wrong table is the caller's error."""
    try:
        return people(manifest)
    except VerifyError as error:
        checks.append(Check("population", ok=False, detail=error.problem))
        return None


def _content(form: Form, place: Path, manifest: Mapping[str, Any], layout: Any, checks: list[Check]) -> Any:
    """What the data files hold, if both kinds of them can be read; adds what was looked at to ``checks``."""
    try:
        with ThreadPoolExecutor(len(FORMATS)) as pool:  # Arrow reads without holding Python up
            content, other = pool.map(lambda ending: form.read(place, manifest, layout, ending), FORMATS)
        alike = form.same(content, other)
    except VerifyError as error:
        checks.append(Check("values", ok=False, detail=error.problem))
        return None
    except (pa.ArrowException, OSError):
        checks.append(Check("values", ok=False, detail="a data file cannot be read"))
        return None
    checks.append(Check("values", ok=True, detail=form.readable(layout, content)))
    same = "the same tables" if alike else "different tables"
    checks.append(Check("data files", alike, f"the Parquet and CSV files hold {same}"))
    checks += form.checks(layout, content, manifest)
    return content


def _stored_content(
    form: Form,
    manifest: Mapping[str, Any],
    layout: Any,
    data: PublishedTables | None,
    checks: list[Check],
    memory_limit: str | None,
) -> Any:
    """What the tables hold that an engine keeps; adds what was looked at to ``checks``."""
    if data is None:
        names = ", ".join(f"'{table['name']}'" for table in manifest["stored"]["tables"].values())
        detail = f"the data is not in the bundle but in {names}: say where that is with `--data`"
        checks.append(Check("values", ok=False, detail=detail))
        return None
    try:
        found = read_stored(form, layout, manifest, data, memory_limit=memory_limit)
    except VerifyError as error:
        checks.append(Check("values", ok=False, detail=error.problem))
        return None
    checks.append(Check("values", ok=True, detail=form.readable(layout, found.content)))
    checks += found.checks
    checks += [check for check in form.checks(layout, found.content, manifest) if check.name != "order"]
    return found.content


def _check_package(
    form: Form, place: Path, manifest: Mapping[str, Any], layout: Any, files: Mapping[str, FileFacts]
) -> Check:
    try:
        found = parse_json(read_bounded(place / "datapackage.json"), "datapackage.json")
        agrees = found == datapackage(form.columns(layout, manifest), manifest, files, about=form.about())
    except (VerifyError, OSError):
        agrees = False
    return Check("data package", agrees, f"datapackage.json {'agrees' if agrees else 'disagrees'} with the manifest")


def _check_guarantee(manifest: Mapping[str, Any], evidence: Evidence | None) -> list[Check]:
    """The words that people will quote must be those of the stated models, and the models must hold."""
    privacy = manifest["privacy"]
    try:
        stated = guarantee_from(manifest)
        expected = stated.statement(chosen=privacy["chosen"], secure=privacy["secure"])
    except VerifyError as error:
        return [Check("guarantee", ok=False, detail=error.problem)]
    problem = stated.contradiction()
    if not _same_privacy(manifest, stated.as_json(chosen=privacy["chosen"], secure=privacy["secure"])):
        problem = "what the manifest says about privacy is not what follows from the stated models and their parameters"
    if manifest["guarantee"] != expected:
        problem = "the guarantee in words is not that of the stated models and their parameters"
    if problem is not None:
        return [Check("guarantee", ok=False, detail=problem)]
    words = Check("guarantee", ok=True, detail=manifest["guarantee"])
    if not privacy["secure"]:
        detail = "there is no guarantee to check: the randomness came from a seed, for testing"
        return [words, Check("privacy model", ok=True, detail=detail)]
    return [words, *stated.checks(evidence)]


def _same_privacy(manifest: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether odds, limits and the rest are those of the guarantee; in format 1 sentences were worded otherwise."""
    worded = {"limits", "neighbouring", "composition"} if manifest["format_version"] == 1 else set()
    found = manifest["privacy"]
    if found.get("odds") and expected.get("odds") and found["odds"] in odds_wordings(Fraction(expected["epsilon"])):
        worded.add("odds")  # in the words of an earlier version
    return found.keys() == expected.keys() and all(found[key] == expected[key] for key in found.keys() - worded)


def _nobody(_: Mapping[str, Any]) -> None:
    """No table of people was given."""
    return


def _people(
    population: str | Path, base: Path | None, memory_limit: str | None, manifest: Mapping[str, Any]
) -> Cells | None:
    """The people of a table by the columns of a release."""
    models = manifest["privacy"].get("models", ())
    if not any("population" in each["parameters"] for each in models):
        raise UsageError(
            "no privacy model of the release compares with a population", "omit `--population`", code="SF-USAGE-069"
        )
    form = FORMS[manifest["form"]]
    domains = form.domains(form.layout(manifest))
    known = {
        one["name"]: Attribute(name=one["name"], role=Role(one["role"]), domain=domains[one["name"]])
        for one in manifest["attributes"]
    }
    try:
        selection = parse_selection(str((manifest.get("selection") or {}).get("where") or ""), known)
    except SfumatoError as error:
        raise broken_bundle(
            f"the condition of the manifest's selection: {error.problem}", code="SF-VERIFY-117"
        ) from None
    quasi = [attribute for attribute in known.values() if attribute.role is Role.QUASI_IDENTIFIER]
    return read_people(str(population), quasi, selection, base=base, memory_limit=memory_limit)
