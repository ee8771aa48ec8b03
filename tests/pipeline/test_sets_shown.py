"""No file of a release in groups names a set of codes that no published record shows."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import StudyError
from sfumato.publish import verify_bundle

TREE = {"Any": {"1*": ["15", "16", "17"], "3*": ["31", "32"], "5*": ["51", "HIV"]}}
LEAVES = ["15", "16", "17", "31", "32", "51", "HIV"]


def study(codes, role="quasi_identifier", seed=0, level=2, sick="sensitive", **fields):
    rng = np.random.default_rng(seed)
    size = len(codes)
    source = pa.table(
        {
            "age": rng.integers(20, 60, size),
            "codes": codes,
            "sick": rng.choice(["no", "yes", "perhaps"], size),
            "kind": rng.choice(["a", "b"], size),
        }
    )
    ages = {"type": "integer", "bounds": [20, 59], "taxonomy": {"intervals": {"width": 10}}}
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": source,
            "privacy": {"budget": 10},
            "attributes": {
                "age": {"role": "quasi_identifier", **ages},
                "codes": {"role": role, "type": "set", "taxonomy": TREE, "level": level, **fields},
                "sick": {"role": sick, "values": ["no", "yes", "perhaps"]},
                "kind": {"role": "class", "values": ["a", "b"]},
            },
        }
    )


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown_alone(clinic, method, out="out"):
    """Release, verify, and check all names; the release and the texts that it shows."""
    release = clinic.release(method, out=out).open()
    assert verify_bundle(out).ok
    texts = texts_of(release)
    tree = release.domains["codes"].taxonomy
    known = with_ancestors(tree, texts)
    assert texts <= set(tree.labels) <= known | {f"(other sets in {text})" for text in texts}
    manifest = json.loads((release.path / "manifest.json").read_text())
    [told] = [a for a in manifest["attributes"] if a["name"] == "codes"]
    assert set(tree.labels) <= set(json.dumps(told, ensure_ascii=False).split('"'))
    facts = manifest["method"]["facts"].get("specializations", ())
    assert {fact.removeprefix("codes: ") for fact in facts if fact.startswith("codes: ")} <= known
    assert enumerated(release) <= known
    return release, texts


def texts_of(release):
    tables = [pq.read_table(file) for file in release.path.glob("*.parquet")]
    return {text for t in tables if "codes" in t.column_names for text in t["codes"].to_pylist() if text is not None}


def with_ancestors(tree, labels):
    kept = {node for node, label in enumerate(tree.labels) if label in labels}
    for node in range(len(tree.labels) - 1, 0, -1):
        if node in kept:
            kept.add(tree.parents[node])
    return {tree.labels[node] for node in kept}


def enumerated(release):
    package = json.loads((release.path / "datapackage.json").read_text())
    fields = [field for resource in package["resources"] for field in resource.get("schema", {}).get("fields", ())]
    return {text for f in fields if f["name"] == "codes" for text in f["constraints"].get("enum", ())}


def words(release):
    return "".join(file.read_text() for file in release.path.iterdir() if file.suffix != ".parquet")


RARE = ["31;HIV" if n == 77 else "15" if n % 2 else "16" for n in range(200)]


@pytest.mark.parametrize(
    "method",
    [
        sf.Mondrian(k=5),
        sf.FullDomain(k=5),
        sf.FullDomain(k=5, suppress="0.05"),
        sf.Mondrian(k=5, suppress="0.05"),
        sf.Tds(k=5),
    ],
    ids=repr,
)
def test_a_set_of_one_record_is_named_nowhere(method):
    release, _ = shown_alone(study(RARE), method)
    assert "HIV" not in words(release) and "31" not in release.domains["codes"].taxonomy.labels


def test_a_set_that_was_not_drawn_is_named_nowhere():
    for seed in range(3):
        for role, method in (
            ("quasi_identifier", sf.ConfidenceCap(rate="0.5", attribute="sick")),
            ("insensitive", sf.ConfidenceCap(rate="0.5", attribute="sick")),
            ("sensitive", sf.ConfidenceCap(rate="0.5", attribute="codes")),
        ):
            release, texts = shown_alone(study(RARE, role, seed), method, out=f"{role}{seed}")
            assert ("HIV" in words(release)) == ("31, HIV" in texts)


@pytest.mark.parametrize("seed", range(4))
def test_all_names_are_shown_in_tables_drawn_at_random(seed):
    rng = np.random.default_rng(seed)
    held = rng.random((300, len(LEAVES))) < rng.choice([0.02, 0.1, 0.4], len(LEAVES))
    codes = [";".join(np.array(LEAVES)[row]) for row in held]
    level = 1 + seed % 2
    for number, method in enumerate(
        [
            sf.Mondrian(k=4),
            sf.Mondrian(k=4, ranges="tight", suppress="0.1", promise={"t-closeness": "0.4"}),
            sf.Mondrian(k=4, strict=False),
            sf.FullDomain(k=4, suppress="0.2"),
            sf.Tds(k=4),
            sf.ConfidenceCap(rate="0.5", attribute="sick"),
            sf.Bucketization(promise={"probabilistic-l-diversity": "1.5"}),
            sf.Anatomy(l=2),
        ]
    ):
        shown_alone(study(codes, seed=seed, level=level), method, out=f"out{number}")
    hierarchical = {"t-closeness": {"t": "0.6", "distance": "hierarchical", "attribute": "codes"}}
    for number, method in enumerate(
        [
            sf.Mondrian(k=4, suppress="0.1", promise=hierarchical),
            sf.FullDomain(k=4, suppress="0.2", promise=hierarchical),
            sf.Bucketization(promise={"probabilistic-l-diversity": {"l": "1.2", "attribute": "codes"}}),
        ]
    ):
        shown_alone(study(codes, "sensitive", seed, level, sick="insensitive"), method, out=f"sensitive{number}")


def test_a_set_is_not_put_in_order_and_has_no_given_shares(folder):
    for ordered in ("all", ("codes",)):
        for doing in ("plan", "release"):
            with pytest.raises(StudyError, match="sets of codes have no order"):
                getattr(study(RARE), doing)(sf.Mondrian(k=5, ordered=ordered))
    (folder / "people.csv").write_text('attribute,value,share\ncodes,"31, HIV",0.1\n')
    with pytest.raises(StudyError, match="shares are given for 'codes'"):
        study(RARE).release(sf.ConfidenceCap(rate="0.5", attribute="sick", population="people.csv"), out="out")
