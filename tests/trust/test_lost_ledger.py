"""A ledger that is deleted, put back to an older state or replaced is noticed before anything is spent from it."""

import hashlib
import json
import shutil
import threading
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato import workflow
from sfumato.api import Study
from sfumato.errors import BudgetError, StudyError, UsageError, VerifyError
from sfumato.ledger import open_ledger
from sfumato.ledger.sqlite import SqliteLedger
from sfumato.study.file import study_from_mapping
from sfumato.workflow.steps.lost_entries import budget_words
from tests.ledger.drafts import draft
from tests.raising import raises_code
from tests.trust.studies import on_disk, spanned

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

LEDGER, HEAD = "clinic.ledger.sqlite", "clinic.ledger.head"


@pytest.fixture
def study(tmp_path):
    """A study with a budget of 100."""
    return on_disk(tmp_path)


def opened(path):
    return Study.load(path)


def budget(path):
    return opened(path).declared.budget


def spend(path, epsilon=1):
    return opened(path).release(sf.ContingencyTable(epsilon=epsilon), report=False)


def ask(path, epsilon=1):
    """Spend without a bundle, which is quicker."""
    return opened(path).ask("", epsilon=epsilon)


def renamed(path, name):
    path.write_text(path.read_text(encoding="utf-8").replace("name: clinic", f"name: {name}"), encoding="utf-8")


def test_a_deleted_ledger_is_not_a_new_budget(study):
    spend(study)
    (study.parent / LEDGER).unlink()
    assert any("does not know 1 release of 'clinic'" in problem for problem in opened(study).verify_ledger())
    with raises_code(
        VerifyError, "SF-VERIFY-043", match=r"has lost entries.*contingency-1.*restore the ledger.*adopt --reason"
    ):
        spend(study)
    assert not (study.parent / LEDGER).exists()
    assert [folder.name for folder in (study.parent / "releases").iterdir()] == ["contingency-1"]


def test_without_its_head_the_bundles_notice(study):
    spend(study)
    for name in (LEDGER, HEAD):
        (study.parent / name).unlink()
    with raises_code(VerifyError, "SF-VERIFY-043", match=r"does not know 1 release of 'clinic': .*contingency-1"):
        spend(study)
    with raises_code(VerifyError, "SF-VERIFY-043", match="does not know 1 release"):
        ask(study)
    with raises_code(VerifyError, "SF-VERIFY-043", match="does not know 1 release"):
        opened(study).release("groups", report=False)
    assert "THE LEDGER HAS LOST ENTRIES" in opened(study).plan(sf.ContingencyTable(epsilon=1)).sentences[0]
    assert "THE LEDGER HAS LOST ENTRIES" in opened(study).plan("groups").sentences[0]


def test_a_restored_backup_is_noticed_by_the_head_where_there_is_no_bundle(study, tmp_path):
    ask(study)
    shutil.copy(study.parent / LEDGER, tmp_path / "backup")
    ask(study, 2)
    shutil.copy(tmp_path / "backup", study.parent / LEDGER)
    assert any(HEAD in problem for problem in opened(study).verify_ledger())
    with raises_code(VerifyError, "SF-VERIFY-043", match=r"had 4 rows for the study 'clinic' .ε = 3 in all."):
        ask(study)
    [entry] = opened(study).adopt_releases("restored the backup of May")
    assert (entry.state, entry.epsilon, entry.adopts, entry.reason) == (
        "adopted", Fraction(2), None, "restored the backup of May",
    )  # fmt: skip
    assert opened(study).ledger.spent("clinic") == 3
    assert opened(study).verify_ledger() == ()
    ask(study)


