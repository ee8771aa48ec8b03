"""Two candidates column by column: the shares and distances are those of published bundles, recounted by hand."""

import csv
import json
import re

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.ledger import open_ledger
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="what is asserted holds for every draw")

JOBS = ["Engineer", "Lawyer", "Dancer", "Writer"]


def declared(**more):
    draw = np.random.default_rng(7)
    age, job = draw.integers(20, 60, 400), draw.integers(0, 4, 400)
    fields = {
        "name": "clinic",
        "source": pa.table({"age": age, "job": np.array(JOBS)[job], "pays": np.array(["no", "yes"])[(job + age) % 2]}),
        "privacy": {"budget": 1},
        "attributes": {
            "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 100]},
            "job": {"role": "quasi_identifier", "values": JOBS},
            "pays": {"role": "class", "values": ["no", "yes"]},
        },
        "purposes": {"few": {"attributes": ["age", "pays"]}},
        "releases": {"k40": {"method": "mondrian", "k": 40}, "other": {"purpose": "few", "method": "mondrian", "k": 4}},
    }
    return sf.Study.from_mapping(fields | more)


def published(study, method, folder):
    """The rows that a release publishes."""
    done = study.release(method, out=folder, report=False)
    with (done.bundle / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def interval(text):
    found = re.fullmatch(r"\[(\d+), (\d+)\)", text)
    return (int(found[1]), int(found[2])) if found else (int(text), int(text) + 1)


def spread_evenly(rows):
    """The ages of published intervals, every record spread evenly over its own."""
    found = np.zeros(101)
    for row in rows:
        low, high = interval(row["age"])
        found[low:high] += 1 / (high - low)
    return found / found.sum()


def test_shares_and_distances_are_those_of_the_bundles(tmp_path):
    study = declared()
    methods = sf.Mondrian(k=4), sf.Mondrian(k=40)
    found = study.compare_columns(*methods)
    true = np.bincount(study.declared.source["age"].to_numpy(), minlength=101) / 400
    [age] = [column for column in found.columns if column.name == "age"]
    bins = [interval(label) for label in age.labels]
    assert age.shares == pytest.approx([true[low:high].sum() for low, high in bins]) and age.values == 40
    for place, method in enumerate(methods):
        rows = published(study, method, tmp_path / str(place))
        even = spread_evenly(rows)
        side = age.releases[place]
        assert side.shares == pytest.approx([even[low:high].sum() for low, high in bins])
        assert side.published == len({row["age"] for row in rows}) and side.spread is None
        assert found.releases[place].rows <= len(rows) and found.releases[place].suppressed == 0
    [pays] = [column for column in found.columns if column.name == "pays"]
    assert [one.distance for one in pays.releases] == [0, 0], "the class is published as it is"
    near, far = (one.distance for one in age.releases)
    assert near < far < 1
    assert found.releases[1].distance == pytest.approx(np.mean([c.releases[1].distance for c in found.columns]))


def test_what_is_random_is_drawn_several_times_and_nothing_is_spent(tmp_path):
    study = declared()
    study = sf.Study(study.declared, ledger=open_ledger(tmp_path / "ledger.sqlite"))
    found = study.compare_columns(sf.DiffGen(epsilon="0.5", h=2), "k40", repeats=3)
    private, syntactic = found.releases
    assert (private.draws, syntactic.draws) == (3, 1)
    assert private.spread.least <= private.distance <= private.spread.most and syntactic.spread is None
    for column in found.columns:
        one = column.releases[0]
        assert one.spread.least <= one.distance <= one.spread.most
    assert list(study.ledger.entries("clinic")) == []
    text = json.dumps(found.as_json())
    assert "owner only" in text and '"draws": 3' in text


def test_candidates_are_named_as_the_frontier_names_them():
    study = declared(sweeps={"ks": {"method": "mondrian", "k": [4, 40]}})
    labels = [point.label for point in sf.frontier(study, "ks", purpose="few").tried]
    found = study.compare_columns(*labels, sweep="ks", purpose="few")
    assert [one.label for one in found.releases] == labels and found.purpose == "few"
    assert [column.name for column in found.columns] == ["age", "pays"]
    direct = study.compare_columns(sf.Mondrian(k=4), sf.Mondrian(k=40), purpose="few")
    assert direct.columns == found.columns


def test_a_column_that_is_suppressed_says_so():
    found = declared().compare_columns(sf.Mondrian(k=400), sf.Mondrian(k=4))
    job = found.columns[1]
    assert job.releases[0].shares is None and job.releases[1].shares is not None, "one class has every job"
    assert job.releases[0].distance >= job.releases[1].distance and job.releases[0].published == 1


def test_what_cannot_be_compared_is_refused():
    study = declared()
    with raises_code(UsageError, "SF-USAGE-662", match="different purposes"):
        study.compare_columns("k40", "other")
    with raises_code(UsageError, "SF-USAGE-663", match="'k41'"):
        study.compare_columns("k40", "k41")
    with raises_code(UsageError, "SF-USAGE-089", match="0 is not a valid number"):
        study.compare_columns("k40", "k40", repeats=0)
