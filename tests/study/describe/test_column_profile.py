import pytest

from sfumato.study.describe.column_profile import looks


@pytest.mark.parametrize(
    ("values", "forms"),
    [
        (["ann@example.org", "bob@example.org"], ("email",)),
        (["https://example.org/a"], ("url",)),
        (["123e4567-e89b-12d3-a456-426614174000"], ("uuid",)),
        (["10.0.0.1"], ("ip", "code")),
        (["+49 30 1234567", "(555) 123-4567"], ("phone",)),
        (["13053", "14850-1234"], ("zip", "code")),
        (["E11.9", "I10"], ("code",)),
        (["red", "green"], ()),
        ([], ()),
    ],
)
def test_forms(values, forms):
    assert looks(values) == forms


def test_one_odd_value_in_ten_does_not_hide_the_form():
    assert looks([*(f"a{n}@example.org" for n in range(9)), "?"]) == ("email",)
    assert looks([*(f"a{n}@example.org" for n in range(8)), "?", "-"]) == ()
