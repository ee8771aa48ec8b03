"""Releases of tables with sets, measured and attacked: every number beside a plain computation (`plain_sets`)."""

from collections import Counter
from functools import lru_cache
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, StudyError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES, Reading, UtilityLoss
from sfumato.workflow import evidence_of_bundle, evidence_of_draft, measure
from sfumato.workflow import sweep as running
from sfumato.workflow.evaluate import measuring_view, raw_records
from sfumato.workflow.sweeping.baselines import everything_published, nothing_published
from tests.examples import examples
from tests.raising import raises_code
from tests.workflow import plain_sets as plain
from tests.workflow.plain_sets import ILLS, LEAVES, TREE, WARDS

pytestmark = pytest.mark.usefixtures("seeded")

FEW = settings(
    max_examples=examples(quick=2, slow=4),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
NUMBERS = count()

GROUPS = {
    "mondrian": sf.Mondrian(k=3),
    "relaxed": sf.Mondrian(k=2, strict=False, suppress="0.2"),
    "full-domain": sf.FullDomain(k=3, suppress="0.3"),
    "buckets": sf.Bucketization(privacy={"probabilistic-l-diversity": "1.2"}),
    "anatomy": sf.Anatomy(l=2),
    "cap": sf.ConfidenceCap(rate="0.7", attribute="ill", distortion="1"),
}
COUNTS = {
    "diffgen": sf.DiffGen(epsilon=20, h=3),
    "noisy": sf.DiffGen(epsilon="0.5", h=2, threshold=1),
    "contingency": sf.ContingencyTable(epsilon=10, threshold=1),
}


TWICE = ("full-domain", "diffgen")  # at both levels in the default tests


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@st.composite
def tables(draw, least=8, most=60):
    """Records as (ward, codes, illness), with codes that go together."""
    size = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    often = rng.choice([0.03, 0.2, 0.6], len(LEAVES))
    held = rng.random((size, len(LEAVES))) < often
    wards, ills = rng.choice(WARDS, size), rng.choice(ILLS, size, p=[0.5, 0.3, 0.2])
    return [
        (str(ward), frozenset(np.array(LEAVES)[row].tolist()), str(ill))
        for ward, row, ill in zip(wards, held, ills, strict=True)
    ]


def study(records, level, role="sensitive", codes="quasi_identifier", **fields):
    source = pa.table(
        {
            "ward": [ward for ward, _, _ in records],
            "codes": [";".join(sorted(codes)) for _, codes, _ in records],
            "ill": [ill for _, _, ill in records],
        }
    )
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": source,
            "privacy": {"budget": 1_000_000},
            "attributes": {
                "ward": {"role": "quasi_identifier", "values": list(WARDS)},
                "codes": {"role": codes, "type": "set", "taxonomy": TREE, "level": level, **fields},
                "ill": {"role": role, "values": list(ILLS)},
            },
        }
    )


def made(clinic, method):
    """The published release; None where the promise cannot be kept on such a table."""
    try:
        return clinic.release(method, out=f"out{next(NUMBERS)}", report=False).open()
    except InfeasibleError:
        return None


def releases(records, level, which):
    """Releases of one table, with the study each is of."""
    for name in which:
        groups = name in GROUPS
        clinic = study(records, level, "sensitive" if groups else "class")
        release = made(clinic, GROUPS[name] if groups else COUNTS[name])
        if release is not None and (not groups or len(release.records)):
            yield clinic, release


def suppressed(release):
    return release.manifest["records"]["suppressed"] if not release.private else 0


