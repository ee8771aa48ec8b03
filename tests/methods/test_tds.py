"""Top-down specialization against a slow and obvious second writing of it."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import Tds, build, recipe_of
from sfumato.study.attribute import Attribute, Role
from tests.examples import examples
from tests.methods.full_domain.test_full_domain import close, distinct, probabilistic
from tests.methods.small_views import SHAPES, cells_of, tables, view_of
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid

FREE = (*SHAPES, grid(0, 5), grid(0, 40))
PROMISES = [
    ({}, []),
    ({"distinct-l-diversity": 2}, [distinct(2)]),
    ({"probabilistic-l-diversity": "3/2"}, [probabilistic(Fraction(3, 2))]),
    ({"t-closeness": "0.3"}, [close(Fraction(3, 10))]),
]


def bits(classes):
    return -sum(n / len(classes) * log2(n / len(classes)) for n in Counter(classes).values())


class Slow:
    """Everything is counted anew at every step, record by record."""

    def __init__(self, view, records, k, promises):
        self.view, self.records, self.k, self.promises = view, records, k, promises
        self.cuts = [[(0, a.domain.size)] for a in view.quasi]
        self.ill = len(view.quasi)
        self.steps = []

    def gain(self, place, parts):
        """In ticks of 2⁻²⁰ bits."""
        whole = [r[-1] for r in self.records if parts[0][0] <= r[place] < parts[-1][1]]
        if not whole:
            return 0
        inside = [[r[-1] for r in self.records if a <= r[place] < b] for a, b in parts]
        left = sum(len(part) / len(whole) * bits(part) for part in inside if part)
        return round(max(0, bits(whole) - left) * 2**20)

    def children(self, place, region):
        domain = self.view.quasi[place].domain
        if not domain.free:
            return domain.children(*region)
        points = sorted({r[place] for r in self.records if region[0] < r[place] < region[1]})
        halves = [((region[0], p), (p, region[1])) for p in points]
        return max(halves, key=lambda parts: self.gain(place, parts), default=())  # the first of equals

    def groups(self, cuts):
        found = defaultdict(list)
        for record in self.records:
            found[tuple(next(r for r in cut if r[0] <= c < r[1]) for cut, c in zip(cuts, record, strict=False))].append(
                record
            )
        return found

    def sound(self, cuts):
        table = [r[self.ill] for r in self.records]
        return all(
            len(group) >= self.k and all(holds([r[self.ill] for r in group], table) for holds in self.promises)
            for group in self.groups(cuts).values()
        )

    def candidates(self):
        """(−score, attribute, region, cuts after it) of all valid and beneficial ones."""
        now = min(map(len, self.groups(self.cuts).values()))
        for place, cut in enumerate(self.cuts):
            for region in cut:
                parts = self.children(place, region)
                gain = self.gain(place, parts) if parts else 0
                after = list(self.cuts)
                after[place] = sorted([*(r for r in cut if r != region), *parts])
                if gain > 0 and self.sound(after):
                    lost = now - min(map(len, self.groups(after).values()))
                    yield -Fraction(gain, max(1, lost)), place, region, after

    def run(self):
        while found := sorted(self.candidates()):
            _, place, region, self.cuts = found[0]
            attribute = self.view.quasi[place]
            self.steps.append(f"{attribute.name}: {attribute.domain.label(*region)}")
        return self.steps


@settings(max_examples=examples(quick=80, slow=200))
@given(table=tables(shapes=FREE, target=True), k=st.integers(1, 6), promise=st.sampled_from(PROMISES))
def test_it_takes_the_same_steps_as_the_slow_one(table, k, promise):
    view, records = table
    asked, promises = promise
    slow = Slow(view, records, k, promises)
    method = Tds(k=k, privacy=asked)
    if not slow.sound(slow.cuts):
        with pytest.raises(InfeasibleError):
            method.draft(view, cells_of(view, records))
        return
    draft = method.draft(view, cells_of(view, records))
    assert draft.facts["specializations"] == slow.run()
    groups = slow.groups(slow.cuts)
    boxes = draft.partition.boxes
    regions = {tuple(zip(*row, strict=True)) for row in zip(boxes.starts.tolist(), boxes.stops.tolist(), strict=True)}
    assert regions == set(groups)
    assert draft.facts["groups"] == len(groups)
    assert list(slow.candidates()) == [], "nothing valid and beneficial is left"


@settings(max_examples=examples(quick=40, slow=100))
@given(table=tables(shapes=FREE, target=True, most=60), k=st.integers(1, 8))
def test_every_record_is_in_one_group_and_every_group_keeps_k(table, k):
    view, records = table
    if len(records) < k:
        with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match=f"set k to {len(records)} or less"):
            Tds(k=k).draft(view, cells_of(view, records))
        return
    partition = Tds(k=k).draft(view, cells_of(view, records)).partition
    assert partition.suppressed == 0
    sizes = Counter()
    for codes, count in zip(partition.cells.codes, partition.cells.counts, strict=True):
        inside = [
            group
            for group in range(len(partition.boxes))
            if np.all(partition.boxes.starts[group] <= codes[: len(view.quasi)])
            and np.all(codes[: len(view.quasi)] < partition.boxes.stops[group])
        ]
        assert len(inside) == 1
        sizes[inside[0]] += count
    assert min(sizes.values()) >= k


def test_a_split_that_tells_most_at_no_cost_comes_first():
    """Age at 40 tells the class apart; the job says nothing."""
    view = view_of({"job": JOB, "age": grid(18, 65)}, target={"class": flat("N", "Y")})
    records = [(i % 4, age, int(age >= 22)) for i in range(8) for age in (5, 10, 22, 40)]
    draft = Tds(k=4).draft(view, cells_of(view, records))
    assert draft.facts["specializations"] == ["age: [18, 65]"]
    assert sorted(draft.partition.boxes.starts[:, 1].tolist()) == [0, 22]


def test_the_least_width_of_an_interval_is_kept():
    view = view_of({"age": grid(0, 29)}, target={"class": flat("N", "Y")})
    records = [(age, int(age in (1, 2, 11, 12, 28))) for age in range(30)] * 3
    narrow = Tds(k=1).draft(view, cells_of(view, records)).partition.boxes
    assert (narrow.stops - narrow.starts).min() < 10
    age = replace(view.quasi[0], at_least=Fraction(10))
    wide = Tds(k=1).draft(replace(view, quasi=(age,)), cells_of(view, records)).partition.boxes
    assert (wide.stops - wide.starts).min() >= 10 and len(wide) > 1


def test_without_a_class_there_is_nothing_to_tell():
    for target in (None, {"class": flat("N")}):
        with pytest.raises(StudyError, match="class"):
            Tds(k=2).check(view_of({"job": JOB}, target=target))
    others = view_of({"job": JOB})
    others = replace(others, others=(Attribute(name="x", role=Role.INSENSITIVE, domain=flat("a", "b")),))
    with raises_code(StudyError, "SF-STUDY-063", match="role: class"):
        Tds(k=2).check(others)


def test_constant_columns_and_one_record_stay_whole():
    view = view_of({"job": JOB, "age": grid(0, 9)}, target={"class": flat("N", "Y")})
    for records in ([(1, 3, 0)], [(1, 3, 0)] * 9 + [(1, 3, 1)] * 9):
        draft = Tds(k=1).draft(view, cells_of(view, records))
        assert (draft.facts["groups"], draft.facts["specializations"]) == (1, [])
    with raises_code(InfeasibleError, "SF-INFEASIBLE-011"):
        Tds(k=1).draft(view, cells_of(view, []))


def test_a_recipe_and_a_forecast():
    method = Tds(k=3, privacy={"distinct-l-diversity": 2})
    assert build(recipe_of(method, name="r")) == method
    view = view_of({"job": JOB, "age": grid(0, 9)}, {"ill": flat("a", "b")}, {"class": flat("N", "Y")})
    found = method.forecast(view)
    assert "'job', 'age' start fully generalised" in found.sentences[0]
    assert "'age' are split" in found.sentences[1]
    with raises_code(StudyError, "SF-STUDY-055"):
        Tds()
    assert method.spends is None


def test_steps_do_not_depend_on_the_order_of_the_cells():
    view = view_of({"job": JOB, "age": grid(0, 40)}, target={"class": flat("N", "Y")})
    rng = np.random.default_rng(0)
    records = [(int(j), int(a), int(a + 7 * j > 25)) for j, a in rng.integers(0, (4, 41), (300, 2))]
    cells = cells_of(view, records)
    mixed = rng.permutation(len(cells))
    other = type(cells)(cells.attributes, cells.codes[mixed], cells.counts[mixed])
    one, two = Tds(k=5).draft(view, cells), Tds(k=5).draft(view, other)
    assert one.facts == two.facts and len(one.facts["specializations"]) > 2
    assert one.partition.boxes.starts.tolist() == two.partition.boxes.starts.tolist()
