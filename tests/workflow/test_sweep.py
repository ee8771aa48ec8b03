"""A sweep over a study: what is made, what is kept, what fails, and that several processes change nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import workflow
from sfumato.errors import InfeasibleError, StudyError, UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.progress import time_left
from sfumato.release.shown import shown_records
from sfumato.workflow import sweep as running
from sfumato.workflow.evaluate import measuring_view, raw_cells
from sfumato.workflow.sweeping.baselines import everything_published, nothing_published
from tests.raising import raises_code

ROOT = Path(__file__).parents[2]


def table(records=600, seed=1):
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 80, records)
    job = draw.integers(0, 4, records)
    ill = np.where(draw.random(records) < age / 100, draw.integers(0, 2, records), 2 + draw.integers(0, 2, records))
    return pa.table(
        {
            "age": age,
            "job": np.array(["Engineer", "Lawyer", "Dancer", "Writer"])[job],
            "ill": np.array(["flu", "cold", "gout", "none"])[ill],
            "pays": np.array(["no", "yes"])[(job + ill) % 2],
        }
    )


def declared(source=None, **more):
    fields = {
        "name": "clinic",
        "source": table() if source is None else source,
        "privacy": {"budget": 1},
        "attributes": {
            "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 120]},
            "job": {"role": "quasi_identifier", "values": ["Engineer", "Lawyer", "Dancer", "Writer"]},
            "ill": {"role": "sensitive", "values": ["flu", "cold", "gout", "none"]},
            "pays": {"role": "class", "values": ["no", "yes"]},
        },
        "purposes": {"few": {"attributes": ["age", "ill"]}},
    }
    return sf.Study.from_mapping(fields | more)


SMALL = sf.sweep("mondrian", k=[5, 50, 200]) + sf.sweep("bucketization", privacy={"distinct-l-diversity": [2, 3]})


def numbers(found):
    return [dict(point.numbers) for point in found.tried]


def test_the_numbers_are_those_of_the_releases():
    study = declared()
    found = sf.frontier(study, SMALL, measures=["mean-ploss"])
    view = measuring_view(study.declared)
    cells = raw_cells(study.declared, view)
    for point, k in zip(found.tried, (5, 50, 200), strict=False):
        evidence = Evidence(view=view, raw=cells, shown=shown_records(sf.Mondrian(k=k).draft(view, cells)))
        for name in ("ploss", "uloss", "mean-ploss"):
            assert point.numbers[name] == pytest.approx(MEASURES[name]().read(evidence).value)
    assert [p.label for p in found.tried] == [
        "mondrian, k = 5", "mondrian, k = 50", "mondrian, k = 200",
        "bucketization, distinct-l-diversity l = 2", "bucketization, distinct-l-diversity l = 3",
    ]  # fmt: skip
    assert found.tried[3].series == "bucketization: distinct-l-diversity"
    assert (found.x.name, found.y.name, list(found.axes)) == ("ploss", "uloss", ["ploss", "uloss", "mean-ploss"])
    assert found.failures == ()


def test_the_baselines_are_the_two_special_cases():
    found = sf.frontier(declared(), SMALL)
    least, most = found.baselines
    assert (least.label, least.numbers["ploss"]) == ("nothing published", 0.0)
    assert (most.label, most.numbers["uloss"]) == ("everything published", 0.0)
    for point in found.points:
        assert 0 <= point.numbers["ploss"] <= most.numbers["ploss"]
    view = measuring_view(declared().declared)
    cells = raw_cells(declared().declared, view)
    assert everything_published(view, cells).records == nothing_published(view, cells).records == 600
    assert len(nothing_published(view, cells)) == 1


@pytest.mark.parametrize("start_at_once", [True, False])
def test_several_processes_give_the_same_points(monkeypatch, start_at_once):
    if start_at_once:
        monkeypatch.setattr(running, "_SMALL", 0)
    alone = sf.frontier(declared(), SMALL, workers=1)
    together = sf.frontier(declared(), SMALL, workers=2)
    assert numbers(alone) == numbers(together)
    assert [p.facts for p in alone.tried] == [p.facts for p in together.tried]


def test_what_is_finished_is_not_made_again(made, tmp_path):
    first = sf.frontier(declared(), SMALL, folder=tmp_path, workers=1)
    assert len(made) == 5
    second = sf.frontier(declared(), SMALL + sf.sweep("mondrian", k=[7]), folder=tmp_path, workers=1)
    assert made[5:] == ["mondrian, k = 7"]
    assert numbers(second)[:5] == numbers(first)
    assert [p.seconds for p in second.tried[:5]] == pytest.approx([p.seconds for p in first.tried], abs=0.001)
    sf.frontier(declared(), SMALL, folder=tmp_path, workers=1, y="mean-ploss")
    assert len(made) == 6 + 5, "another measure needs the drafts again"
    sf.frontier(declared(), SMALL, folder=tmp_path, workers=1, purpose="few")
    assert len(made) == 6 + 5 + 5, "another purpose is another view"
    sf.frontier(declared(table(seed=2)), SMALL, folder=tmp_path, workers=1)
    assert len(made) == 6 + 5 + 5 + 5, "another table"
    assert not list(tmp_path.rglob("*.part"))


def test_a_parameter_that_is_left_out_is_the_default(made, tmp_path):
    sf.frontier(declared(), sf.sweep("mondrian", k=[5]), folder=tmp_path, workers=1)
    sf.frontier(declared(), sf.sweep("mondrian", k=[5], strict=True), folder=tmp_path, workers=1)
    assert len(made) == 1


def test_a_file_that_was_spoilt_is_made_again(made, tmp_path):
    sf.frontier(declared(), SMALL, folder=tmp_path, workers=1)
    for number, file in enumerate(sorted(tmp_path.rglob("*.json"))):
        file.write_text(["", "{", "[]", '{"key": "x"}'][number % 4], encoding="utf-8")
    sf.frontier(declared(), SMALL, folder=tmp_path, workers=1)
    assert len(made) == 10


@pytest.mark.usefixtures("seeded")
def test_a_failure_is_kept_apart_and_says_why(made, tmp_path):
    sweep = (
        SMALL + sf.sweep("mondrian", k=[10_000]) + sf.sweep("mondrian", q=[1]) + sf.sweep("diffgen", epsilon="1", h=2)
    )
    found = sf.frontier(declared(), sweep, folder=tmp_path, workers=1)
    assert len(found.points) == 6
    large, unknown = found.failures
    assert (large[0].label, unknown[0].label) == ("mondrian, k = 10000", "mondrian, q = 1")
    assert "not even with all its records in one group. To fix: set k to 600 or less." in large[1]
    assert unknown[1].startswith("method 'mondrian' has no parameter 'q'")
    before = len(made)
    sf.frontier(declared(), sweep, folder=tmp_path, workers=1)
    assert len(made) == before, "a failure that would come again is not tried again"


def test_an_unexpected_error_tells_no_value_and_is_tried_again(made, monkeypatch, tmp_path):
    def broken(self, view, counts, context=None):
        raise ValueError("the record of Ada, 36")

    with monkeypatch.context() as patch:
        patch.setattr(sf.Bucketization, "draft", broken)
        found = sf.frontier(declared(), SMALL, folder=tmp_path, workers=1)
    assert len(found.points) == 3
    [(_, why), _] = found.failures
    assert "an unexpected ValueError" in why and "Ada" not in why
    assert "Ada" not in "".join(file.read_text("utf-8") for file in tmp_path.rglob("*.json"))
    assert len(sf.frontier(declared(), SMALL, folder=tmp_path, workers=1).points) == 5


def test_a_sweep_of_which_nothing_can_be_made():
    with raises_code(InfeasibleError, "SF-INFEASIBLE-017", match="none of the 1 releases of the sweep could be made"):
        sf.frontier(declared(), sf.sweep("mondrian", k=[10_000]))


@pytest.mark.usefixtures("seeded")
def test_differentially_private_drafts_are_measured_and_spend_nothing():
    study = declared()
    found = sf.frontier(study, sf.sweep(sf.DiffGen, epsilon=["0.5", "5"], h=3), workers=1)
    assert [p.series for p in found.tried] == ["diffgen: ε-DP"] * 2
    assert study.ledger.entries("clinic") == ()
    assert found.choose("knee").settings["chosen"] == "chosen on the raw table"
    assert all(point.has("ploss", "uloss") for point in found.points)


@pytest.mark.usefixtures("seeded")
def test_values_that_do_not_fit_stop_groups_and_not_noise():
    rows = table().to_pylist()
    rows[0]["job"] = "Astronaut"
    sweep = sf.sweep("mondrian", k=[5]) + sf.sweep("diffgen", epsilon="1", h=2)
    found = sf.frontier(declared(pa.Table.from_pylist(rows)), sweep, workers=1)
    [(point, why)] = found.failures
    assert point.label == "mondrian, k = 5" and "there are such values in 'job'" in why
    assert "Astronaut" not in why


@pytest.mark.usefixtures("seeded")
def test_people_with_several_records():
    people = table().append_column("id", [[f"p{n // 3}" for n in range(600)]])
    study = declared(people, privacy={"unit": {"person": "id", "at_most": 2}, "budget": 1})
    found = sf.frontier(study, sf.sweep("mondrian", k=[5]) + sf.sweep("diffgen", epsilon="1", h=2), workers=1)
    assert [p.label for p in found.points] == ["diffgen, ε = 1, h = 2"]
    assert "may hold fewer than k people" in found.failures[0][1]


def test_declared_sweeps_are_found_by_name():
    sweeps = {
        "a": {"method": "mondrian", "k": [5, 9]},
        "b": [{"method": "mondrian", "k": 3}, {"method": "tds", "k": [4]}],
    }
    study = declared(sweeps=sweeps)
    assert [p.label for p in sf.frontier(study, "b", workers=1).tried] == ["mondrian, k = 3", "tds, k = 4"]
    with raises_code(StudyError, "SF-STUDY-222", match=r"declares 2 sweeps. To fix: name one: a, b"):
        sf.frontier(study)
    with raises_code(StudyError, "SF-STUDY-223", match=r"no sweep 'c'. To fix: use one of: a, b"):
        sf.frontier(study, "c")
    with raises_code(UsageError, "SF-STUDY-109", match="no measure called 'plos'"):
        sf.frontier(study, "a", x="plos")
    with raises_code(UsageError, "SF-USAGE-090", match="0 is not a valid number of workers"):
        sf.frontier(study, "a", workers=0)
    assert len(sf.frontier(declared(sweeps={"a": sweeps["a"]}), workers=1).tried) == 2


def test_progress_tells_how_far_it_is():
    told = []
    sf.frontier(declared(), SMALL, workers=1, progress=lambda *what: told.append(what))
    making = [(done, total) for what, done, total in told if what.startswith("making")]
    assert making == [(n, 5) for n in range(6)]
    assert time_left(1, 2, 0.2) == time_left(2, 2, 300) == ""
    assert time_left(1, 2, 30) == ", about 30 s left"
    assert time_left(1, 2, 300) == ", about 5 min left"


SLOW = """
import sys, time
from pathlib import Path
import sfumato as sf
from sfumato.workflow import sweep as running
make, made = running.make_point, []
def slow(table, point):
    if len(made) == 6:
        time.sleep(600)  # until it is killed
    made.append(point)
    return make(table, point)
