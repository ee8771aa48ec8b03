"""No file of a release in groups names a set of codes that no published record shows."""

import json
import re
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.domains.json_form import domain_to_json
from sfumato.errors import StudyError
from sfumato.release.verify import verify_bundle
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

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
    release = clinic.release(method, out=out, report=False).open()
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
    """All that the bundle says, but for the codes that the owner declared: those are the same for any table."""
    manifest = json.loads((release.path / "manifest.json").read_text())
    [told] = [a for a in manifest["attributes"] if a["name"] == "codes"]
    assert told.pop("sets", None) in (None, domain_to_json(study(["15"]).declared.attribute("codes").domain))
    rest = [file for file in release.path.iterdir() if file.suffix != ".parquet" and file.name != "manifest.json"]
    return json.dumps(manifest) + "".join(without_declared_codes(file.read_text()) for file in rest)


def without_declared_codes(text):
    """A page counts the codes that the owner declared, whether a record has them or not: in one figure."""
    found = re.sub(r"<figure[^>]*><figcaption><h3[^>]*><bdi>codes</bdi>.*?</figure>", "", text, flags=re.DOTALL)
    assert (found != text) == ("<bdi>codes</bdi></h3>" in text)
    return found


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


def test_the_facts_of_a_search_tell_nothing_of_sets_that_are_not_published():
    """Two tables that are published alike: in one a single record has a set of its own, in the other thirty do."""
    rng = np.random.default_rng(9)
    many = ["31;HIV" if n == 77 else "15" if n % 2 else "16" for n in range(200)]
    for place in range(40, 70):
        many[place] = ";".join(sorted(set(rng.choice(LEAVES, 4).tolist())))
    facts = []
    for number, codes in enumerate((RARE, many)):
        release, texts = shown_alone(study(codes), sf.FullDomain(k=5), out=f"out{number}")
        assert texts == {"Any"}
        facts.append(json.loads((release.path / "manifest.json").read_text())["method"]["facts"])
    assert facts[0] == facts[1]
    ages = 1.0 if facts[0]["levels"]["age"] else 9 / 39  # any age, or one of four intervals of ten years
    assert facts[0]["loss"] == pytest.approx((ages + 1.0) / 2)  # nothing is left of the codes
    notes = json.loads((release.path.parent / "owner" / "draft.json").read_text())
    assert notes["facts"]["nodes"] > 1  # the owner has the rest


def test_codes_that_were_read_off_the_table_are_not_published():
    """An owner who took the codes from the table has named those of single records: they stay with her."""
    release, _ = shown_alone(study(RARE, domain="observed"), sf.Mondrian(k=5))
    assert "HIV" not in (release.path / "manifest.json").read_text() and "HIV" not in words(release)
    assert release.layout.columns[1].sets is None
    # Without the codes, sets are asked for by the names that they are published by, as before.
    names = [name for name in release.domains["codes"].taxonomy.leaves if not name.startswith("(other")]
    found = release.encoder().transform(pa.table({"age": [30], "codes": names[:1], "sick": ["no"]}))
    assert found[0, [name.startswith("codes=") for name in release.features.names]].sum() == 1


def test_a_set_that_was_not_drawn_is_named_nowhere():
    for seed in range(3):
        for role, method in (
            ("quasi_identifier", sf.ConfidenceCap(rate="0.5", attribute="sick")),
            ("insensitive", sf.ConfidenceCap(rate="0.5", attribute="sick")),
            ("sensitive", sf.ConfidenceCap(rate="0.5", attribute="codes")),
        ):
            release, texts = shown_alone(study(RARE, role, seed), method, out=f"{role}{seed}")
            assert ("HIV" in words(release)) == ("31, HIV" in texts)


def test_a_cap_holds_as_well_where_most_sets_are_not_named():
    """Nearly two thousand sets of one record each are published as `1*`, which is nearly as wide as the root.

    Twenty records have the code 31. Ten of them have an illness of their own and end at the root: the shares that the
    release shows of 31 are then what the other ten stand or fall with, and they must be the same before and after the
    tree is cut down to what is published.
    """
    ones = [f"1{letter}" for letter in "abcdefghijkl"]
    tree = {"Any": {"1*": ones, "3*": ["31", "32"], "5*": ["51", "52"]}}
    every = [
        ";".join(one for one, there in zip(ones, bits, strict=True) if there) for bits in product([0, 1], repeat=12)
    ]
    codes = [*every[1:1981], *["31"] * 20]
    ills = [*["flu"] * 297, *["cold"] * 1683, *["flu"] * 10, *(f"rare{n}" for n in range(10))]
    clinic = sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": pa.table({"codes": codes, "ill": ills}),
            "attributes": {
                "codes": {"role": "quasi_identifier", "type": "set", "taxonomy": tree, "level": 2},
                "ill": {"role": "sensitive", "values": sorted(set(ills))},
            },
        }
    )
    release = clinic.release(
        sf.ConfidenceCap(rate="0.9", attribute="ill", distortion="1"), out="out", report=False
    ).open()
    assert verify_bundle("out").ok and "1*" in texts_of(release)


@pytest.mark.parametrize(
    "seed", [0, 1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
def test_all_names_are_shown_in_tables_drawn_at_random(seed):
    rng = np.random.default_rng(seed)
    held = rng.random((300, len(LEAVES))) < rng.choice([0.02, 0.1, 0.4], len(LEAVES))
    codes = [";".join(np.array(LEAVES)[row]) for row in held]
    level = 1 + seed % 2
    for number, method in enumerate(
        [
            sf.Mondrian(k=4),
            sf.Mondrian(k=4, ranges="tight", suppress="0.1", privacy={"t-closeness": "0.4"}),
            sf.Mondrian(k=4, strict=False),
            sf.FullDomain(k=4, suppress="0.2"),
            sf.Tds(k=4),
            sf.ConfidenceCap(rate="0.5", attribute="sick"),
            sf.Bucketization(privacy={"probabilistic-l-diversity": "1.5"}),
            sf.Anatomy(l=2),
        ]
    ):
        shown_alone(study(codes, seed=seed, level=level), method, out=f"out{number}")
    hierarchical = {"t-closeness": {"t": "0.6", "distance": "hierarchical", "attribute": "codes"}}
    for number, method in enumerate(
        [
            sf.Mondrian(k=4, suppress="0.1", privacy=hierarchical),
            sf.FullDomain(k=4, suppress="0.2", privacy=hierarchical),
            sf.Bucketization(privacy={"probabilistic-l-diversity": {"l": "1.2", "attribute": "codes"}}),
        ]
    ):
        shown_alone(study(codes, "sensitive", seed, level, sick="insensitive"), method, out=f"sensitive{number}")


def test_a_set_is_not_put_in_order_and_has_no_given_shares(folder):
    for ordered in ("all", ("codes",)):
        for doing in ("plan", "release"):
            with raises_code(StudyError, "SF-STUDY-052"):
                getattr(study(RARE), doing)(sf.Mondrian(k=5, ordered=ordered))
    (folder / "people.csv").write_text('attribute,value,share\ncodes,"31, HIV",0.1\n')
    with raises_code(StudyError, "SF-STUDY-053", match="shares are given for 'codes'"):
        study(RARE).release(
            sf.ConfidenceCap(rate="0.5", attribute="sick", population="people.csv"), out="out", report=False
        )
