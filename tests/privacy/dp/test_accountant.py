import ast
import copy
import pickle
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato
from sfumato.errors import BudgetError, InternalError
from sfumato.privacy.dp.accountant import Accountant, Spend
from sfumato.privacy.dp.grant import Grant
from tests.raising import raises_code

SOURCES = sorted(Path(sfumato.__file__).parent.rglob("*.py"))


def test_a_grant_is_charged_and_redeems_once():
    accountant = Accountant(Fraction(1))
    grant = accountant.grant(Fraction(1, 4), on="counts")
    assert (accountant.spent, accountant.left) == (Fraction(1, 4), Fraction(3, 4))
    assert not grant.redeemed
    assert grant.redeem() == Fraction(1, 4)
    assert grant.redeemed
    with pytest.raises(InternalError, match="the grant on 'counts' was redeemed twice"):
        grant.redeem()


def test_the_whole_budget_can_be_spent_in_tenths_and_nothing_more():
    accountant = Accountant(Fraction(1))
    for step in range(10):
        accountant.grant(Fraction(1, 10), on=f"step {step}")
    assert accountant.left == 0
    with raises_code(BudgetError, "SF-BUDGET-006", match=r"'more' asks for ε = 0\.000001, and 0 is left of 1"):
        accountant.grant(Fraction(1, 10**6), on="more")
    assert accountant.spent == 1


def test_disjoint_parts_are_charged_once():
    accountant = Accountant(Fraction(1))
    grants = accountant.parallel(Fraction(1, 2), on=["young", "old"], mechanism="noisy max")
    assert [grant.on for grant in grants] == ["young", "old"]
    assert [grant.redeem() for grant in grants] == [Fraction(1, 2)] * 2
    assert accountant.spent == Fraction(1, 2)
    assert accountant.breakdown == (Spend("young, old", Fraction(1, 2), 2, "noisy max"),)
    with pytest.raises(InternalError, match="twice"):
        grants[0].redeem()


def test_no_parts_cost_nothing():
    accountant = Accountant(Fraction(1))
    assert accountant.parallel(Fraction(1, 2), on=[]) == []
    assert accountant.breakdown == ()


def test_a_refused_charge_leaves_no_trace():
    told = []
    accountant = Accountant(Fraction(1), on_spend=told.append)
    for ask in (lambda: accountant.grant(Fraction(2), on="a"), lambda: accountant.parallel(Fraction(2), on=["a"])):
        with pytest.raises(BudgetError):
            ask()
    assert (accountant.breakdown, accountant.spent, told) == ((), 0, [])


def test_the_debit_comes_before_the_callback_and_survives_its_failure():
    def crash(spend):
        raise RuntimeError(spend.on)

    accountant = Accountant(Fraction(1), on_spend=crash)
    with pytest.raises(RuntimeError, match="counts"):
        accountant.grant(Fraction(1, 3), on="counts")
    assert accountant.spent == Fraction(1, 3)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1)])
def test_a_share_must_be_positive(epsilon):
    with raises_code(BudgetError, "SF-BUDGET-005"):
        Accountant(Fraction(1)).grant(epsilon, on="x")
    with raises_code(BudgetError, "SF-BUDGET-004"):
        Accountant(epsilon)


def test_floats_are_not_budgets():
    with pytest.raises(InternalError, match="exact Fraction"):
        Accountant(0.1)
    with pytest.raises(InternalError, match="exact Fraction"):
        Accountant(Fraction(1)).grant(0.1, on="x")


def test_only_the_accountant_makes_grants():
    with pytest.raises(InternalError, match="outside the accountant"):
        Grant(Fraction(1), on="forged", mint=object())
    importers = [path.name for path in SOURCES if "MINT" in {alias for alias, _ in imported_names(path)}]
    assert importers == ["accountant.py"]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_grant_cannot_be_duplicated(duplicate):
    with pytest.raises(InternalError, match=r"copied|pickled"):
        duplicate(Accountant(Fraction(1)).grant(Fraction(1), on="counts"))


@given(st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000)))
def test_what_was_granted_never_exceeds_the_budget(asked):
    accountant = Accountant(Fraction(2))
    granted = []
    for epsilon in asked:
        try:
            granted.append(accountant.grant(epsilon, on="x").redeem())
        except BudgetError:
            assert sum(granted) + epsilon > 2
    assert accountant.spent == sum(granted) <= 2


def imported_names(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.name, node.module) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)


def test_randomness_comes_from_one_file():
    forbidden = {"random", "secrets", "numpy.random", "urandom", "default_rng", "getrandom"}
    users = set()
    for path in SOURCES:
        if path.parent.name not in {"dp", "mechanisms", "core", "stores", "methods"}:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names = {name for name, _ in imported_names(path)} | {module for _, module in imported_names(path)}
        if forbidden & (attributes | names):
            users.add(path.name)
    assert users == {"sampling.py"}
