"""Sets in the engine agree with sets in Python, whatever the columns hold."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.sets.set_domain import SetCodes, SetDomain
from sfumato.errors import SourceError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.selection import parse_selection
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, open_source
from sfumato.tables.set_columns import BYTES_PER_SET
from tests.domains.sets.test_set_domain import DEEP
from tests.examples import examples
from tests.raising import raises_code
from tests.small_domains import flat

pytestmark = pytest.mark.usefixtures("each_engine")

TREE = DEEP.with_leaf("(other)")
PART = st.sampled_from(["a1", "a21", "a22", "B", "c1", " c2 ", "c3", "zz", "", " ", "\x1f", "'"])
TEXT = st.one_of(st.none(), st.lists(PART, max_size=4).map(";".join))
DOMAINS = [
    SetDomain(taxonomy=TREE, separator=";", other=7),
    SetDomain(taxonomy=DEEP, separator=";"),
    SetDomain(taxonomy=TREE, separator=";", other=7, most=2, empty=False),
]


def sets(name, domain):
    return Attribute(name=name, role=Role.QUASI_IDENTIFIER, domain=domain)


TARGET = Attribute(name="y", role=Role.CLASS, domain=flat("n", "y"))


def told(columns, attribute, kinds=None):
    """The set of each record as the engine codes it, None for a dropped one."""
    size = len(next(iter(columns.values())))
    arrays = {name: pa.array(values, kinds or pa.string()) for name, values in columns.items()}
    with open_source(pa.table({**arrays, "place": range(size)})) as source:
        coded = CodedTable(source, [attribute])
        codes = source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))["c0"].to_pylist()
        return as_sets(codes, coded.sets[attribute.name])


def as_sets(codes, dictionary):
    first, leaves = dictionary.first.tolist(), dictionary.leaves.tolist()
    return [None if code < 0 else leaves[first[code] : first[code + 1]] for code in codes]


@pytest.mark.parametrize("domain", DOMAINS, ids=["other", "strict", "small"])
@settings(max_examples=examples(quick=4, slow=10), deadline=None)
@given(values=st.lists(TEXT, min_size=1, max_size=20))
def test_text_is_read_as_in_python(domain, values):
    check_text(domain, values)


PARTS = [
    "a1",
    "a21",
    "a22",
    "B",
    "c1",
    " c2 ",
    "c3",
    "zz",
    "",
    " ",
    "\x1f",
    "'",
    "\x00",
    "A1",
    "a1\x00",
    "\u2028",
    "ß",
    "a.1",
]
PAIRS = [(PARTS[n % 18], PARTS[n // 2 % 18], PARTS[n * n % 18]) for n in range(36)]


@pytest.mark.parametrize("separator", [";", "."])
def test_text_of_one_table_is_read_as_in_python(separator, request):
    """With all values, for engines on which searching for examples is slow."""
    values = [None, separator, separator * 3, *PARTS, *(separator.join(parts) for parts in PAIRS), PARTS[0] + separator]
    if "postgresql" in request.node.name:
        values = [value if value is None else value.replace("\x00", "") for value in values]  # it has none
    check_text(SetDomain(taxonomy=TREE, separator=separator, other=7), values)


def check_text(domain, values):
    found = domain.encode(values)
    assert told({"x": values}, sets("x", domain)) == as_sets(found.tolist(), found.sets)


@settings(max_examples=examples(quick=4, slow=10), deadline=None)
@given(values=st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), PART), max_size=4)), min_size=1))
def test_lists_are_read_as_in_python(values):
    check_lists(values)


def test_lists_of_one_table_are_read_as_in_python(request):
    """With all values: lists that have the same text, the same texts in another order, none, and the same one twice."""
    letters = "" if "postgresql" in request.node.name else "\x00"  # it has none
    parts = [part.replace("\x00", letters) for part in PARTS]
    values = [None, [], [None], [None, None], [""], ["a1", None], [None, "a1"], ["a1", "a1"], ["a1, B"], ["a1", "B"]]
    values += [["B", "a1"], ["[a1]"], ["null"], ["a1;B"], ['"a1"'], ["a1", ""], parts, parts[::-1], parts * 3]
    check_lists([*values, *([part] for part in parts), ["a1", "B"]])


def check_lists(values):
    found = DOMAINS[0].encode(values)
    assert told({"x": values}, sets("x", DOMAINS[0]), pa.list_(pa.string())) == as_sets(found.tolist(), found.sets)


@settings(max_examples=examples(quick=4, slow=10), deadline=None)
@given(rows=st.lists(st.tuples(*[st.one_of(st.none(), PART)] * 3), min_size=1, max_size=20))
def test_several_columns_are_one_set(rows):
    check_columns(rows)


def test_several_columns_of_one_table_are_one_set(request):
    """With all values."""
    letters = "" if "postgresql" in request.node.name else "\x00"  # it has none
    rows = [tuple(part.replace("\x00", letters) for part in parts) for parts in PAIRS]
    check_columns([*rows, (None, None, None), ("a1", None, "B"), ("a1", "", "B"), ("", "a1", "B"), ("a1, B", "", "")])


def check_columns(rows):
    domain = SetDomain(taxonomy=TREE, columns=("p", "q", "r"), other=7, most=3)
    found = domain.encode([list(row) for row in rows])
    columns = dict(zip("pqr", map(list, zip(*rows, strict=True)), strict=True))
    assert told(columns, sets("x", domain)) == as_sets(found.tolist(), found.sets)


def table():
    values = ["a1;c1", "a1", None, "zz;B;yy", "c1;a1", ""]
    return pa.table({"x": values, "y": ["n", "y", "y", "n", "n", "y"], "who": list("aabbcc")})


def test_counts_are_those_of_arrays():
    domain = DOMAINS[0]
    with open_source(table()) as source:
        coded = CodedTable(source, [sets("x", domain), TARGET])
        cut = domain.root("x").specialize((0, 8), domain.children(0, 8))
        cells = coded.cells([cut, Cut.finest("y", 2)])
        labels = cut.labels(TREE, cells.codes[:, 0])
        found = dict(zip(zip(labels, cells.codes[:, 1].tolist(), strict=True), cells.counts.tolist(), strict=True))
        assert found == {("A, C", 0): 2, ("A", 1): 1, ("(none)", 1): 2, ("B, (other)", 0): 1}
        marginal = coded.marginals(["x"], "y")["x"]
        assert sorted(map(tuple, marginal.parts((0, 8), domain.children(0, 8)).tolist())) == [
            (0, 1),
            (0, 2),
            (1, 0),
            (2, 0),
        ]
        full = coded.full_cells(["x"])
        regions = cut.regions(SetCodes.of(np.asarray(full.codes[:, 0]), coded.sets["x"]))
        assert int(full.counts.sum()) == 6 and len(set(regions.tolist())) == 4


def test_the_owner_is_told_how_many_codes_are_outside():
    with open_source(table()) as source:
        [report] = CodedTable(source, [sets("x", DOMAINS[0])]).domain_violations()
    assert (report.missing, report.outside, report.values) == (2, 2, ("yy", "zz"))


def test_a_persons_records_are_bounded_by_their_own_sets_alone():
    """Whoever else is in the table: of a person's two records the same one takes part."""
    mine = [("p", "c1"), ("p", "a1;B")]
    for others in ([], [("q", "a1"), ("q", "zz")], [("q", "B"), ("r", "c1;c2"), ("r", "")]):
        rows = [*others, *mine]
        columns = {"who": [who for who, _ in rows], "x": [value for _, value in rows], "y": ["n"] * len(rows)}
        with open_source(pa.table(columns)) as source:
            coded = CodedTable(source, [sets("x", DOMAINS[0]), TARGET], unit=PersonUnit("who", 1))
            found = coded.cells([DOMAINS[0].finest("x")]).codes[:, 0]
            labels = DOMAINS[0].finest("x").labels(TREE, found)
        assert "a1, B" in labels and "c1" not in labels