running.make_point = slow
study = sf.Study.load("study.yaml")
found = sf.frontier(study, sf.sweep("mondrian", k=list(range(2, 14))), workers=1)
print(len(found.points))
"""

STUDY = """\
name: clinic
source: clinic.parquet
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 120]}
  job: {role: quasi_identifier, values: [Engineer, Lawyer, Dancer, Writer]}
  ill: {role: sensitive, values: [flu, cold, gout, none]}
"""


def test_killed_in_the_middle_it_goes_on_where_it_was(tmp_path, made, monkeypatch):
    import pyarrow.parquet

    pyarrow.parquet.write_table(table(), tmp_path / "clinic.parquet")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])}
    points = tmp_path / "frontier" / "sweep" / "points"

    def finished():
        kept = [json.loads(file.read_text(encoding="utf-8")) for file in points.glob("*.json")]
        return len([one for one in kept if "method" in one])

    child = subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, env=environment)
    try:
        limit = time.monotonic() + 120
        while finished() < 6 and time.monotonic() < limit and child.poll() is None:
            time.sleep(0.02)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert finished() == 6
    monkeypatch.chdir(tmp_path)
    found = sf.frontier(sf.Study.load("study.yaml"), sf.sweep("mondrian", k=list(range(2, 14))), workers=1)
    assert len(made) == 12 - 6
    assert len(found.points) == 12


def test_a_worker_that_dies_stops_no_other_and_is_told(monkeypatch):
    monkeypatch.setattr(running, "_SMALL", 0)
    monkeypatch.setattr(running, "_placed", _die)
    with raises_code(InfeasibleError, "SF-INFEASIBLE-017", match="a worker process was ended"):
        sf.frontier(declared(), sf.sweep("mondrian", k=[5, 50]), workers=2)


def _die(table, place, point):
    os._exit(1)


def test_the_pipeline_offers_it():
    assert workflow.run_frontier is running.run_frontier


def test_measures_may_have_parameters():
    from sfumato.evaluate.measures import UtilityLoss

    found = sf.frontier(
        declared(), sf.sweep("mondrian", k=[5, 50]), y=UtilityLoss(min_sup=0.3), measures=["uloss"], workers=1
    )
    assert list(found.axes) == ["ploss", "uloss (min_sup = 0.3)", "uloss"]
    assert found.y.title == "Utility loss (min_sup = 0.3)"
    assert all(p.numbers["uloss (min_sup = 0.3)"] != p.numbers["uloss"] for p in found.points)
