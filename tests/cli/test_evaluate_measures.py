"""`sfumato evaluate measures`: numbers with what they mean, refusals with reasons, and a warning."""

import io
import re
import shutil

import pytest
from rich.console import Console

import sfumato as sf
from sfumato.cli import show
from sfumato.evaluate.measures import MEASURES
from tests.cli.test_partition import clinic, study  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    sf.Study.load(clinic(folder)).release("k5", out=folder / "out", report=False)
    return folder


@pytest.fixture
def bundle(made_once, tmp_path, monkeypatch):
    """A copy of one's own: the study, its table, and a release of it."""
    shutil.copytree(made_once, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own" / "study.yaml"


def test_a_release_is_measured(bundle, run):
    found = run("evaluate", "measures", "out", "--against", bundle)
    assert found.code == 0
    assert "ploss" in found.out and "uloss" in found.out and "lower" in found.out
    assert "never publish" in found.err
    assert "p17" not in found.out


def test_some_measures_are_chosen(bundle, run):
    found = run(
        "evaluate", "measures", "out", "--against", bundle, "--only", "uloss,ploss", "--only", "mean-ploss", "--json"
    ).json
    assert set(found) == {"owner_only", "measures"}
    assert [one["name"] for one in found["measures"]] == ["uloss", "ploss", "mean-ploss"]
    one = found["measures"][0]
    assert set(one) == {"name", "title", "kind", "better", "bounds", "unit", "summary", "value", "details", "refused"}
    assert 0 <= one["value"] <= one["bounds"][1] and one["refused"] is None
    assert one["details"]["populations"] > 0


def test_a_measure_that_does_not_apply_says_why(bundle, run):
    text = bundle.read_text(encoding="utf-8").replace("role: sensitive", "role: insensitive")
    text = text.replace("role: class", "role: insensitive")
    bundle.write_text(text.split("releases:")[0] + "releases:\n  k5: {method: mondrian, k: 5}\n", encoding="utf-8")
    assert run("release", bundle, "k5", "--out", "other", "--no-report").code == 0
    found = run("evaluate", "measures", "other", "--against", bundle, "--only", "ploss")
    assert found.code == 0
    assert "ploss does not apply: no attribute is sensitive" in found.out
    [one] = run("evaluate", "measures", "other", "--against", bundle, "--only", "ploss", "--json").json["measures"]
    assert one["value"] is None and "sensitive" in one["refused"]


def test_all_are_listed(run):
    listed = run("evaluate", "measures", "--list", "--json").json
    assert sorted(one["name"] for one in listed) == list(MEASURES)
    words = run("evaluate", "measures", "--list").out
    for name in MEASURES:
        assert name in words


@pytest.mark.parametrize("args", [(), ("out",), ("--against", "study.yaml")], ids=str)
def test_a_bundle_and_a_study_are_needed(bundle, run, args):
    found = run("evaluate", "measures", *args)
    assert found.code == 2
    assert "sfumato evaluate measures BUNDLE --against STUDY" in found.err


def test_an_unknown_measure_is_refused_with_the_known_ones(bundle, run):
    found = run("evaluate", "measures", "out", "--against", bundle, "--only", "glory")
    assert found.code == 2
    assert "no measure called 'glory'" in found.err and "uloss" in found.err


def test_a_renamed_study_says_what_it_was_called(bundle, run):
    text = bundle.read_text(encoding="utf-8")
    bundle.write_text(text.replace("name: clinic", "name: ward"), encoding="utf-8")
    refused = run("evaluate", "measures", "out", "--against", bundle, "--only", "ploss")
    assert refused.code == 3 and "--was clinic" in refused.err
    named = ("--against", bundle, "--was", "clinic")
    assert run("evaluate", "measures", "out", "--only", "ploss", *named).code == 0
    assert run("evaluate", "link", "out", *named).code == 0
    assert run("evaluate", "intersect", "out", "out", *named).code == 0


@pytest.mark.parametrize(
    "args",
    [
        ["verify", "nowhere"], ["query", "nowhere", "age > 3"], ["verify", "people.csv"],
        ["evaluate", "measures", "nowhere", "--against", "study.yaml"],
        ["evaluate", "link", "nowhere", "--against", "study.yaml"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_folder_that_is_not_there_is_a_wrong_call_and_no_failed_check(study, run, args):  # noqa: F811 - the fixture
    found = run(*args)
    assert found.code == 2
    assert f"there is no folder '{args[2] if args[0] == 'evaluate' else args[1]}'" in found.err


def test_a_folder_without_a_manifest_does_not_verify(study, run):  # noqa: F811 - the fixture
    (study.parent / "empty").mkdir()
    assert run("verify", "empty").code == 8


def test_a_guess_is_shown_beside_its_baseline(bundle, run):
    found = run("evaluate", "measures", "out", "--against", bundle, "--only", "guessed-values")
    assert re.search(r"guessed-values  0\.\d+ share \(baseline 0\.\d+\)", found.out)


def lines_of(width, monkeypatch):
    """What `evaluate measures --list` prints, to a terminal so wide or, without a width, to a pipe."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=width is not None, width=width or 80, highlight=False, soft_wrap=True)
    monkeypatch.setattr(show, "out", console)
    from sfumato.cli.evaluate.measures import _list_measures
    from sfumato.workflow.evaluate import chosen_measures

    _list_measures(chosen_measures(None), json=False)
    return re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue()).splitlines()


def test_in_a_pipe_every_measure_is_one_line(monkeypatch):
    lines = lines_of(None, monkeypatch)
    assert len(lines) == 1 + len(MEASURES)
    assert sorted(line.split("  ")[0] for line in lines[1:]) == list(MEASURES)


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_in_a_terminal_no_name_and_no_word_is_broken(width, monkeypatch):
    from sfumato.evaluate.measures import range_words

    lines = lines_of(width, monkeypatch)
    words = " ".join(" ".join(lines).split())
    for name in MEASURES:
        one = MEASURES[name]()
        assert sum(f"{line}  ".startswith(f"{name}  ") for line in lines) == 1
        assert f"{range_words(one)} {one.unit}" in words
        assert all(word in words for word in one.summary.split())
    assert max(map(len, lines)) <= width