def test_a_ledger_of_another_branch_does_not_hide_what_was_spent(study, tmp_path):
    for _ in range(2):
        ask(study)
    (tmp_path / "archive").mkdir()
    for name in (LEDGER, HEAD):
        (study.parent / name).rename(tmp_path / "archive" / name)
    for _ in range(2):
        ask(study)
    shutil.copy(tmp_path / "archive" / LEDGER, study.parent / LEDGER)
    with raises_code(VerifyError, "SF-VERIFY-043"):
        ask(study)
    [entry] = opened(study).adopt_releases("copied the archive back")
    assert entry.epsilon == 2
    assert opened(study).ledger.spent("clinic") == 4
    assert opened(study).verify_ledger() == ()


def test_another_ledger_in_the_study_is_another_account_and_is_noticed(study):
    ask(study)
    text = study.read_text(encoding="utf-8")
    study.write_text(f"{text}ledger: other.sqlite\n", encoding="utf-8")
    with raises_code(VerifyError, "SF-VERIFY-043"):
        ask(study)
    (study.parent / LEDGER).rename(study.parent / "other.sqlite")  # the same ledger at another place is none lost
    ask(study)


def test_releases_that_are_adopted_count_as_spent_again(tmp_path):
    study = spanned(tmp_path)
    before = opened(study)
    first = before.release("dp", report=False)
    before.release("groups", report=False)
    before.ask("", epsilon=1)
    paid, entries = before.ledger.spent("clinic"), before.ledger.entries("clinic")
    for name in (LEDGER, HEAD):
        (study.parent / name).unlink()
    found = opened(study).adopt_releases("the disk broke")
    assert {entry.adopts for entry in found} == {entry.hash for entry in entries if entry.method != "ask"}
    [dp] = [entry for entry in found if entry.epsilon is not None]
    was = next(entry for entry in entries if entry.hash == dp.adopts)
    assert (dp.epsilon, dp.unit, dp.span, dp.where, dp.method, dp.bundle) == (
        was.epsilon, was.unit, was.span, was.where, was.method, first.sha256,
    )  # fmt: skip
    assert opened(study).ledger.spent("clinic") == paid - 1, "nothing tells of the question: its head is gone, too"
    assert opened(study).verify_ledger() == ()
    assert opened(study).adopt_releases("again") == []
    opened(study).release("dp", report=False)


def test_what_head_and_bundles_know_is_counted_once(study):
    spend(study)
    ask(study, 2)
    (study.parent / LEDGER).unlink()
    assert [entry.epsilon for entry in opened(study).adopt_releases("lost")] == [1, 2]
    assert opened(study).ledger.spent("clinic") == 3
    assert opened(study).adopt_releases("lost") == []
    with pytest.raises(BudgetError):
        spend(study, budget(study) - 2)


def test_a_release_elsewhere_is_noticed_by_the_next_one_beside_it(study, tmp_path):
    opened(study).release(sf.ContingencyTable(epsilon=1), out=tmp_path / "elsewhere" / "one", report=False)
    for name in (LEDGER, HEAD):
        (study.parent / name).unlink()
    with raises_code(VerifyError, "SF-VERIFY-043", match="does not know 1 release"):
        opened(study).release(sf.ContingencyTable(epsilon=1), out=tmp_path / "elsewhere" / "two", report=False)
    assert not (tmp_path / "elsewhere" / "two").exists()
    assert len(opened(study).adopt_releases("moved", folders=[tmp_path / "elsewhere"])) == 1


def test_bundles_of_other_studies_and_broken_ones_are_nobodys_business(study):
    other = study.with_name("other.yaml")
    other.write_text(study.read_text(encoding="utf-8").replace("name: clinic", "name: other"), encoding="utf-8")
    spend(other)
    strange = study.parent / "releases" / "strange"
    strange.mkdir()
    (strange / "manifest.json").write_text("{", encoding="utf-8")
    spend(study)
    assert opened(study).verify_ledger() == opened(other).verify_ledger() == ()