@pytest.mark.parametrize(
    ("name", "level"),
    [
        *((name, 2) for name in [*GROUPS, *COUNTS]),
        *((name, 1) for name in TWICE),
        *(pytest.param(name, 1, marks=pytest.mark.slow) for name in [*GROUPS, *COUNTS] if name not in TWICE),
    ],
)
@FEW
@given(records=tables())
def test_losses_are_those_of_a_plain_computation(name, level, records):
    for clinic, release in releases(records, level, [name]):
        rows = plain.rows_of(release, "ill")
        if not rows:
            continue
        asked = [
            "ploss-li",
            "mean-ploss-li",
            "ploss",
            "mean-ploss",
            "general-loss",
            "marginals-1",
            "cell-kl",
            UtilityLoss(min_sup=0.1),
        ]
        found = clinic.measure(release, only=asked)
        worst, mean = plain.ploss(rows, records)
        assert found["ploss-li"].value == pytest.approx(worst, abs=1e-9)
        assert found["mean-ploss-li"].value == pytest.approx(mean, abs=1e-9)
        if name in GROUPS:  # values are published as they are
            assert found["ploss"].value == found["ploss-li"].value
            assert found["mean-ploss"].value == found["mean-ploss-li"].value
        loss, many = plain.uloss(rows, records, level, 0.1)
        assert found["uloss"].value == pytest.approx(loss, abs=1e-9)
        assert found["uloss"].details["populations"] == many
        gone = suppressed(release)
        assert found["general-loss"].value == pytest.approx(plain.general_loss(rows, gone, level), abs=1e-9)
        if name == "full-domain":
            assert release.manifest["method"]["facts"]["loss"] == pytest.approx(found["general-loss"].value, abs=1e-8)
        assert found["cell-kl"].value == pytest.approx(plain.cell_kl(rows, records, level, gone), abs=1e-6)
        true = plain.code_shares([(1, plain.told(codes, level)) for _, codes, _ in records], level)
        guess = plain.code_shares([(row.weight, row.codes) for row in rows], level)
        assert found["marginals-1"].details["codes"] == pytest.approx(plain.apart(true, guess), abs=1e-9)


@pytest.mark.parametrize("name", [*GROUPS, *COUNTS])
@FEW
@given(records=tables(), level=st.sampled_from([1, 2]))
def test_linkage_finds_whom_a_plain_search_finds(name, level, records):
    for clinic, release in releases(records, level, [name]):
        rows = plain.rows_of(release, "ill")
        if not rows:
            continue
        found = clinic.attack_link(release)
        people = plain.linked(rows, records)
        many = [candidates for candidates, _, _ in people]
        assert found.people == len(records)
        assert found.found == pytest.approx(sum(m > 0 for m in many) / len(records))
        assert found.unique == pytest.approx(sum(0 < m <= 1 for m in many) / len(records))
        for few, share in found.below.items():
            assert share == pytest.approx(sum(0 < m < few for m in many) / len(records))
        [guess] = found.guesses
        sure = [len([v for v, n in values.items() if n > 1e-12]) == 1 for _, values, _ in people]
        assert guess.certain == pytest.approx(sum(sure) / len(records))
        alone = [values.get(own, 0) > 1e-12 for _, values, own in people]
        assert guess.certain_right == pytest.approx(
            sum(a and b for a, b in zip(sure, alone, strict=True)) / len(records)
        )
        # The same people from a table of one's own, with codes that no record of the study has beside theirs.
        known = clinic.declared.source.append_column("name", pa.array([str(n) for n in range(len(records))]))
        again = clinic.attack_link(release, known=known)
        assert again.quantiles == found.quantiles
        for share in ("people", "found", "unique"):
            assert getattr(again, share) == pytest.approx(getattr(found, share))
        assert (again.guesses[0].right, again.guesses[0].certain) == pytest.approx((guess.right, guess.certain))


@FEW
@given(records=tables(), level=st.sampled_from([1, 2]))
def test_an_intersection_leaves_what_a_plain_search_leaves(level, records):
    clinic = study(records, level)
    one, two = made(clinic, sf.Mondrian(k=2)), made(clinic, sf.FullDomain(k=2, suppress="0.3"))
    if one is None or two is None or not len(two.records):
        return
    found = clinic.attack_intersect(one, two, k=3)
    alone = [plain.linked(plain.rows_of(release, "ill"), records) for release in (one, two)]
    both = [(a, b) for a, b in zip(*alone, strict=True) if a[0] > 0 and b[0] > 0]
    left = [{v: min(n, b[1].get(v, 0)) for v, n in a[1].items() if b[1].get(v, 0) > 1e-12} for a, b in both]
    assert found.in_both == len(both)
    assert found.one_value == pytest.approx(sum(len(values) == 1 for values in left) / len(both))
    assert found.below_k == pytest.approx(sum(sum(values.values()) < 3 - 1e-9 for values in left) / len(both))
    assert found.values_left == pytest.approx(sum(map(len, left)) / len(both))
    right = sum(len(values) == 1 and pair[0][2] in values for values, pair in zip(left, both, strict=True))
    assert found.rightly_exposed == pytest.approx(right / len(both))


