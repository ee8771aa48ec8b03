"""Long tables: what a measure holds at once stays within so many bytes a record, whatever else there is."""

import gc
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES, large_populations, suffixes
from sfumato.evaluate.measures.utility_loss import Amounts, each_population, spread, true_amounts
from sfumato.release.shown import Shown, Values
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View

SIZES = (40, 30, 9, 16, 7)
ILL = 30
RECORDS = 40_000


def table(records=RECORDS, width=4):
    """A table of records that are nearly all different, and regions of so many codes in each attribute."""
    rng = np.random.default_rng(0)
    columns = [np.minimum(rng.geometric(4 / (size + 3), records) - 1, size - 1) for size in (*SIZES, ILL)]
    codes, counts = np.unique(np.stack([*columns, rng.integers(0, 2, records)], axis=1), axis=0, return_counts=True)
    grids = [
        Grid(lower=Fraction(0), upper=Fraction(size - 1), step=Fraction(1), unit="integer") for size in (*SIZES, ILL)
    ]
    names = [f"q{at}" for at in range(len(SIZES))]
    quasi = tuple(
        Attribute(name=n, role=Role.QUASI_IDENTIFIER, domain=d) for n, d in zip(names, grids[:-1], strict=True)
    )
    ill = Attribute(name="ill", role=Role.SENSITIVE, domain=grids[-1])
    yes = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("no"), Node("yes")))))
    dead = Attribute(name="dead", role=Role.CLASS, domain=yes)
    view = View(quasi=quasi, sensitive=(ill,), others=(dead,), unit=RecordUnit())
    regions, row = np.unique(codes[:, : len(SIZES)] // width, axis=0, return_inverse=True)
    starts, stops = regions * width, np.minimum(regions * width + width, np.array(SIZES))
    own = np.arange(len(regions))
    values = {
        name: Values(own, csr_array((counts.astype(float), (row.ravel(), codes[:, at])), shape=(len(regions), size)))
        for name, at, size in (("ill", -2, ILL), ("dead", -1, 2))
    }
    weights = np.bincount(row.ravel(), weights=counts)
    shown = Shown(tuple(names), starts, stops, weights, values, "generalised")
    return Evidence(view=view, raw=Cells((*names, "ill", "dead"), codes, counts), shown=shown)


def peak_bytes(name, evidence):
    """The most bytes that a measure holds at once, for each cell of the table."""
    measure = MEASURES[name]()
    gc.collect()
    tracemalloc.start()
    try:
        if measure.refuses(evidence) is None:
            measure.read(evidence)
        return tracemalloc.get_traced_memory()[1] / len(evidence.raw)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("name", "most"), [("uloss", 500), ("marginals-1", 350), ("marginals-2", 350)])
def test_a_measure_holds_few_bytes_a_record(name, most):
    """Before, uloss held a full table of records by values, 1,100 bytes a record; marginals held 410."""
    assert peak_bytes(name, table()) < most


def test_guesses_are_made_for_some_people_at_a_time():
    """All of them at once take 900 bytes a record here, and several GiB of a long table."""
    assert peak_bytes("guessed-values", table(200_000)) < 800


def test_places_of_codes_take_a_byte_where_a_byte_is_enough():
    evidence = table(1_000)
    for attribute in evidence.view.attributes:
        assert evidence.occurring(attribute.name)[1].dtype == np.uint8
    assert evidence.people[1].codes.dtype == np.int32


def test_rows_are_merged_on_the_way_down_and_nothing_is_lost():
    evidence = table(5_000)
    found = large_populations(evidence)
    _, people = evidence.people
    of = evidence.occurring("ill")[1]
    seen = {}

    def families(self, found, original=Amounts.families):
        for family, rows in original(self, found):
            at = int(found.attribute[family])
            seen[at] = max(seen.get(at, 0), len(rows.group))
            yield family, rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suffixes, "_FEW", 0)
        patch.setattr(Amounts, "families", families)
        amounts = true_amounts(evidence, evidence.view.sensitive[0], found)
        counts = spread(found, amounts)
    assert [seen[at] for at in sorted(seen)] == sorted(seen.values(), reverse=True), "fewer rows at every attribute"
    assert seen[max(seen)] < len(people) / 10
    for number, asked in enumerate(found.predicates()):
        inside = np.ones(len(evidence.raw), bool)
        for name, (start, stop) in asked.items():
            inside &= (evidence.column(name) >= start) & (evidence.column(name) < stop)
        expected = np.bincount(of[inside], weights=evidence.raw.counts[inside], minlength=counts.shape[1])
        assert counts[number].tolist() == expected.tolist()
        assert found.support[number] == expected.sum()
    for number, each in each_population(found, amounts):
        assert each.tolist() == counts[number].tolist()