def fetched(source, patch):
    """The values that are brought home from now on."""
    seen, fetch = [], source.session.fetch

    def watched(sql, **more):
        found = fetch(sql, **more)
        seen.extend(value for row in found.to_pylist() for value in row.values())
        return found

    patch.setattr(source.session, "fetch", watched)
    return seen


def test_sets_of_records_that_are_not_selected_are_not_fetched():
    chosen = parse_selection("y = n", {"x": sets("x", DOMAINS[0]), "y": TARGET})
    with open_source(table()) as source, pytest.MonkeyPatch.context() as patch:
        seen = fetched(source, patch)
        coded = CodedTable(source, [sets("x", DOMAINS[0])], selection=chosen)
        found = coded.full_cells(["x"])
        assert int(found.counts.sum()) == 3 and len(coded.sets["x"]) == 2 + 1  # the empty set has a code as well
        assert {"a1;c1", "c1;a1", "zz;B;yy"} <= set(seen) and "a1" not in seen
        [report] = coded.domain_violations()
        assert (report.missing, report.outside, report.values) == (0, 2, ("yy", "zz"))


def test_sets_are_counted_before_all_combinations_are_collected(monkeypatch):
    """Of an engine that is elsewhere; a private release counts by cuts, and may not fail by how many there are."""
    with open_source(table()) as source, pytest.MonkeyPatch.context() as patch:
        patch.setattr(source.session, "memory", 3 * BYTES_PER_SET)
        seen = fetched(source, patch)
        for wanted in (lambda t: t.full_cells(), lambda t: t.cells_and_rows()):
            coded = CodedTable(source, [sets("x", DOMAINS[0]), TARGET])
            if not source.session.remote:
                assert wanted(coded)
                continue
            with raises_code(SourceError, "SF-SOURCE-761", match="more than 3 distinct sets"):
                wanted(coded)
            assert "a1;c1" not in seen
        root = DOMAINS[0].root("x")
        assert int(CodedTable(source, [sets("x", DOMAINS[0]), TARGET]).cells([root]).counts.sum()) == 6
        patch.setattr(source.session, "memory", 10 * BYTES_PER_SET)
        assert CodedTable(source, [sets("x", DOMAINS[0])]).full_cells(["x"])


def test_columns_that_hold_no_codes_are_refused():
    with open_source(pa.table({"x": [True, False]})) as source, raises_code(SourceError, "SF-SOURCE-038"):
        CodedTable(source, [sets("x", DOMAINS[0])])
    with open_source(table()) as source, raises_code(SourceError, "SF-SOURCE-003", match="no column 'diag'"):
        CodedTable(source, [sets("x", SetDomain(taxonomy=DEEP, columns=("x", "diag")))])