@pytest.mark.parametrize("shared", [False, True])
def test_a_second_study_beside_one_that_has_spent_is_warned_of(study, shared):
    if shared:
        study.write_text(f"{study.read_text(encoding='utf-8')}ledger: book.sqlite\n", encoding="utf-8")
    other = study.with_name("other.yaml")
    other.write_text(study.read_text(encoding="utf-8").replace("name: clinic", "name: other"), encoding="utf-8")
    said = "other studies have spent privacy budget"
    assert not any(said in sentence for sentence in opened(other).plan(sf.ContingencyTable(epsilon=1)).sentences)
    opened(study).release("groups", report=False)
    assert not any(said in warning for warning in spend(other).warnings), "groups cost nothing"
    assert any(f"{said} here: 'other'" in sentence for sentence in opened(study).plan("groups").sentences)
    if shared:  # the ledger itself tells
        for head in study.parent.glob("*.head"):
            head.unlink()
    [warning] = [warning for warning in spend(study).warnings if said in warning]
    assert "'other'" in warning and "'clinic'" not in warning and "adds up" in warning
    assert any(f"{said} here: 'clinic'" in warning for warning in spend(other).warnings)


def test_a_broken_manifest_is_not_adopted(study):
    manifest = spend(study).bundle / "manifest.json"
    for name in (LEDGER, HEAD):
        (study.parent / name).unlink()
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"epsilon": "1"', '"epsilon": "0.1"'))
    with raises_code(VerifyError, "SF-VERIFY-116", match=r"contingency-1' cannot be adopted: "):
        opened(study).adopt_releases("lost")


def test_a_folder_of_any_name_has_a_ledger(tmp_path):
    base = tmp_path / "a:b?c%20#d[e]"
    base.mkdir()
    fields = {"name": "x: y/../z", "source": "t.csv", "attributes": {"sex": {"role": "class", "values": ["f", "m"]}}}
    declared = study_from_mapping(fields, base)
    workflow.ledger_of(declared).reserve(draft("1", study=declared.name), budget=Fraction(1))
    assert all(path.name.startswith("x-y-z-") for path in base.iterdir())
    assert workflow.ledger_of(declared).spent("X: Y/../z") == 1


def test_a_reason_is_needed(study):
    with raises_code(UsageError, "SF-USAGE-087"):
        opened(study).adopt_releases("  ")


def test_a_head_that_cannot_be_read_is_not_passed_over(study):
    ask(study)
    (study.parent / HEAD).write_text("{}", encoding="utf-8")
    with raises_code(VerifyError, "SF-VERIFY-043", match=r"head of the ledger in '.*' cannot be read"):
        ask(study)
    [entry] = opened(study).adopt_releases("an editor wrote into it")
    assert entry.epsilon is None
    ask(study)


