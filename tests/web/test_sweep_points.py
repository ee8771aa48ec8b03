"""Points of a sweep that is not done: those of its own grid on its own table, whoever made them and when."""

import json
import os
from types import SimpleNamespace

import pytest

import sfumato as sf
from sfumato.web.asked_sweep import earlier_sweep
from sfumato.web.pages.candidates import _release_names, _start_columns
from sfumato.web.sweep_points import finished, latest, stored
from sfumato.web.workspace import OpenStudy
from tests.web.messy import write_messy, write_messy_study

pytestmark = pytest.mark.error_rate(0, reason="which points there are is looked at, and not what was drawn")
NAMES = (["ε + k"], ["für ε + alle", "only sex"])


@pytest.fixture
def study(tmp_path):
    return write_messy_study(tmp_path)


def swept(study, grid, **more):
    """A sweep of the study with this grid, as it is declared, and the folder of its points."""
    text = study.read_text()
    study.write_text(text.replace("k: [5, 20]", f"k: {grid}"))
    found = sf.frontier(sf.Study.load(study), "ε + k", repeats=2, workers=1, **more)
    study.write_text(text)
    return found


def labels(found):
    return sorted(point.label for point in found.points if point.recipe is not None)


def test_stored_points_say_what_the_sweep_gave(study, tmp_path):
    given = swept(study, [5, 20])
    found = stored(tmp_path / "frontier" / "ε + k")
    printed = {point.label: point for point in finished(given.as_json(given.knee))}
    assert labels(found) == ["diffgen, ε = 1, h = 2", "mondrian, k = 20", "mondrian, k = 5"]
    for point in found.points:
        same = printed[point.label]
        assert (point.numbers, point.series, point.draws) == (same.numbers, same.series, same.draws)
        if point.recipe is not None:
            assert point.recipe.parameters == same.recipe.parameters
    assert found.asked == {
        "sweep": "ε + k", "purpose": "", "x": "ploss", "y": "uloss", "measures": [], "repeats": 2
    }  # fmt: skip


def test_points_of_another_grid_or_another_state_of_the_table_are_none_of_it(study, tmp_path):
    swept(study, [5, 20, 50])
    swept(study, [20])  # which another start has stored
    assert labels(stored(tmp_path / "frontier" / "ε + k")) == ["diffgen, ε = 1, h = 2", "mondrian, k = 20"]
    write_messy(tmp_path / "messy.csv", 290)
    swept(study, [5])
    assert labels(stored(tmp_path / "frontier" / "ε + k")) == ["diffgen, ε = 1, h = 2", "mondrian, k = 5"]
    assert len(list(tmp_path.glob("frontier/*/points/*.json"))) > 8  # the others are stored yet


def test_a_point_whose_file_is_to_come_is_left_out(study, tmp_path):
    swept(study, [5, 20])
    folder = tmp_path / "frontier" / "ε + k"
    listed = json.loads((folder / "points" / "latest-sweep").read_text())["points"]
    (name,) = next(one["files"] for one in listed if one["label"] == "mondrian, k = 20")
    (folder / "points" / name).write_text("{")
    assert labels(stored(folder)) == ["diffgen, ε = 1, h = 2", "mondrian, k = 5"]
    (folder / "points" / "latest-sweep").write_text("[]")
    assert stored(folder) is None


def test_the_latest_sweep_that_the_study_declares_is_found_after_a_restart(study, tmp_path):
    swept(study, [5], purpose="only sex")
    swept(study, [5], purpose="für ε + alle")
    first = tmp_path / "frontier" / "ε + k-only sex" / "points" / "latest-sweep"
    assert latest(tmp_path / "frontier", *NAMES).purpose == "für ε + alle"
    os.utime(first, (2**32, 2**32))
    assert latest(tmp_path / "frontier", *NAMES).purpose == "only sex"
    assert latest(tmp_path / "frontier", NAMES[0], ["für ε + alle"]).purpose == "für ε + alle"
    assert latest(tmp_path / "frontier", ["other"], NAMES[1]) is None


def test_while_a_sweep_runs_what_an_earlier_start_listed_is_not_shown_until_it_lists_its_own(study, tmp_path):
    swept(study, [5])
    opened = OpenStudy("key", study)
    opened.cache["frontier"] = {"sweep": "ε + k", "purpose": ""}
    began = (tmp_path / "frontier" / "ε + k" / "points" / "latest-sweep").stat().st_mtime
    for state, since, there in (("running", began, 1), ("running", began + 60, 0), ("cancelled", began + 60, 1)):
        opened.cache["frontier since"] = since
        assert (earlier_sweep(opened, None, SimpleNamespace(state=state)) is not None) == there


def test_a_study_that_is_called_like_an_option_is_compared(study):
    started = []

    def start(kind, arguments, **more):
        started.append(arguments)
        return SimpleNamespace(id="j", state="running")

    jobs = SimpleNamespace(of=lambda *_: [], start=start)
    request = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(workspace=SimpleNamespace(jobs=jobs))))
    opened = OpenStudy("key", study.rename(study.with_name("--json.yaml")))
    _start_columns(
        request, opened, [SimpleNamespace(label="mondrian, k = 5"), SimpleNamespace(label="mondrian, k = 20")]
    )
    assert started == [["evaluate", "compare", "./--json.yaml", "mondrian, k = 5", "mondrian, k = 20"]]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("diffgen, ε = 1, h = 2", "diffgen-e1-h2"),
        ("diffgen, ε = 1/3, h = auto", "diffgen-e1-3-hauto"),
        ("mondrian, k = 50", "mondrian-k50"),
        ("mondrian, t-closeness t = 0.2, distance = js", "mondrian-t-closeness-t0.2-distancejs"),
        ("ππ", "mondrian"),
        ("con", "mondrian"),
    ],
)
def test_a_candidate_gives_a_short_name_of_plain_letters(label, name):
    point = SimpleNamespace(label=label, recipe=SimpleNamespace(method="mondrian"))
    names = _release_names(point)
    assert [next(names), next(names)] == [name, f"{name}-2"]
