"""CSV files as a differentially private release reads them: nothing fails, and a record is read from its own bytes."""

import csv
import gzip
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.errors import SourceError
from sfumato.study.source import Source
from sfumato.tables import open_source
from sfumato.tables.csv.dialect import inspect_private_csv
from sfumato.tables.csv.lenient import Dialect
from sfumato.tables.csv.plain import Shape, find_shape
from tests.examples import examples
from tests.raising import raises_code

COMMA = Dialect(delimiter=b",", quote=b'"', line_end=b"\n")
SECRET = "Zaphod-4711"


def private(folder, content, name="x.csv", **declared):
    """The rows of a file, as texts; a missing value is an empty one."""
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with open_source(Source(path=folder / name, **declared), private=True) as source:
        found = source.fetch(source.table).to_pylist()
    return sorted(tuple(value or "" for value in row.values()) for row in found)


BEFORE = "a,b\n1,x\n2,y\n"
ODD = {
    "too few fields": ("3\n", [("", "")]),
    "too many fields": ("3,z,4\n", [("", "")]),
    "a bare CR": ("3,z\rz\n", [("3", "z\rz")]),
    "a bare CR at the end of a field": ("3\r,z\n", [("3\r", "z")]),
    "another line end": ("3,z\r\n", [("3", "z")]),
    "a quote that is never closed": ('3,"z\n', [("3", '"z')]),
    "text after a closing quote": ('3,"z"z\n', [("3", '"z"z')]),
    "a quote inside a field": ('3,z"z\n', [("3", 'z"z')]),
    "a quoted delimiter and line ends": ('3,"z,\r\n""z\r"\n', [("3", 'z,\r\n"z\r')]),
    "an empty line": ("\n", []),
    "an empty line of Windows": ("\r\n", []),
    "a zero byte": ("3,z\x00z\n", [("3", "z\x00z")]),
    "no line end": ("3,z", [("3", "z")]),
    "a CR and no line end": ("3,z\r", [("3", "z")]),
    "a quoted field and no line end": ('3,"z"', [("3", "z")]),
    "blanks": ("  \n", [("", "")]),
    "a number that looks like a name": ("a,b\n", [("a", "b")]),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_record_is_read_alone_and_changes_no_other(tmp_path, odd):
    added, expected = ODD[odd]
    assert private(tmp_path, BEFORE + added) == sorted([("1", "x"), ("2", "y"), *expected])
    if added.endswith("\n"):
        assert private(tmp_path, "a,b\n" + added + "1,x\n2,y\n") == sorted([("1", "x"), ("2", "y"), *expected])
        assert private(tmp_path, BEFORE + added + '4,"w"\n') == sorted([("1", "x"), ("2", "y"), ("4", "w"), *expected])
        packed = gzip.compress((BEFORE + added).encode())
        assert private(tmp_path, packed, "x.csv.gz") == sorted([("1", "x"), ("2", "y"), *expected])


def test_a_quoted_field_of_five_megabytes_and_one_in_short_lines(tmp_path):
    for field in ("x" * 5_000_000, "x\n" * 2_500_000, '""' * 700_000):
        found = private(tmp_path, BEFORE + f'3,"{field}"\n')
        assert found[:2] == [("1", "x"), ("2", "y")]
        assert found[2][0] == "3" and len(found[2][1]) in {1 << 20, 700_000}
    assert private(tmp_path, BEFORE + "3," + "z" * 5_000_000 + "\n")[2] == ("3", "z" * (1 << 20))


def test_with_quotes_declared_away_every_line_is_a_record(tmp_path):
    found = private(tmp_path, 'a,b\n1,"x\n2,y"\n"3,z\n', quote="none")
    assert found == sorted([("1", '"x'), ("2", 'y"'), ('"3', "z")])


def test_bytes_that_are_not_in_the_declared_utf_8_are_read_one_by_one(tmp_path):
    content = b"a,b\n1,x\n2,\xe9\n3,\xe2\x82\n4,\xff\n5,\xc3\xa9\n"
    replaced = [("1", "x"), ("2", "\ufffd"), ("3", "\ufffd"), ("4", "\ufffd"), ("5", "é")]
    assert private(tmp_path, content, encoding="utf-8") == replaced
    with open_source(tmp_path / "x.csv", private=True) as source:
        assert source.read_as["guessed"] == "encoding", "what is not declared is not guessed, and the release refuses"


def test_half_a_letter_of_utf_16_is_no_line_end(tmp_path):
    content = "a,b\n1,x\n2,".encode("utf-16") + b"\x0a\xd8" + "y\n3,z\n".encode("utf-16-le")
    assert private(tmp_path, content) == [("1", "x"), ("2", "\ufffdy"), ("3", "z")]
    assert private(tmp_path, content, encoding="utf-16") == [("1", "x"), ("2", "\ufffdy"), ("3", "z")]


@pytest.mark.parametrize(
    ("content", "delimiter", "quote", "end", "columns"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";", '"', "\n", ("a", "b")),
        ("'a','b'\n1,2\n", ",", "'", "\n", ("a", "b")),
        ("a|b\r1|2\r3|4\r", "|", '"', "\r", ("a", "b")),
        ('"a, b";c\r\n1;2\r\n', ";", '"', "\n", ("a, b", "c")),
        ("\ufeff\r\na\tb\n1\t2\n", "\t", '"', "\n", ("a", "b")),
        ("a\nx,y\n", ",", '"', "\n", ("a",)),
    ],
)
def test_the_line_of_names_decides(tmp_path, content, delimiter, quote, end, columns):
    (tmp_path / "x.csv").write_bytes(content.encode())
    file = inspect_private_csv(tmp_path / "x.csv")
    assert (file.delimiter, file.quote, file.line_end, file.columns) == (delimiter, quote, end, columns)
    assert file.guessed == ""
    (tmp_path / "x.csv").write_bytes(content.encode() + b"1;'2'|\"\n\r\t,3;;;;\n" * 500)
    again = inspect_private_csv(tmp_path / "x.csv")
    assert (again.delimiter, again.quote, again.line_end, again.columns) == (delimiter, quote, end, columns)


