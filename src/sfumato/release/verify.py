"""Verification: what anybody can check about a bundle, from the bundle alone."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from sfumato.domains.counts import Cells
from sfumato.errors import StudyError, UsageError, VerifyError
from sfumato.release.bundle.files import FileFacts
from sfumato.release.draft import Groups
from sfumato.release.file_checks import (
    DATA,
    MANIFEST,
    TEXTS,
    Check,
    Verification,
    find_bundle,
    hashes,
    manifest_of,
    names,
)
from sfumato.release.forms.noisy_counts.datapackage import datapackage
from sfumato.release.forms.noisy_counts.manifest import layout_from, plain, table_limits
from sfumato.release.forms.noisy_counts.table import Layout, in_order, same
from sfumato.release.forms.records.manifest import record_layout_from
from sfumato.release.forms.records.verify import inspect_records
from sfumato.release.guarantee import guarantee
from sfumato.release.storage.seal import form_of
from sfumato.release.storage.untrusted import parse_json, read_bounded, refuse_unexpected
from sfumato.study.attribute import Attribute, Role
from sfumato.study.selection import selected
from sfumato.tables import read_people

__all__ = ["MANIFEST", "Check", "Verification", "find_bundle", "inspect", "verify_bundle"]

FILES: Final = (*DATA, *TEXTS)  # all that stand in the manifest of counts


def verify_bundle(
    path: str | Path,
    *,
    sha256: str | None = None,
    population: str | Path | None = None,
    base: Path | None = None,
) -> Verification:
    """Check files, hashes, columns, rows and counts of a bundle, and the promise of records in groups.

    The manifest holds the hashes of the files and is sealed against accidents, but whoever changes all of it can seal
    it again. Give ``sha256``, the hash of manifest.json from the ledger or from the publisher, to rule that out.
    ``population`` is the table of people that δ-presence compares with; without it that promise cannot be checked.
    Its path starts at ``base``.
    """
    with refuse_unexpected():
        return _verify(find_bundle(Path(path)), sha256=sha256, population=population, base=base)


def _verify(place: Path, *, sha256: str | None, population: str | Path | None, base: Path | None) -> Verification:
    checks: list[Check] = []
    content = manifest_of(place, sha256, checks)
    records = content is not None and form_of(content) == "records"
    if population is not None and not (records and _compares(content)):
        raise UsageError("the release compares with no population", "leave `--population` out")
    if records:
        return inspect_records(place, sha256=sha256, people=partial(_people, population, base))[0]
    return inspect(place, sha256=sha256)[0]


def _compares(content: Mapping[str, Any] | None) -> bool:
    """Whether a promise of the manifest compares with a population."""
    return content is not None and any("population" in each["parameters"] for each in content["privacy"]["promises"])


def _people(population: str | Path | None, base: Path | None, content: Mapping[str, Any]) -> Cells | None:
    """The people of a table by the columns of a release."""
    if population is None:
        return None
    columns = {c.name: c for c in record_layout_from(content).columns}
    known = {n: Attribute(name=n, role=Role(c.role), domain=c.domain) for n, c in columns.items()}
    selection = selected(str((content.get("selection") or {}).get("where") or ""), known)
    quasi = [known[name] for name, column in columns.items() if column.role == "quasi_identifier"]
    return read_people(str(population), quasi, selection, base=base)


def inspect(path: Path, *, sha256: str | None = None) -> tuple[Verification, Groups | None]:
    """The checks of a bundle of counts, and the groups where they can be read."""
    checks: list[Check] = [names(path, FILES)]
    groups: Groups | None = None
    content = manifest_of(path, sha256, checks)
    if content is not None:
        layout = layout_from(content)
        files = hashes(path, content, FILES, checks)
        if all(name in files for name in DATA):
            groups = _data(path, layout, content, checks)
        if len(files) == len(FILES):
            checks.append(_package(path, layout, content, files))
        checks += [_words(content), _promise(content)]
    return Verification(tuple(checks)), groups


def _data(path: Path, layout: Layout, content: Mapping[str, Any], checks: list[Check]) -> Groups | None:
    told = content["groups"]
    try:
        groups = layout.groups(layout.read_parquet(path / "data.parquet", table_limits(content)))
        text = layout.groups(layout.read_csv(path / "data.csv"))
    except VerifyError as error:
        checks.append(Check("regions", ok=False, detail=error.problem))
        return None
    except (pa.ArrowException, OSError):
        checks.append(Check("regions", ok=False, detail="a data file cannot be read"))
        return None
    checks.append(Check("regions", ok=True, detail=f"{len(groups):,} rows, each in the declared cuts and classes"))
    checks.append(_alike(same(groups, text)))
    checks.append(_order(groups))
    checks.append(_numbers(layout, groups, told))
    return groups


def _alike(alike: bool) -> Check:  # noqa: FBT001 - the one thing it is about
    return Check("data files", alike, f"data.parquet and data.csv are {'the same' if alike else 'different tables'}")


def _order(groups: Groups) -> Check:
    ordered = in_order(groups)
    detail = "every group once, in the order of its values" if ordered else "a group stands twice, or out of order"
    return Check("order", ordered, detail)


def _numbers(layout: Layout, groups: Groups, told: Mapping[str, Any]) -> Check:
    least = told["least_count"]
    if len(groups) and int(groups.counts.min()) < least:
        return Check("counts", ok=False, detail=f"a count is below {least}")
    if told["listed"] != len(groups) or told["combinations"] != plain(layout.combinations):
        return Check("counts", ok=False, detail="the manifest tells other numbers of groups")
    return Check("counts", ok=True, detail=f"whole numbers from {least} on; groups not listed have count 0")


def _package(path: Path, layout: Layout, content: Mapping[str, Any], files: Mapping[str, FileFacts]) -> Check:
    try:
        expected = datapackage(
            layout, study=content["study"], release=content["release"], guarantee=content["guarantee"],
            least_count=content["groups"]["least_count"], files=files,
        )  # fmt: skip
        agrees = parse_json(read_bounded(path / "datapackage.json"), "datapackage.json") == expected
    except (VerifyError, OSError):
        agrees = False
    return Check("data package", agrees, f"datapackage.json {'agrees' if agrees else 'disagrees'} with the manifest")


def _words(content: Mapping[str, Any]) -> Check:
    """The sentence people will quote must be the one that the numbers give."""
    privacy = content["privacy"]
    epsilon = None if privacy["epsilon"] is None else Fraction(privacy["epsilon"])
    try:
        expected = guarantee(
            model=privacy["model"],
            epsilon=epsilon,
            unit=privacy["unit"],
            secure=privacy["secure"],
            chosen=privacy["chosen"],
        )
    except StudyError as error:
        return Check("guarantee", ok=False, detail=error.problem)
    if content["guarantee"] != expected:
        return Check("guarantee", ok=False, detail="the guarantee in words is not that of the numbers")
    spent = sum((Fraction(step["epsilon"]) for step in privacy["receipt"]), Fraction(0))
    if epsilon is not None and spent > epsilon:
        return Check("guarantee", ok=False, detail="the steps of the receipt cost more than ε")
    return Check("guarantee", ok=True, detail=content["guarantee"])


def _promise(content: Mapping[str, Any]) -> Check:
    privacy = content["privacy"]
    if not privacy["secure"]:
        detail = "there is no promise to keep: the noise was drawn from a seed, for testing"
        return Check("promise", ok=True, detail=detail)
    if privacy["epsilon"] is None:
        return Check("promise", ok=False, detail=f"this version has no checker for '{privacy['model']}'")
    return Check(
        "promise",
        ok=True,
        detail="differential privacy is kept by how the release was made: no table of results can show or refute it",
    )
