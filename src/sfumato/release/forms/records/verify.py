"""Verification of a bundle of records: the promise is checked on the published values, by the models themselves."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.domains.counts import Cells
from sfumato.errors import SfumatoError, VerifyError
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import broken_records, counts_people, title
from sfumato.release.bundle.files import FileFacts
from sfumato.release.file_checks import TEXTS, Check, Verification, hashes, manifest_of, names
from sfumato.release.forms.records.code_spans import rising
from sfumato.release.forms.records.datapackage import record_package
from sfumato.release.forms.records.files import read_records
from sfumato.release.forms.records.manifest import (
    models_from,
    promise_in_words,
    record_layout_from,
    record_numbers,
    sampled_share,
)
from sfumato.release.forms.records.rows import Records
from sfumato.release.forms.records.table import RecordLayout
from sfumato.release.partition import people_in
from sfumato.release.storage.untrusted import parse_json, read_bounded

PeopleOf = Callable[[Mapping[str, Any]], Cells | None]
"""The people that a promise compares with, from the manifest; None where they are not at hand."""


def inspect_records(
    path: Path, *, sha256: str | None = None, people: PeopleOf = lambda _: None
) -> tuple[Verification, Records | None]:
    """The checks, and the records where they can be read. What cannot be checked does not pass."""
    checks: list[Check] = []
    records: Records | None = None
    content = manifest_of(path, sha256, checks)
    if content is None:
        return Verification(tuple(checks)), None
    layout = record_layout_from(content)
    wanted = (*layout.files, *TEXTS)
    checks.insert(0, names(path, wanted))
    files = hashes(path, content, wanted, checks)
    if all(name in files for name in layout.files):
        records = _data(path, layout, content, checks)
    if len(files) == len(wanted):
        checks.append(_package(path, layout, content, files))
    checks.append(_words(content))
    if records is None:
        checks.append(Check("promise", ok=False, detail="it cannot be checked without the data"))
    else:
        checks += _promises(content, layout, records, people)
    return Verification(tuple(checks)), records


def _data(path: Path, layout: RecordLayout, content: Mapping[str, Any], checks: list[Check]) -> Records | None:
    try:
        with ThreadPoolExecutor(2) as pool:  # Arrow reads without holding Python up
            records, other = pool.map(lambda ending: read_records(path, layout, content, ending), ("parquet", "csv"))
        alike = other.same(records)
    except VerifyError as error:
        checks.append(Check("values", ok=False, detail=error.problem))
        return None
    except (pa.ArrowException, OSError):
        checks.append(Check("values", ok=False, detail="a data file cannot be read"))
        return None
    detail = f"{len(records):,} records, every value in its declared domain"
    if layout.suppressed is not None:
        detail += f"; {records.suppressed:,} suppressed ones, which say nothing"
    checks.append(Check("values", ok=True, detail=detail))
    same = "the same tables" if alike else "different tables"
    checks.append(Check("data files", alike, f"the Parquet and CSV files hold {same}"))
    ordered = rising(records.keys()) and all(rising([t.group, t.codes]) for t in records.tallies.values())
    detail = "rows stand in the order of their values" if ordered else "rows stand in an order of their own"
    checks.append(Check("order", ordered, detail))
    if layout.form == "anatomy":
        checks.append(_tallies(records))
    groups = _groups(layout, records)
    right = content["records"] == record_numbers(records, groups)
    detail = f"{len(groups):,} groups, the smallest of {content['records']['smallest_group']:,} records"
    checks.append(Check("numbers", right, detail if right else "the manifest tells other numbers of records or groups"))
    return records


def _groups(layout: RecordLayout, records: Records) -> Statistics:
    return records.statistics(layout.judged)


def _tallies(records: Records) -> Check:
    """Every bucket has as many sensitive values as records, and each value stands once in it."""
    assert records.group is not None, "the two tables meet in the bucket"
    ids, place = np.unique(records.group, return_inverse=True)
    sizes = np.bincount(place, weights=records.times, minlength=len(ids)).astype(np.int64)
    agrees = True
    for tally in records.tallies.values():
        there, first = np.unique(tally.group, return_index=True)
        sums = np.add.reduceat(tally.counts, first) if len(first) else np.empty(0, np.int64)
        pairs = np.stack([tally.group, tally.codes])
        once = len(np.unique(pairs, axis=1).T) == len(tally.codes)
        agrees &= np.array_equal(there, ids) and np.array_equal(sums, sizes) and once
    detail = "every bucket has as many sensitive values as records"
    return Check("tables", agrees, detail if agrees else "the two tables disagree about their buckets")


def _promises(content: Mapping[str, Any], layout: RecordLayout, records: Records, people: PeopleOf) -> list[Check]:
    """Each promised model, asked about the groups that anybody can see."""
    if not content["privacy"]["secure"]:
        detail = "there is no promise to keep: what is random came from a seed, for testing"
        return [Check("promise", ok=True, detail=detail)]
    try:
        models = models_from(content)
    except VerifyError as error:
        return [Check("promise", ok=False, detail=error.problem)]
    groups = _groups(layout, records)
    checks = []
    for model in models:
        if layout.form != "generalised" and model.needs() == ():
            detail = f"{title(model)} says nothing about buckets: their quasi-identifiers are published as they are"
            checks.append(Check("promise", ok=False, detail=detail))
            continue
        drawn, promised = sampled_share(content), getattr(model, "rate", None)
        if promised is not None and drawn > Fraction(promised):
            detail = f"{title(model)} rests on a smaller share of the records than the manifest says were drawn"
            checks.append(Check("promise", ok=False, detail=detail))
            continue
        try:
            if counts_people([model]) and records.suppressed:
                detail = f"{title(model)} says nothing where records are suppressed: they may be those who live nowhere"
                checks.append(Check("promise", ok=False, detail=detail))
                continue
            if counts_people([model]):
                lost = broken_records(model, _among(groups, people(content)))
            else:
                lost = broken_records(model, groups)
        except SfumatoError as error:
            checks.append(Check("promise", ok=False, detail=f"{title(model)} cannot be checked: {error.problem}"))
            continue
        broken, share = int((lost > 0).sum()), int(lost.sum()) / max(len(records), 1)
        kept = "holds in every group"
        if broken:
            kept = f"is broken in {broken:,} of {len(groups):,} groups, for {share:.2%} of the records"
        checks.append(Check("promise", not broken, f"{title(model)} {kept}"))
    return checks


def _among(groups: Statistics, people: Cells | None) -> Statistics:
    """The groups with how many people of the population live in their regions."""
    if people is None:
        raise VerifyError("it takes the table of people, which is no part of a bundle (--population FILE)", "give it")
    assert groups.boxes is not None, "buckets have been passed over"
    return replace(groups, population=people_in(groups.boxes, people))


def _package(path: Path, layout: RecordLayout, content: Mapping[str, Any], files: Mapping[str, FileFacts]) -> Check:
    try:
        told = parse_json(read_bounded(path / "datapackage.json"), "datapackage.json")
        agrees = told == record_package(layout, content, files)
    except (VerifyError, OSError):
        agrees = False
    return Check("data package", agrees, f"datapackage.json {'agrees' if agrees else 'disagrees'} with the manifest")


def _words(content: Mapping[str, Any]) -> Check:
    """The sentences people will quote must be those of the models with these parameters."""
    privacy = content["privacy"]
    try:
        sentences = [model.sentence() for model in models_from(content)]
    except VerifyError as error:
        return Check("words", ok=False, detail=error.problem)
    told = [entry["sentence"] for entry in privacy["promises"]]
    expected = promise_in_words(sentences, chosen=privacy["chosen"], secure=privacy["secure"])
    if told != sentences or content["promise"] != expected:
        return Check("words", ok=False, detail="the promise in words is not that of the models and their parameters")
    return Check("words", ok=True, detail=content["promise"])
