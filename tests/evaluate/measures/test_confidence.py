"""Expected and observed confidence of releases of every form, against a count of one record after the other."""

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import ConfidenceExcess, Reading, RecordsOverConfidence
from sfumato.privacy.models import CappedConfidence
from sfumato.workflow import evidence_of_bundle, evidence_of_draft, measure
from tests.evaluate.evidences import evidences, records_of, rows_of
from tests.evaluate.releases import releases, shown_of
from tests.methods.partition_tables import cells_of, partition_view
from tests.small_domains import flat, grid


def slow(evidence, given=None, rate=None, rules=()):
    """The share of records told too surely, the largest excess, and whether rounding decides nothing; all by loops.

    ``given`` are shares by attribute and code, ``rules`` (ranges by attribute, code of the value, confidence).
    """
    records = records_of(evidence)
    names = [a.name for a in evidence.view.attributes]
    own = {
        name: {code: Fraction(often, len(records)) for code, often in Counter(r[place] for r in records).items()}
        for place, name in enumerate(names)
    }
    shares = own | (given or {})
    rows = list(rows_of(evidence.shown))
    published = sum(weight for weight, _, _ in rows)
    beta = evidence.shown.rate if rate is None else rate
    lost, largest, clear = 0.0, 0.0, True
    groups = defaultdict(list)
    for weight, ranges, pools in rows:
        groups[tuple(ranges.items())].append((weight, pools))
    for key, here in groups.items():
        ranges, size, worst = dict(key), sum(weight for weight, _ in here), 0.0
        for attribute in evidence.protected:
            times = Counter()
            for weight, pools in here:
                pool = pools[attribute.name]
                for code, count in pool.items():
                    times[code] += weight * count / sum(pool.values())
            broken = 0.0
            for code, count in times.items():
                told = [c for where, v, c in rules if v == code and all(_in(ranges[q], r) for q, r in where.items())]
                chance = min(told) if told else shares[attribute.name].get(code, 0)
                for name, covered in ranges.items():
                    chance *= sum(share for one, share in shares[name].items() if one in covered)
                expected = 1 - float(1 - chance) ** published
                if chance < Fraction(1, 10_000):  # few digits are left of 1 − p
                    expected = published * float(chance) * (1 - (published - 1) / 2 * float(chance))
                observed = beta * count / size
                largest = max(largest, observed - expected)
                clear &= not 1e-13 < abs(observed - expected) < 1e-8
                broken += count if observed > expected + 1e-9 else 0.0
            worst = max(worst, broken)
        lost += worst
    return lost / published, largest, clear


def _in(covered, region):
    return region[0] <= covered.start and covered.stop <= region[1]


def agree(evidence):
    """Both measures say what the loops say."""
    share, largest, clear = slow(evidence)
    assert ConfidenceExcess().read(evidence).value == pytest.approx(largest, abs=1e-7)
    if clear:
        found = RecordsOverConfidence().read(evidence)
        assert found.value == pytest.approx(share, abs=1e-9)
        assert found.details["records"] == pytest.approx(share * evidence.shown.records)


@given(evidences())
def test_both_agree_with_a_count_of_every_record(evidence):
    if len(evidence.shown):
        agree(evidence)
    else:
        assert ConfidenceExcess().refuses(evidence) == "the release contains no records"


@given(releases())
def test_any_regions_and_weights_agree_as_those_of_noisy_counts(evidence):
    agree(evidence)


VIEW = partition_view(age=grid(0, 5), sex=flat("x", "y", "z"))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12),
    st.sampled_from(["0.5", "0.9", "1"]),
)
def test_given_shares_and_rules_stand_in_place_of_the_tables_own(records, rate):
    view = replace(VIEW, sensitive=(replace(VIEW.sensitive[0], domain=flat("a", "b", "c")),), others=())
    sensitive = view.sensitive[0].name
    cells = cells_of(view, records)
    rows = [(((r[0], min(r[0] + 2, 6)), (r[1], r[1] + 1)), 1.0) for r in records]
    values = {sensitive: (range(len(rows)), np.eye(3)[[r[2] for r in records]])}
    evidence = Evidence(view=view, raw=cells, shown=shown_of(view, rows, values))
    half, rest = Fraction(1, 2), Fraction(1, 4)
    cap = CappedConfidence(
        rate=rate,
        shares={"sex": {"x": half}, sensitive: {"a": half}},
        rules=[{"where": {"age": "[0, 3)"}, "value": "b", "confidence": "0.7"}],
    )
    known = {name: {0: half, 1: rest, 2: rest} for name in ("sex", sensitive)}
    rules = [({"age": (0, 3)}, 1, Fraction(7, 10))]
    share, largest, clear = slow(evidence, known, float(rate), rules)
    assert ConfidenceExcess(cap=cap).read(evidence).value == pytest.approx(largest, abs=1e-9)
    if clear:
        found = RecordsOverConfidence(cap=cap).read(evidence)
        assert found.value == pytest.approx(share, abs=1e-9)
        assert found.details["statistics"] == "given; of the table for 1 attribute"
    promised = replace(evidence, cap=cap)
    own = ConfidenceExcess().read(replace(promised, shown=replace(evidence.shown, rate=float(rate)))).value
    assert own == pytest.approx(largest, abs=1e-9), "the release's own promise says the same"


