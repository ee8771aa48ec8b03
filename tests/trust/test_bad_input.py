"""Bad input gets a clear error: what is wrong, what to do, the exit code; nothing lost, nothing half-written.

Everything goes through the command line, as a user would meet it. What no message may ever hold is in test_canary.py.
"""

import datetime as dt
import json

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sfumato import workflow
from sfumato.ledger import open_ledger
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.study.file import load_study
from tests.trust.command import sfumato
from tests.trust.studies import csv_text, everything, manifest, on_disk, recipe, records

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

__all__ = ["sfumato"]  # a fixture

JOBS = "{Any_Job: {Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}"
HEADER = b"id,age,job,sex,ill,note\n"
POSITIVE = "write a positive number such as 1, 0.1 or 1/3"


def spent(study):
    return open_ledger(study.parent / "clinic.ledger.sqlite").spent("clinic")


def refused(said, study, *, code, problem, fix):
    """The error is ours, names problem and fix, cost nothing and left nothing."""
    assert said.code == code, said.all
    assert said.err.startswith("error: "), said.err
    told, _, to_do = said.err.partition("\n  To fix: ")
    assert problem in told.replace(str(study.parent), "…"), said.err
    assert fix in to_do.replace(str(study.parent), "…"), said.err
    assert said.out == ""
    assert "Traceback" not in said.err
    assert not (study.parent / "out").exists(), "no folder is left"
    assert spent(study) == 0


def changed(study, *pairs):
    text = study.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    study.write_text(text, encoding="utf-8")
    return study


def release(sfumato, study, *more):
    return sfumato("release", study, "dp", "--out", study.parent / "out", *more)


def fine(said, study):
    assert said.code == 0, said.all
    assert [line for line in said.err.splitlines() if not line.startswith("warning: for your eyes only: ")] == []
    assert manifest(study.parent / "out" / "bundle")["guarantee"].startswith("This release is ε-differentially private")
    assert spent(study) == 1


# --- the table ---


@pytest.mark.parametrize(
    ("content", "problem", "fix"),
    [
        (b"", "…/clinic.csv is empty", "point to a file with a line of column names and records below it"),
        (b"\n \n", "…/clinic.csv is empty", "point to a file with a line of column names"),
        (HEADER, "…/clinic.csv holds no records", "point to a table with at least one record"),
        (HEADER.rstrip(), "…/clinic.csv holds no records", "point to a table with at least one record"),
        (
            b"id,age,age,job,sex,ill\n1,2,3,Lawyer,f,no\n",
            "…/clinic.csv has two columns called 'age'",
            "rename or drop one of them",
        ),
        (
            b"id,age,Age,job,sex,ill\n1,2,3,Lawyer,f,no\n",
            "the columns 'age' and 'Age' of …/clinic.csv differ only in case",
            "rename one of them",
        ),
        (
            b"id,age,jobb,sex,ill\n1,2,Lawyer,f,no\n",
            "…/clinic.csv has no column 'job'",
            "correct the study: 'job' may be 'jobb'",
        ),
        (
            b"1,2,Lawyer,f,no\n2,3,Lawyer,f,no\n",
            "the first line of …/clinic.csv looks like a record, not like column names",
            "put a line with the names above it",
        ),
    ],
    ids=["empty", "blank", "header", "header without a line end", "twins", "case twins", "no column", "no header"],
)
def test_a_table_that_cannot_be_used(sfumato, tmp_path, content, problem, fix):
    study = on_disk(tmp_path)
    (tmp_path / "clinic.csv").write_bytes(content)
    refused(release(sfumato, study), study, code=4, problem=problem, fix=fix)