def test_old_macs_end_lines_in_cr(tmp_path):
    assert private(tmp_path, 'a,b\r1,x\r2,"y\nz"\r\r3,\n\r') == [("1", "x"), ("2", "y\nz"), ("3", "\n")]


def test_names_with_two_marks_need_a_declared_delimiter(tmp_path):
    (tmp_path / "x.csv").write_text("a,b;c\n1,2;3\n", encoding="utf-8")
    assert inspect_private_csv(tmp_path / "x.csv").guessed == "delimiter"
    assert private(tmp_path, "a,b;c\n1,2;3\n", delimiter=";") == [("1,2", "3")]


def test_a_first_line_that_is_a_record_is_never_quoted(tmp_path):
    (tmp_path / "x.csv").write_text(f"39,{SECRET},{SECRET}\n40,x,y\n", encoding="utf-8")
    with raises_code(SourceError, "SF-SOURCE-006", match="looks like a record") as caught:
        open_source(tmp_path / "x.csv", private=True)
    assert SECRET not in str(caught.value)


def test_names_that_are_numbers_are_names_where_the_study_says_so(tmp_path):
    """Whether a column holds numbers alone hangs on its records; whether the study's columns are there does not."""
    assert private(tmp_path, "2019,2020\n1,2\n") == [("1", "2")]


# --- plain files: the engine reads what the rules say ---

TEXT = st.text(st.sampled_from('ab,;" \r\n\t\x00é\ufeff'), max_size=30)


def by_rules(content):
    records = list(COMMA.records(content.encode().removeprefix(b"\xef\xbb\xbf")))[1:]
    return [tuple(f.decode() for f in r) if len(r) == 2 else ("", "") for r in records]


@settings(max_examples=examples(quick=10, slow=25))
@given(body=TEXT, end=st.sampled_from(["\n", "\r\n"]))
@example(body='1,"x\n""y"\n', end="\n")
@example(body='"",""\n', end="\n")
@example(body=' "x",y\n', end="\n")
@example(body='"x" ,y\n', end="\n")
@example(body="1,2\r\n3,4\r\n", end="\r\n")
@example(body='1,"2\r\n"\r\n', end="\r\n")
def test_whatever_a_file_holds_it_is_read_by_the_rules(tmp_path_factory, body, end):
    """Also where the engine reads it: a plain file means the same to both."""
    content = f"a,b{end}0,0{end}{body}"
    assert private(tmp_path_factory.mktemp("t"), content) == sorted(by_rules(content))


@given(rows=st.lists(st.tuples(TEXT, TEXT), max_size=6), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_one_record_of_a_writer_more_is_one_record_more(rows, quoting):
    """Whatever is in it, and wherever it stands."""

    def read(table):
        out = io.StringIO(newline="")
        csv.writer(out, quoting=quoting, lineterminator="\n").writerows(table)
        return list(COMMA.records(out.getvalue().encode()))

    whole = read(rows)
    for place in range(len(rows)):
        one = read(rows[place : place + 1])
        assert len(one) <= 1
        without = read(rows[:place] + rows[place + 1 :])
        assert sorted(without + one) == sorted(whole)


@pytest.mark.parametrize("chunk", [1, 7, 1000, 1 << 20])
def test_a_file_is_plain_however_it_is_cut(chunk):
    text = b"a,b\n" + b'1,"x,\n""y"\n' * 5 + b"2,z\n" * 200
    parts = [text[start : start + chunk] for start in range(0, len(text), chunk)]
    assert find_shape(parts, COMMA, 2) is Shape.FIELDS
    assert find_shape([*parts, b"3\n"], COMMA, 2) is Shape.ODD
    assert find_shape([*parts, b'3,"\n'], COMMA, 2) is Shape.ODD


def test_a_long_plain_file_is_left_to_the_engine(tmp_path):
    for content, shape in ((b'1,"x,\n""y"\n' * 400_000, Shape.FIELDS), (b'2,"z, "\n' * 700_000, Shape.LINES)):
        (tmp_path / "x.csv").write_bytes(b"a,b\n" + content)
        assert inspect_private_csv(tmp_path / "x.csv").find_shape() is shape
        (tmp_path / "x.csv").write_bytes(b"a,b\n" + content + b"3\n")
        assert inspect_private_csv(tmp_path / "x.csv").find_shape() is Shape.ODD


@pytest.mark.parametrize("private", [False, True])
def test_lines_in_a_quoted_field_are_no_records_in_a_long_file_either(tmp_path, private):
    """A reader with several threads may start inside the field, where every line looks like a record."""
    note = "x\n" + "2,y\n" * 3_000
    (tmp_path / "x.csv").write_text("a,b\n" + f'1,"{note}"\n' * 3_000, encoding="utf-8")
    with open_source(tmp_path / "x.csv", threads=4, private=private) as source:
        assert source.fetch(source.table.aggregate(n=source.table.count()))["n"].to_pylist() == [3_000]
