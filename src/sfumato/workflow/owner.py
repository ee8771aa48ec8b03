"""For the owner: what does not fit the study, what releases are worth, and whether a promise can be refuted."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells, Counter, tally
from sfumato.domains.sets.domain import SetCodes, SetDomain
from sfumato.errors import InternalError, StudyError, UsageError
from sfumato.evaluate.audit import Finding, audit, events_of
from sfumato.evaluate.learning.accuracy import Comparison, classifications
from sfumato.methods import Method, PartitionMethod, build, is_partition, method_needs_class
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.progress import Progress, silent
from sfumato.release.draft import Draft, Groups
from sfumato.release.partition import PartitionDraft
from sfumato.study.attribute import Role
from sfumato.study.partition_purpose import tailor_partition
from sfumato.study.partition_view import PartitionView
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables import CodedTable, DomainViolations, open_source
from sfumato.tables.arrays.array_counter import ArrayCounter
from sfumato.workflow.making.background import with_population
from sfumato.workflow.making.grouped_records import make_draft, refuse_invalid_values
from sfumato.workflow.sets.level_views import categories, foreseen


def worth(  # noqa: PLR0913 - all but the first come by keyword
    study: Study,
    recipe: Recipe,
    *,
    classifier: str = "decision-tree",
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
) -> Comparison:
    """What a recipe's releases are worth to one classifier: see `worths`."""
    return worths(
        study, recipe, classifiers=(classifier,), protocol=protocol, runs=runs, seed=seed, baseline=baseline,
        workers=workers, progress=progress,
    )[classifier]  # fmt: skip


def worths(  # noqa: PLR0913 - all but the first come by keyword
    study: Study,
    recipe: Recipe,
    *,
    classifiers: Iterable[str] | None = None,
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
) -> Mapping[str, Comparison]:
    """What a recipe's releases are worth to learners: CA against BA and LA, over several parts of the table.

    For the owner only. It looks at raw records and makes drafts that are thrown away: nothing is published, nothing is
    entered into the ledger, and nothing that it returns is covered by a promise.
    """
    method = build(recipe)
    view: View | PartitionView
    if is_partition(method):
        view = tailor_partition(study, recipe.purpose)
        _check_class(recipe, view)
        method.check(foreseen(view))
    else:
        _refuse_without_target(f"the study '{study.name}'", len(study.with_role(Role.CLASS)))
        view = tailor(study, recipe.purpose)
        method = cast("Method", method)
        method.check(view)
    with open_source(study.source, base=study.base, private=not isinstance(view, PartitionView)) as table:
        progress("reading the records", 0, 1)
        counter = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
        cells = counter.full_cells([a.name for a in view.attributes])
        dictionaries = counter.sets
        levels: dict[str, NDArray[np.int64]] = {}
        domains = {a.name: a.domain for a in view.attributes}
        if isinstance(view, PartitionView):
            refuse_invalid_values(counter, view, cells, counter.all_rows())
            view, levels = categories(view, counter, cells)
    make: Callable[..., Any]
    if is_partition(method):
        assert isinstance(view, PartitionView), "see above"
        make = partial(_part_in_groups, with_population(method, study, view))
    else:
        make = partial(_part_with_noise, cast("Method", method))
    codes = {name: np.repeat(cells.codes[:, column], cells.counts) for column, name in enumerate(cells.attributes)}
    codes |= {name: SetCodes.of(codes[name], dictionary) for name, dictionary in dictionaries.items()}
    sets = {name: (cast("SetDomain", domains[name]), cast("SetCodes", codes[name])) for name in levels}
    codes |= {name: level[np.asarray(codes[name])] for name, level in levels.items()}
    return classifications(
        view, codes, make, classifiers=classifiers, protocol=protocol, runs=runs, seed=seed, baseline=baseline,
        workers=workers, progress=progress, sets=sets,
    )  # fmt: skip


def _check_class(recipe: Recipe, view: PartitionView) -> None:
    """Refuse records in groups that do not come with exactly one class, before any of them is read."""
    _refuse_without_target(f"release '{recipe.name}'", sum(a.role is Role.CLASS for a in view.others))


def _refuse_without_target(what: str, targets: int) -> None:
    """Accuracy is that of predicting one target: it is accuracy that needs it, whatever the method does."""
    if targets != 1:
        raise StudyError(
            f"accuracy needs exactly one target (class attribute) to predict, and {what} has {targets or 'no'} class "
            f"attribute{'s' * (targets > 1)}",
            "give one attribute `role: class`, and name it in the release's purpose if it has one",
        )


def _part_with_noise(method: Method, view: View, counter: Counter) -> Draft:
    if method.spends is None:
        raise InternalError(f"method '{method.name}' has no ε")
    accountant = Accountant(method.spends / view.unit.stability)
    return method.run(view, counter, accountant=accountant, source=SecureSource())


def _part_in_groups(method: PartitionMethod, view: PartitionView, cells: Cells) -> PartitionDraft:
    return make_draft(method, view, cells, SecureSource(), silent)


def domain_violations(study: Study) -> list[DomainViolations]:
    """For the owner: values of the table that are missing or outside their declared domains.

    Computed from raw data; covered by no promise.
    """
    coded = [a for a in study.attributes.values() if a.coded]
    with open_source(study.source, base=study.base) as table:
        return CodedTable(table, coded, unit=RecordUnit()).domain_violations()


def audit_recipe(study: Study, recipe: Recipe, *, runs: int = 4_000, progress: Progress = silent) -> Finding:
    """Test a recipe's promise from outside: run it often on two neighbouring tables, compare what comes out.

    The tables are made from the declared domains, which are public: the study's own table is not opened, nothing is
    published and nothing is spent. One has five records, the other one record more, all alone in the last value of
    every attribute (for persons: one person more with all the records a person may have). What is looked at are the
    cuts and the noisy counts of the groups that these records are in.
    """
    method = _private(recipe)
    view = tailor(study, recipe.purpose, needs_class=method_needs_class(method))
    method.check(view)
    spends = method.spends
    assert spends is not None, "see `_private`"
    tables = _neighbours(view)
    counters = [ArrayCounter(codes, {view.target.name: len(view.classes)}) for codes in tables]
    done = 0

    def once(table: int) -> set[Any]:
        nonlocal done
        progress("running the release on made-up tables", done, 2 * runs)
        done += 1
        accountant = Accountant(spends / view.unit.stability)
        draft = method.run(view, counters[table], accountant=accountant, source=SecureSource())
        return events_of(_around(draft, tables[0]))

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


def _around(draft: Draft, codes: Mapping[str, NDArray[np.int64]]) -> Draft:
    """The draft with the groups that these records are in, and no others: the tables differ nowhere else."""
    groups = draft.groups
    homes, _ = tally([cut.regions(codes[cut.attribute]) for cut in groups.cuts])
    kept = (groups.regions[:, None, :] == homes[None, :, :]).all(axis=2).any(axis=1)
    return replace(draft, groups=Groups(groups.cuts, groups.regions[kept], groups.classes[kept], groups.counts[kept]))


def _private(recipe: Recipe) -> Method:
    """The method of a differentially private recipe; others are refused."""
    method = build(recipe)
    if is_partition(method):
        raise UsageError(f"method '{recipe.method}' promises no ε", "name a differentially private release")
    return cast("Method", method)