@pytest.mark.parametrize(
    ("source", "problem", "fix"),
    [
        ("gone.csv", "there is no file …/gone.csv", "check the path"),
        ("*.parquet", "no file matches …/*.parquet", "check the path"),
        (".", "… is a folder", "name the files in it, such as …/*.parquet"),
        ("study.yaml", "the name of …/study.yaml does not say what format it has", "use one of the endings .csv"),
        ("mysql://u:hush@h/t", "there is no engine for 'mysql:' addresses yet", "use a file, or one of: duckdb://"),
        ("duckdb:///gone.db?table=t", "there is no file …/gone.db", "check the path"),
    ],
)
def test_a_source_that_is_not_there(sfumato, tmp_path, source, problem, fix):
    study = changed(on_disk(tmp_path), ("source: clinic.csv", f'source: "{source}"'))
    said = release(sfumato, study)
    refused(said, study, code=4, problem=problem, fix=fix)
    assert "hush" not in said.err


@pytest.mark.parametrize(
    ("columns", "problem", "fix"),
    [
        (
            {"job": [["Lawyer"]]},
            "column 'job' of …/t.parquet has the type array<string>, and the study declares categories",
            "convert the column, or declare 'job' differently",
        ),
        (
            {"age": [dt.date(2020, 1, 1)]},
            "column 'age' of …/t.parquet has the type date, and the study declares numbers",
            "convert the column, or declare 'age' differently",
        ),
        (
            {"ill": [b"no"]},
            "column 'ill' of …/t.parquet has the type binary, and the study declares categories",
            "convert the column, or declare 'ill' differently",
        ),
        ({"age": []}, "…/t.parquet holds no records", "point to a table with at least one record"),
    ],
    ids=["a list", "a date", "bytes", "no records"],
)
def test_columns_of_a_wrong_type(sfumato, tmp_path, columns, problem, fix):
    study = on_disk(tmp_path, source="t.parquet")
    table = {"id": [1], "age": [30], "job": ["Lawyer"], "sex": ["f"], "ill": ["no"]} | columns
    if columns == {"age": []}:
        table = {name: pa.array([], pa.string()) for name in table}
    pa.parquet.write_table(pa.table(table), tmp_path / "t.parquet")
    refused(release(sfumato, study), study, code=4, problem=problem, fix=fix)


def test_a_file_that_is_not_what_its_name_says(sfumato, tmp_path):
    study = on_disk(tmp_path, source="t.parquet")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 is how such a file begins, and no more")
    problem = "reading …/t.parquet failed: the file is damaged, or is not in the format its name says"
    fix = "write it again from where it came, or give it the right ending"
    refused(release(sfumato, study), study, code=4, problem=problem, fix=fix)


@pytest.mark.parametrize(
    ("broken", "problem", "fix"),
    [
        (
            b"p9,30,Lawyer\n",
            "a record has more or fewer fields than the first line has names (line 62)",
            "give all records as many fields, and quote those with a delimiter; or set `delimiter`, `quote` under",
        ),
        (
            b'p9,30,"Lawyer,f,no,x\n',
            "a quoted field is never closed, or goes on after its closing quote (line 62)",
            "close every quote, and write a quote inside a quoted field twice",
        ),
    ],
    ids=["too few fields", "a quote that is never closed"],
)
def test_a_broken_record_far_down(sfumato, tmp_path, broken, problem, fix):
    """The owner's look and releases of groups fail, and say in which line; a private release takes it for a record."""
    study = on_disk(tmp_path)
    path = tmp_path / "clinic.csv"
    path.write_bytes(path.read_bytes() + broken)
    for said in (sfumato("check", study), sfumato("release", study, "groups", "--out", tmp_path / "out")):
        assert said.code == 4
        assert problem in said.err and fix in said.err
        assert "Lawyer" not in said.err
        assert everything(tmp_path / "out") == {} if (tmp_path / "out").exists() else True
    fine(release(sfumato, study), study)


def test_columns_that_the_study_does_not_name_never_leave(sfumato, tmp_path):
    rows = [row | {"secret_code": "S3CR3T", "note": "S3CR3T"} for row in records()]
    study = on_disk(tmp_path)
    (tmp_path / "clinic.csv").write_text(csv_text(rows, [*rows[0]]), encoding="utf-8")
    fine(release(sfumato, study), study)
    for name, content in everything(tmp_path / "out").items():
        assert b"S3CR3T" not in content and b"secret_code" not in content, name
        assert b'"id"' not in content and b"p17" not in content, f"the identifier is in {name}"


