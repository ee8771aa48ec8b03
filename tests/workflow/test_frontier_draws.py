"""Sweeps over random releases: how often they are drawn, what is kept of it, and what makes a point again."""

import json

import numpy as np
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.workflow import sweep as running
from tests.raising import raises_code
from tests.workflow.test_sweep import declared, table

NOISE = sf.sweep("diffgen", epsilon=["0.5", "2"], h=2)
BOTH = sf.sweep("mondrian", k=[5, 50]) + NOISE


def kept(folder):
    found = [json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("points/*.json")]
    return [one for one in found if "method" in one]


@pytest.mark.usefixtures("seeded")
def test_what_is_random_is_drawn_several_times_and_the_rest_once(made, tmp_path):
    found = sf.frontier(declared(), BOTH, folder=tmp_path, workers=1, repeats=3)
    assert [p.draws for p in found.tried] == [1, 1, 3, 3]
    assert sorted(made) == sorted(p.label for p in found.tried for _ in range(p.draws))
    for point in found.tried[2:]:
        files = [one for one in kept(tmp_path) if one["label"] == point.label]
        assert sorted(one["draw"] for one in files) == [0, 1, 2]
        for name in ("ploss", "uloss"):
            drawn = [one["numbers"][name] for one in files]
            assert point.numbers[name] == pytest.approx(np.mean(drawn), abs=1e-9)
            assert point.spread[name].deviation == pytest.approx(np.std(drawn, ddof=1), abs=1e-9)
            assert point.spread[name].most > point.spread[name].least, "noise differs"


@pytest.mark.usefixtures("seeded")
def test_draws_are_kept_and_more_are_added(made, tmp_path):
    first = sf.frontier(declared(), NOISE, folder=tmp_path, workers=1, repeats=2)
    again = sf.frontier(declared(), NOISE, folder=tmp_path, workers=1, repeats=2)
    assert len(made) == 4 and [p.numbers for p in first.tried] == [p.numbers for p in again.tried]
    sf.frontier(declared(), NOISE, folder=tmp_path, workers=1, repeats=3)
    assert len(made) == 4 + 2, "one more of each"
    fewer = sf.frontier(declared(), NOISE, folder=tmp_path, workers=1, repeats=2)
    assert len(made) == 6 and [p.numbers for p in fewer.tried] == [p.numbers for p in first.tried]
    (next(tmp_path.glob("points/*.json"))).unlink()
    sf.frontier(declared(), NOISE, folder=tmp_path, workers=1, repeats=3)
    assert len(made) <= 7, "a draw that is missing is made alone"


@pytest.mark.usefixtures("seeded")
def test_five_by_default_and_progress_counts_draws():
    told = []
    found = sf.frontier(declared(), BOTH, workers=1, progress=lambda *what: told.append(what))
    assert [p.draws for p in found.tried] == [1, 1, 5, 5]
    making = [(done, total) for what, done, total in told if what.startswith("making")]
    assert making == [(n, 12) for n in range(13)]
    for wrong in (0, 1_001):
        with raises_code(UsageError, "SF-USAGE-089", match=f"{wrong} is not a valid number of repeats"):
            sf.frontier(declared(), BOTH, repeats=wrong)


@pytest.mark.usefixtures("seeded")
def test_samples_and_drawn_buckets_are_random_too():
    sweep = sf.sweep("capped-confidence", rate="0.5", distortion="0.9") + sf.sweep("anatomy", l=2)
    found = sf.frontier(declared(), sweep, workers=1, repeats=2)
    assert [p.draws for p in found.tried] == [2, 2]


@pytest.mark.error_rate(1e-30, reason="no draw is left without groups: 600 records, and noise of scale 4")
def test_several_processes_make_the_draws(monkeypatch):
    monkeypatch.setattr(running, "_SMALL", 0)
    found = sf.frontier(declared(), NOISE, workers=2, repeats=3)
    assert [p.draws for p in found.points] == [3, 3]


SHARES = "attribute,value,share\njob,Engineer,{}\nill,flu,0.2\n"
STUDY = """\
name: clinic
source: clinic.parquet
attributes:
  age: {{role: quasi_identifier, type: integer, bounds: [0, 120]{width}}}
  job: {{role: quasi_identifier, taxonomy: job.csv{outside}}}
  ill: {{role: sensitive, values: [flu, cold, gout, none]}}
sweeps:
  sizes: {{method: mondrian, k: [5]}}
  capped: {{method: capped-confidence, rate: 0.9, population: shares.csv}}
"""
JOBS = "Engineer,{0},Any\nLawyer,{0},Any\nDancer,Arts,Any\nWriter,Arts,Any\n"


@pytest.fixture
def folder(tmp_path):
    pyarrow.parquet.write_table(table(), tmp_path / "clinic.parquet")
    write(tmp_path)
    return tmp_path


def write(folder, *, share="0.4", above="Office", width="", outside=""):
    (folder / "study.yaml").write_text(STUDY.format(width=width, outside=outside), encoding="utf-8")
    (folder / "job.csv").write_text(JOBS.format(above), encoding="utf-8")
    (folder / "shares.csv").write_text(SHARES.format(share), encoding="utf-8")


def swept(folder, name):
    return sf.frontier(sf.Study.load(folder / "study.yaml"), name, workers=1, repeats=1)


@pytest.mark.usefixtures("seeded")
def test_a_population_file_that_changed_makes_its_points_again(folder, made):
    first = swept(folder, "capped")
    assert first.failures == () and len(made) == 1
    assert first.tried[0].recipe.parameters["population"] == "shares.csv", "as the study would say it"
    swept(folder, "capped")
    assert len(made) == 1
    write(folder, share="0.05")
    swept(folder, "capped")
    assert len(made) == 2
    swept(folder, "sizes")
    write(folder, share="0.06")
    swept(folder, "sizes")
    assert len(made) == 3, "others do not look at it"
    (folder / "shares.csv").unlink()
    with raises_code(sf.SfumatoError, "SF-INFEASIBLE-017", match=r"shares\.csv"):
        swept(folder, "capped")
    write(folder, share="0.05")
    assert swept(folder, "capped").failures == (), "a file that was missing is looked for again"
    assert len(made) == 3


@pytest.mark.parametrize(("sweep", "change"), [("sizes", {"above": "Desk"}), ("capped", {"width": ", at_least: 10"})])
@pytest.mark.usefixtures("seeded")
def test_a_taxonomy_file_or_a_width_that_changed_makes_points_again(sweep, change, folder, made):
    swept(folder, sweep)
    swept(folder, sweep)
    assert len(made) == 1
    write(folder, **change)
    swept(folder, sweep)
    assert len(made) == 2


def test_what_stopped_all_groups_is_looked_at_again(folder, made):
    rows = table().to_pylist()
    rows[0]["job"] = "Astronaut"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "clinic.parquet")
    with raises_code(sf.SfumatoError, "SF-INFEASIBLE-017", match="there are such values in 'job'"):
        swept(folder, "sizes")
    write(folder, outside=", outside: suppress")
    assert swept(folder, "sizes").failures == ()
    write(folder)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows[1:]), folder / "clinic.parquet")
    assert swept(folder, "sizes").failures == (), "the record is gone, and all others are as before"
