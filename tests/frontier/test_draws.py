"""Random candidates: several draws are one point, with how far they lie apart in every place that tells its numbers."""

import csv
import io
import json
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.frontier import Spread, average_draws
from tests.frontier.points import X, Y, at, failed, frontier


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=6))
def test_the_point_is_the_mean_of_its_draws(pairs):
    found = average_draws([at(x, y, "noise") for x, y in pairs])
    for place, name in enumerate(("ploss", "uloss")):
        values = [pair[place] for pair in pairs]
        assert found.numbers[name] == pytest.approx(sum(values) / len(values), abs=1e-9)
        assert found.spread[name].deviation == pytest.approx(statistics.stdev(values), abs=1e-9)
        assert (found.spread[name].least, found.spread[name].most) == (min(values), max(values))
    assert found.draws == len(pairs)


def test_one_draw_stays_as_it_is():
    assert average_draws([at(0.1, 0.2)]) == at(0.1, 0.2)


def test_a_draw_that_failed_or_cannot_be_measured_leaves_no_number():
    noise = failed("noise", "nothing was left. To fix: raise ε.")
    assert average_draws([noise, noise]).failure == "nothing was left. To fix: raise ε."
    assert average_draws([noise, at(0.1, 0.2), at(0.1, 0.2)]).failure == (
        "1 of 3 draws: nothing was left. To fix: raise ε."
    )
    bare = replace(at(0.1, 0.2), numbers={"ploss": 0.1}, refused={"uloss": "nothing is published"})
    found = average_draws([at(0.3, 0.2), bare])
    assert found.numbers == {"ploss": pytest.approx(0.2)}
    assert found.refused == {"uloss": "1 of 2 draws: nothing is published"}


@pytest.fixture
def drawn():
    noise = average_draws([at(0.10, 0.030, "ε = 1"), at(0.30, 0.010, "ε = 1")])
    return frontier(noise, at(0.4, 0.01, "k = 9"), at(0.05, 0.04, "k = 99"))


def test_it_is_chosen_by_its_mean_and_the_sentence_tells_the_spread(drawn):
    chosen = drawn.choose(privacy=0.25)
    assert chosen.point.label == "ε = 1"
    assert "ploss 0.2 (0.1 to 0.3) and uloss 0.02 (0.01 to 0.03)" in chosen.sentence
    assert "though not every draw is within the limit" in chosen.sentence
    assert "these are means of 2 draws, and the published release will be a new draw" in chosen.sentence
    assert "not every draw" not in drawn.choose(privacy=0.35).sentence
    assert "draws" not in drawn.choose(privacy=0.1).sentence, "what is always the same has none"
    assert "not every draw" in drawn.choose(utility=0.02).sentence
    higher = frontier(drawn.points[0], x=replace(X, better="higher"), y=Y)
    assert "not every draw" in higher.choose(privacy=0.15).sentence, "the least is the worst where higher is better"
    assert "(0.1 to 0.3)" in frontier(drawn.points[0]).choose("knee").sentence


def test_the_plot_has_bars_from_the_least_to_the_largest(drawn):
    spec = drawn.plot().to_dict()
    across, up = [layer for layer in spec["layer"] if layer["mark"].get("type") == "rule"]
    assert (across["encoding"]["x"]["field"], across["encoding"]["x2"]["field"]) == ("x_least", "x_most")
    assert (up["encoding"]["y"]["field"], up["encoding"]["y2"]["field"]) == ("y_least", "y_most")
    rows = across["data"]["values"] if "values" in across["data"] else spec["datasets"][across["data"]["name"]]
    [noise] = [row for row in rows if row["release"] == "ε = 1"]
    assert (noise["x_least"], noise["x"], noise["x_most"]) == (0.1, pytest.approx(0.2), 0.3)
    assert noise["measure_ploss_spread"] == "± 0.14, 0.1 to 0.3"
    assert not any("x_least" in row for row in rows if row["release"] != "ε = 1")
    tips = {tip["field"] for layer in spec["layer"] for tip in layer["encoding"].get("tooltip", [])}
    assert {"draws", "measure_ploss_spread", "measure_uloss_spread"} <= tips
    plain = frontier(at(0.1, 0.2), at(0.2, 0.1)).plot().to_dict()
    assert not [layer for layer in plain["layer"] if layer["mark"].get("type") == "rule"]


def test_table_page_and_json_tell_it(drawn):
    rows = list(csv.DictReader(io.StringIO(drawn.to_csv())))
    assert (rows[0]["draws"], rows[0]["ploss least"], rows[0]["ploss most"]) == ("2", "0.1", "0.3")
    assert float(rows[0]["uloss deviation"]) == pytest.approx(statistics.stdev([0.03, 0.01]))
    assert (rows[1]["draws"], rows[1]["ploss deviation"]) == ("1", "")
    assert "± 0.14" in drawn.to_html() and "The published release will be a new draw" in drawn.to_html()
    assert "another draw" not in frontier(at(0.1, 0.2)).to_html()
    told = json.loads(json.dumps(drawn.points[0].as_json()))
    assert (told["draws"], told["spread"]["ploss"]["most"]) == (2, 0.3)
    assert Spread(**told["spread"]["ploss"]) == drawn.points[0].spread["ploss"]