def encoded(kind):
    text = csv_text([row | {"note": "Grüße, “naïve”"} for row in records()])
    return {
        "a byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "utf-16": text.encode("utf-16"),
        "latin-1": text.replace("“", "").replace("”", "").encode("latin-1"),
        "windows-1252": text.encode("cp1252"),
        "line ends of Windows": text.replace("\n", "\r\n").encode(),
        "semicolons": text.replace(", ", " ").replace(",", ";").encode(),
        "tabs": text.replace(", ", " ").replace(",", "\t").encode(),
        "quoted newlines": csv_text([row | {"note": 'a\nb\r\n"c", d'} for row in records()]).encode(),
        "a field of two million characters": csv_text(
            [row | {"note": "x" * 2_000_000} if n == 3 else row for n, row in enumerate(records())]
        ).encode(),
        "no line end at the end": text.rstrip("\n").encode(),
        "a blank line at the end": text.encode() + b"\n",
    }[kind]


@pytest.fixture(scope="module")
def plain_data(tmp_path_factory):
    """The data of the plain table's seeded release."""
    folder = tmp_path_factory.mktemp("plain")
    source = InsecureSource(5)
    done = workflow.release(load_study(on_disk(folder)), recipe(h=3), folder=folder / "out", source=source)
    return (done.bundle / "data.csv").read_bytes()


@pytest.mark.parametrize(
    "kind",
    ["a byte order mark", "utf-16", "line ends of Windows", "semicolons", "tabs",
     "quoted newlines", "a field of two million characters", "no line end at the end", "a blank line at the end"],
)  # fmt: skip
def test_any_usual_csv_is_the_same_table(sfumato, tmp_path, plain_data, kind):
    """Seeded, so that the same records give the same bytes."""
    study = on_disk(tmp_path)
    (tmp_path / "clinic.csv").write_bytes(encoded(kind))
    said = release(sfumato, study, "--insecure-seed", "5", "--no-report")
    assert said.code == 0, said.all
    assert said.err.startswith("warning: --insecure-seed makes the noise repeatable: this release has no guarantee")
    assert (tmp_path / "out" / "bundle" / "data.csv").read_bytes() == plain_data


@pytest.mark.parametrize("kind", ["latin-1", "windows-1252"])
def test_a_private_release_does_not_guess_an_encoding_from_the_records(sfumato, tmp_path, kind):
    """One record with a stray byte would change how the text of all others is read."""
    study = on_disk(tmp_path)
    (tmp_path / "clinic.csv").write_bytes(encoded(kind))
    said = release(sfumato, study)
    assert said.code == 4
    assert "the encoding of" in said.err and "had to be guessed from its records" in said.err
    assert "declare it in the study: `source: {path: …, encoding: windows-1252}`" in said.err
    assert not (tmp_path / "out").exists()
    changed(study, ("source: clinic.csv", f"source: {{path: clinic.csv, encoding: {kind}}}"))
    fine(release(sfumato, study), study)  # what is declared is not guessed


def test_dates_in_several_formats_are_one_date(sfumato, tmp_path):
    attribute = "  age: {role: quasi_identifier, type: date, bounds: [1980-01-01, 2019-12-31]}"
    data = []
    for name, form in (("iso", "%Y-%m-%d"), ("dotted", "%d.%m.%Y"), ("moment", "%Y-%m-%dT12:30:00")):
        days = [dt.date(1980 + n % 40, 1 + n % 12, 1 + n % 28) for n in range(60)]
        rows = [row | {"age": day.strftime(form)} for row, day in zip(records(), days, strict=True)]
        study = on_disk(tmp_path / name, rows)
        line = next(line for line in study.read_text(encoding="utf-8").splitlines() if line.startswith("  age:"))
        changed(study, (line, attribute))
        assert release(sfumato, study, "--insecure-seed", "5").code == 0
        data.append((study.parent / "out" / "bundle" / "data.csv").read_bytes())
    assert data[0] == data[1] == data[2]


