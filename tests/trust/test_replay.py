"""The six checks that record-and-replay auditors make on a release path, and the leaks other tools had.

Each runs the whole way from a table to a bundle, or records what the mechanisms are handed on the way. The leaks of
other tools, by number, and what holds each here:

 1. inexact noise: tests/statistical/ (exact distributions), `test_counts_are_whole_numbers_with_exact_noise`
 2. domains from the data: `test_domain_inference`, `test_an_observed_domain_stops_before_the_ledger`, and the audit
    of such a copy in tests/measure/test_audit.py
 3. n taken as public: `test_size_leak`, `test_the_size_is_only_told_with_noise`
 4. clip, then use the unclipped column: `test_what_is_clipped_stays_clipped`
 5. NaN through a clip: `test_nan_injection`
 6. budget spent twice: `test_double_spending`
 7. a wrong scale: `test_noise_miscalibration`, `test_a_smaller_epsilon_draws_more_noise`
 8. missing metadata switches noise off: `test_without_budget_or_epsilon_nothing_is_released`
 9. a default seed: `test_no_seed_by_default`, `test_a_seed_takes_the_guarantee_away`
10. only occupied cells get noise: `test_groups_that_nobody_is_in_are_published`, and the audit
11. stop rules on private state: `test_sensitivity_miscalibration` (what is spent is the same on both tables)
12. values, row numbers and order in the output: `test_size_leak`, tests/trust/test_canary.py
13. timing of draws: batched (`noisy_sparse` draws a table at once); out of scope beyond that, says the threat model
14. syntactic releases: there are none yet
"""

import datetime as dt
import math
import random
import re
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import workflow
from sfumato.errors import BudgetError, InternalError, PublishError, StudyError
from sfumato.ledger import open_ledger
from sfumato.methods import SCORES, ContingencyTable, DiffGen
from sfumato.methods.diffgen import algorithm as diffgen
from sfumato.methods.method import Context
from sfumato.methods.noise import noisy_groups
from sfumato.methods.specialization import candidates
from sfumato.privacy.dp import accountant as accounts
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import _noise, interval_choice, sparse
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.study.file import load_study, study_from_mapping
from sfumato.workflow import make_release
from tests.raising import raises_code
from tests.small_domains import coded_tables, counter
from tests.trust.studies import JOBS, everything, manifest, on_disk, recipe, records, released

SEED = 20_110_821


def data_of(done):
    return (done.bundle / "data.csv").read_text(encoding="utf-8")


def noon():
    """A clock that stands still: the ledger's entry, whose hash the manifest holds, tells when it was made."""
    return dt.datetime(2026, 11, 16, 12, tzinfo=dt.UTC)


def seeded_data(folder, rows, **more):
    """The published table of a seeded release: the same for the same counts."""
    return data_of(released(on_disk(folder, rows), folder / "out", source=InsecureSource(SEED), **more))


# --- 1. size leak ---

PRIME = 104_729


def many(size=PRIME):
    n = np.arange(size)
    return pa.table(
        {
            "age": 20 + 7 * n % 60,
            "job": np.array(JOBS)[n % 4],
            "sex": np.array(["f", "m"])[n % 2],
            "ill": np.array(["no", "yes"])[(n % 5 == 0).astype(int)],
            "id": n,
        }
    )


def in_memory(tmp_path, table):
    path = on_disk(tmp_path, source="unused.csv")
    declared = load_study(path)
    return type(declared)(**{**vars(declared), "source": table})


def mentions(number, text):
    """Whether a number stands in a text, plain or with separators, and not inside a hash."""
    return re.search(rf"(?<![0-9a-fA-F.])({number}|{number:,})(?![0-9a-fA-F])", text) is not None


