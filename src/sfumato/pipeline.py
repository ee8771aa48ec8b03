"""The stages in order: from a study and a recipe to a bundle, or to the words of a plan.

The order of a release is the order of trust. Everything that can fail without looking at a record fails first; then
the folder is claimed; then the ledger entry is committed; only then is the table counted and noise drawn; and the
bundle appears under its name in one step, after it was read back and checked. Killed between any two of these, the
process leaves at most spent budget and an empty folder: never half a bundle, never a spend that is not in the ledger.
"""

import datetime as dt
import getpass
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.array_counter import ArrayCounter
from sfumato.core.attribute import Unfit
from sfumato.core.counts import Counter
from sfumato.core.domain import Grid
from sfumato.core.draft import Draft, Groups
from sfumato.core.features import region_matrix
from sfumato.core.progress import Progress, silent
from sfumato.core.study import Study
from sfumato.core.unit import RecordUnit
from sfumato.core.view import View
from sfumato.dp.accountant import Accountant
from sfumato.dp.budget import show
from sfumato.dp.sampling import RandomSource, SecureSource
from sfumato.engines import CodedTable, UnfitReport, open_source
from sfumato.errors import OursError, StudyError, UsageError
from sfumato.measure import Comparison, Finding, audit, classification, events_of
from sfumato.methods import Method, build
from sfumato.models import DifferentialPrivacy, attack_odds
from sfumato.publish import ManifestFacts, Release, claim_folder, write_bundle, write_owner
from sfumato.recipe import Recipe
from sfumato.stores import Ledger, NewEntry, open_ledger
from sfumato.tailor import tailor

_PACKAGES = ("sfumato", "opendp", "duckdb", "ibis-framework", "numpy", "pyarrow")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a recipe will do and cost, in words and numbers; made without touching the table."""

    study: str
    recipe: Recipe
    epsilon: Fraction | None
    budget: Fraction | None
    left: Fraction | None
    sentences: tuple[str, ...]
    numbers: Mapping[str, Any]

    @property
    def fits(self) -> bool:
        """Whether the budget that is left covers it."""
        return self.epsilon is None or (self.left is not None and self.epsilon <= self.left)


@dataclass(frozen=True, kw_only=True)
class Published:
    """A release that is out: where the bundle and the owner's folder are, and what it cost."""

    folder: Path
    bundle: Path
    sha256: str
    epsilon: Fraction | None
    left: Fraction | None
    draft: Draft = field(repr=False)

    def open(self) -> Release:
        """The release as its receiver sees it."""
        return Release.open(self.bundle)


def ledger_of(study: Study) -> Ledger:
    """The study's ledger: where the study says, else a SQLite file beside it; in memory for a study in memory."""
    if study.ledger is not None:
        place = study.ledger
        if "://" not in place and place != "memory:":
            place = str(study.base / place)
        return open_ledger(place)
    if study.base == Path():
        return open_ledger("memory:")
    return open_ledger(str(study.base / f"{study.name}.ledger.sqlite"))


def plan(study: Study, recipe: Recipe, *, ledger: Ledger | None = None) -> Plan:
    """Say in words what a release would do, what it costs and what is left; touches nothing."""
    method = build(recipe)
    view = tailor(study, recipe.purpose)
    forecast = method.forecast(view)
    epsilon = method.spends
    left = None
    if study.budget is not None:
        left = study.budget - (ledger or ledger_of(study)).spent(study.name)
    sentences = [
        (
            f"method '{recipe.method}' on {len(view.predictors)} attributes and the class '{view.target.name}' "
            f"({', '.join(view.classes)})"
        ),
        *_unfit_sentences(view),
        *forecast.sentences,
    ]
    if epsilon is not None:
        sentences.append(
            f"it costs ε = {show(epsilon)}"
            + ("" if study.budget is None or left is None else f"; {show(left)} of {show(study.budget)} is left now")
        )
        sentences.append(view.unit.sentence())
        sentences.append(attack_odds(epsilon).removesuffix("."))
    if epsilon is not None and left is None:
        sentences.append("the study declares no budget, so `release` will refuse: add `privacy: {budget: …}`")
    elif epsilon is not None and left is not None and epsilon > left:
        sentences.append("that is more than is left, so `release` will refuse")
    sentences.append(_leaving(study, view))
    return Plan(
        study=study.name,
        recipe=recipe,
        epsilon=epsilon,
        budget=study.budget,
        left=left,
        sentences=tuple(sentences),
        numbers=forecast.numbers,
    )


