"""Bundles of records: what is published of each, and that it is all and nothing else."""

import csv
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from sfumato.domains.domain import Categories
from sfumato.domains.range_text import RangeTexts, range_text
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import PublishError
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.privacy.models import DistinctLDiversity, KAnonymity
from sfumato.release.forms.records import form as writing
from sfumato.release.forms.records.code_spans import is_sorted
from sfumato.release.forms.records.declared_layout import record_layout
from sfumato.release.forms.records.rows import records_of
from sfumato.release.forms.records.runs import Runs
from sfumato.release.partition import SUPPRESSED
from sfumato.release.release import Release
from sfumato.release.verify import verify_bundle
from tests.examples import examples
from tests.raising import raises_code
from tests.release.partitions import AGE, DAY, JOB, PAY, VIEW, draft_of, drafts, publish, small_draft

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

FORMS = ("generalised", "bucketized", "anatomy")


def read(path, name="data"):
    with (path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def raw_rows(draft, names):
    """The records of a draft that are not suppressed, as tuples of codes, one a record."""
    cells, kept = draft.partition.cells, draft.partition.group != SUPPRESSED
    places = [cells.attributes.index(name) for name in names]
    found = Counter()
    for row, count, keep in zip(cells.codes[:, places].tolist(), cells.counts.tolist(), kept, strict=True):
        if keep:
            found[tuple(row)] += count
    return found


def test_a_generalised_record_has_regions_and_exact_values(tmp_path):
    rows = read(publish(small_draft(), tmp_path).path)
    assert list(rows[0]) == ["age", "job", "ill", "income", "pay", "day"]
    assert rows[0] == {
        "age": "[20, 30)", "job": "Professional", "ill": "flu", "income": "<=50K", "pay": "1", "day": "2004-01-02",
    }  # fmt: skip
    assert rows[-1] == {
        "age": "(missing)", "job": "(missing)", "ill": "flu", "income": "<=50K", "pay": "0.7", "day": "2004-01-05",
    }  # fmt: skip
    assert len(rows) == 9


def test_parquet_has_numbers_as_numbers(tmp_path):
    table = pq.read_table(publish(small_draft(), tmp_path).path / "data.parquet")
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds == {
        "age": "string", "job": "string", "ill": "string", "income": "string", "pay": "double", "day": "date32[day]",
    }  # fmt: skip
    assert table.schema.metadata is None


def test_suppressed_records_say_that_they_are_and_nothing_else(tmp_path):
    path = publish(small_draft(suppressed=True), tmp_path).path
    rows = read(path)
    assert [row["suppressed"] for row in rows] == ["false"] * 6 + ["true"] * 3
    assert all(value == "" for row in rows[6:] for name, value in row.items() if name != "suppressed")
    assert verify_bundle(path).ok
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["records"] == {"published": 6, "suppressed": 3, "groups": 2, "smallest_group": 3}


def test_the_mark_is_there_only_where_suppression_was_allowed(tmp_path):
    assert "suppressed" not in read(publish(small_draft(), tmp_path / "without").path)[0]
    rows = read(publish(small_draft(), tmp_path / "allowed", suppression=True).path)
    assert {row["suppressed"] for row in rows} == {"false"}


@pytest.mark.parametrize("form", FORMS)
@settings(
    max_examples=examples(quick=10, slow=25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=drafts())
def test_every_record_is_published_once_and_reads_back(form, tmp_path_factory, data):
    draft = draft_of(
        np.column_stack([data.partition.cells.codes, data.partition.cells.counts]).tolist(),
        data.partition.group,
        np.stack([data.partition.boxes.starts, data.partition.boxes.stops], axis=2),
        form=form,
        models=(KAnonymity(k=1) if form == "generalised" else DistinctLDiversity(l=1),),
    )
    path = publish(draft, tmp_path_factory.mktemp("out"), suppression=True).path
    found = verify_bundle(path)
    assert found.ok, [check.detail for check in found.checks if not check.ok]
    release = Release.open(path)
    records = release.records
    assert records.suppressed == draft.partition.suppressed
    exact = ["income", "pay", "day"] + (["age", "job"] if form != "generalised" else ["ill"])
    codes = {name: records.columns[name].starts[records.columns[name].places] for name in exact}
    assert Counter(zip(*(codes[name].tolist() for name in exact), strict=True)) == raw_rows(draft, exact)
    if form == "generalised":
        inside = Counter()
        for row in np.column_stack(
            [records.columns[n].starts[records.columns[n].places] for n in ("age", "job")]
            + [records.columns[n].stops[records.columns[n].places] for n in ("age", "job")]
        ).tolist():
            inside[tuple(row)] += 1
        boxes, sizes = draft.partition.boxes, draft.partition.statistics(VIEW).sizes
        told = Counter()
        for start, stop, size in zip(boxes.starts.tolist(), boxes.stops.tolist(), sizes.tolist(), strict=True):
            told[(*start, *stop)] += size
        assert inside == +told


@settings(max_examples=examples(quick=20, slow=50), deadline=None)
@given(draft=drafts())
def test_rows_stand_in_an_order_that_anybody_could_make(draft):
    assert is_sorted(records_of(draft, SecureSource()).keys())
    cells = draft.partition.cells
    turned = draft_of(
        np.column_stack([cells.codes, cells.counts])[::-1].tolist(),
        draft.partition.group[::-1],
        np.stack([draft.partition.boxes.starts, draft.partition.boxes.stops], axis=2),
    )
    assert records_of(turned, SecureSource()).same(records_of(draft, SecureSource())), "the same, whatever came first"


def test_a_bucketized_record_is_exact_and_its_bucket_holds_the_sensitive_values(tmp_path):
    draft = small_draft(form="bucketized", models=(DistinctLDiversity(l=1),))
    rows = read(publish(draft, tmp_path).path)
    assert list(rows[0]) == ["group", "age", "job", "income", "pay", "day", "ill"]
    by_age = {row["age"]: row["group"] for row in rows}
    assert set(by_age) == {"23", "29", "40", "45", "49", ""}, "a missing number is empty"
    assert sorted(set(by_age.values())) == ["1", "2", "3"]
    for ages, ills in ((("23", "29"), ["asthma", "asthma", "flu"]), (("40", "45", "49"), ["asthma", "flu", "none"])):
        groups = {by_age[age] for age in ages}
        assert len(groups) == 1
        assert sorted(row["ill"] for row in rows if row["group"] in groups) == ills


def test_two_tables_meet_in_the_bucket_alone(tmp_path):
    path = publish(small_draft(form="anatomy", models=(DistinctLDiversity(l=1),)), tmp_path).path
    told, hidden = read(path, "data_qit"), read(path, "data_st")
    assert list(told[0]) == ["group", "age", "job", "income", "pay", "day"]
    assert list(hidden[0]) == ["group", "ill", "count"]
    assert len(told) == sum(int(row["count"]) for row in hidden) == 9
    assert len(Release.open(path).to_tables()) == 2


@pytest.mark.usefixtures("seeded")
def test_which_value_is_whose_is_drawn_at_random():
    """Over many releases each record of a bucket gets each value of it about equally often."""
    draft = draft_of([(20 + n, 0, n, 0, 0, 0, 1) for n in range(3)], [0, 0, 0], [((20, 23), (0, 1))], form="bucketized")
    seen = Counter()
    for _ in range(600):
        records = records_of(draft, SecureSource())
        values = records.columns["ill"].starts[records.columns["ill"].places].tolist()
        seen[tuple(values)] += 1
    assert len(seen) == 6, "every order occurs"
    assert min(seen.values()) > 50, "none much more than others: 100 are expected, with a deviation of 9"


@pytest.mark.error_rate(1e-47, reason="the same of 40! orders")
def test_bucket_numbers_do_not_follow_the_order_of_groups():
    rows = [(n, 0, 0, 0, 0, 0, 1) for n in range(40)]
    draft = draft_of(rows, list(range(40)), [((n, n + 1), (0, 1)) for n in range(40)], form="bucketized")
    first, second = (records_of(draft, SecureSource()) for _ in range(2))
    ages = [r.columns["age"].starts[r.columns["age"].places].tolist() for r in (first, second)]
    assert first.group.tolist() == list(range(1, 41))
    assert ages[0] != ages[1] != list(range(40))


def test_a_seed_repeats_and_takes_the_promise_away(tmp_path):
    draft = small_draft(form="bucketized", models=(DistinctLDiversity(l=1),))
    one, two = (publish(draft, tmp_path / name, source=InsecureSource(3), secure=False).path for name in ("one", "two"))
    assert (one / "data.csv").read_bytes() == (two / "data.csv").read_bytes()
    assert json.loads((one / "manifest.json").read_text())["guarantee"] == "none (seeded for testing)"
    assert verify_bundle(one).ok


def test_a_draft_that_breaks_its_promise_is_not_published(tmp_path):
    with raises_code(
        PublishError,
        "SF-PUBLISH-015",
        match=r"own check 'privacy model': k-anonymity \(k = 4\) is violated in 3 of 3 groups",
    ):
        publish(small_draft(models=(KAnonymity(k=4),)), tmp_path)
    assert list(tmp_path.iterdir()) == [], "and nothing is left behind"


def test_groups_with_the_same_region_are_one_group_to_everybody(tmp_path):
    draft = draft_of(
        [(20, 0, 0, 0, 0, 0, 2), (21, 0, 1, 0, 0, 0, 2)], [0, 1], [((20, 22), (0, 1))] * 2, models=(KAnonymity(k=4),)
    )
    path = publish(draft, tmp_path).path
    assert json.loads((path / "manifest.json").read_text())["records"]["groups"] == 1
    assert verify_bundle(path).ok


def test_what_was_written_is_compared_with_what_was_meant(tmp_path, monkeypatch):
    real = writing.write_csv
    monkeypatch.setattr(
        writing, "write_csv", lambda pieces, out: real([Runs(r.table.slice(1), r.times[1:]) for r in pieces], out)
    )
    with raises_code(
        PublishError, "SF-PUBLISH-015", match="'data files': the Parquet and CSV files hold different tables"
    ):
        publish(small_draft(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_of_our_own_columns_make_way():
    view = replace(
        VIEW,
        quasi=tuple(replace(a, name=n) for a, n in zip(VIEW.quasi, ["group", "Suppressed"], strict=True)),
        sensitive=(replace(VIEW.sensitive[0], name="count"),),
    )
    draft = draft_of([(20, 0, 0, 0, 0, 0, 1)], [0], [((20, 21), (0, 1))], view=view, form="anatomy")
    layout = record_layout(replace(draft, suppression=True))
    assert (layout.group, layout.suppressed, layout.count) == ("group_1", "suppressed_1", "count_1")
    assert {"group", "Suppressed", "count"} <= {c.name for c in layout.columns}


@pytest.mark.parametrize("domain", [AGE, PAY, DAY, JOB], ids=["missing", "steps", "days", "tree"])
def test_every_range_reads_as_itself_and_back(domain):
    pairs = [(a, b) for a in range(domain.size) for b in range(a + 1, domain.size + 1)][::7]
    texts = RangeTexts("x", domain).texts(*np.array(pairs).T).to_pylist()
    starts, stops = RangeTexts("x", domain).ranges(texts)
    assert list(zip(starts.tolist(), stops.tolist(), strict=True)) == pairs
    assert texts == [range_text(domain, *pair) for pair in pairs]


@pytest.mark.parametrize(
    ("tree", "pair"),
    [
        (Node("Any", (Node("a"), Node("b"), Node("c"), Node("a … b", (Node("x"), Node("y"))))), (0, 2)),
        (Node("Any", (Node("a"), Node("a … b"), Node("b … c"), Node("c"), Node("d"))), (1, 4)),
    ],
    ids=["a node", "two ranges"],
)
def test_a_range_that_could_be_read_another_way_is_refused(tree, pair):
    """Even where nothing else that reads alike is in the release: its receiver reads with the taxonomy."""
    words = RangeTexts("size", Categories(taxonomy=Taxonomy.of(tree)))
    says = r"values of 'size' would read as 'a … b.*'.* To fix: rename .*' … '.*, or leave it out of `ordered`"
    with raises_code(PublishError, "SF-PUBLISH-019", match=says):
        words.texts(np.array([pair[0]]), np.array([pair[1]]))


def test_observed_domains_are_told(tmp_path):
    ill = replace(VIEW.sensitive[0], domain=replace(VIEW.sensitive[0].domain, declared=False))
    draft = draft_of([(20, 0, 0, 0, 0, 0, 3)], [0], [((20, 21), (0, 1))], view=replace(VIEW, sensitive=(ill,)))
    manifest = json.loads((publish(draft, tmp_path).path / "manifest.json").read_text(encoding="utf-8"))
    assert "the domain was read from the table, not declared in advance, for ill" in manifest["rules"]
    assert "not a guarantee" in manifest["privacy"]["limits"]


def test_the_readme_s_code_runs_and_says_how_to_read_it(tmp_path, monkeypatch):
    for form in FORMS:
        models = (DistinctLDiversity(l=1),)
        path = publish(small_draft(form=form, suppressed=True, models=models), tmp_path / form).path
        text = (path / "README.md").read_text(encoding="utf-8")
        assert "Suppressed records" in text
        monkeypatch.chdir(path)
        for block in [part.split("```")[0] for part in text.split("```python\n")[1:]]:
            exec(block, {})


@pytest.mark.parametrize("form", ["bucketized", "anatomy"])
def test_buckets_are_not_called_k_anonymous(form, tmp_path):
    """Their quasi-identifiers are exact: that a bucket has k records makes nobody look like anybody else."""
    draft = draft_of([[1, 0, 0, 0, 0, 0, 1], [2, 1, 1, 0, 0, 0, 1]], [0, 0], [[[1, 3], [0, 2]]], form=form)
    with raises_code(PublishError, "SF-PUBLISH-015", match="does not apply to buckets"):
        publish(draft, tmp_path, suppression=False)
