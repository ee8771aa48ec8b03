"""What a few values say about how the numbers of a column are written, and what they are not taken for."""

import pytest

from sfumato.study.describe.number_guess import guess_number_formats


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        (["1,053.30", "12.00", "7"], [{"thousands": ","}]),
        (["1.053.300", "12"], [{"decimal": ",", "thousands": "."}]),
        (["0,5", "12,25"], [{"decimal": ","}]),
        (["1\u202f053,30", "7,5"], [{"decimal": ",", "thousands": " "}]),
        (["1'053.30", "-7"], [{"thousands": "'"}]),
        (["$1,053", "-$7.50"], [{"thousands": ",", "prefix": "$"}]),
        (["0.500 EUR", "12.250 EUR"], [{"suffix": "EUR"}]),
        (["Fr. 7.50", "Fr. 1.00"], [{"prefix": "Fr."}]),
        (["12.345%", "1.000%"], [{"suffix": "%"}]),
        (["5 %", "6 %", "0.5"], [{"suffix": "%"}, {}]),
        (["(5)", "1,000"], [{"thousands": ",", "negative": "parentheses"}]),
        (["5,00-", "7,00"], [{"decimal": ",", "negative": "trailing"}]),
        (["\u22125", "5"], [{}]),
    ],
)
def test_these_are_numbers(values, fields):
    likeliest = guess_number_formats(values)[0]
    assert [form.fields() for form in likeliest] == fields
    assert all(any(form.plain(value) is not None for form in likeliest) for value in values)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [""],
        ["A12", "A13"],
        ["<5%"],
        ["5 kg"],
        ["1,2,3"],
        ["10:30"],
        ["31.12.2004"],
        ["5-10"],
        ["01,5"],
        ["$5", "€5", "£5", "5"],
        ["(5)", "5-"],
        ["1,053.30", "many"],
        ["nan", "1,5"],
    ],
)
def test_these_are_none(values):
    assert guess_number_formats(values) == ()
