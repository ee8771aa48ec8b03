"""An edit of a page changes the lines of one entry, and nothing else."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import StudyError
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.editing.yaml_text import entry_line
from tests.raising import raises_code

TEXT = """\
# mine
name: clinic   # a name
source: a.csv
privacy: {unit: record}

attributes:
  # how old
  age: {role: quasi_identifier, type: integer, bounds: [0, 120]}   # years
  town:
    role: quasi_identifier
    values:
      - Ulm
      - Bonn     # a town

  "yes": {role: sensitive, values: [a, b]}

releases: {one: {method: mondrian, k: 5}}   # the first
"""


def document(tmp_path, text=TEXT):
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return StudyDocument.read(path)


def changed(before, after):
    old, new = before.splitlines(), after.splitlines()
    return [line for line in new if line not in old], [line for line in old if line not in new]


def test_an_entry_is_replaced_on_its_line(tmp_path):
    found = document(tmp_path).set(
        "attributes", "age", value={"role": "sensitive", "type": "integer", "bounds": [0, 99]}
    )
    assert changed(TEXT, found.text) == (
        ["  age: {role: sensitive, type: integer, bounds: [0, 99]}   # years"],
        ["  age: {role: quasi_identifier, type: integer, bounds: [0, 120]}   # years"],
    )


def test_a_block_is_replaced_and_what_follows_stays(tmp_path):
    found = document(tmp_path).set("attributes", "town", value={"role": "insensitive", "values": ["Ulm", "no"]})
    assert "  town: {role: insensitive, values: [Ulm, no]}" in found.text
    assert (
        '  "yes": {role: sensitive, values: [a, b]}' in found.text
        and "Bonn" not in found.get("attributes", "town")["values"]
    )
    assert found.get("attributes", "town") == {"role": "insensitive", "values": ["Ulm", "no"]}


def test_new_entries_go_to_the_end_of_their_mapping(tmp_path):
    found = document(tmp_path).set("attributes", "job: it's", value={"role": "identifier"})
    added, lost = changed(TEXT, found.text)
    assert lost == [] and added == ["""  "job: it's": {role: identifier}"""]
    assert found.set("releases", "two", value={"method": "tds", "k": 3}).get("releases", "two") == {
        "method": "tds",
        "k": 3,
    }
    assert found.set("purposes", "p", value={"attributes": ["age"]}).get("purposes", "p") == {"attributes": ["age"]}
    assert found.set("privacy", "budget", value=4).get("privacy") == {"unit": "record", "budget": 4}


def test_entries_are_removed_with_their_lines(tmp_path):
    found = document(tmp_path).remove("attributes", "town")
    assert found.get("attributes", "town") is None and "# how old" in found.text
    assert list(found.get("attributes")) == ["age", "yes"]
    assert document(tmp_path).remove("attributes", "nobody").text == TEXT
    assert document(tmp_path).remove("releases", "one").get("releases") is None


def test_an_empty_mapping_takes_entries(tmp_path):
    found = document(tmp_path, "name: a\nsource: b.csv\nattributes: {}\n").set(
        "attributes", "age", value={"role": "time"}
    )
    assert found.get("attributes") == {"age": {"role": "time"}}
    assert found.set("attributes", "b", value={"role": "identifier"}).get("attributes", "b") == {"role": "identifier"}


@given(
    name=st.text(min_size=1).filter(lambda t: t.isprintable()),
    values=st.lists(st.text(max_size=20).filter(str.isprintable), max_size=4),
)
def test_whatever_is_written_reads_back(tmp_path_factory, name, values):
    tmp_path = tmp_path_factory.mktemp("study")
    value = {"role": "sensitive", "values": values, "nested": {name: [1, True, None, 0.5]}}
    found = document(tmp_path).set("attributes", name, value=value)
    assert found.get("attributes", name) == value
    again = found.set("attributes", name, value={"role": "time"})
    assert again.get("attributes", name) == {"role": "time"}
    if name not in ("age", "town", "yes"):
        assert again.remove("attributes", name).get("attributes") == document(tmp_path).get("attributes")


def test_a_file_that_somebody_changed_is_not_overwritten(tmp_path):
    mine, theirs = document(tmp_path), StudyDocument.read(tmp_path / "study.yaml")
    theirs.set("name", value="theirs").save()
    with raises_code(StudyError, "SF-STUDY-231"):
        mine.set("name", value="mine").save()
    assert StudyDocument.read(tmp_path / "study.yaml").get("name") == "theirs"
    assert not list(tmp_path.glob(".study*"))


def test_of_many_that_save_at_once_one_wins_and_the_others_are_told(tmp_path):
    """Sixteen pages that read the same file write at the same moment: no edit is lost without a word."""
    document(tmp_path)
    for turn in range(5):
        read = [StudyDocument.read(tmp_path / "study.yaml") for _ in range(16)]
        together = threading.Barrier(len(read))

        def save(place, read=read, together=together, turn=turn):
            edited = read[place].set("name", value=f"page {place} {turn}")
            together.wait()
            try:
                return edited.save().get("name")
            except StudyError as error:
                return error.code

        with ThreadPoolExecutor(len(read)) as pool:
            said = list(pool.map(save, range(len(read))))
        (won,) = {name for name in said if name.startswith("page")}
        assert said.count("SF-STUDY-231") == len(read) - 1
        assert StudyDocument.read(tmp_path / "study.yaml").get("name") == won
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


def test_a_file_keeps_its_rights_and_a_link_under_a_guessed_name_is_not_followed(tmp_path):
    found = document(tmp_path)
    other = tmp_path / "other.txt"
    other.write_text("not yours")
    (tmp_path / f".study.yaml.{os.getpid()}").symlink_to(other)
    found.path.chmod(0o640)
    found.set("name", value="new").save()
    assert found.path.stat().st_mode & 0o777 == 0o640
    assert other.read_text() == "not yours"


@pytest.mark.parametrize("size", [3, 40])
def test_edits_of_many_entries_change_their_fields_alone(tmp_path, size):
    lines = [f"  c{n}: {{role: sensitive, values: [a, b]}}   # note {n}\n" for n in range(size)]
    text = "name: a\nsource: a.csv\nattributes:\n" + "".join(lines) + "releases: {}\n"

    edits = {
        f"c{n}": lambda inner, above, n=n: inner.set(*above, f"c{n}", "role", value="time").remove(
            *above, f"c{n}", "values"
        )
        for n in range(0, size, 2)
    }
    found = document(tmp_path, text).rewritten("attributes", edits)
    for n in range(size):
        wanted = f"  c{n}: {{role: time}}   # note {n}" if n % 2 == 0 else lines[n].rstrip("\n")
        assert wanted in found.text.splitlines()
    assert len(found.text.splitlines()) == len(text.splitlines())
    kept = found.remove_all("attributes", [f"c{n}" for n in range(1, size)])
    assert kept.names("attributes") == ["c0"] and "releases: {}" in kept.text


def test_what_is_no_yaml_is_said(tmp_path):
    with pytest.raises(StudyError):
        document(tmp_path, "name: [").set("name", value="x")


def _aliases(line):
    rows = ["name: a", "source: a.csv", "x0: &x0 {a: b}"]
    rows += [f"x{n}: &x{n} {line.format(', '.join([f'*x{n - 1}'] * 10))}" for n in range(1, 9)]
    return "\n".join([*rows, "attributes: {age: {role: quasi_identifier, values: *x8}}"]) + "\n"


@pytest.mark.parametrize(
    "text",
    [_aliases("[{}]"), _aliases("{{<<: [{}]}}"), "attributes: " + "[" * 3_000, "attributes: " + "{a: " * 3_000,
     "attributes: " + "[&a " * 3_000],
    ids=["aliases", "merged aliases", "lists", "mappings", "anchors"],
)  # fmt: skip
def test_a_text_that_stands_for_too_much_is_refused_at_once(tmp_path, text):
    begun = time.monotonic()
    with raises_code(StudyError, "SF-STUDY-232"):
        StudyDocument(tmp_path / "s.yaml", text, stored=None).names("attributes")
    with raises_code(StudyError, "SF-STUDY-232"):
        StudyDocument(tmp_path / "s.yaml", text, stored=None).get("attributes")
    with pytest.raises(StudyError):
        StudyDocument(tmp_path / "s.yaml", text, stored=None).study()
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("name", ["[" * 3_000, "- " * 3_000 + "a", "? " * 3_000 + "a"], ids=["lists", "items", "keys"])
def test_a_name_that_is_nested_yaml_is_text(name):
    begun = time.monotonic()
    assert entry_line(name, name) == f'"{name}": "{name}"'
    assert time.monotonic() - begun < 3


def test_an_entry_is_found_in_its_text(tmp_path):
    text = "# first\nname: a\nattributes:\n  x: {role: sensitive, values: [a]}\n  y: {role: class}  # last\n"
    document = StudyDocument(tmp_path / "s.yaml", text, stored=None)
    before, entry, after = document.around("attributes", "x")
    assert before + entry + after == text and entry == "x: {role: sensitive, values: [a]}"
    assert document.around("attributes", "z") == document.around() == (text, "", "")
    broken = StudyDocument(tmp_path / "s.yaml", "a: [", stored=None)
    assert broken.around("a") == ("a: [", "", "")