def test_size_leak(tmp_path):
    """The number of records is nowhere: not in the bundle, the owner's notes, the ledger, or an error.

    A sum of noisy counts is now and then the true one: the owner's report has several, and in one release of ten one of
    them is. A number that is told stands in every release; that chance puts it into one file three times is a
    matter of 1 in 1,000, and the seeds make it the same in every run.
    """
    assert mentions(PRIME, f"of {PRIME:,} records") and mentions(PRIME, f"n={PRIME}")
    told = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        study = in_memory(folder, many())
        done = workflow.release(study, recipe(h=3), folder=folder / "out", source=InsecureSource(seed))
        told.append({name for name, content in everything(folder).items() if tells_the_size(name, content)})
        total = int(pd.read_csv(done.bundle / "data.csv")["count"].sum())
        assert total != 0 and abs(total - PRIME) < 2_000, "the counts are there, with noise"
        with pytest.raises(PublishError) as refused:
            workflow.release(study, recipe(h=3), folder=folder / "out", source=InsecureSource(seed))
        assert not mentions(PRIME, str(refused.value))
    assert set.intersection(*told) == set()


def tells_the_size(name, content):
    return not name.endswith(".parquet") and mentions(PRIME, content.decode("utf-8", errors="replace"))


def test_a_size_that_is_told_is_noticed(tmp_path):
    """The check above sees the number in any text, whatever stands around it."""
    for text in (f"{PRIME}", f'{{"records": {PRIME}}}', f"<b>{PRIME:,}</b>"):
        assert tells_the_size("owner/report.html", text.encode())
    assert not tells_the_size("manifest.json", f"sha256:ab{PRIME}cd".encode())


def test_the_size_is_only_told_with_noise(tmp_path):
    """`h: auto` publishes a size: the one the mechanism drew. With this seed its noise is not 0."""
    study = in_memory(tmp_path, many())
    done = workflow.release(study, recipe(h="auto"), folder=tmp_path / "out", source=InsecureSource(SEED))
    told = manifest(done.bundle)["method"]["facts"]["noisy_size"]
    assert told != PRIME and abs(told - PRIME) < 3_000
    for name, content in everything(tmp_path).items():
        if not name.endswith(".parquet"):
            assert not mentions(PRIME, content.decode("utf-8", errors="replace")), name


def test_the_order_of_the_records_leaves_no_trace(tmp_path):
    """Shuffled records and reordered columns give the same bundle, byte for byte, with the same seed."""
    rows = records()
    shuffled = [dict(reversed(row.items())) for row in random.Random(1).sample(rows, len(rows))]
    outs = []
    for name, table in (("as is", rows), ("shuffled", shuffled)):
        study = on_disk(tmp_path / name, table)
        done = released(study, tmp_path / name / "out", source=InsecureSource(SEED), clock=noon)
        outs.append(everything(done.bundle))
    assert outs[0] == outs[1]


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_neighbours_give_bundles_of_the_same_shape(tmp_path):
    """One record less changes no column, no declared domain, no rule and no field of the manifest."""
    shapes = []
    for name, table in (("all", records()), ("less", records()[:-1])):
        done = released(on_disk(tmp_path / name, table), tmp_path / name / "out")
        told = manifest(done.bundle)
        attributes = [{k: v for k, v in a.items() if k != "cut"} for a in told["attributes"]]
        header = data_of(done).splitlines()[0]
        shapes.append((keys_of(told), attributes, told["rules"], told["privacy"]["budget_breakdown"][-1]["on"], header))
        assert sorted(everything(done.bundle)) == [
            "README.md", "croissant.json", "data.csv", "data.parquet", "datapackage.json", "index.html",
            "manifest.json",
        ]  # fmt: skip
    assert shapes[0] == shapes[1]


def keys_of(told):
    """The names of all fields, without those inside lists: their number follows the drawn cuts."""
    if not isinstance(told, dict):
        return type(told).__name__
    return {key: keys_of(value) for key, value in told.items()}


# --- 2. domain inference ---