def release(
    study: Study,
    recipe: Recipe,
    *,
    folder: Path,
    ledger: Ledger | None = None,
    source: RandomSource | None = None,
    progress: Progress = silent,
    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    memory_limit: str | None = None,
) -> Published:
    """Make, re-check and publish one release, and enter it into the ledger.

    ``folder`` must not exist; it will hold `bundle/`, which goes out, and `owner/`, which stays.
    """
    method = build(recipe)
    view = tailor(study, recipe.purpose)
    method.check(view)
    spends, budget = method.spends, study.budget
    if spends is None or budget is None:
        raise StudyError(
            f"the study '{study.name}' declares no privacy budget", "add `budget` under `privacy`: the total ε, ever"
        )
    drawn_from = source or SecureSource()
    book = ledger or ledger_of(study)
    progress("opening the table", 0, 1)
    with open_source(study.source, base=study.base, memory_limit=memory_limit) as table:
        counter = CodedTable(table, view.attributes, unit=view.unit)
        claim_folder(folder)
        try:
            entry = book.reserve(
                NewEntry(
                    study=study.name,
                    at=clock(),
                    who=_who(),
                    purpose=recipe.purpose or "whole study",
                    method=recipe.method,
                    recipe=recipe.as_json(),
                    promise=DifferentialPrivacy(epsilon=spends, unit=_unit_words(view)).sentence(),
                    epsilon=spends,
                ),
                budget=budget,
            )
        except BaseException:
            folder.rmdir()
            raise
        accountant = Accountant(spends / view.unit.stability)
        try:
            draft = method.run(view, counter, accountant=accountant, source=drawn_from, progress=progress)
            progress("publishing", 0, 1)
            facts = _manifest_facts(study, recipe, method, view, draft, accountant, drawn_from, clock().date())
            written = write_bundle(draft, replace(facts, ledger=entry.hash), folder)
        except BaseException as failure:
            book.fail(entry.id, type(failure).__name__, at=clock())
            raise
    book.complete(entry.id, written.sha256, at=clock())
    write_owner(folder, _owner_notes(recipe, draft, accountant), [f"ledger entry {entry.id}"])
    progress("publishing", 1, 1)
    left = budget - book.spent(study.name)
    return Published(folder=folder, bundle=written.path, sha256=written.sha256, epsilon=spends, left=left, draft=draft)


def _manifest_facts(
    study: Study,
    recipe: Recipe,
    method: Method,
    view: View,
    draft: Draft,
    accountant: Accountant,
    source: RandomSource,
    today: dt.date,
) -> ManifestFacts:
    return ManifestFacts(
        study=study.name,
        release=recipe.name,
        method=recipe.method,
        parameters={key: str(value) for key, value in recipe.parameters.items()},
        model=DifferentialPrivacy.name,
        epsilon=method.spends,
        unit=_unit_words(view),
        neighbouring=view.unit.sentence(),
        composition=_composition(view),
        receipt=_receipt(accountant),
        secure=source.secure,
        chosen=recipe.chosen.value,
        versions=_versions(),
        date=today.isoformat(),
        rules=tuple(_unfit_sentences(view)),
        facts=draft.facts,
    )


def _receipt(accountant: Accountant) -> list[dict[str, str]]:
    return [
        {"on": spend.on, "epsilon": show(spend.epsilon), "mechanism": spend.mechanism} for spend in accountant.receipt
    ]


def _composition(view: View) -> str:
    many = view.unit.stability
    sequence = (
        "sequential composition over the steps of the receipt (their ε add up), parallel composition within a step "
        "that names several disjoint parts"
    )
    return sequence if many == 1 else f"{sequence}; the receipt is per record, and a person has at most {many} of them"


def _unit_words(view: View) -> str:
    return "one record" if view.unit.stability == 1 else f"one person with at most {view.unit.stability} records"


def _unfit_sentences(view: View) -> list[str]:
    """What happens to missing values and to values outside the domains: rules, not counts."""
    sentences = []
    for names, rule in (
        (
            [a.name for a in view.attributes if a.missing is not Unfit.KEEP],
            "a record is left out if a value is missing (an error would tell that there is such a record)",
        ),
        (
            [a.name for a in view.attributes if a.outside is not Unfit.KEEP],
            "a record is left out if a value is outside the declared domain",
        ),
        (
            [a.name for a in view.attributes if isinstance(a.domain, Grid) and a.outside is Unfit.KEEP],
            "a number or date outside the declared bounds counts as the nearer bound",
        ),
    ):
        if names:
            sentences.append(f"{rule}, for {_listed(names, len(view.attributes))}")
    return sentences