@pytest.mark.parametrize("name", ["mondrian", "buckets", "diffgen"])
@FEW
@given(records=tables(least=20), level=st.sampled_from([1, 2]))
def test_queries_count_the_records_that_have_one_of_the_codes(name, level, records):
    for clinic, release in releases(records, level, [name]):
        evidence = evidence_of_bundle(clinic.declared, release)
        error = MEASURES["query-error"](queries=40, qd=2)
        if error.refuses(evidence) is not None:
            continue
        asked, true = evidence.kept[error._key()]
        rows = plain.rows_of(release, "ill")
        estimated = error._answers(evidence).estimated
        nodes, wards, ills = plain.LEVELS[level], list(WARDS), list(ILLS)
        by = asked.predicates
        for query in range(asked.queries):
            wards_of = _picked(by["ward"], query, wards)
            codes_of = _picked(by["codes"], query, nodes)
            ills_of = _picked(by["ill"], query, ills)
            wish = None if codes_of is None else frozenset().union(*(plain.UNDER[n] for n in codes_of))
            here = sum(
                (wards_of is None or w in wards_of) and (wish is None or bool(c & wish)) and (i in ills_of)
                for w, c, i in records
            )
            assert true[query] == pytest.approx(here)
            guess = sum(
                row.weight
                * (1.0 if wards_of is None else _share(row.ward, wards_of))
                * (1.0 if wish is None else plain.chance(row.codes, wish))
                * sum(share for ill, share in row.values.items() if ill in ills_of)
                for row in rows
            )
            assert estimated[query] == pytest.approx(guess, abs=1e-6)


def _picked(predicate, query, names):
    place = np.flatnonzero(predicate.queries == query)
    return (
        None if not len(place) else {n for n, inside in zip(names, predicate.member[place[0]], strict=True) if inside}
    )


def _share(ward, wanted):
    return len(wanted) / len(WARDS) if ward == "Any" else float(ward in wanted)


@pytest.mark.parametrize(
    "method", [sf.Mondrian(k=2), sf.Anatomy(l=2), sf.DiffGen(epsilon=20, h=3)], ids=lambda m: m.name
)
@FEW
@given(records=tables(), level=st.sampled_from([1, 2]))
def test_sensitive_sets_are_told_apart_as_the_release_does(method, level, records):
    groups = method.name != "diffgen"
    clinic = study(records, level, "insensitive" if groups else "class", codes="sensitive")
    release = made(clinic, method)
    if release is None:
        return
    tables = list(release.to_tables().values()) if groups else [release.to_arrow()]
    text = {t for table in tables if "codes" in table.column_names for t in table["codes"].to_pylist()}
    labels = [plain.region(t) for t in text]

    def as_told(codes):
        return next((n for n in labels if plain.within(codes, n)), "elsewhere")

    prior = plain.shares(Counter(as_told(codes) for _, codes, _ in records))
    lines = tables[0].to_pylist()
    pools = {}
    if method.name == "anatomy":
        buckets = {}
        for line in tables[1].to_pylist():
            buckets.setdefault(line["group"], Counter())[plain.region(line["codes"])] += line["count"]
        pools = {line["group"]: buckets[line["group"]] for line in lines}
    else:
        for line in lines:
            pools.setdefault(line["ward"], Counter())[plain.region(line["codes"])] += line.get("count", 1)
    worst = max(plain.js(prior, plain.shares(pool)) for pool in pools.values())
    found = clinic.measure(release, only=["ploss-li", "ploss", "guessed-values", "uloss"])
    assert found["ploss-li"].value == pytest.approx(worst, abs=1e-9)
    if groups:
        assert found["ploss"].value == found["ploss-li"].value
    elif labels == [None]:
        assert found["ploss"].value == 0, "nothing is published of the sets"
    if labels == [None]:
        assert "tells nothing" in found["guessed-values"].reason
    else:
        assert 0 <= found["guessed-values"].value <= 1
    assert isinstance(found["uloss"], Reading)


