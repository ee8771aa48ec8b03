"""What `describe` proposes for six public tables, judged by their documentation: the shares that are promised."""

import pytest

from bench.describe import TABLES, golden, judge

MOST_WRONG_TYPES, MOST_WRONG_ROLES = 0.05, 0.10


@pytest.mark.slow
def test_most_columns_are_proposed_as_documented(shared_data):
    found = [one for table in TABLES for one in judge(table, shared_data)]
    assert len(found) == sum(len(golden(table)["columns"]) for table in TABLES) == 179
    types = [f"{one.table}.{one.name}" for one in found if not one.type_right]
    roles = [f"{one.table}.{one.name}" for one in found if not one.role_right]
    assert len(types) <= MOST_WRONG_TYPES * len(found), types
    assert len(roles) <= MOST_WRONG_ROLES * len(found), roles


def test_every_judgement_can_be_met():
    """The golden files hold what the judge understands: a misspelt field would make every proposal right."""
    fields = {"type", "documented", "values", "within", "codes", "open", "role", "why"}
    for table in TABLES:
        for name, said in golden(table)["columns"].items():
            assert set(said) <= fields and {"type", "role"} <= set(said), name
            assert len({"documented", "values", "within", "codes", "open"} & set(said)) or said["type"] == [
                "identifier"
            ]
            assert len(said["role"]) == 1 or said["why"], "several roles need a reason"