@pytest.mark.parametrize(
    "rows",
    [
        records()[:1],
        [records()[0]] * 40,
        [row | {"ill": "no"} for row in records()],
        [row | {"age": "33", "job": "Lawyer"} for row in records()],
        [row | {"age": "", "job": "Zookeeper", "ill": "?"} for row in records()],
        [row | {"age": "NaN"} for row in records()],
        [row | {"age": "inf"} for row in records()],
        [row | {"age": "thirty"} for row in records()],
    ],
    ids=["one record", "all alike", "one class occurs", "constant attributes", "no record fits", "NaN", "inf", "words"],
)
def test_odd_tables_are_released_like_any_other(sfumato, tmp_path, rows):
    """Differentially private methods may not fail because of what the records say: with --anyway nothing does."""
    study = on_disk(tmp_path, rows)
    fine(release(sfumato, study, "--anyway"), study)


@pytest.mark.parametrize("age", ["", "NaN", "thirty", "1,053.30"])
def test_a_release_of_next_to_nothing_is_refused_before_anything_is_spent(sfumato, tmp_path, age):
    """It spent the whole budget on an empty table, with exit code 0."""
    study = on_disk(tmp_path, [row | {"age": age} for row in records()])
    refused(
        release(sfumato, study),
        study,
        code=4,
        problem="100 % of the records (60 of 60) have a missing or invalid value and are left out: 'age' 100 %",
        fix="inspect the values with `sfumato check`",
    )


# --- the study ---


@pytest.mark.parametrize("epsilon", ["0", "-1", "-0.0"])
def test_an_epsilon_that_is_not_positive(sfumato, tmp_path, epsilon):
    study = on_disk(tmp_path, epsilon=epsilon)
    refused(release(sfumato, study), study, code=3, problem=f"ε = {epsilon} is not positive", fix=POSITIVE)


@pytest.mark.parametrize("epsilon", ["inf", "nan", "lots", "1e400", "''", "0x10", "1,5", "1/0", "true"])
def test_an_epsilon_that_is_no_number(sfumato, tmp_path, epsilon):
    study = on_disk(tmp_path, epsilon=f'"{epsilon}"' if epsilon == "1,5" else epsilon)
    refused(release(sfumato, study), study, code=3, problem="is not a privacy budget (ε)", fix=POSITIVE)


@pytest.mark.parametrize("budget", ["0", "-2", "inf", "much"])
def test_a_budget_that_is_none(sfumato, tmp_path, budget):
    study = on_disk(tmp_path, budget=budget)
    refused(release(sfumato, study), study, code=3, problem="study.yaml, line 3: ", fix=POSITIVE)


def test_a_budget_that_is_exceeded(sfumato, tmp_path):
    """It says how much is left, who spent it and what fits; `plan` says it before."""
    study = on_disk(tmp_path, budget="1.5")
    refused_before = on_disk(tmp_path / "small", budget="1/3")
    refused(
        release(sfumato, refused_before), refused_before, code=5,
        problem="the release asks for ε = 1, and 1/3 is left of the study's 1/3; spent by: nobody yet",
        fix="ask for ε = 1/3 or less",
    )  # fmt: skip
    fine(release(sfumato, study), study)
    planned = sfumato("plan", study, "dp")
    assert planned.code == 0
    first = planned.out.splitlines()[1]  # nothing else matters then
    assert first.startswith("  • OVER BUDGET: it costs ε = 1 and 0.5 of 1.5 remains, so `release` will refuse; at most")
    said = sfumato("release", study, "dp", "--out", tmp_path / "two")
    assert said.code == 5
    assert (
        "the release asks for ε = 1, and 0.5 is left of the study's 1.5; spent by: entry 1 ('whole study' by "
        in said.err
    )
    assert "ε = 1, done)" in said.err
    assert "To fix: ask for ε = 0.5 or less." in said.err
    assert not (tmp_path / "two").exists()
    assert spent(study) == 1


