"""The step of a proposed grid has the decimals of the values, however they are written."""

from decimal import Decimal

import pytest

from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.describe.rounding import Bounds, step_of


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (["1.25", "2.5", "3.000"], "0.01"),
        (["-0.1250", "7"], "0.001"),
        (["5.", "12"], "1"),
        (["1E-3", "2.5"], "0.001"),
        (["0.0000000000001", "1"], "0.0000000000001"),  # thirteen decimals
        (["nan", "inf", "0.5"], "0.1"),
    ],
)
def test_the_step_is_the_finest_decimal_place(values, step):
    column = ColumnProfile(
        name="x", kind="number", rows=9, distinct=len(values), missing=0, lower="-1", upper="12", values=tuple(values)
    )
    assert Decimal(step_of(column, Bounds("-1", "20"))) == Decimal(step)
