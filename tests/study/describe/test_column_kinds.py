import pytest

from sfumato.study.describe.column_kinds import is_constant, is_near_unique, is_unique, named_like, words
from sfumato.study.describe.column_profile import ColumnProfile


def column(distinct, missing=0, rows=100):
    return ColumnProfile(name="x", kind="integer", rows=rows, distinct=distinct, missing=missing)


@pytest.mark.parametrize(
    ("profile", "claims"),
    [
        (column(100), (True, True, False)),
        (column(90), (False, True, False)),
        (column(89), (False, False, False)),
        (column(60, missing=40), (True, True, False)),
        (column(1), (False, False, True)),
        (column(0, missing=100), (False, False, True)),
        (column(1, rows=1), (False, False, True)),
        (column(0, rows=0), (False, False, True)),
    ],
)
def test_claims(profile, claims):
    assert (is_unique(profile), is_near_unique(profile), is_constant(profile)) == claims


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("marital-status", ["marital", "status"]),
        ("HTTPServerID", ["http", "server", "id"]),
        ("zip5", ["zip", "5"]),
        ("Größe", ["gr", "öß", "e"]),
        ("", []),
    ],
)
def test_words(name, parts):
    assert words(name) == parts


def test_short_words_count_only_whole():
    known = ["age", "education"]
    assert named_like(ColumnProfile(name="page", kind="integer", rows=1, distinct=1, missing=0), known) is None
    named = ColumnProfile(name="highesteducation", kind="integer", rows=1, distinct=1, missing=0)
    assert named_like(named, known) == "education"