def test_errors_can_be_had_as_json(sfumato, tmp_path):
    study = on_disk(tmp_path, epsilon="0")
    said = release(sfumato, study, "--json")
    line = next(n for n, text in enumerate(study.read_text(encoding="utf-8").splitlines(), 1) if "dp:" in text)
    told = json.loads(said.err)
    assert told.pop("code").startswith("SF-STUDY-")
    assert told == {"problem": f"study.yaml, line {line}: ε = 0 is not positive", "fix": POSITIVE, "exit_code": 3}


@pytest.mark.parametrize(
    ("tree", "problem", "fix"),
    [
        (
            "{Any: {P: {Any: [Engineer, Lawyer]}}}",
            "'Any' stands above itself (a cycle): Any > P > Any",
            "write each node once",
        ),
        ("&a {Any: {P: *a}}", "this contains itself (a cycle of aliases)", "write it out without the alias"),
        (
            "{Any: {P: {Q: [Engineer]}, A: {Q: [Dancer]}}}",
            "'Q' stands at two places: below 'P' and below 'A'",
            "keep one of them",
        ),
        (
            "{Any: {P: [Engineer, Lawyer], A: [Dancer, Engineer]}}",
            "'Engineer' stands at two places: below 'P' and below 'A'",
            "keep one of them, or rename one",
        ),
        ("{Any: {P: [Engineer, Engineer]}}", "'Engineer' stands twice below 'P'", "write it once"),
        ("{Any: []}", "the taxonomy is empty: nothing stands below its root 'Any'", "write the values below it"),
        ("jobs.csv", "the taxonomy '…/jobs.csv' cannot be opened", "check the name: it is relative to the study file"),
    ],
    ids=["cycle", "cycle of aliases", "node twice", "leaf at two places", "leaf twice", "empty", "no file"],
)  # fmt: skip
def test_a_taxonomy_that_is_no_tree(sfumato, tmp_path, tree, problem, fix):
    study = changed(on_disk(tmp_path), (JOBS, tree))
    said = release(sfumato, study)
    refused(said, study, code=3, problem=problem, fix=fix)
    assert "study.yaml, line 7: " in said.err


@pytest.mark.parametrize(
    "tree",
    [
        "{Any_Job: [{Professional: [Engineer, Lawyer]}, Dancer, Writer]}",
        "{Any_Job: {Work: {Professional: {Desk: [Engineer], Court: [Lawyer]}}, Dancer: , Writer: }}",
    ],
)
def test_a_taxonomy_of_uneven_depth_is_fine(sfumato, tmp_path, tree):
    study = changed(on_disk(tmp_path, h="8"), (JOBS, tree))
    fine(release(sfumato, study), study)


@pytest.mark.parametrize(
    ("old", "new", "problem", "fix"),
    [
        ("role: sensitive", "rolle: sensitive", "line 8: there is no field 'rolle' in 'sex'", "write 'role'"),
        (
            "role: sensitive",
            "role: secret",
            "line 8: there is no role 'secret'",
            "choose one of: identifier, quasi_identifier",
        ),
        (
            "role: class",
            "role: sensitive",
            "declares 0 class attributes, and this method needs exactly one",
            "the role `class`",
        ),
        (
            '["no", "yes"]',
            '["no"]',
            "the class 'ill' has 1 declared value, so there is nothing to predict",
            "declare all the values",
        ),
        (
            "  sex:",
            "  job: {role: sensitive, values: [a]}\n  sex:",
            "line 8: 'job' is written twice, first in line 7",
            "keep one of them",
        ),
        ("bounds: [0, 99]", "bounds: [99, 0]", "the lower bound of 'age' is above the upper one", "swap them"),
        ("h: 3", "h: 0", "h is 0", "use a whole number of specializations from 1 on, or `auto`"),
        ("h: 3", "hh: 3", "method 'diffgen' has no parameter 'hh'", "write 'h'"),
        (
            "method: diffgen",
            "method: difgen",
            "there is no method called 'difgen'",
            "choose one of: anatomy, bucketization, capped-confidence, contingency, diffgen",
        ),
        ("role: identifier", "role: quasi_identifier", "'id' has no", "declare"),
    ],
    ids=["field", "role", "no class", "one class", "twice", "bounds", "h", "parameter", "method", "no domain"],
)  # fmt: skip
def test_a_study_that_is_wrong(sfumato, tmp_path, old, new, problem, fix):
    study = changed(on_disk(tmp_path), (old, new))
    refused(release(sfumato, study), study, code=3, problem=problem, fix=fix)


