"""For the owner: whether a guarantee of differential privacy can be refuted from outside."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError, UsageError
from sfumato.evaluate.audit import Finding, audit, events_of
from sfumato.methods import Method, build
from sfumato.progress import Progress, silent
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables.arrays.array_counter import ArrayCounter
from sfumato.workflow.accuracy import draft_of_part


def audit_recipe(study: Study, recipe: Recipe, *, runs: int = 4_000, progress: Progress = silent) -> Finding:
    """Audit a recipe's guarantee as a black box: run it often on two neighbouring tables and compare the outputs.

    The tables are made from the declared domains, which are public: the study's own table is not opened, nothing is
    published and nothing is spent. One has five records, the other one record more, all alone in the last value of
    every attribute (for persons: one person more with all the records a person may have). What is looked at are the
    cuts and the noisy counts of the groups that these records are in.
    """
    method = _private(recipe)
    view = tailor(study, recipe.purpose, method.needs)
    method.check(view)
    spends = method.spends
    assert spends is not None, "see `_private`"
    tables = _neighbours(view)
    counters = [ArrayCounter(codes, {view.target.name: len(view.classes)}) for codes in tables]
    done = 0

    def once(table: int) -> set[Any]:
        nonlocal done
        progress("running the release on synthetic tables", done, 2 * runs)
        done += 1
        return events_of(draft_of_part(method, view, counters[table]), tables[0])

    return audit(once, epsilon=spends, runs=runs)


def _neighbours(view: View) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
    """Codes of two tables: five records together and one unit more far away, and the five alone."""
    more = view.unit.stability
    whole: dict[str, NDArray[np.int64]] = {}
    for attribute in view.predictors:
        if attribute.domain is None:
            raise InternalError(f"'{attribute.name}' reached an audit without a domain")
        if isinstance(attribute.domain, SetDomain):
            leaves = attribute.domain.taxonomy.leaves
            whole[attribute.name] = attribute.domain.encode([[leaves[0]]] * 5 + [[leaves[-1]]] * more)
            continue
        whole[attribute.name] = np.array([0] * 5 + [attribute.domain.size - 1] * more, dtype=np.int64)
    last = len(view.classes) - 1
    if view.targeted:
        whole[view.target.name] = np.array([0, 0, 0, last, last] + [last] * more, dtype=np.int64)
    return whole, {name: codes[:5] for name, codes in whole.items()}


def _private(recipe: Recipe) -> Method:
    """The method of a differentially private recipe; others are refused."""
    method = build(recipe)
    if not method.needs.private:
        raise UsageError(
            f"method '{recipe.method}' is not differentially private",
            "choose a differentially private release",
            code="SF-USAGE-079",
        )
    return method
