"""Two privacy axes side by side, and logarithmic axes that show a 0 as a 0."""

import json
import re
import warnings
from dataclasses import replace

import pytest

from sfumato.frontier import Axis
from sfumato.frontier.axis_scale import AxisScale
from tests.frontier.points import BASELINES, X, Y, at, frontier

OWN = Axis(name="own-record-loss", title="Own-record loss", better="lower", unit="nats")


def with_own(point, own):
    return replace(point, numbers={**point.numbers, OWN.name: own})


POINTS = (
    with_own(at(0.1, 0.03, "k = 50"), 0.002),
    with_own(at(0.3, 0.01, "k = 5"), 0.2),
    with_own(at(0.2, 0.02, "ε = 1", series="diffgen: ε-DP"), 1e-5),
)


@pytest.fixture(scope="module")
def both():
    found = frontier(*POINTS)
    ends = tuple(with_own(point, own) for point, own in zip(BASELINES, (0.0, 0.69), strict=True))
    return replace(found, beside=OWN, axes={**found.axes, OWN.name: OWN}, baselines=ends)


def axes_of(spec):
    return {(layer["encoding"]["x"]["title"], layer["encoding"]["x"]["scale"]["type"]) for layer in spec["layer"]}


def test_a_second_privacy_axis_is_a_second_panel(both):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = both.plot().to_dict()  # altair checks it against the schema
    left, right = spec["hconcat"]
    assert {layer["encoding"]["x"]["title"] for layer in left["layer"]} == {"← better · Privacy loss (nats)"}
    assert axes_of(right) == {("← better · Own-record loss (nats) · log scale, linear below 1e-05", "symlog")}
    assert spec["resolve"]["scale"]["color"] == "shared", "one legend"
    assert both.plot().to_dict() and json.loads(json.dumps(both.as_json(both.knee)))["beside"] == OWN.name


def test_the_efficient_releases_of_each_panel_are_its_own(both):
    first, second = both.panels
    assert [point.label for point in first.efficient] == ["k = 50", "ε = 1", "k = 5"]
    assert [point.label for point in second.efficient] == ["ε = 1", "k = 5"]


def test_the_page_shows_both_axes_and_says_what_they_are(both):
    text = both.to_html()
    assert len(re.findall(r"vegaEmbed\('#", text)) == 2
    assert "whether or not they took part" in text and "because their record is in" in text
    assert '"name": "zoom"' in text and '"bind": "scales"' in text
    assert text.count("function") and len(re.findall(r"<script>", text)) == 3, "the programs that draw are there once"


def test_a_release_without_the_second_number_is_named(both):
    refused = replace(at(0.25, 0.015, "a <sample>"), refused={OWN.name: "the release is a sample"})
    text = replace(both, tried=(*POINTS, refused)).to_html()
    assert (
        "1 of 4 releases" in text
        and "a &lt;sample&gt;: own-record-loss does not apply: the release is a sample" in text
    )


def test_without_it_there_is_one_panel(both):
    alone = replace(both, beside=None)
    assert len(alone.panels) == 1 and "hconcat" not in alone.plot().to_dict()
    none = replace(frontier(at(0.1, 0.2), at(0.2, 0.1)), beside=OWN)
    assert len(none.panels) == 1, "nothing has the second number"


@pytest.mark.parametrize(
    ("values", "kind", "ticks"),
    [
        ([0.0, 0.001, 0.1], None, None),
        ([0.0, 0.0009, 0.1], "symlog", [0.0, 0.001, 0.01, 0.1]),
        ([0.0009, 0.1], "log", [0.001, 0.01, 0.1]),
        ([0.0, 0.0], None, None),
        ([], None, None),
        ([-1.0, 1e-9, 5.0], None, None),
        ([1e-9, 1.0], "log", [1e-8, 1e-6, 1e-4, 1e-2, 1.0]),
        ([float("inf"), 0.1, 0.2], None, None),
    ],
)
def test_an_axis_is_logarithmic_beyond_two_decades_and_keeps_its_zero(values, kind, ticks):
    found = AxisScale.of(values)
    assert found.scale().to_dict().get("type") == kind
    assert found.ticks().get("values") == (None if ticks is None else pytest.approx(ticks))
    assert found.logarithmic == (kind is not None) == ("log scale" in found.words)


def test_a_zero_is_drawn_at_its_place(both, tmp_path):
    spec = both.panels[1].plot().to_dict()
    rows = [row for data in spec.get("datasets", {}).values() for row in data]
    rows += [row for layer in spec["layer"] for row in layer["data"].get("values", [])]
    assert {row["x"] for row in rows if row.get("release") == "nothing published"} == {0.0}
    assert both.save(tmp_path / "both.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_other_axes_have_one_panel(both):
    assert (both.x, both.y) == (X, Y)
    assert len(both.over(y="ploss").panels) == 2
    assert len(both.over(x="uloss").panels) == len(both.over(x=OWN.name).panels) == 1
