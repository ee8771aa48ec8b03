"""Releases of tables with sets of codes, from the study to what a receiver does with them."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import StudyError, UsageError, VerifyError
from sfumato.release.release import Release
from sfumato.release.verify import verify_bundle
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(1e-30, reason="any noise at all, at an ε of 100 or more")

TREE = {"Any": {"1*": ["15", "16", "17"], "3*": ["31", "32"], "5*": ["51", "52"]}}
RNG = np.random.default_rng(5)
SIZE = 3_000
LEAVES = ["15", "16", "17", "31", "32", "51"]
HELD = RNG.random((SIZE, 6)) < [0.5, 0.2, 0.1, 0.3, 0.1, 0.05]
SICK = HELD[:, 3] ^ (RNG.random(SIZE) < 0.1)
CODES = [";".join(np.array(LEAVES)[row]) for row in HELD]
AGES = RNG.integers(20, 60, SIZE)


def table(**more):
    columns = {"age": AGES, "codes": CODES, "sick": np.where(SICK, "yes", "no"), "who": np.arange(SIZE) // 2}
    return pa.table({**columns, **more})


def study(source=None, unit="record", budget="1000000", role="quasi_identifier", ages=None, **fields):
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": table() if source is None else source,
            "privacy": {"budget": budget, "unit": unit},
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [20, 59], **(ages or {})},
                "codes": {"role": role, "type": "set", "taxonomy": TREE, **fields},
                "sick": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def released(method, **fields):
    published = study(**fields).release(method, out="out", report=False)
    assert verify_bundle("out").ok
    return published.open()


def test_a_release_of_sets_is_used_without_its_owner(folder):
    release = released(sf.DiffGen(epsilon=100_000, h=3))
    cut = release.cuts["codes"]
    assert cut.total >= 8
    texts = set(release.to_arrow()["codes"].to_pylist())
    assert "3*" in " ".join(texts) and "(none)" in texts
    X, y, w = release.to_training()  # noqa: N806 - as scikit-learn calls it
    names = list(release.features.names)
    assert [name for name in names if name.startswith("codes=")] == [
        f"codes={release.domains['codes'].label(*node)}" for node in cut.ranges
    ]
    # The encoder puts raw records where the release put them: weights of rows are counts of records.
    encoded = release.encoder().transform(table())
    rows, counts = np.unique(np.column_stack([encoded, SICK]), axis=0, return_counts=True)
    told, places = np.unique(np.column_stack([X, y == "yes"]).astype(float), axis=0, return_inverse=True)
    assert np.array_equal(rows, told)
    assert np.array_equal(counts, np.bincount(places.ravel(), weights=w).astype(int))
    readme = (folder / "out" / "bundle" / "README.md").read_text()
    assert "**A set** such as `1*, 3*`" in readme and "sets of codes in" in readme


def test_queries_count_records_that_contain_a_node():
    release = released(sf.ContingencyTable(epsilon=100_000))
    assert release.cuts["codes"].total == 2**7
    held = {label: HELD[:, place] for place, label in enumerate(LEAVES)}
    some = held["15"] | held["16"] | held["17"]
    for text, truth in (
        ("codes contains 31", held["31"]),
        ("codes = 31", held["31"]),
        ("codes contains 1*", some),
        ("not codes contains 1*", ~some),
        ("codes != 1*", ~some),
        ("codes in (31, 51)", held["31"] | held["51"]),
        ("codes contains 31 and codes contains 15 and sick = yes", held["31"] & held["15"] & SICK),
        ("codes contains 31 or codes contains 15", held["31"] | held["15"]),
        ("codes contains 31 or not codes contains 31", np.ones(SIZE, bool)),
        ("codes = '(none)'", ~HELD.any(axis=1)),
        ("codes contains Any", HELD.any(axis=1)),
        ("codes contains 31 and age < 40", held["31"] & (AGES < 40)),
    ):
        assert release.query(text).count == pytest.approx(truth.sum(), abs=1e-6), text
    for text, words in (
        ("age contains 31", "one value a record, not a set"),
        ("codes < 31", "no order"),
        ("codes contains 33", "no value '33'"),
    ):
        with pytest.raises(UsageError, match=words):
            release.query(text)


def test_of_a_node_below_the_cut_a_query_tells_how_likely_it_is():
    release = released(sf.ContingencyTable(epsilon=100_000), level=1)
    ones = HELD[:, :3].any(axis=1).sum()
    assert release.query("codes contains 1*").count == pytest.approx(ones)
    assert release.query("codes contains 15").count == pytest.approx(ones / 3)


def test_plain_records_have_a_code_under_each_node():
    release = released(sf.ContingencyTable(epsilon=100_000), level=1)
    drawn = release.sample(seed=3)
    known = release.domains["codes"]
    regions = release.cuts["codes"].regions(known.encode(drawn["codes"].to_pylist()))
    truth = release.cuts["codes"].regions(known.encode(CODES))
    assert np.array_equal(np.bincount(regions), np.bincount(truth))


def test_sets_joined_from_columns_are_found_again_by_the_encoder():
    first = np.where(HELD[:, 0], "15", "16")
    second = [None if n % 3 else "31" for n in range(SIZE)]
    source = table(p=first, q=pa.array(second))
    release = released(sf.ContingencyTable(epsilon=100_000), source=source, columns=["p", "q"])
    assert release.cuts["codes"].total == 1 + 7 + 21  # at most two codes of seven
    joined = release.encoder().transform(source.drop_columns(["codes"]))
    lists = release.encoder().transform(
        pa.table({"age": AGES, "codes": [[a, b] for a, b in zip(first, second, strict=True)]})
    )
    assert np.array_equal(joined, lists) and joined.sum() > 0
    frame = source.drop_columns(["codes"]).to_pandas()
    assert np.array_equal(release.encoder().transform(frame), joined)


def test_a_changed_set_is_found(folder):
    released(sf.ContingencyTable(epsilon=100_000), level=1)
    path = folder / "out" / "bundle" / "data.csv"
    path.write_text(path.read_text().replace('"1*, 3*"', '"3*, 1*"', 1))
    assert not verify_bundle("out").ok
    path = folder / "out" / "bundle" / "manifest.json"
    path.write_text(path.read_text().replace('"nodes"', '"starts"', 1))
    with pytest.raises(VerifyError):
        Release.open("out")


@pytest.mark.usefixtures("seeded")
def test_plan_check_worth_and_audit_know_sets():
    clinic = study(unit={"person": "who", "at_most": 2})
    assert clinic.plan(sf.DiffGen(epsilon=1, h=2)).fits
    strange = study(source=table(codes=["15;zz", *CODES[1:]]))
    [report] = [found for found in strange.check() if found.attribute == "codes"]
    assert (report.outside, report.values) == (1, ("zz",))
    found = clinic.accuracy(sf.DiffGen(epsilon=100_000, h=4, score="gini"), runs=1)
    assert found.ca.mean > found.la.mean + 0.1 and found.ba.mean > 0.85
    assert clinic.audit(sf.DiffGen(epsilon=1, h=1), runs=400).lower_bound <= 1


def test_a_release_of_hundreds_of_codes_is_made_and_read(folder):
    """Numbers of regions far beyond machine integers go through the whole way."""
    tree = {"Any": {f"{n:02}*": [f"{n:02}{k}" for k in range(9)] for n in range(20)}}
    leaves = [leaf for below in tree["Any"].values() for leaf in below]
    codes = [";".join(RNG.choice(leaves, 3, replace=False)) for _ in range(SIZE)]
    release = released(sf.ContingencyTable(epsilon=100_000), source=table(codes=codes), taxonomy=tree)
    assert release.cuts["codes"].total == 2**180
    assert release.groups.regions.dtype == object
    X, _, _ = release.to_training()  # noqa: N806 - as scikit-learn calls it
    assert X.shape == (len(release.groups), 181)
    assert len(release.sample(50, seed=1)) == 50
    assert release.query("codes contains 00* and age < 40").count >= 0


GROUPS = [
    sf.Mondrian(k=5),
    sf.FullDomain(k=5, suppress="0.2"),
    sf.Tds(k=5),
]


@pytest.mark.parametrize("method", GROUPS, ids=lambda m: m.name)
def test_methods_on_groups_publish_sets_of_nodes_at_the_level(method):
    release = released(method, level=1, ages={"taxonomy": {"intervals": {"width": 10}}})
    texts = [text for text in release.to_arrow()["codes"].to_pylist() if text]
    assert set(texts) <= {"Any", "(none)", "1*", "3*", "5*", "1*, 3*", "1*, 5*", "3*, 5*", "1*, 3*, 5*"}
    if method.name == "mondrian":
        assert "1*, 3*" in texts


def test_a_memory_limit_of_the_built_in_engine_refuses_no_sets(folder, monkeypatch):
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 2)
    done = study(level=1).release(sf.Mondrian(k=5), out="out", report=False, memory_limit="1GB")
    assert done.rows > 2


def test_two_levels_are_a_taxonomy_of_sets():
    release = released(sf.Mondrian(k=20), level=2, role="insensitive")
    tree = release.domains["codes"].taxonomy
    above = {tree.labels[node]: tree.labels[tree.parents[node]] for node in range(1, len(tree.labels))}
    assert above["15, 31"] == "1*, 3*" and above["1*, 3*"] == "Any" and above["(none)"] == "(none)"


@pytest.mark.usefixtures("seeded")
def test_capped_confidence_takes_sets():
    release = released(sf.ConfidenceCap(rate="0.9", attribute="codes"), level=1, role="sensitive")
    assert "1*" in release.to_arrow()["codes"].to_pylist()


@pytest.mark.parametrize(
    "method",
    [sf.Bucketization(privacy={"probabilistic-l-diversity": "1.5"}), sf.Anatomy(l=2)],
    ids=lambda m: m.name,
)
def test_buckets_hold_sets_of_nodes_at_the_level(method):
    release = released(method, level=1, role="sensitive")
    files = release.path.glob("*.csv")
    assert any("1*, 3*" in file.read_text() for file in files)


def test_methods_on_groups_need_a_level():
    with raises_code(StudyError, "SF-STUDY-017"):
        study().plan(sf.Mondrian(k=5))
    with raises_code(StudyError, "SF-STUDY-017"):
        study().release(sf.Mondrian(k=5), out="out", report=False)


def test_codes_of_sets_keep_their_dictionary_in_another_process():
    codes = study().declared.attribute("codes").domain.encode(CODES[:20])
    there = pickle.loads(pickle.dumps(codes[3:9]))
    assert there.tolist() == codes[3:9].tolist()
    assert there.sets.leaves.tolist() == codes.sets.leaves.tolist()


@pytest.mark.parametrize(
    ("role", "workers"),
    [
        ("quasi_identifier", 1),
        ("insensitive", 1),
        pytest.param("quasi_identifier", 2, marks=pytest.mark.slow),
        pytest.param("insensitive", 2, marks=pytest.mark.slow),
    ],
)
@pytest.mark.error_rate(0, reason="seeded here; of what the other processes draw nothing is looked at")
@pytest.mark.usefixtures("seeded")
def test_worth_of_every_classifier_and_in_processes(role, workers):
    clinic = study(role=role)
    method = sf.DiffGen(epsilon=100_000, h=4, score="gini")
    here = clinic.accuracies(method, runs=2)
    assert all(found.ca.mean > found.la.mean and found.ba.mean > 0.85 for found in here.values()), here
    again = clinic.accuracy(method, runs=2, workers=workers)
    assert again.ba.runs == here["decision-tree"].ba.runs


@pytest.mark.usefixtures("seeded")
def test_worth_of_groups_learns_from_sets_of_nodes_and_baseline_from_codes():
    found = study(level=1).accuracies(sf.Mondrian(k=5), runs=2, classifiers=["decision-tree", "naive-bayes"])
    # BA sees the code 31 itself, Mondrian's groups no more than 3*: the class follows 31.
    assert found["decision-tree"].ba.mean > 0.85 > found["decision-tree"].ca.mean > found["decision-tree"].la.mean
    same = study().accuracy(sf.DiffGen(epsilon=1, h=1), runs=2)
    assert same.ba.runs == found["decision-tree"].ba.runs


@pytest.mark.parametrize("role", ["quasi_identifier", "sensitive", "insensitive"])
def test_the_owners_report_tells_of_sets(folder, role):
    study(role=role).release(sf.DiffGen(epsilon=100_000, h=4, score="gini", post="none"), out="out")
    report = next((folder / "out").rglob("report.html")).read_text()
    assert "<title>codes: " in report and "age, before and after" in report
    assert ("codes, before and after" in report) == (role != "insensitive")
    assert "Not measured" in report and "of the largest possible divergence. A small mean" in report


@pytest.mark.usefixtures("seeded")
def test_the_owners_report_of_sets_alone(folder):
    alone = sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": table(),
            "privacy": {"budget": 10},
            "attributes": {
                "codes": {"role": "quasi_identifier", "type": "set", "taxonomy": TREE},
                "sick": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )
    alone.release(sf.DiffGen(epsilon=1, h=1), out="out")
    report = next((folder / "out").rglob("report.html")).read_text()
    assert "The share of records that have a code under each node" in report and "A random count query" in report


def test_the_owners_report_of_groups_measures_sets_as_categories(folder):
    study(level=1).release(sf.Mondrian(k=5), out="out")
    report = next((folder / "out").rglob("report.html")).read_text()
    assert "codes, before and after" in report and "1*, 3*" in report and "not work with sets" not in report


def test_questions_and_filters_do_not_look_at_sets():
    clinic = study()
    assert clinic.ask("age < 40", epsilon=100).count == pytest.approx((AGES < 40).sum(), abs=3)
    assert clinic.ask("", epsilon=100).count == pytest.approx(SIZE, abs=3)
    for text in ("codes contains 31", "codes = 31", "not codes in (31, 51)"):
        with raises_code(UsageError, "SF-USAGE-019", match="'codes' has sets of codes"):
            clinic.ask(text, epsilon=1)
    with raises_code(StudyError, "SF-STUDY-211", match="'codes' has sets of codes"):
        clinic.ask("", by="codes", epsilon=1)


def test_all_records_are_counted_where_there_are_sets_alone():
    source = pa.table({"p": ["15", "zz", None, "16"], "q": ["31", None, None, "15"]})
    codes = {"role": "quasi_identifier", "type": "set", "taxonomy": TREE, "columns": ["p", "q"]}
    clinic = sf.Study.from_mapping(
        {"name": "clinic", "source": source, "privacy": {"budget": 1000}, "attributes": {"codes": codes}}
    )
    assert clinic.ask("", epsilon=100).count == pytest.approx(4, abs=2)


def test_a_release_of_some_records_counts_their_sets():
    mapping = {
        "name": "clinic",
        "source": table(),
        "privacy": {"budget": "1000000"},
        "attributes": {
            "age": {"role": "quasi_identifier", "type": "integer", "bounds": [20, 59]},
            "codes": {"role": "quasi_identifier", "type": "set", "taxonomy": TREE, "level": 1},
            "sick": {"role": "class", "values": ["no", "yes"]},
        },
        "purposes": {"young": {"attributes": ["age", "codes", "sick"], "where": {"age": ["[20, 40)"]}}},
    }
    clinic = sf.Study.from_mapping(mapping)
    young = AGES < 40
    release = clinic.release(sf.ContingencyTable(epsilon=100_000), purpose="young", out="counts", report=False).open()
    assert release.query("codes contains 1*").count == pytest.approx((HELD[:, :3].any(axis=1) & young).sum(), abs=1e-6)
    groups = clinic.release(sf.Mondrian(k=5), purpose="young", out="groups", report=False).open()
    assert len(groups.to_arrow()) == young.sum()
    mapping["purposes"] = {"ones": {"attributes": ["age", "sick"], "where": {"codes": ["1*"]}}}
    with raises_code((StudyError, UsageError), "SF-USAGE-019", match="'codes' has sets of codes"):
        sf.Study.from_mapping(mapping).plan(sf.DiffGen(epsilon=1), purpose="ones")
