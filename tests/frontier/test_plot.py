"""The plot: a valid specification, one file that needs no network, and words that say which way is better."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from sfumato.errors import PublishError, UsageError
from sfumato.frontier.plot import COLOURS, ENDS, INK, SHAPES
from tests.frontier.points import X, Y, at, failed, frontier
from tests.raising import raises_code

POINTS = (
    at(0.1, 0.03, "k = 50"), at(0.3, 0.01, "k <5> & more"), at(0.4, 0.02, "k = 4"),
    at(0.2, 0.02, "t = 0.2", series="mondrian: t-closeness"), failed("tds, k = 9", "it's <infeasible>"),
)  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return frontier(*POINTS)


def marks(spec):
    return [layer["mark"] if isinstance(layer["mark"], str) else layer["mark"]["type"] for layer in spec["layer"]]


def test_the_layers_are_there_and_the_axes_say_which_way_is_better(found):
    spec = found.plot().to_dict()  # altair checks it against the schema
    assert marks(spec)[:3] == ["line", "line", "point"]
    assert spec["layer"][0]["mark"]["interpolate"] == "step-after"
    titles = {layer["encoding"]["x"]["title"] for layer in spec["layer"]}
    assert titles == {"← better · Privacy loss (nats)"}
    assert {layer["encoding"]["y"]["title"] for layer in spec["layer"]} == {"↓ better · Utility loss (nats)"}
    higher = frontier(*POINTS, x=replace(X, better="higher"), y=replace(Y, better="higher")).plot().to_dict()
    assert higher["layer"][0]["encoding"]["x"]["title"] == "Privacy loss (nats) · better →"
    assert higher["layer"][0]["encoding"]["y"]["title"] == "↑ better · Utility loss (nats)"


def test_series_differ_in_colour_and_shape(found):
    point = found.plot().to_dict()["layer"][2]["encoding"]
    assert point["color"]["scale"]["range"] == [*COLOURS[:2], INK, INK]
    assert point["shape"]["scale"]["range"] == [*SHAPES[:2], *ENDS]
    assert point["color"]["scale"]["domain"][2:] == ["nothing published", "everything published"]
    assert len({(COLOURS[n % len(COLOURS)], SHAPES[n % len(SHAPES)]) for n in range(50)}) == 50
    assert {tip["field"] for tip in point["tooltip"]} >= {"release", "measure_ploss", "measure_uloss", "efficient"}


def test_the_chosen_point_is_ringed(found):
    ring = found.plot(found.choose(privacy=0.35)).to_dict()
    data = ring["layer"][-1]["data"]
    rows = ring["datasets"][data["name"]] if "name" in data else data["values"]
    assert rows == [{"x": 0.3, "y": 0.01}]


class Sources(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in {"src", "href", "data", "srcset"} and value[:1] != "#"]
        if tag in {"link", "iframe", "img"}:
            self.found.append(tag)


def test_the_page_needs_no_network(found, tmp_path):
    text = found.save(tmp_path / "f.html").read_text(encoding="utf-8")
    sources = Sources()
    sources.feed(text)
    assert sources.found == []
    assert not re.search(r"@import|cdn\.jsdelivr|unpkg", text)
    assert 'name="viewport"' in text and "container" in text
    assert "it&#x27;s &lt;infeasible&gt;" in text and "k &lt;5&gt; &amp; more" in text
    assert "For the owner only" in text
    assert found._repr_html_().count("<script") >= 1
    assert set(found._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_names_cannot_break_out_of_the_script(tmp_path):
    text = frontier(at(0.1, 0.1, "</script><script>alert(1)</script>"), at(0.2, 0.0)).to_html()
    assert "</script><script>alert(1)" not in text


def test_pictures(found, tmp_path):
    assert found.save(tmp_path / "f.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    svg = found.save(tmp_path / "f.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    for words in (
        "nothing published",
        "everything published",
        "mondrian: t-closeness",
        "← better · Privacy loss (nats)",
    ):
        assert words in svg
    assert json.loads(found.save(tmp_path / "f.json").read_text(encoding="utf-8"))["layer"]


def test_the_table_comes_back_as_it_was(found, tmp_path):
    text = found.save(tmp_path / "f.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(found.tried) + len(found.baselines)
    for row, point in zip(rows, (*found.tried, *found.baselines), strict=True):
        assert row["release"] == point.label
        for name in ("ploss", "uloss"):
            assert (float(row[name]) if row[name] else None) == point.numbers.get(name)
    assert [row["release"] for row in rows if row["efficient"] == "true"] == ["k = 50", "k <5> & more", "t = 0.2"]
    assert [row["release"] for row in rows if row["chosen"] == "true"] == [found.knee.point.label]
    assert [row["failure"] for row in rows if row["failure"]] == ["it's <infeasible>"]
    assert json.loads(rows[0]["parameters"]) == {"k": 5}
    assert found.to_arrow()["ploss"].to_pylist()[:2] == [0.1, 0.3]
    assert list(found.to_pandas()["release"]) == [row["release"] for row in rows]


def test_what_cannot_be_saved(found, tmp_path):
    with raises_code(UsageError, "SF-USAGE-041", match=r"not saved as '\.xlsx'"):
        found.save(tmp_path / "f.xlsx")
    with raises_code(PublishError, "SF-PUBLISH-004"):
        found.save(tmp_path / "none" / "f.csv")


def test_a_plot_of_nothing_and_of_one_point():
    assert frontier(failed("tds")).plot().to_dict()["layer"]
    assert "No release could be measured" in frontier(failed("tds")).to_html()
    assert frontier(at(0.1, 0.1)).plot().to_dict()["layer"]


def test_other_measures_and_failures(found):
    turned = found.over(x="uloss", y="ploss")
    assert (turned.x.name, turned.y.name) == ("uloss", "ploss")
    assert {p.label for p in turned.efficient} == {p.label for p in found.efficient}
    with raises_code(UsageError, "SF-USAGE-040", match="'ncp' was not measured"):
        found.over(x="ncp")
    refused = replace(POINTS[0], numbers={"ploss": 0.1}, refused={"uloss": "there is no class"})
    [(_, why)] = frontier(refused, POINTS[1]).failures
    assert why == "uloss does not apply: there is no class"
    assert repr(found) == "Frontier of 's': 4 releases over ploss and uloss, 3 efficient, 1 failed"


def test_curves_that_do_not_compete_have_no_frontier_and_no_choice():
    found = frontier(*POINTS, choosable=False, legend="queries")
    assert found.efficient == () and found.knee is None
    spec = found.plot().to_dict()
    assert spec["layer"][0]["mark"].get("interpolate") is None
    text = found.to_html()
    assert "Grey steps" not in text and "No release" not in text
    assert "queries" in text


def test_no_words_stand_among_the_points(found):
    assert "text" not in marks(found.plot().to_dict()), "they would lie over marks; the legend names the ends"
    alone = frontier(failed("tds")).plot().to_dict()
    assert marks(alone) == ["line", "point"], "the ends without any candidate"


def test_the_seconds_are_left_out_on_a_phone(found):
    text = found.to_html()
    assert "@media (max-width: 36rem) { .s { display: none; }" in text
    assert text.count("class='n s'") == 1 + len(found.points) + len(found.baselines)
    assert "<span class='under'>efficient, chosen</span>" in text


def test_what_is_no_better_than_nothing_published_is_marked_everywhere(found):
    words = "no better than “nothing published”"
    assert words not in found.to_html()
    useless = frontier(at(0.2, 0.06, "k = 90"), at(0.3, 0.07, "k = 99"))  # nothing published has 0 and 0.05
    page = useless.to_html()
    assert "publishing no quasi-identifier at all does at least as well on both axes. Leave them out" in page
    assert f"efficient, {words}, chosen" in page
    assert "Publishing no quasi-identifier at all would do at least as well" in useless.knee.sentence
    rows = useless.as_json(useless.knee)["points"]
    assert [(row["efficient"], row["no_better_than_nothing"]) for row in rows] == [(True, True), (False, True)]
    lines = list(csv.DictReader(io.StringIO(useless.to_csv())))
    assert [line["no better than nothing"] for line in lines] == ["true", "true", "false", "false"]
    assert "remark" in json.dumps(useless.plot().to_dict())