def test_a_crash_between_the_entry_and_its_head_is_no_loss(study, monkeypatch):
    ask(study)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteLedger, "_note", lambda *_given: None)
        ask(study)
    lagging = json.loads((study.parent / HEAD).read_text(encoding="utf-8"))["accounts"]["clinic"]
    assert lagging["rows"] < len(opened(study).ledger.rows())
    assert opened(study).verify_ledger() == ()
    ask(study)
    assert json.loads((study.parent / HEAD).read_text(encoding="utf-8"))["accounts"]["clinic"] == {
        "rows": 6, "hash": opened(study).ledger.rows()[-1]["hash"], "epsilon": "3", "unit": "record",
        "paid": {entry.hash: "1" for entry in opened(study).ledger.entries("clinic")},
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Clinic", '" clinic "', "ＣＬＩＮＩＣ", "clinic\u200b", "cli\u00adnic"])
def test_another_spelling_of_the_name_is_the_same_account(study, name):
    ask(study)
    renamed(study, name)
    assert opened(study).ledger.spent(opened(study).name) == 1
    ask(study)
    assert opened(study).ledger.spent("clinic") == 2
    assert [path.name for path in study.parent.glob("*.ledger.sqlite")] == [LEDGER]
    assert opened(study).verify_ledger() == ()


def test_a_name_with_an_invisible_character_first_is_the_same_account(study):
    renamed(study, "clinic\u200b")
    ask(study)
    renamed_back = study.read_text(encoding="utf-8").replace("clinic\u200b", "clinic")
    study.write_text(renamed_back, encoding="utf-8")
    assert opened(study).ledger.spent("clinic") == 1


def test_a_ledger_that_an_earlier_version_named_with_an_invisible_character_is_still_found(study):
    stem = "clinic-" + hashlib.sha256("clinic\u200b".encode()).hexdigest()[:8]
    ask(study)
    head = json.loads((study.parent / HEAD).read_text(encoding="utf-8"))
    head["accounts"] = {"clinic\u200b": head["accounts"].pop("clinic")}
    (study.parent / HEAD).unlink()
    (study.parent / f"{stem}.ledger.head").write_text(json.dumps(head), encoding="utf-8")
    (study.parent / LEDGER).rename(study.parent / f"{stem}.ledger.sqlite")
    renamed(study, "clinic\u200b")
    assert opened(study).ledger.spent("clinic") == 1
    (study.parent / f"{stem}.ledger.sqlite").unlink()
    with raises_code(VerifyError, "SF-VERIFY-043", match="has lost entries"):
        ask(study)
    assert [entry.epsilon for entry in opened(study).adopt_releases("lost")] == [1]
    assert opened(study).verify_ledger() == ()


def test_two_ledgers_of_one_account_are_refused(study):
    ask(study)
    shutil.copy(study.parent / LEDGER, study.parent / "CLINIC.ledger.sqlite")
    with raises_code(StudyError, "SF-STUDY-221", match=r"there are 2 ledgers of the study 'clinic'"):
        ask(study)


def test_a_raised_budget_is_told_of(study):
    ask(study)
    text = study.read_text(encoding="utf-8")
    total = budget(study)
    raised = text.replace(f"budget: {total}", f"budget: {total + 2}")
    assert raised != text
    study.write_text(raised, encoding="utf-8")
    said = f"the study's budget was raised from {total} to {total + 2} since its last release"
    assert said in opened(study).plan(sf.ContingencyTable(epsilon=1)).sentences[0]
    assert said in spend(study).warnings[0]
    ask(study)
    assert not any("was raised" in said for said in opened(study).plan(sf.ContingencyTable(epsilon=1)).sentences)
    assert [entry.budget for entry in opened(study).ledger.entries("clinic")] == [total, total + 2, total + 2]


def test_a_bundle_that_appears_while_the_ledger_is_read_is_no_loss(study, monkeypatch):
    """Bundles are read before the ledger, so what another process publishes in between is known to it."""
    one = opened(study)
    real = type(one.ledger).hashes

    def slow(ledger):
        thread = threading.Thread(target=spend, args=(study,))
        with monkeypatch.context() as patch:
            patch.setattr(SqliteLedger, "hashes", real)
            thread.start()
            thread.join()
        return real(ledger)

    monkeypatch.setattr(SqliteLedger, "hashes", slow)
    assert workflow.lost_entries(one.declared, one.ledger) == ()


def test_a_study_of_a_table_in_memory_keeps_its_account(study, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.workflow.steps.outcome.working_folder", lambda: tmp_path / "here")
    (tmp_path / "here").mkdir()
    fields = {
        "name": "people: a/b", "source": {"path": study.parent / "clinic.csv"}, "privacy": {"budget": 1},
        "attributes": {"age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 120]}},
    }  # fmt: skip
    assert sf.Study.from_mapping(fields).ledger.lasting
    [said] = budget_words(sf.Study.from_mapping(fields).declared, open_ledger("memory:"))
    assert said.startswith("the ledger is in memory")
    sf.Study.from_mapping(fields).ask("", epsilon="0.6")
    with raises_code(BudgetError, "SF-BUDGET-003", match=r"0.4 is left"):
        sf.Study.from_mapping(fields).ask("", epsilon="0.6")
    names = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert len(names) == 2 and all(name.startswith("people-a-b-") for name in names)
