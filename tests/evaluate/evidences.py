"""Releases beside their tables, made by hypothesis or from the packaged census table."""

from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sfumato.evaluate.evidence import Evidence
from sfumato.methods import Bucketization, Mondrian
from sfumato.release.draft import Draft
from sfumato.release.partition import SUPPRESSED, Partition
from sfumato.release.shown import Shown, Values, shown_records
from sfumato.study.attribute import Role
from sfumato.study.file import load_study
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source
from tests.methods.partition_tables import cells_of, partition_tables

ADULT = Path(str(files("sfumato") / "data" / "adult"))
SIX = ("age", "workclass", "education", "marital_status", "race", "sex")


@cache
def adult(quasi=SIX, sensitive="occupation"):
    """The view of Li & Li and its cells: six quasi-identifiers, occupation sensitive, income the class."""
    study = load_study(ADULT / "study.yaml")
    known = study.attributes
    view = View(
        quasi=tuple(known[name] for name in quasi),
        sensitive=(replace(known[sensitive], role=Role.SENSITIVE),),
        others=(study.target,),
        unit=RecordUnit(),
    )
    with open_source(study.source, base=study.base) as table:
        return view, CodedTable(table, view.attributes).full_cells([a.name for a in view.attributes])


def evidence_of(view, cells, method=None, kept=None):
    """A method's release beside the table; the table itself without a method."""
    if method is None:
        return as_it_is(view, cells)
    shown = shown_records(method.draft(view, cells))
    return Evidence(view=view, raw=cells, shown=shown, kept={} if kept is None else kept)


def as_it_is(view, cells):
    """The table published as it is."""
    width = len(view.quasi)
    codes, row = np.unique(cells.codes[:, :width], axis=0, return_inverse=True)
    row = row.ravel()
    values = {
        a.name: Values(
            np.arange(len(codes)),
            csr_array(
                (cells.counts.astype(float), (row, cells.codes[:, width + place])), shape=(len(codes), a.domain.size)
            ),
        )
        for place, a in enumerate((*view.sensitive, *view.others))
    }
    weights = np.bincount(row, weights=cells.counts, minlength=len(codes)).astype(float)
    names = tuple(a.name for a in view.quasi)
    return Evidence(view=view, raw=cells, shown=Shown(names, codes, codes + 1, weights, values, "generalised"))


@st.composite
def evidences(draw, least=2, most=30, forms=("generalised", "bucketized", "sampled", "suppressed")):
    """A small table and a release of it: groups, buckets, a sample of groups, or groups of which some are left out."""
    view, records = draw(partition_tables(least=least, most=most))
    cells = cells_of(view, records)
    form = draw(st.sampled_from(forms))
    k = draw(st.integers(1, 3))
    if len(records) < k:
        k = 1
    if form == "bucketized":
        shown = shown_records(_buckets(view, cells, k))
    else:
        made = Mondrian(k=k, strict=draw(st.booleans())).draft(view, cells)
        if form == "suppressed":
            gone = draw(st.integers(0, len(made.partition.boxes) - 1))
            group = np.where(made.partition.group == gone, SUPPRESSED, made.partition.group)
            made = replace(made, content=Partition(made.partition.cells, group, made.partition.boxes))
        shown = shown_records(made)
        if form == "sampled":
            shown = replace(shown, rate=0.5)
    return Evidence(view=view, raw=cells, shown=shown)


def _buckets(view, cells, k) -> Draft:
    made = Mondrian(k=k).draft(view, cells)
    return replace(made, form=Bucketization(k=k, privacy={"distinct-l-diversity": 1}).form)


def records_of(evidence):
    """The table's records, one by one, as tuples of codes in the view's order."""
    raw = evidence.raw
    return [tuple(row) for row, n in zip(raw.codes.tolist(), raw.counts.tolist(), strict=True) for _ in range(n)]


def rows_of(shown):
    """A release row by row: weight, the range of each quasi-identifier, and the counts of its pools by value."""
    for row in range(len(shown)):
        ranges = {
            name: range(int(shown.starts[row, place]), int(shown.stops[row, place]))
            for place, name in enumerate(shown.attributes)
        }
        pools = {}
        for name, values in shown.values.items():
            pool = int(values.pool[row])
            low, high = values.counts.indptr[pool : pool + 2]
            found = zip(values.counts.indices[low:high].tolist(), values.counts.data[low:high].tolist(), strict=True)
            pools[name] = {code: count for code, count in found if count}
        yield float(shown.weights[row]), ranges, pools
