"""The budget bar: nothing is called left that the ledger may have lost, and what is unknown has words of its own."""

import pytest

import sfumato as sf
from sfumato.web.rendering import fragment, load
from sfumato.web.spent_budget import budget_of
from sfumato.web.workspace import OpenStudy
from tests.web.small_study import STUDY, write_adult

pytestmark = pytest.mark.error_rate(0, reason="what is spent is looked at, and not what was drawn")


@pytest.fixture
def spent(tmp_path):
    """A study that has spent 0.5 of 2, and copies of its ledger from before and after."""
    path = write_adult(tmp_path, rows=300)
    study = sf.Study.load(path)
    study.release("k5", report=False)
    (ledger,) = tmp_path.glob("*.ledger.sqlite")
    before = ledger.read_bytes()
    study.release("dp", report=False)
    return path, ledger, before


def bar(path):
    """What the bar of a page says."""
    opened = OpenStudy("key", path)
    found = budget_of(opened, *load(opened))
    return " ".join(fragment("budget.html", study=opened, budget=found).striptags().split()), found


def test_the_bar_says_what_is_left(spent):
    said, found = bar(spent[0])
    assert said == "ε = 1.5 of 2 left" and not found["why"]


@pytest.mark.parametrize("how", ["deleted", "an old copy"])
def test_a_ledger_that_lost_entries_leaves_it_unknown(spent, how):
    path, ledger, before = spent
    if how == "deleted":
        ledger.unlink()
    else:
        ledger.write_bytes(before)
    said, found = bar(path)
    assert said == "what is left of ε is unknown: the ledger has lost entries" and found["wrong"]
    assert "total" not in found


def test_what_was_found_once_is_not_said_of_another_state_of_the_ledger(spent):
    path, ledger, before = spent
    opened = OpenStudy("key", path)
    assert budget_of(opened, *load(opened))["left"] == "1.5"
    ledger.write_bytes(before)
    assert "lost entries" in budget_of(opened, *load(opened))["why"]


def test_a_ledger_that_cannot_be_read_leaves_it_unknown(spent):
    path, ledger, _ = spent
    ledger.write_bytes(b"no database" * 500)
    said, found = bar(path)
    assert said == "what is left of ε is unknown: the ledger cannot be read" and found["wrong"]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (("epsilon: 0.5", "epsilon: [0.5"), "what is left of ε is unknown: the study file has an error"),
        (("role: class", "role: clas"), "what is left of ε is unknown: the study file has an error"),
        ((", budget: 2", ""), "no privacy budget set"),
    ],
)
def test_no_budget_and_a_study_with_an_error_are_told_apart(tmp_path, edit, words):
    assert edit[0] in STUDY
    assert bar(write_adult(tmp_path, rows=10, study=STUDY.replace(*edit)))[0] == words


@pytest.mark.parametrize(
    ("privacy", "words"), [("{unit: record}", "no privacy budget set"), ("{budget: 3}", "privacy budget of ε = 3")]
)
def test_a_study_that_was_just_begun_is_no_error(tmp_path, privacy, words):
    (tmp_path / "study.yaml").write_text(f"name: a\nsource: a.csv\nprivacy: {privacy}\nattributes: {{}}\n")
    said, found = bar(tmp_path / "study.yaml")
    assert said == words and not found["wrong"]