def test_domain_inference(tmp_path):
    """Values nobody declared never come out; those that are declared may, whether anybody has them or not."""
    strange = [
        {"id": "x1", "age": "140", "job": "Zookeeper", "sex": "q", "ill": "no", "note": ""},
        {"id": "x2", "age": "-7", "job": "Engineer", "sex": "diverse", "ill": "perhaps", "note": ""},
        {"id": "x3", "age": "4711", "job": "Lawyer", "sex": "undisclosed", "ill": "yes", "note": ""},
    ] * 30
    study = on_disk(tmp_path, records() + strange)
    for number, what in enumerate((recipe(h=6), recipe("contingency"))):
        done = released(study, tmp_path / f"out{number}", what=what, source=InsecureSource(SEED), anyway=True)
        for name, content in everything(done.folder).items():
            for value in (b"Zookeeper", b"diverse", b"perhaps", b"undisclosed", b"4711", b"140"):
                assert re.search(rb"(?<![0-9a-z.])" + value + rb"(?![0-9a-z])", content) is None, (name, value)
        table = pd.read_csv(done.bundle / "data.csv", dtype=str)
        assert set(table["ill"]) <= {"no", "yes"}
    assert "Writer" in set(table["job"]), "the full table may show what nobody has"
    assert "(other)" in set(table["sex"]), "and values outside are kept under the declared one"


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_the_published_domains_are_the_declared_ones(tmp_path):
    """Whatever is in the table: the manifest's domains come from the study alone."""
    domains = []
    for name, table in (("many", records()), ("one", records()[:1])):
        done = released(on_disk(tmp_path / name, table), tmp_path / name / "out")
        domains.append([a["domain"] for a in manifest(done.bundle)["attributes"]])
    assert domains[0] == domains[1]


def test_an_observed_domain_stops_before_the_ledger(tmp_path):
    path = on_disk(tmp_path)
    text = path.read_text(encoding="utf-8").replace("bounds: [0, 99]", "bounds: [20, 79], domain: observed")
    path.write_text(text, encoding="utf-8")
    for what in (recipe(h=3), recipe("contingency")):
        with raises_code(
            StudyError, "SF-STUDY-064", match=r"the domain of 'age' was read off the data.*`domain: declared`"
        ):
            released(path, tmp_path / "out", what=what)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "clinic.ledger.sqlite").exists(), "nothing was spent"


@pytest.mark.error_rate(1e-8, reason="a binomial number beyond 6 deviations: 2e-9")
def test_groups_that_nobody_is_in_are_published(tmp_path):
    """Empty groups get noise like all others: about p = α/(1+α) of them stand in the release.

    The full table has 100·4·4·2 = 3,200 groups, 60 of them occupied; with ε = 1 p = 0.269, so 845 rows are expected
    from the empty ones, with a standard deviation of 25.
    """
    done = released(on_disk(tmp_path), tmp_path / "out", what=recipe("contingency", post="none"))
    seen = {(r["age"], r["job"], r["sex"], r["ill"]) for r in records()}
    table = pd.read_csv(done.bundle / "data.csv", dtype=str)
    empty = sum(tuple(row) not in seen for row in table[["age", "job", "sex", "ill"]].itertuples(index=False))
    alpha = math.exp(-1)
    cells = 100 * 4 * 4 * 2 - len(seen)
    p = alpha / (1 + alpha)
    assert abs(empty - cells * p) < 6 * math.sqrt(cells * p * (1 - p))


# --- 3. double spending ---


@pytest.fixture
def tape(monkeypatch):
    """Everything that is reserved, granted and redeemed, in order."""
    seen = []

    class Recorded(accounts.Grant):
        def __init__(self, epsilon, **more):
            super().__init__(epsilon, **more)
            seen.append(("granted", self))

        def redeem(self):
            seen.append(("redeemed", self))
            return super().redeem()

    monkeypatch.setattr(accounts, "Grant", Recorded)
    return seen


