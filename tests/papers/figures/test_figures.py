"""The papers' figures: registered, documented, and with what the paper says coming out."""

import csv
import json
from pathlib import Path

import pytest

from papers import FIGURES, LiFigure2a, LiFigure2b, LiFigure3a, LiFigure3b, LiFigure3c
from papers.li_2009 import losses
from papers.li_2009.losses import requirements, techniques
from papers.tables.adult import occupations

DOCS = Path(__file__).parents[3] / "docs" / "explanation"


def test_every_figure_is_documented_and_says_what_it_is():
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert len(FIGURES) >= 2
    for kind in FIGURES.values():
        assert f"| `{kind.name}` |" in page
        assert kind.title and kind.paper and kind.__doc__


def test_the_grids_are_the_papers():
    assert len(requirements().recipes()) == 32
    assert len(techniques().recipes()) == 32
    assert len(occupations().attributes) == 7


@pytest.fixture(
    scope="module",
    params=[slice(1, None, 3), pytest.param(slice(None), marks=pytest.mark.slow)],
    ids=["a third", "all"],
)
def figure_2a(request, tmp_path_factory):
    """The folder, what was found, and how many values each requirement has: a third, the largest k among them."""
    folder = tmp_path_factory.mktemp("figures") / "li-2a"
    some = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "K", losses.K[some])
        patch.setattr(losses, "DIVERSE", {"probabilistic-l-diversity": {"l": list(losses.L[some])}})
        patch.setattr(losses, "CLOSE", {"t-closeness": {"t": list(losses.T[some]), "distance": "js"}})
        patch.setattr(losses, "SEMANTIC", {"delta-disclosure": {"delta": list(losses.DELTA[some])}})
        yield folder, LiFigure2a().run(folder, workers=1), len(losses.K)


def test_figure_2a(figure_2a):
    folder, found, values = figure_2a
    agrees = {fact.what: fact.agrees for fact in found.facts}
    for what in (
        "privacy loss when Armed-Forces is revealed", "privacy loss when Craft-repair is revealed",
        "all quasi-identifiers removed (Ploss, Uloss)", "the original table (Ploss, Uloss)", "what one would publish",
        "t-closeness performs best: nearest to the origin, both axes scaled", "releases with a utility loss below 0.02",
        *(["l-diversity does not perform well: none of it is efficient"] if values == 8 else []),
    ):  # fmt: skip
        assert agrees[what] is True, what
    assert all(fact.why for fact in found.facts if fact.agrees is False)
    assert {file.name for file in found.files} == {
        "frontier.html", "frontier.png", "frontier.svg", "frontier.csv", "comparison.md", "comparison.json",
    }  # fmt: skip
    rows = list(csv.DictReader((folder / "frontier.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 4 * values + 2
    largest = next(row for row in rows if row["release"] == "mondrian, k = 5000")
    assert float(largest["ploss-li"]) == pytest.approx(0.086, abs=0.03)
    assert float(largest["uloss"]) == pytest.approx(0.0288, abs=0.006)
    told = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    assert [fact["what"] for fact in told] == [fact.what for fact in found.facts]
    assert (folder / "comparison.md").read_text(encoding="utf-8").count("\n|") == len(told) + 2


def test_figure_2b_shares_what_2a_has_made(figure_2a):
    folder, _, _ = figure_2a
    found = LiFigure2b().run(folder, workers=1)
    assert [fact.agrees for fact in found.facts] == [True, None, None] * 2
    assert "the same at every parameter" in found.facts[2].ours


@pytest.mark.slow
@pytest.mark.parametrize("figure", [LiFigure3a, LiFigure3b, LiFigure3c])
def test_figure_3(figure, tmp_path):
    found = figure().run(tmp_path, workers=2)
    assert [fact.agrees for fact in found.facts] == [True] * len(found.facts)
    assert len(list(csv.DictReader((tmp_path / "frontier.csv").read_text(encoding="utf-8").splitlines()))) >= 33