def test_no_study_at_all(sfumato, tmp_path):
    said = sfumato("release", tmp_path / "none.yaml")
    assert said.code == 3
    assert "cannot be opened (No such file or directory)" in said.err and "sfumato init TABLE" in said.err


def test_an_unknown_release_names_those_there_are(sfumato, tmp_path):
    said = sfumato("release", on_disk(tmp_path), "dq")
    assert said.code == 3
    assert "declares no release 'dq'" in said.err and "dp, full" in said.err


# --- the output ---


def test_an_existing_folder_is_never_overwritten(sfumato, tmp_path):
    study = on_disk(tmp_path)
    fine(release(sfumato, study), study)
    before = everything(tmp_path / "out")
    said = release(sfumato, study)
    assert said.code == 7
    assert "exists already, and a release is never overwritten" in said.err
    assert "To fix: choose another folder, or move this one away" in said.err
    assert everything(tmp_path / "out") == before
    assert spent(study) == 1, "and the second attempt cost nothing"


def test_a_folder_below_a_file_cannot_be_made(sfumato, tmp_path):
    study = on_disk(tmp_path)
    said = sfumato("release", study, "dp", "--out", tmp_path / "clinic.csv" / "out")
    assert said.code == 7
    assert "To fix: choose another folder" in said.err
    assert spent(study) == 0


# --- size ---


@pytest.mark.parametrize("columns", [100, pytest.param(2_000, marks=pytest.mark.slow)])
def test_a_very_wide_table(sfumato, tmp_path, columns):
    names = [f"q{n}" for n in range(columns)]
    rows = [
        {name: "ab"[(n + place) % 2] for n, name in enumerate(names)} | {"ill": ("no", "yes")[place % 2]}
        for place in range(20)
    ]
    (tmp_path / "wide.csv").write_text(csv_text(rows, [*names, "ill"]), encoding="utf-8")
    attributes = "".join(f"  {name}: {{role: quasi_identifier, values: [a, b]}}\n" for name in names)
    study = tmp_path / "study.yaml"
    study.write_text(
        "name: clinic\nsource: wide.csv\nprivacy: {budget: 5}\nattributes:\n"
        f'{attributes}  ill: {{role: class, values: ["no", "yes"]}}\n'
        "releases:\n  dp: {method: diffgen, epsilon: 1, h: 4}\n",
        encoding="utf-8",
    )
    fine(release(sfumato, study), study)
    assert sfumato("verify", tmp_path / "out").code == 0


@pytest.mark.slow
def test_ten_million_rows_in_little_memory(sfumato, tmp_path):
    path = tmp_path / "clinic.parquet"
    duckdb.sql(
        "SELECT i AS id, (hash(i) % 100)::INTEGER AS age, "
        "['Engineer', 'Lawyer', 'Dancer', 'Writer'][(hash(i + 7) % 4)::INTEGER + 1] AS job, "
        "['f', 'm'][(hash(i + 13) % 2)::INTEGER + 1] AS sex, "
        "['no', 'yes'][(hash(i + 17) % 3 = 0)::INTEGER + 1] AS ill FROM range(10_000_000) t(i)"
    ).write_parquet(str(path))
    study = on_disk(tmp_path, source="clinic.parquet")
    fine(release(sfumato, study, "--memory-limit", "500MB"), study)
    counts = pa.parquet.read_table(tmp_path / "out" / "bundle" / "data.parquet")["count"].to_numpy()
    assert abs(int(np.sum(counts)) - 10_000_000) < 2_000