@pytest.mark.parametrize(
    "what",
    [recipe(h=4), recipe(h="auto", post="least_squares"), recipe(h=2, score="gini"), recipe("contingency")],
    ids=["diffgen", "auto", "gini", "contingency"],
)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_double_spending(tmp_path, tape, what):
    """Every grant is redeemed exactly once, after the ledger's entry; the receipt adds up to ε, exactly."""
    study = on_disk(tmp_path)
    book = open_ledger(tmp_path / "book.sqlite")

    class Witness:
        def __getattr__(self, name):
            return getattr(book, name)

        def reserve(self, draft, *, budget):
            entry = book.reserve(draft, budget=budget)
            tape.append(("reserved", entry))
            return entry

    done = released(study, tmp_path / "out", what=what, ledger=Witness())
    assert tape[0][0] == "reserved", "the ledger knows before any noise can be drawn"
    granted = [grant for kind, grant in tape if kind == "granted"]
    redeemed = [grant for kind, grant in tape if kind == "redeemed"]
    assert len(granted) == len(redeemed) == len({id(g) for g in redeemed}) > 0
    assert {id(g) for g in granted} == {id(g) for g in redeemed}
    receipt = manifest(done.bundle)["privacy"]["budget_breakdown"]
    assert sum(Fraction(step["epsilon"]) for step in receipt) == 1
    assert book.spent("clinic") == 1
    with pytest.raises(InternalError, match="was redeemed twice"):
        redeemed[0].redeem()


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_ten_releases_of_a_tenth_spend_one(tmp_path):
    """Ten times 0.1 is 1, and the eleventh does not fit: no tolerance anywhere."""
    study = on_disk(tmp_path, budget="1")
    for number in range(10):
        done = released(study, tmp_path / f"out{number}", what=recipe(h=1, epsilon="0.1"))
    assert done.left == 0
    with raises_code(
        BudgetError, "SF-BUDGET-003", match=r"ε = 0\.000001, and 0 is left of the study's 1; spent by: 2 earlier"
    ):
        released(study, tmp_path / "more", what=recipe(h=1, epsilon="1/1000000"))
    assert not (tmp_path / "more").exists()


# --- 4. NaN injection ---

JUNK = ["", "NaN", "None", "inf", "-inf", " ", "nan", "NULL", "1e999", "?", "x" * 5_000, 'a "quoted" text', "٣"]
BOUNDS = {"inf": "99", "1e999": "99", "-inf": "0"}


def by_rule(rows, column, junk):
    """The table that the rules make by hand of one in which some records, by place, have junk in a column."""
    found = []
    for n, row in enumerate(rows):
        if n not in junk or column in {"id", "note"}:
            found.append(row)
        elif column == "sex":
            found.append(row | {"sex": "(other)" if junk[n].strip() else "(missing)"})
        elif column == "age" and junk[n] in BOUNDS:
            found.append(row | {"age": BOUNDS[junk[n]]})
    return found


def assert_rules_were_followed(folder, column, junk):
    """With the same seed the release is the one of the table that the rules make by hand."""
    spoilt = [row | {column: junk[n]} if n in junk else row for n, row in enumerate(records(30))]
    found = seeded_data(folder / "spoilt", spoilt, anyway=True)
    made = seeded_data(folder / "made", by_rule(records(30), column, junk))
    assert found == made, f"{column} = {[text[:20] for text in junk.values()]}"
    assert "nan" not in found.lower() and "inf" not in found.lower().replace("(infinity)", "")


@pytest.mark.parametrize("column", ["age", "job", "sex", "ill", "id", "note"])
def test_nan_injection(tmp_path, column):
    """Junk in a value of a record changes that record alone, as its rule says, and is no error.

    Missing or unknown ages, jobs and classes leave the record out (the default); unknown sexes are kept under
    `(other)`, missing ones under `(missing)`; infinity is the nearer bound. Nothing else may change.
    """
    assert_rules_were_followed(tmp_path, column, dict(enumerate(JUNK, start=9)))


