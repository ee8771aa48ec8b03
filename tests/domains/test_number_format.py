"""Which texts are numbers by a declared format, and which are not: strictly, so that no number is read wrong."""

import pytest

from sfumato.domains.json_form import domain_from_json, domain_to_json
from sfumato.domains.number_format import NumberFormat, read_number
from sfumato.errors import StudyError, VerifyError
from tests.tables.attributes import grid

ENGLISH = NumberFormat(thousands=",")
GERMAN = NumberFormat(decimal=",", thousands=".")


@pytest.mark.parametrize(
    ("form", "text", "number"),
    [
        (ENGLISH, "1,053.30", 1053.30),
        (ENGLISH, " +1,053 ", 1053),
        (ENGLISH, "-12,345,678.9", -12345678.9),
        (ENGLISH, "1053.30", 1053.30),
        (ENGLISH, ".5", 0.5),
        (ENGLISH, "\u22125", -5),
        (ENGLISH, "1e3", 1000),
        (GERMAN, "1.053,30", 1053.30),
        (GERMAN, "1.053", 1053),
        (NumberFormat(thousands="."), "1.053", 1053),
        (NumberFormat(decimal=","), "0,5", 0.5),
        (NumberFormat(decimal=",", thousands="space"), "1\u202f053,30", 1053.30),
        (NumberFormat(decimal=",", thousands=" "), "1 053\u00a0300", 1053300),
        (NumberFormat(thousands="'"), "1\u2019053.30", 1053.30),
        (NumberFormat(thousands=",", prefix="$"), "$1,053.30", 1053.30),
        (NumberFormat(thousands=",", prefix="$"), "-$ 5", -5),
        (NumberFormat(thousands=",", prefix="$"), "$-5", -5),
        (NumberFormat(decimal=",", thousands=".", suffix="€"), "1.053,30\u00a0€", 1053.30),
        (NumberFormat(prefix="Fr."), "Fr. 5.50", 5.5),
        (NumberFormat(suffix="%"), "12.5 %", 12.5),
        (NumberFormat(thousands=",", negative="parentheses"), "(1,053.30)", -1053.30),
        (NumberFormat(prefix="$", negative="parentheses"), "($5)", -5),
        (NumberFormat(prefix="$", negative="parentheses"), "$ (5)", -5),
        (NumberFormat(decimal=",", thousands=".", negative="trailing"), "1.053,30-", -1053.30),
        (NumberFormat(suffix="%", negative="trailing"), "5 %-", -5),
    ],
)
def test_these_are_numbers(form, text, number):
    assert read_number(text, [form]) == number


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (ENGLISH, "1,05"),
        (ENGLISH, "1,0533"),
        (ENGLISH, "0,500"),
        (ENGLISH, "1053,300"),
        (ENGLISH, ",053"),
        (ENGLISH, "1,053,30"),
        (ENGLISH, "1.053,30"),
        (ENGLISH, "1 053"),
        (ENGLISH, "0.053,300"),
        (ENGLISH, "(5)"),
        (ENGLISH, "5-"),
        (ENGLISH, "--5"),
        (ENGLISH, "- 5"),
        (ENGLISH, "$5"),
        (ENGLISH, "5%"),
        (ENGLISH, "nan"),
        (ENGLISH, "inf"),
        (ENGLISH, "-Infinity"),
        (ENGLISH, "1_000"),
        (ENGLISH, "\u0663"),
        (ENGLISH, ""),
        (ENGLISH, "."),
        (GERMAN, "1.05"),
        (GERMAN, "1,053.30"),
        (NumberFormat(decimal=","), "1.053"),
        (NumberFormat(prefix="$"), "5"),
        (NumberFormat(prefix="$"), "€5"),
        (NumberFormat(prefix="$"), "-$-5"),
        (NumberFormat(suffix="%"), "0.05"),
        (NumberFormat(negative="parentheses"), "(5"),
        (NumberFormat(negative="parentheses"), "(-5)"),
        (NumberFormat(negative="trailing"), "-5-"),
    ],
)
def test_these_are_none(form, text):
    assert read_number(text, [form]) is None


def test_the_first_format_that_fits_wins():
    either = [NumberFormat(suffix="%"), NumberFormat(decimal=",")]
    assert [read_number(text, either) for text in ("5 %", "0,05", "0.05")] == [5.0, 0.05, None]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"decimal": ",", "thousands": ","}, "cannot be the decimal mark and the thousands separator"),
        ({"thousands": "."} | {"decimal": "."}, "cannot be the decimal mark"),
        ({"decimal": "comma"}, "`decimal` of a number format is one mark"),
        ({"decimal": " "}, "`decimal` of a number format is one mark"),
        ({"thousands": "-"}, "`thousands` of a number format is one mark"),
        ({"thousands": "3"}, "`thousands` of a number format is one mark"),
        ({"prefix": "-"}, "the prefix of a number format"),
        ({"suffix": "per 1000"}, "the suffix of a number format"),
        ({"negative": "red"}, "numbers below 0 cannot be written by 'red'"),
    ],
)
def test_a_format_that_would_be_unclear_is_refused(fields, message):
    with pytest.raises(StudyError, match="To fix") as caught:
        NumberFormat(**fields)
    assert message in caught.value.problem


@pytest.mark.parametrize(
    "form", [NumberFormat(), ENGLISH, GERMAN, NumberFormat(decimal=",", thousands=" ", suffix="€", negative="trailing")]
)
def test_it_reads_back_from_its_fields_and_from_a_manifest(form):
    assert NumberFormat(**form.fields()) == form
    domain = grid(0, 10, form=(form,))
    assert domain_from_json(domain_to_json(domain)) == domain


@pytest.mark.parametrize("formats", ["1,000", [1], [{"decimal": 1}], [{"point": "."}], [{"decimal": "12"}]])
def test_a_manifest_with_a_broken_format_is_refused(formats):
    with pytest.raises(VerifyError):
        domain_from_json({**domain_to_json(grid(0, 10)), "number_formats": formats})
