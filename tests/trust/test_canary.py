"""No value from a record in anything that is printed, logged or published: a canary in every column never sings."""

import traceback

import pyarrow as pa
import pyarrow.parquet
import pytest

from sfumato import workflow
from sfumato.errors import SfumatoError
from sfumato.study.file import load_study
from tests.trust.command import sfumato
from tests.trust.studies import COLUMNS, csv_text, declared, everything, on_disk, recipe, records

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw, a release without groups too")

__all__ = ["sfumato"]  # a fixture

CANARY = "Kanarienvogel-7291"


def silent_about(study, *texts):
    """The canary is in no text, and in no file but the table itself."""
    for text in texts:
        assert CANARY not in text
    for name, content in everything(study.parent).items():
        if not name.startswith("clinic.") or name.endswith(".sqlite"):
            assert CANARY.encode() not in content, name


def with_canary(column, place=5):
    return [row | {column: CANARY} if n == place else row for n, row in enumerate(records())]


@pytest.mark.parametrize("column", COLUMNS)
def test_commands_that_succeed(sfumato, tmp_path, column):
    study = on_disk(tmp_path, with_canary(column))
    said = [
        sfumato("plan", study, "dp"),
        sfumato("release", study, "dp", "--out", tmp_path / "out"),
        sfumato("release", study, "full", "--out", tmp_path / "full", "--json"),
        sfumato("ledger", study, "--verify"),
        sfumato("verify", tmp_path / "out"),
        sfumato("query", tmp_path / "out" / "bundle", "age >= 40"),
    ]
    assert [one.code for one in said] == [0] * len(said), [one.err for one in said]
    silent_about(study, *(one.all for one in said))


def failing_tables():
    rows = csv_text(with_canary("note"))
    fields = ",".join([CANARY] * 3)
    return {
        "too few fields": rows + f"{fields}\n",
        "too many fields": rows + f"{fields},{fields},{fields}\n",
        "an open quote": rows + f'p9,30,"{CANARY},f,no,x\n',
        "text after a quote": rows + f'p9,30,"Law"{CANARY},f,no,x\n',
        "an open quote first": rows.split("\n", 1)[0] + f'\np9,30,"{CANARY},f,no,x\n',
        "no names": "\n".join(rows.splitlines()[1:]),
        "a column less": csv_text(with_canary("note"), COLUMNS).replace("sex", "gender", 1),
    }


UNREADABLE = ("no names", "a column less")  # to a private release: what the line of names tells


@pytest.mark.parametrize("kind", failing_tables())
def test_tables_that_cannot_be_read(sfumato, tmp_path, kind):
    study = on_disk(tmp_path)
    (tmp_path / "clinic.csv").write_text(failing_tables()[kind], encoding="utf-8")
    said = sfumato("release", study, "groups", "--out", tmp_path / "out")
    assert said.code == 4, said.all
    assert "To fix: " in said.err
    private = sfumato("release", study, "dp", "--out", tmp_path / "dp", "--anyway")
    assert private.code == (4 if kind in UNREADABLE else 0), "a broken record is a record with missing values"
    silent_about(study, said.all, private.all)


@pytest.mark.parametrize(
    "broken",
    [
        b"\xff\xfe" + CANARY.encode("utf-8") + b"\x00\xd8",
        CANARY.encode() + b",\x81\x8d," * 3 + b"\n",
        b"\x1f\x8b" + CANARY.encode(),
    ],
    ids=["half utf-16", "stray bytes", "a damaged archive"],
)
def test_bytes_that_are_no_text(sfumato, tmp_path, broken):
    study = on_disk(tmp_path)
    (tmp_path / "clinic.csv").write_bytes(broken)
    said = sfumato("release", study, "dp", "--out", tmp_path / "out")
    assert said.code == 4, said.all
    silent_about(study, said.all)


@pytest.mark.parametrize("column", ["age", "job", "ill"])
def test_typed_columns_that_do_not_fit(sfumato, tmp_path, column):
    """The type is told, never a value."""
    study = on_disk(tmp_path, source="clinic.parquet")
    table = {name: [row[name] for row in records()] for name in COLUMNS}
    table[column] = [[CANARY]] * len(records())
    pa.parquet.write_table(pa.table(table), tmp_path / "clinic.parquet")
    said = sfumato("release", study, "dp", "--out", tmp_path / "out")
    assert said.code == 4
    silent_about(study, said.all)


@pytest.mark.parametrize("kind", failing_tables())
def test_the_whole_traceback(tmp_path, kind):
    """Not even what Python prints of an error and of its causes: somebody's log may hold all of it."""
    study = on_disk(tmp_path)
    (tmp_path / "clinic.csv").write_text(failing_tables()[kind], encoding="utf-8")
    with pytest.raises(SfumatoError) as told:
        workflow.release(load_study(study), declared(study, "groups"), folder=tmp_path / "out")
    printed = "".join(traceback.format_exception(told.value))
    silent_about(study, printed, repr(told.value))


def test_a_failure_in_the_middle_leaves_a_reason_without_values(tmp_path, monkeypatch):
    """The ledger keeps the kind of a failure, whatever its words were."""

    def fail(*_given, **_more):
        raise ValueError(CANARY)

    study = on_disk(tmp_path)
    monkeypatch.setattr("sfumato.methods.noise.noisy_groups.publish_counts", fail)
    monkeypatch.setattr("sfumato.methods.noise.noisy_groups.publish_all_counts", fail)
    with pytest.raises(ValueError, match=CANARY):
        workflow.release(load_study(study), recipe(h=3), folder=tmp_path / "out")
    silent_about(study)
