"""`make reproduce`: the figures of the papers by name."""

import json

import pytest

from papers.__main__ import main


@pytest.fixture
def reproduce(capsys):
    """Run it as the command line does: exit code, what it says, and its JSON."""

    class Ran:
        def __init__(self, *arguments):
            try:
                self.code = main([str(one) for one in arguments])
            except SystemExit as stop:
                self.code = stop.code
            self.out, self.err = capsys.readouterr()

        @property
        def json(self):
            return json.loads(self.out)

    return Ran


def test_the_figures_are_listed(tmp_path, reproduce):
    assert "li-2a" in reproduce().out
    listed = {one["figure"]: one for one in reproduce("--json").json}
    assert set(listed) == {
        "diffgen-3", "diffgen-4", "diffgen-5", "li-2a", "li-2b", "li-3a", "li-3b", "li-3c",
        "sattar-2", "sattar-3", "sattar-4", "sattar-5", "sattar-6", "sattar-7", "sattar-8", "sattar-9",
        "sattar-10", "zaman-2", "zaman-pipeline",
    }  # fmt: skip
    on_the_survey = {f"sattar-{n}" for n in (2, 3, 4, 6, 7, 8, 10)}
    on_public_tables = on_the_survey | {"zaman-pipeline"}
    assert {name for name, one in listed.items() if one["needs"]} == on_public_tables, "the rest is packaged"
    assert all("minute" in one["takes"] for one in listed.values())
    found = reproduce("li-9")
    assert found.code == 2
    assert "there is no figure called 'li-9'" in found.err


@pytest.mark.usefixtures("seeded")
def test_a_figure_says_how_long_it_takes_and_what_came_out(tmp_path, reproduce):
    found = reproduce("zaman-2", "--out", tmp_path / "figure")
    assert found.code == 0
    assert "zaman-2: less than a minute on two cores" in found.err
    assert "differs [15-60), Female, 1*, Y: printed 2; ours 1" in found.out
    assert "why it may differ: who has both nodes" in found.out
    quiet = reproduce("zaman-2", "--json", "--out", tmp_path / "figure")
    assert quiet.err == ""
    assert quiet.json["machine"]
    assert [fact["agrees"] for fact in quiet.json["facts"]] == [False] * 3 + [True] * 5 + [False, True]


def test_a_figure_on_a_public_table_says_what_to_give(tmp_path, reproduce, monkeypatch):
    monkeypatch.delenv("SFUMATO_SHARED", raising=False)
    listed = reproduce().out
    assert "sattar-2" in listed and "sattar-3" in listed and "needs --data FOLDER" in listed
    found = reproduce("sattar-2")
    assert found.code == 2
    assert "--data FOLDER" in found.err and "occ_sal_view.csv.gz" in found.err
    found = reproduce("sattar-3", "--data", tmp_path)
    assert found.code == 4
    assert "does not hold the records of the American Community Survey" in found.err
    assert reproduce("li-2a", "--data", tmp_path).code == 2
