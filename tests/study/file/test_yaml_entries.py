"""A study text that is taken apart into entries is read as the full reader reads it, or left to that."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from sfumato.errors import StudyError
from sfumato.study.file import yaml_lines
from sfumato.study.file.yaml_entries import compose
from sfumato.study.file.yaml_nodes import NotPlainError, compose_fully
from sfumato.study.file.yaml_plain import compose_plain
from sfumato.study.file.yaml_tree import read_entries

CONVERTED = frozenset({"releases", "sweeps"})
WHOLE = """\
# mine
name: clinic   # a name
source: {path: "a b.csv", missing: ['?', "-"]}
privacy: {unit: record}

attributes:
  # how old
  age: {role: quasi_identifier, type: integer, bounds: [0, 120]}   # years
  town:
    role: quasi_identifier
    values: [Ulm, Bonn,   # two towns
      "New \\" York", <=50K, 01, no, 1.50, null]

  "yes": {role: sensitive, values: [a, b]}
  '8': {role: class, values: [x y z, ">50K"]}
releases:
  one: {method: mondrian, k: 5, strict: true}   # the first
sweeps: {s: [{method: tds, k: [2, 3]}]}
"""


def by_library(text):
    """What the YAML library alone says of a text: the tree with every scalar as typed, and the line of each key."""
    try:
        tree, places = yaml_lines._parsed(text, "study.yaml", CONVERTED)
    except StudyError:
        return None
    return tree, dict(places.lines)


def by_entries(text):
    found = read_entries(text, CONVERTED, most=10**6)
    return None if found is None else (found[0], dict(found[1]))


def test_a_study_is_taken_apart_and_means_the_same():
    assert by_entries(WHOLE) == by_library(WHOLE)
    assert [getattr(part, "name", None) for part in compose(WHOLE).parts] == [
        None, None, None, "attributes", "releases", None
    ]  # fmt: skip
    assert by_entries(WHOLE)[1]["attributes", "town", "values", 2] == 12


@pytest.mark.parametrize("path", sorted(Path("src/sfumato/data").rglob("*.yaml")), ids=str)
def test_packaged_studies_mean_the_same(path):
    text = path.read_text()
    assert by_entries(text) is not None
    assert by_entries(text) == by_library(text)


# Pieces that are legal, odd, or wrong, in any order: what reaches over lines is what may go wrong.
PIECES = (
    "name: a\n", "  b: 1\n", "  b: {c: d}\n", "  e: [f, g]\n", "attributes:\n", "releases:\n", "# note\n", "  # note\n",
    "\n", "    k: v\n", '  q: "x\n', '  y"\n', "  z: {a: b,\n", "  c: d}\n", "c: d}\n", "  w: |\n", "    text: x\n",
    "  >\n", "  - i\n", "- i\n", "  ? k\n", "  : v\n", "  *a\n", "  r: &a 1\n", "  s: *a\n", "  t: !x y\n", "---\n",
    "...\n", "%YAML 1.2\n", "  b: it's\n", "  d: 'it''s'\n", '  e: "a\\tb"\n', "\tx: y\n", "   odd: 1\n", " less: 1\n",
    "  u: a: b\n", "  v: a #b\n", "  v2: a#b\n", "  x: ~\n", "  n:\n", "  m: -1\n", "  o: - 1\n", "  p: {a, b}\n",
    "  l: [a: b]\n", "  f: [a,b,]\n", "  g: {a: }\n", '  h: {"a":b}\n', '  i: {"a": b}\n', "  j: [[a], {c: [d]}]\n",
    "  '1': one\n", "  plain words here: more words\n", "  many:\n    lines\n", "  eq: =\n", "  <<: x\n", "b: x\r\n",
    "  nel: a\u0085b\n", "  sep: a\u2028b\n", "  é: ü\n", "  @: x\n", "  k: `x`\n", "  ?x: y\n", "  end: x",
    "attributes: # note\n", '"attributes":\n', "attributes: x\n", "attributes: {}\n", "  f: [a,\n", "    b] # c\n",
    "  ]\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_whatever_is_taken_apart_means_what_the_library_says(text):
    found = by_entries(text)
    if found is not None:
        assert found == by_library(text)


@given(
    st.recursive(
        st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8) | st.integers() | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_whatever_the_library_writes_means_the_same(value, flow):
    yaml, out = YAML(), io.StringIO()
    yaml.default_flow_style = flow
    yaml.dump({"name": "a", "attributes": {"x": value, "y": {"role": "time"}}}, out)
    found = by_entries(out.getvalue())
    if found is not None:
        assert found == by_library(out.getvalue())


def test_places_are_those_of_the_library():
    text = "  town:   # note\n    role: time\n    values: [Ulm,  'B c',\n      \"d\"]  # x\n"
    assert compose_plain(text).pairs[0][0] == compose_fully(text).pairs[0][0]
    mine, theirs = (found.pairs[0][1].pairs for found in (compose_plain(text), compose_fully(text)))
    for (key, value), (other, same) in zip(mine, theirs, strict=True):
        assert key == other and (value.start, value.end) == (same.start, same.end)
    assert [text[i.start : i.end] for i in mine[1][1].items] == ["Ulm", "'B c'", '"d"']


@pytest.mark.parametrize("text", ["a: 'b", "a: [b", "a: b\n  c: d\n", "[a]", "", "- a\n", "a: {b: c,}\n"])
def test_what_is_not_plain_is_left_to_the_library(text):
    with pytest.raises(NotPlainError):
        compose_plain(text)


def test_trees_are_copies_that_may_be_changed():
    first, _ = yaml_lines.parse(WHOLE, "study.yaml")
    first["attributes"]["age"]["bounds"].append("x")
    assert yaml_lines.parse(WHOLE, "study.yaml")[0]["attributes"]["age"]["bounds"] == ["0", "120"]
