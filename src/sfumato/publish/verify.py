"""Verification: what anybody can check about a bundle, from the bundle alone."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from sfumato.core.draft import Groups
from sfumato.errors import VerifyError
from sfumato.publish.datapackage import datapackage
from sfumato.publish.files import FileFacts, file_facts
from sfumato.publish.guarantee import guarantee
from sfumato.publish.manifest import layout_from, parse_manifest, plain
from sfumato.publish.table import Layout, in_order, same

MANIFEST: Final = "manifest.json"
DATA: Final = ("data.parquet", "data.csv")
FILES: Final = (*DATA, "README.md", "datapackage.json")  # all that stand in the manifest


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """Everything that was looked at; fine when all of it is."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)


def verify_bundle(path: str | Path, *, sha256: str | None = None) -> Verification:
    """Check files, hashes, columns, rows and counts of a bundle.

    The manifest holds the hashes of the files and is sealed against accidents, but whoever changes all of it can seal
    it again. Give ``sha256``, the hash of manifest.json from the ledger or from the publisher, to rule that out.
    """
    return inspect(find_bundle(Path(path)), sha256=sha256)[0]


def find_bundle(path: Path) -> Path:
    """The bundle at a path: the folder itself, or `bundle` in it."""
    for place in (path, path / "bundle"):
        if (place / MANIFEST).is_file():
            return place
    raise VerifyError(f"there is no bundle in '{path}'", "name the folder that holds manifest.json")


def inspect(path: Path, *, sha256: str | None = None) -> tuple[Verification, Groups | None]:
    """The checks, and the groups where they can be read."""
    checks: list[Check] = [_names(path)]
    groups: Groups | None = None
    content = _manifest(path, sha256, checks)
    if content is not None:
        layout = layout_from(content)
        files = _hashes(path, content, checks)
        if all(name in files for name in DATA):
            groups = _data(path, layout, content["groups"], checks)
        if len(files) == len(FILES):
            checks.append(_package(path, layout, content, files))
        checks += [_words(content), _promise(content)]
    return Verification(tuple(checks)), groups


def _names(path: Path) -> Check:
    with os.scandir(path) as entries:
        found = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
        others = sorted({entry.name for entry in path.iterdir()} - found)
    missing, extra = sorted({*FILES, MANIFEST} - found), sorted(found - {*FILES, MANIFEST}) + others
    problems = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"not part of it: {', '.join(extra)}"] * bool(
        extra
    )
    return Check("files", not problems, "; ".join(problems) or "all files of a bundle, and no others")


def _manifest(path: Path, sha256: str | None, checks: list[Check]) -> dict[str, Any] | None:
    try:
        content = parse_manifest((path / MANIFEST).read_bytes())
    except (VerifyError, OSError) as error:
        detail = error.problem if isinstance(error, VerifyError) else "manifest.json cannot be read"
        checks.append(Check("manifest", ok=False, detail=detail))
        return None
    checks.append(Check("manifest", ok=True, detail=f"format version {content['format_version']}, unchanged"))
    if sha256 is not None:
        same_hash = file_facts(path / MANIFEST).sha256 == sha256
        detail = "manifest.json has the expected hash" if same_hash else "manifest.json does not have the expected hash"
        checks.append(Check("expected hash", same_hash, detail))
    return content


def _hashes(path: Path, content: Mapping[str, Any], checks: list[Check]) -> dict[str, FileFacts]:
    """A check a file; returns those that are as the manifest says."""
    sound: dict[str, FileFacts] = {}
    if set(content["files"]) != set(FILES):
        checks.append(Check("manifest files", ok=False, detail="the manifest does not list the files of a bundle"))
    for name in FILES:
        told = content["files"].get(name)
        try:
            found = file_facts(path / name)
        except OSError:
            checks.append(Check(name, ok=False, detail="cannot be read"))
            continue
        if told is not None and told == {"size": found.size, "sha256": found.sha256}:
            sound[name] = found
            checks.append(Check(name, ok=True, detail=f"{found.size:,} bytes, SHA-256 as in the manifest"))
        else:
            checks.append(Check(name, ok=False, detail="changed: its size or SHA-256 is not that of the manifest"))
    return sound


def _data(path: Path, layout: Layout, told: Mapping[str, Any], checks: list[Check]) -> Groups | None:
    try:
        groups = layout.groups(layout.read_parquet(path / "data.parquet"))
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
        agrees = json.loads((path / "datapackage.json").read_bytes()) == expected
    except (ValueError, OSError, RecursionError):
        agrees = False
    return Check("data package", agrees, f"datapackage.json {'agrees' if agrees else 'disagrees'} with the manifest")


def _words(content: Mapping[str, Any]) -> Check:
    """The sentence people will quote must be the one that the numbers give."""
    privacy = content["privacy"]
    epsilon = None if privacy["epsilon"] is None else Fraction(privacy["epsilon"])
    expected = guarantee(
        model=privacy["model"],
        epsilon=epsilon,
        unit=privacy["unit"],
        secure=privacy["secure"],
        chosen=privacy["chosen"],
    )
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