def test_a_hand_made_release():
    view = replace(VIEW, quasi=VIEW.quasi[1:], others=())
    sensitive = view.sensitive[0].name
    size = view.domain(sensitive).size
    cells = cells_of(view, [(0, 0), (0, 0), (1, 0), (1, 1)])
    counts = np.zeros((2, size))
    counts[0, 0], counts[1, 0], counts[1, 1] = 2, 1, 1
    evidence = Evidence(
        view=view, raw=cells, shown=shown_of(view, [(((0, 1),), 2.0), (((1, 2),), 2.0)], {sensitive: ((0, 1), counts)})
    )
    # Pr(x) = Pr(y) = 1/2; Pr(a) = 3/4, Pr(b) = 1/4; n = 4. (x, a): 1 against 1 − (5/8)⁴ = 0.847; (y, a): 1/2 against
    # the same; (y, b): 1/2 against 1 − (7/8)⁴ = 0.414.
    found = RecordsOverConfidence().read(evidence)
    assert found.value == pytest.approx(3 / 4)
    assert found.details == {"records": 3.0, "records that the cap does not bind": 0.0, "statistics": "of the table"}
    excess = ConfidenceExcess().read(evidence)
    assert excess.value == pytest.approx(1 - (1 - (5 / 8) ** 4))
    assert excess.details["observed confidence"] == 1.0
    assert RecordsOverConfidence(cap=CappedConfidence(rate="0.5")).read(evidence).value == 0.0, "half of it drawn"


def test_statistics_about_something_else_are_refused_in_words():
    view = replace(VIEW, others=())
    evidence = Evidence(
        view=view,
        raw=cells_of(view, [(0, 0, 0)]),
        shown=shown_of(
            view,
            [(((0, 1), (0, 1)), 1.0)],
            {view.sensitive[0].name: ([0], np.eye(view.domain(view.sensitive[0].name).size)[:1])},
        ),
    )
    for cap, why in (
        (CappedConfidence(rate=1, shares={"town": {"Ulm": 1}}), "shares names 'town'"),
        (CappedConfidence(rate=1, shares={"sex": {"q": 1}}), "'q' is no value"),
        (
            CappedConfidence(rate=1, rules=[{"where": {"sex": "x"}, "value": "?", "confidence": 1}]),
            "a rule is about '?'",
        ),
    ):
        assert why in RecordsOverConfidence(cap=cap).refuses(evidence)
    assert RecordsOverConfidence().refuses(evidence) is None


TABLE = pa.table(
    {
        "age": [20 + n * 7 % 40 for n in range(400)],
        "job": ["abcd"[n % 4] for n in range(400)],
        "ill": ["xyz"[n // 3 % 3] for n in range(400)],
        "pay": ["no" if n % 5 > 2 else "yes" for n in range(400)],
    }
)
STUDY = {
    "name": "clinic",
    "source": TABLE,
    "privacy": {"budget": 4},
    "attributes": {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
        "job": {"role": "quasi_identifier", "values": list("abcd")},
        "ill": {"role": "sensitive", "values": list("xyz")},
        "pay": {"role": "class", "values": ["no", "yes"]},
    },
}
NAMES = ("records-over-confidence", "confidence-excess")


@pytest.mark.parametrize("population", [None, {"job": {"a": "0.4", "b": "0.4"}, "ill": {"x": "0.2"}}])
@pytest.mark.usefixtures("seeded")
def test_a_release_that_caps_confidence_has_none_above_it(population, tmp_path):
    study = sf.Study.from_mapping(STUDY)
    made = study.release(sf.ConfidenceCap(rate="0.8", population=population), out=tmp_path / "out", report=False)
    of_draft = measure(evidence_of_draft(study.declared, None, made.draft), NAMES)
    of_bundle = measure(evidence_of_bundle(study.declared, made.bundle), NAMES)
    for name in NAMES:
        assert of_draft[name].value == of_bundle[name].value == 0.0
    told = "of the table" if population is None else "given; of the table for 1 attribute"
    assert of_bundle[NAMES[0]].details["statistics"] == told


@pytest.mark.parametrize(
    "method",
    [
        sf.Mondrian(k=2),
        sf.Bucketization(privacy={"distinct-l-diversity": 2}),
        sf.Anatomy(l=2),
        sf.DiffGen(epsilon=2, h=3),
    ],
    ids=str,
)
@pytest.mark.usefixtures("seeded")
def test_every_form_of_release_is_measured(method, tmp_path):
    study = sf.Study.from_mapping(STUDY)
    made = study.release(method, out=tmp_path / "out", report=False)
    evidence = evidence_of_draft(study.declared, None, made.draft)
    agree(evidence)
    assert all(isinstance(one, Reading) for one in measure(evidence, NAMES).values())