def _listed(names: list[str], of: int) -> str:
    return "every attribute" if len(names) == of else ", ".join(names)


def _leaving(study: Study, view: View) -> str:
    stay = [name for name in study.attributes if name not in {a.name for a in view.attributes}]
    return "only declared attributes leave" + (f"; these stay: {', '.join(stay)}" if stay else "")


def _owner_notes(recipe: Recipe, draft: Draft, accountant: Accountant) -> dict[str, Any]:
    return {
        "recipe": recipe.as_json(),
        "facts": dict(draft.facts),
        "receipt": _receipt(accountant),
        "published_groups": len(draft.groups),
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a checkout that is not installed
            found[package] = "not installed"
    return found


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"


def worth(
    study: Study,
    recipe: Recipe,
    *,
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    progress: Progress = silent,
) -> Comparison:
    """What a recipe's releases are worth to a learner: CA against BA and LA, over several splits of the table.

    For the owner only. It looks at raw records and makes drafts that are thrown away: nothing is published, nothing is
    entered into the ledger, and nothing that it returns is covered by ε.
    """
    method = build(recipe)
    view = tailor(study, recipe.purpose)
    method.check(view)
    with open_source(study.source, base=study.base) as table:
        progress("reading the records", 0, 1)
        cells = CodedTable(table, view.attributes, unit=view.unit).full_cells([a.name for a in view.attributes])
    codes = {name: np.repeat(cells.codes[:, column], cells.counts) for column, name in enumerate(cells.attributes)}
    done = 0

    def make(part: View, counter: Counter) -> Draft:
        nonlocal done
        progress("learning from releases", done, runs)
        done += 1
        budget = method.spends
        if budget is None:
            raise OursError(f"method '{method.name}' has no ε")
        return method.run(part, counter, accountant=Accountant(budget / view.unit.stability), source=SecureSource())

    return classification(view, codes, make, runs=runs, seed=seed, baseline=baseline)


def unfit(study: Study) -> list[UnfitReport]:
    """For the owner: values of the table that are missing or outside their declared domains.

    Computed from raw data; covered by no promise.
    """
    coded = [a for a in study.attributes.values() if a.coded]
    with open_source(study.source, base=study.base) as table:
        return CodedTable(table, coded, unit=RecordUnit()).unfit()


def audit_recipe(study: Study, recipe: Recipe, *, runs: int = 4_000, progress: Progress = silent) -> Finding:
    """Test a recipe's promise from outside: run it often on two neighbouring tables, compare what comes out.

    The tables are made from the declared domains, which are public: the study's own table is not opened, nothing is
    published and nothing is spent. One has five records, the other one record more, all alone in the last value of
    every attribute (for persons: one person more with all the records a person may have). What is looked at are the
    cuts and the noisy counts of the groups that these records are in.
    """
    method = build(recipe)
    view = tailor(study, recipe.purpose)
    method.check(view)
    spends = method.spends
    if spends is None:
        raise UsageError(f"method '{recipe.method}' promises no ε", "audit a differentially private release")
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
    whole = {}
    for attribute in view.predictors:
        if attribute.domain is None:
            raise OursError(f"'{attribute.name}' reached an audit without a domain")
        whole[attribute.name] = np.array([0] * 5 + [attribute.domain.size - 1] * more, dtype=np.int64)
    last = len(view.classes) - 1
    whole[view.target.name] = np.array([0, 0, 0, last, last] + [last] * more, dtype=np.int64)
    return whole, {name: codes[:5] for name, codes in whole.items()}


def _around(draft: Draft, codes: Mapping[str, NDArray[np.int64]]) -> Draft:
    """The draft with the groups that these records are in, and no others: the tables differ nowhere else."""
    groups = draft.groups
    homes = np.unique(region_matrix(groups.cuts, [codes[cut.attribute] for cut in groups.cuts]), axis=0)
    kept = (groups.regions[:, None, :] == homes[None, :, :]).all(axis=2).any(axis=1)
    return replace(draft, groups=Groups(groups.cuts, groups.regions[kept], groups.classes[kept], groups.counts[kept]))
