"""What every method that puts records into groups must do, whichever it is."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import METHODS, build, recipe_of
from sfumato.methods.method import Context
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.release.partition import SUPPRESSED
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.examples import examples
from tests.small_domains import JOB, flat

PARAMETERS = {  # the least that each needs; a new method without a line here fails the first test
    "anatomy": {"l": 2},
    "bucketization": {"privacy": {"distinct-l-diversity": 2}},
    "capped-confidence": {"rate": 1},  # all records, so that none is lost; `methods/test_capped_confidence` draws some
    "full-domain": {"k": 2},
    "mondrian": {"k": 2},
    "tds": {"k": 2},
}
KINDS = [kind for kind in METHODS.values() if not kind.needs.private]
EVERY = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
VIEW = View(
    quasi=(
        Attribute(name="job", role=Role.QUASI_IDENTIFIER, domain=JOB),
        Attribute(name="sex", role=Role.QUASI_IDENTIFIER, domain=flat("f", "m")),
    ),
    sensitive=(Attribute(name="ill", role=Role.SENSITIVE, domain=flat("a", "b", "c")),),
    others=(Attribute(name="class", role=Role.CLASS, domain=flat("N", "Y")),),
    unit=RecordUnit(),
)
RECORDS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40
)


def made(kind):
    from sfumato.study.recipe import Recipe

    return build(Recipe(name="r", method=kind.name, parameters=PARAMETERS[kind.name]))


def cells_of(records):
    codes, counts = np.unique(np.array(records, dtype=np.int64).reshape(-1, 4), axis=0, return_counts=True)
    return Cells(tuple(a.name for a in VIEW.attributes), codes, counts.astype(np.int64))


def draft(method, cells, view=VIEW, seed=1):
    return method.draft(view, cells, Context(source=InsecureSource(seed)))


def test_every_partition_method_is_tested_here():
    assert {kind.name for kind in KINDS} == PARAMETERS.keys()


@EVERY
@settings(max_examples=examples(quick=16, slow=40))
@given(records=RECORDS)
def test_no_record_is_lost_or_invented_and_each_lies_in_its_region(kind, records):
    try:
        partition = draft(made(kind), cells_of(records)).partition
    except InfeasibleError:
        return
    found = Counter()
    for row, count in zip(partition.cells.codes.tolist(), partition.cells.counts.tolist(), strict=True):
        found[tuple(row)] += count
    assert found == Counter(records)
    kept = partition.group != SUPPRESSED
    codes, group = partition.cells.codes[kept, :2], partition.group[kept]
    assert np.all(partition.boxes.starts[group] <= codes)
    assert np.all(codes < partition.boxes.stops[group])
    assert set(group.tolist()) == set(range(len(partition.boxes))), "no empty group"


@EVERY
@settings(max_examples=examples(quick=16, slow=40))
@given(records=RECORDS)
def test_every_promise_holds_counted_record_by_record(kind, records):
    method = made(kind)
    try:
        made_of = draft(method, cells_of(records))
    except InfeasibleError:
        return
    groups = {}
    rows = zip(
        made_of.partition.cells.codes.tolist(),
        made_of.partition.cells.counts.tolist(),
        made_of.partition.group.tolist(),
        strict=True,
    )
    for row, count, group in rows:
        if group != SUPPRESSED:
            groups.setdefault(group, []).extend([row[2]] * count)
    for ills in groups.values():
        if "k" in PARAMETERS[kind.name]:
            assert len(ills) >= 2
        if kind.name in {"anatomy", "bucketization"}:
            assert len(set(ills)) >= 2
        if kind.name == "anatomy":
            assert 2 * max(Counter(ills).values()) <= len(ills)


@EVERY
@settings(max_examples=examples(quick=8, slow=20))
@given(records=RECORDS, seed=st.integers(0, 99))
def test_the_order_of_cells_does_not_matter(kind, records, seed):
    cells = cells_of(records)
    mixed = np.random.default_rng(seed).permutation(len(cells))
    other = Cells(cells.attributes, cells.codes[mixed], cells.counts[mixed])
    try:
        first = draft(made(kind), cells)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            draft(made(kind), other)
        return
    second = draft(made(kind), other)
    assert first.partition.boxes.starts.tolist() == second.partition.boxes.starts.tolist()
    assert first.partition.group.tolist() == second.partition.group.tolist()


@EVERY
def test_it_costs_no_epsilon_and_says_so_in_words(kind):
    method = made(kind)
    assert method.spends is None
    assert method.summary
    words = method.forecast(VIEW).sentences
    assert words
    assert all(isinstance(line, str) and line for line in words)


@EVERY
def test_a_recipe_gives_the_method_back(kind):
    method = made(kind)
    recipe = recipe_of(method, name="r")
    assert build(recipe) == method
    json.loads(recipe.as_json())


@EVERY
def test_facts_are_plain(kind):
    facts = draft(made(kind), cells_of([(j, s, i, 0) for j in range(4) for s in range(2) for i in range(3)])).facts
    json.dumps(dict(facts))


@EVERY
def test_a_view_without_quasi_identifiers_is_refused(kind):
    bare = View(quasi=(), sensitive=VIEW.sensitive, others=VIEW.others, unit=VIEW.unit)
    with pytest.raises(StudyError):
        made(kind).check(bare)