@pytest.mark.parametrize("name", [*GROUPS, *COUNTS])
def test_a_bundle_says_what_its_draft_says(name):
    rng = np.random.default_rng(7)
    drawn = zip(rng.choice(WARDS, 90), rng.random((90, len(LEAVES))) < 0.2, rng.choice(ILLS, 90), strict=True)
    records = [(str(w), frozenset(np.array(LEAVES)[h].tolist()), str(i)) for w, h, i in drawn]
    groups = name in GROUPS
    clinic = study(records, 2, "sensitive" if groups else "class")
    published = clinic.release(GROUPS[name] if groups else COUNTS[name], out="out", report=False)
    drafted = evidence_of_draft(clinic.declared, None, published.draft)
    said = measure(
        evidence_of_bundle(clinic.declared, published.bundle),
        ["ploss", "own-record-loss", "uloss", "query-error", "cell-kl"],
    )
    for one, reading in measure(drafted, said).items():
        if name == "cap" and one == "own-record-loss":
            assert reading == said[one] and "sample" in reading.reason
            continue
        assert reading.value == pytest.approx(said[one].value, abs=1e-9), one


@lru_cache(maxsize=100)
def counted(records, level, role):
    """What a measure works with; every measure gets the same few tables, so each is counted by the engine once."""
    clinic = study(records, level, "class" if role == "sensitive" else "sensitive", codes=role)
    view = measuring_view(clinic.declared)
    return view, raw_records(clinic.declared, view)


@pytest.mark.parametrize("role", ["quasi_identifier", "sensitive", "insensitive"])
@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=tables(), level=st.sampled_from([1, 2, None]))
def test_everything_loses_no_utility_and_nothing_no_privacy(name, role, records, level):
    view, raw = counted(tuple(records), level, role)
    one = MEASURES[name]()
    read = {}
    for show in (everything_published, nothing_published):
        evidence = Evidence(view=view, raw=raw.cells, shown=show(view, raw.cells, raw.sets), sets=raw.sets)
        reason = one.refuses(evidence)
        if reason is None:
            read[show] = one.read(evidence).value
            low, high = one.bounds
            assert (low is None or read[show] >= low - 1e-9) and (high is None or read[show] <= high + 1e-9)
        else:
            assert len(reason.split()) > 2 and not reason.endswith(".")
    if len(read) == 2 and one.kind == "utility loss":
        assert read[everything_published] <= read[nothing_published] + 1e-9
        exact = {"uloss", "query-error", "query-error-small", "query-error-large", "cell-kl", "marginals-1",
                 "marginals-2", "general-loss", "distortion", "histogram-kl", "histogram-city-block"}  # fmt: skip
        if name in exact:
            assert read[everything_published] == pytest.approx(0, abs=1e-9)
    if len(read) == 2 and one.kind == "privacy loss" and name != "own-record-loss":  # see the contract of measures
        assert (
            read[nothing_published] == pytest.approx(0, abs=1e-9)
            and read[nothing_published] <= read[everything_published] + 1e-9
        )


def test_a_measure_that_cannot_take_sets_refuses_by_itself():
    tree = {"Any": {f"{n:02}*": [f"{n:02}{k}" for k in range(9)] for n in range(20)}}
    leaves = [leaf for below in tree["Any"].values() for leaf in below]
    rng = np.random.default_rng(3)
    records = [
        (str(rng.choice(WARDS)), frozenset(rng.choice(leaves, 3, replace=False).tolist()), "flu") for _ in range(200)
    ]
    clinic = study(records, None, "class", taxonomy=tree)
    found = clinic.measure(
        clinic.release(sf.DiffGen(epsilon=1_000, h=2), out="out", report=False)
    )  # all groups are listed
    assert "'codes' may hold any of too many sets" in found["cell-kl"].reason
    for name in ("ploss", "uloss", "query-error", "marginals-2", "general-loss", "classification-loss"):
        assert isinstance(found[name], Reading), name