@pytest.mark.parametrize("column", ["age", pytest.param("sex", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("place", "junk"),
    [(0, ""), (17, "NaN"), *(pytest.param(0, junk, marks=pytest.mark.slow) for junk in JUNK[1:])],
    ids=lambda given: str(given)[:20],
)
def test_nan_injection_in_one_record(tmp_path, column, place, junk):
    """The same of a table with one such record: what a type of a column is guessed from does not change."""
    assert_rules_were_followed(tmp_path, column, {place: junk})


@pytest.mark.parametrize("value", [float("nan"), None, float("inf"), float("-inf"), 1e300])
def test_nan_injection_in_typed_columns(tmp_path, value):
    """The same for columns of numbers: NaN and null leave the record out, infinity is a bound."""
    fields = {
        "name": "typed", "privacy": {"budget": 10},
        "attributes": {
            "pay": {"role": "quasi_identifier", "type": "number", "bounds": [0, 10], "step": "0.5"},
            "ill": {"role": "class", "values": ["no", "yes"]},
        },
    }  # fmt: skip
    pay = [0.5 * n for n in range(20)]
    ill = ["no", "yes"] * 10

    def data(numbers, classes, name):
        table = pa.table({"pay": pa.array(numbers, pa.float64()), "ill": classes})
        study = study_from_mapping({**fields, "source": table})
        done = workflow.release(
            study, recipe(h=3), folder=tmp_path / name, source=InsecureSource(SEED), ledger=open_ledger("memory:")
        )
        return data_of(done)

    lost = value is None or math.isnan(value)
    by_hand = data(pay[1:], ill[1:], "hand") if lost else data([10.0 if value > 0 else 0.0, *pay[1:]], ill, "hand")
    found = data([value, *pay[1:]], ill, "found")
    assert found == by_hand
    assert "nan" not in found.lower()


def test_what_is_clipped_stays_clipped(tmp_path):
    """A value beyond its bounds counts as the bound in the choices and in the counts: leak 4."""
    wild = [row | {"age": str(10**9 * (-1) ** n)} for n, row in enumerate(records(30))]
    tame = [row | {"age": "99" if n % 2 == 0 else "0"} for n, row in enumerate(records(30))]
    assert seeded_data(tmp_path / "wild", wild, anyway=True) == seeded_data(tmp_path / "tame", tame)


@pytest.mark.parametrize("policy", ["keep", "suppress", "error"])
def test_a_number_outside_its_bounds_is_treated_as_the_manifest_says(tmp_path, policy):
    """Kept at the nearer bound or left out with its record: the rule in the manifest is the one that was followed."""
    wild = [row | {"age": "500"} if n < 20 else row for n, row in enumerate(records(30))]
    by_hand = [row | {"age": "99"} for row in wild[:20]] + wild[20:] if policy == "keep" else wild[20:]
    data = []
    for name, rows in (("wild", wild), ("by hand", by_hand)):
        study = on_disk(tmp_path / name, rows)
        text = study.read_text(encoding="utf-8").replace("bounds: [0, 99]", f"bounds: [0, 99], outside: {policy}")
        study.write_text(text, encoding="utf-8")
        done = released(study, tmp_path / name / "out", source=InsecureSource(SEED), anyway=True)
        data.append(data_of(done))
    assert data[0] == data[1]
    rules = " / ".join(manifest(done.bundle)["rules"])
    assert ("outside the declared bounds is replaced by the nearer bound, for age" in rules) == (policy == "keep")
    assert ("suppressed if a value is outside the declared domain, for age" in rules) == (policy != "keep")


# --- 5. noise miscalibration ---


@contextmanager
def patched(owner, name, replacement):
    before = getattr(owner, name)
    setattr(owner, name, replacement(before))
    try:
        yield
    finally:
        setattr(owner, name, before)


@settings(max_examples=15)
@given(
    epsilon=st.fractions(Fraction(1, 997), Fraction(50), max_denominator=997),
    h=st.integers(1, 6),
    score=st.sampled_from(list(SCORES)),
)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_noise_miscalibration(epsilon, h, score):
    """The scale that reaches opendp is 1/ε of the counts, rounded up and by no more than two floats; the rates too."""
    import opendp.measurements as library

    scales, maxima, rates = [], [], []

    def laplace(real):
        return lambda domain, metric, scale, **more: scales.append(scale) or real(domain, metric, scale, **more)

    def best(real):
        return lambda d, m, measure, scale: maxima.append((scale, m)) or real(d, m, measure, scale)

    def ranges(real):
        return lambda prefix, widths, behind, rate: rates.append(rate) or real(prefix, widths, behind, rate)

    of, codes = fixed_table()
    _noise.laplace.cache_clear()
    _noise.noisy_max.cache_clear()
    accountant = Accountant(epsilon)
    with (
        patched(library, "make_laplace", laplace),
        patched(library, "make_noisy_max", best),
        patched(interval_choice, "_range_by_floats", ranges),
    ):
        method = DiffGen(epsilon=epsilon, h=h, score=score)
        draft = method.draft(of, counter(of, codes), Context(accountant=accountant, source=SecureSource()))
    sensitivity, monotone = SCORES[score].sensitivity(2), SCORES[score].monotone
    share = epsilon / (2 * (1 + 2 * h))
    counts = accountant.breakdown[-1].epsilon
    assert counts == epsilon - sum(s.epsilon for s in accountant.breakdown[:-1]) >= epsilon / 2
    assert scales and all(rounded_up(scale, 1 / counts) for scale in scales)
    assert draft.facts["noise_scale"] == scales[0], "and it is the scale the manifest tells"
    factor = 1 if monotone else 2
    assert maxima and all(rounded_up(scale, factor * sensitivity / share) for scale, _ in maxima)
    assert all(("monotonic" in repr(metric)) == monotone for _, metric in maxima)
    assert rates and set(rates) == {share / (factor * sensitivity)}, "exact: no float in between"


def fixed_table():
    from tests.small_domains import JOB, grid, view

    n = np.arange(40)
    return view(job=JOB, age=grid(0, 30)), {"job": n % 4, "age": n % 31, "class": (n % 3 == 0).astype(np.int64)}


def rounded_up(scale, exact):
    return exact <= Fraction(scale) <= exact * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("name", ["diffgen", "contingency"])
def test_a_smaller_epsilon_draws_more_noise(name):
    """ε = 0.0001 and ε = 1 must not give the same data: each tenth of ε multiplies the noise by ten."""
    scales = []

    def noise(real):
        return lambda counts, *, scale, **more: scales.append(scale) or real(counts, scale=scale, **more)

    of, codes = fixed_table()
    kind = {"diffgen": DiffGen, "contingency": ContingencyTable}[name]
    settings_of = {"h": 2} if name == "diffgen" else {}
    drawn = []
    for epsilon in ("10", "1", "0.1", "0.01", "0.0001"):
        with patched(sparse, "with_laplace", noise):
            method = kind(epsilon=epsilon, threshold=1, post="none", **settings_of)
            draft = method.draft(
                of, counter(of, codes), Context(accountant=Accountant(method.spends), source=InsecureSource(1))
            )
        drawn.append(int(draft.groups.counts.max()))
    assert scales == sorted(scales)
    assert scales[-1] / scales[0] > 10**4 and drawn[-1] > 20 * drawn[0]


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_counts_are_whole_numbers_with_exact_noise(tmp_path):
    """No float is ever near a count: what leaves is int64, read back as such."""
    import pyarrow.parquet

    done = released(on_disk(tmp_path), tmp_path / "out")
    assert pyarrow.parquet.read_schema(done.bundle / "data.parquet").field("count").type == pa.int64()
    assert re.search(r",\d*\.\d*$", data_of(done), re.MULTILINE) is None


# --- 6. sensitivity miscalibration ---


class Tape:
    """Plays the mechanisms of one run: records inputs and outputs, or checks inputs and repeats the outputs."""

    def __init__(self):
        self.calls = []
        self.replayed = None

    def hear(self, kind, inputs, grant, draw):
        if self.replayed is None:
            answer = draw()
            self.calls.append((kind, inputs, grant.on, answer))
            return answer
        grant.redeem()
        before = self.calls[len(self.replayed)]
        assert (before[0], before[2]) == (kind, grant.on), "the same steps, named alike: they follow from outputs alone"
        self.replayed.append((kind, inputs))
        return before[3]

    @contextmanager
    def running(self):
        def maximum(real):
            def call(scores, *, sensitivity, monotone, grant, source):
                inputs = {"scores": np.array(scores), "sensitivity": sensitivity, "monotone": monotone}
                return self.hear(
                    "max", inputs, grant,
                    lambda: real(scores, sensitivity=sensitivity, monotone=monotone, grant=grant, source=source),
                )  # fmt: skip

            return call

        def point(real):
            def call(widths, scores, *, sensitivity, monotone, grant, source):
                every = np.repeat(scores, widths)  # a score a point: runs may differ between the tables
                more = {"sensitivity": sensitivity, "monotone": monotone}
                return self.hear(
                    "point", {"scores": every, **more}, grant,
                    lambda: real(widths, scores, grant=grant, source=source, **more),
                )  # fmt: skip

            return call

        def cells(real):
            def call(occupied, counts, *, total, threshold, sensitivity, grant, source):
                inputs = {
                    "cells": dict(zip(occupied.tolist(), counts.tolist(), strict=True)),
                    "sensitivity": sensitivity, "total": total, "threshold": threshold,
                }  # fmt: skip
                return self.hear(
                    "cells", inputs, grant,
                    lambda: real(
                        occupied, counts, total=total, threshold=threshold, sensitivity=sensitivity, grant=grant,
                        source=source,
                    ),
                )  # fmt: skip

            return call

        def size(real):
            def call(counts, *, sensitivity, grant, source):
                inputs = {"cells": dict(enumerate(counts.tolist())), "sensitivity": sensitivity}
                return self.hear(
                    "size", inputs, grant, lambda: real(counts, sensitivity=sensitivity, grant=grant, source=source)
                )

            return call

        with (
            patched(diffgen, "noisy_max", maximum),
            patched(candidates, "choose_point", point),
            patched(noisy_groups, "noisy_sparse", cells),
            patched(noisy_groups, "noisy_counts", size),
        ):
            yield


METHODS_TO_TRY = st.one_of(
    st.builds(
        DiffGen, epsilon=st.just(2), h=st.sampled_from([1, 2, 3, 6, "auto"]), score=st.sampled_from(list(SCORES)),
        post=st.sampled_from(["none", "scale", "class_totals"]),
    ),
    st.builds(ContingencyTable, epsilon=st.just(2), post=st.sampled_from(["none", "least_squares", "class_totals"])),
)  # fmt: skip


@settings(max_examples=60)
@given(table=coded_tables(), method=METHODS_TO_TRY, data=st.data())
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_sensitivity_miscalibration(table, method, data):
    """On two neighbours, given the same outputs so far, no mechanism's input differs by more than its stated Δ.

    A run on one table is recorded; on its neighbour every mechanism repeats the recorded output, so both go the same
    way to the end. The steps and what they cost must be the same, since they may depend on outputs alone; and of draws
    that are charged together, as disjoint parts, at most one may differ.
    """
    of, codes = table
    size = len(codes["class"])
    if size == 0:
        return
    gone = data.draw(st.integers(0, size - 1))
    less = {name: np.delete(column, gone) for name, column in codes.items()}
    tape, receipts = Tape(), []
    for part in (codes, less):
        accountant = Accountant(method.spends)
        with tape.running():
            method.draft(of, counter(of, part), Context(accountant=accountant, source=SecureSource()))
        receipts.append(accountant.breakdown)
        tape.replayed = []  # after the first run: from now on it is played back
        if part is codes:
            replayed = tape.replayed
    assert receipts[0] == receipts[1]
    assert len(replayed) == len(tape.calls)
    parts = {part: spend for spend in receipts[0] for part in spend.on.split(", split point")}
    changed = []
    for (kind, one, on, _), (_, other) in zip(tape.calls, replayed, strict=True):
        delta = one["sensitivity"]
        assert other["sensitivity"] == delta
        if kind in {"max", "point"}:
            moved = other["scores"] - one["scores"]
            assert np.abs(moved).max() <= delta
            assert one["monotone"] == other["monotone"]
            assert not one["monotone"] or moved.max() <= 0, "one record less lowers a monotone score, or leaves it"
        else:
            keys = one["cells"].keys() | other["cells"].keys()
            assert sum(abs(one["cells"].get(k, 0) - other["cells"].get(k, 0)) for k in keys) <= delta
            assert {k: one.get(k) for k in ("total", "threshold")} == {k: other.get(k) for k in ("total", "threshold")}
            moved = np.array([1])
        if kind == "point" and np.any(moved):
            changed.append(parts.get(on, parts.get(on.removeprefix("split point"))))
    assert all(spend is not None for spend in changed)
    assert len(changed) == len(set(map(id, changed))), "two disjoint parts that were charged once both changed"


# --- seeds and missing metadata ---


@pytest.mark.error_rate(1e-99, reason="3,200 cells, each alike with probability below 0.7")
def test_no_seed_by_default(tmp_path):
    """Two releases of one table differ, and neither is repeatable: leak 9.

    The full table has 3,200 noisy cells: two equal ones would be a miracle.
    """
    study = on_disk(tmp_path)
    every = recipe("contingency", post="none")  # else small totals may leave no row in either
    one, two = (data_of(released(study, tmp_path / f"out{n}", what=every)) for n in range(2))
    assert one != two


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_release_draws_from_the_operating_system(tmp_path, monkeypatch):
    study, used = load_study(on_disk(tmp_path)), []
    monkeypatch.setattr(make_release, "SecureSource", lambda: used.append(SecureSource()) or used[0])
    done = workflow.release(study, recipe(h=3), folder=tmp_path / "out")
    assert used[0].secure
    assert manifest(done.bundle)["privacy"]["secure"] is True


def test_a_seed_takes_the_guarantee_away(tmp_path):
    done = released(on_disk(tmp_path), tmp_path / "out", source=InsecureSource(3))
    assert manifest(done.bundle)["guarantee"] == "none (seeded for testing)"
    assert "none (seeded for testing)" in (done.bundle / "README.md").read_text(encoding="utf-8")


def test_without_budget_or_epsilon_nothing_is_released(tmp_path):
    """Missing numbers stop the release; they never mean "no noise": leak 8."""
    path = on_disk(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(", budget: 100", ""), encoding="utf-8")
    with raises_code(StudyError, "SF-STUDY-214"):
        released(path, tmp_path / "out")
    path.write_text(text.replace(", bounds: [0, 99]", ""), encoding="utf-8")
    with raises_code(StudyError, "SF-STUDY-117", match="declare its bounds from public knowledge"):
        released(path, tmp_path / "out")
    path.write_text(text, encoding="utf-8")
    bare = recipe(h=3)
    with raises_code(StudyError, "SF-STUDY-036", match="has no epsilon"):
        released(path, tmp_path / "out", what=type(bare)(name="dp", method="diffgen", parameters={"h": 3}))
    assert not (tmp_path / "out").exists()
