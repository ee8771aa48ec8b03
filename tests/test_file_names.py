import hashlib
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import StudyError
from sfumato.file_names import (
    account_name,
    account_stems,
    checked_file_name,
    file_stem,
    has_control_characters,
    is_file_name,
)
from tests.raising import raises_code

UNSAFE = [
    "", ".", "..", "../../x", "/abs", "a/b", "a\\b", "a:b", "C:", "a\0b", "a\nb", "a\tb", "\x7f", " x", "x ", "x.",
    "-x", ".hidden", "CON", "con", "nul.txt", "COM1", "LPT9.x", "CONIN$", "a*b", "a?b", 'a"b', "a<b", "a|b", "a\u2028b",
    "a：b", "．．／x", "x" * 81, "名" * 41, "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_what_a_file_system_reads_otherwise_is_no_file_name(name):
    assert not is_file_name(name)
    with raises_code(
        StudyError, "SF-STUDY-023", match=r"the release is called .*cannot be the name of a folder.*use letters"
    ):
        checked_file_name("the release", name)


@pytest.mark.parametrize(
    "name",
    [
        "k5",
        "dp",
        "l2 (strict)",
        "k=5, l=2",
        "Übersicht",
        "U\u0308bersicht",
        "हिन्दी",
        "a.b",
        "名前",
        "constant",
        "x" * 80,
    ],
)
def test_what_people_call_releases_is_one(name):
    assert checked_file_name("the release", name) == name == file_stem(name)


@pytest.mark.parametrize("name", UNSAFE)
def test_every_study_has_a_safe_file_name(name):
    assert is_file_name(file_stem(name))


@given(st.text(max_size=300))
def test_a_stem_is_a_file_name_whatever_the_study_is_called(name):
    assert is_file_name(file_stem(name))


def test_names_that_are_slugged_alike_have_different_files():
    assert len({file_stem(name) for name in ("a:b", "a/b", "a?b", "a-b")}) == 4
    assert file_stem("a:b") == file_stem("A : b".replace(" ", "")) == file_stem("a：b")


@pytest.mark.parametrize("other", ["county hospital", " County\tHospital ", "COUNTY  HOSPITAL", "Ｃounty Hospital"])
def test_spellings_of_one_account(other):
    assert account_name(other) == account_name("County Hospital")


def test_unicode_forms_are_one_account_and_other_names_are_not():
    assert account_name("Mu\u0308nchen") == account_name("M\u00fcnchen") == account_name("MÜNCHEN")
    assert account_name("Straße") == account_name("STRASSE")
    assert account_name("a b") != account_name("ab")


INVISIBLE = [
    "\u200b", "\u00ad", "\u200c", "\u200d", "\u2060", "\ufeff", "\u202e", "\u034f", "\u115f", "\u1160", "\u3164",
    "\uffa0", "\u17b4", "\u180b", "\u180e", "\ufe0f", "\U000e0041", "\U000e0100", "\U0001d173", "\u2065", "\ufff0",
]  # fmt: skip


@pytest.mark.parametrize("letter", INVISIBLE)
def test_what_cannot_be_seen_makes_no_other_account(letter):
    for name in (f"clinic{letter}", f"cli{letter}nic", f"{letter}clinic"):
        assert account_name(name) == "clinic"
        assert file_stem(name) == "clinic"
    assert file_stem(f"a:{letter}b") == file_stem("a:b")
    assert account_name(f"Mu{letter}\u0308nchen") == account_name("München")


def test_folding_a_name_twice_changes_nothing():
    for number in (*range(0x3400), *range(0xA000, 0xAC00), *range(0xD7B0, 0x12000), *range(0x1D000, 0x1F300)):
        once = account_name(f"a{chr(number)}b")
        assert account_name(once) == once


def test_the_files_of_an_account_are_found_as_earlier_versions_named_them():
    for name in ("clinic\u200b", "می\u200cخواهم"):
        account = unicodedata.normalize("NFKC", name)
        slug = re.sub(r"[^\w]+", "-", account).strip("-_")
        assert f"{slug}-{hashlib.sha256(account.encode()).hexdigest()[:8]}" in account_stems(name)
    assert {"clinic", account_name(file_stem("clinic"))} <= account_stems("clinic")
    assert account_stems("clinic") <= account_stems("clinic ") & account_stems("clinic\u200b")


def test_control_characters():
    assert [has_control_characters(name) for name in ("a\nb", "a\0", "a\u2029", "a b", "ä")] == [True] * 3 + [False] * 2