def test_another_taxonomy_is_noticed(tmp_path):
    records = [("a", frozenset(["15"]), "flu"), ("b", frozenset(["31", "HIV"]), "cold")] * 10
    clinic = study(records, 2)
    groups, counts = (
        made(clinic, sf.Mondrian(k=5)),
        made(study(records, 2, "class"), sf.ContingencyTable(epsilon=5, threshold=1)),
    )
    other = {"Any": {"1*": ["15", "16", "17"], "3*": ["31", "32", "33"], "5*": ["51", "HIV"]}}
    for release, role in ((groups, "sensitive"), (counts, "class")):
        with raises_code(StudyError, "SF-STUDY-217", match="'codes'"):
            study(records, 2, role, taxonomy=other).measure(release)
    with raises_code(StudyError, "SF-STUDY-217", match="'codes'"):
        study(records, 1, "class").measure(counts)
    # Codes that were read off the table are not in the bundle: its names of sets alone have to do.
    read_off = made(study(records, 2, domain="observed"), sf.Mondrian(k=5))
    assert isinstance(study(records, 2, domain="observed").measure(read_off)["uloss"], Reading)
    for level, tree in ((1, TREE), (2, {"Any": {"1*": ["5", "6"], "3*": ["3", "2"]}})):
        with raises_code(StudyError, "SF-STUDY-111", match="'codes' is published with sets that do not match"):
            study(records, level, taxonomy=tree, outside="keep").measure(read_off)


def test_a_sweep_compares_groups_with_noisy_counts_on_sets(monkeypatch):
    rng = np.random.default_rng(11)
    held = rng.random((400, len(LEAVES))) < [0.5, 0.2, 0.1, 0.3, 0.1, 0.05, 0.02]
    sick = np.where(held[:, 3] ^ (rng.random(400) < 0.1), "flu", "cold")
    records = [
        (str(rng.choice(WARDS)), frozenset(np.array(LEAVES)[h].tolist()), str(s))
        for h, s in zip(held, sick, strict=True)
    ]
    clinic = study(records, 1, "class")
    sweep = sf.sweep("mondrian", k=[2, 20]) + sf.sweep("diffgen", epsilon=[5], h=2)
    found = sf.frontier(clinic, sweep, measures=["query-error"], workers=1)
    assert not found.failures and len(found.points) == 3
    draft = clinic.measure(clinic.release(sf.Mondrian(k=20), out="out", report=False), only=list(found.axes))
    assert list(found.axes) == ["ploss", "uloss", "query-error", "own-record-loss"], "as groups and noise are compared"
    for name, value in found.points[1].numbers.items():
        assert value == pytest.approx(draft[name].value, abs=1e-9)
    least, most = found.baselines
    assert most.numbers["uloss"] == 0 and least.numbers["ploss"] == 0
    monkeypatch.setattr(running, "_SMALL", 0)  # other processes at once
    asked = ["query-error", "own-record-loss"]
    apart = sf.frontier(clinic, sf.sweep("mondrian", k=[2, 20]), measures=asked, workers=2)
    assert [dict(p.numbers) for p in apart.points] == [dict(p.numbers) for p in found.points[:2]]
    no_level = study(records, None, "class")
    found = sf.frontier(no_level, sweep, workers=1)
    assert len(found.points) == 1 and all("declare it: `level: 1`" in why for _, why in found.failures)


def test_a_sweep_of_another_table_with_the_same_codes_is_made_anew(tmp_path):
    """Codes of sets are places: two tables may have the same ones for different sets."""

    def clinic(one, two):
        records = [("a", frozenset([one]), "flu")] * 20 + [("b", frozenset([two]), "cold")] * 20
        return study(records, 2)

    sweep = sf.sweep("mondrian", k=[5])
    first = sf.frontier(clinic("15", "16"), sweep, folder=tmp_path / "points", workers=1)
    again = sf.frontier(clinic("15", "31"), sweep, folder=tmp_path / "points", workers=1)
    assert len(list((tmp_path / "points" / "points").glob("*.json"))) == 6
    assert len(first.points) == len(again.points) == 1


def test_max_k_takes_sets():
    rng = np.random.default_rng(2)
    records = [
        (str(rng.choice(WARDS)), frozenset(rng.choice(LEAVES, 2).tolist()), str(rng.choice(ILLS))) for _ in range(300)
    ]
    found = study(records, 1).max_k(sf.ConfidenceCap(rate="0.9", attribute="ill", distortion="1"), between=(2, 50))
    assert found.k is not None and found.average >= 1
    [tried] = [t for t in found.tried if t.k == found.k]
    assert tried.broken == 0
