"""A study with its ledger, and the verbs over it; `describe` and `frontier` beside it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from sfumato import workflow
from sfumato.api.study_display import study_display
from sfumato.display import Display, Displayed
from sfumato.errors import PublishError, UsageError, VerifyError
from sfumato.evaluate.audit import Finding
from sfumato.evaluate.carried_risk import CarriedRisk
from sfumato.evaluate.foreign import ReadTable
from sfumato.evaluate.intersection import Intersection
from sfumato.evaluate.learning.accuracy import Comparison
from sfumato.evaluate.max_k import MaxK
from sfumato.evaluate.measures import Linkage, Measure, Reading, Refused
from sfumato.file_names import checked_file_name
from sfumato.frontier import Frontier, Sweep
from sfumato.ledger import Entry, Ledger
from sfumato.methods import ConfidenceCap, Method, Mondrian, recipe_of
from sfumato.methods.method import Exact
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.progress import Progress, silent
from sfumato.release.release import Release
from sfumato.study.budget import parse_epsilon
from sfumato.study.describe import Proposal, propose
from sfumato.study.describe.value_notes import missing_numbers
from sfumato.study.file import load_study, study_from_mapping, study_sha256
from sfumato.study.recipe import Chosen, Recipe, recipe_from_study
from sfumato.study.source import Source
from sfumato.study.study import Study as Declared
from sfumato.tables import DomainViolations, find_missing_tokens, open_source, profile_table, settled_if_wide
from sfumato.workflow import (
    REPEATS,
    Answer,
    ColumnComparison,
    EpsilonChoice,
    Plan,
    Published,
    Question,
    RunResult,
)

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from sfumato.interactive import DiffPC45


class Study(Displayed):
    """What the owner declares about one table, with the ledger that records its privacy budget.

    Where a method is asked for, ``what`` is a method with its parameters, such as ``DiffGen(epsilon="0.5")``, or the
    name of a release that the study declares. If the study declares only one release, ``what`` can be omitted.
    """

    def __init__(self, declared: Declared, *, ledger: Ledger | None = None) -> None:
        self.declared = declared
        self._ledger = ledger

    @classmethod
    def load(cls, path: str | Path) -> "Study":
        """Open a study file."""
        return cls(load_study(path))

    @classmethod
    def from_mapping(cls, fields: Mapping[str, object], *, ledger: Ledger | None = None) -> "Study":
        """Make a study from the fields of a study file; ``source`` may be a table in memory.

        Without ``ledger``, the ledger is the file `NAME.ledger.sqlite` in the working folder.
        """
        return cls(study_from_mapping(fields), ledger=ledger)

    @property
    def name(self) -> str:
        """The study's name."""
        return self.declared.name

    def display(self) -> Display:
        """What is declared, and what the ledger has spent; nothing of the table is read."""
        return study_display(self.declared, lambda: self.ledger)

    @property
    def sha256(self) -> str:
        """The SHA-256 of what the study declares, the taxonomy files that it names included; not of its table."""
        return study_sha256(self.declared)

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of all releases of the study; opened when first needed."""
        return self._ledger or workflow.ledger_of(self.declared)

    def verify_ledger(self) -> tuple[str, ...]:
        """The problems of the ledger: changed rows, lost entries, unknown releases; empty if there are none."""
        found = self.ledger.verify()
        try:
            lost = workflow.lost_entries(self.declared, self.ledger)
        except VerifyError as error:  # rows that cannot be read
            lost = (error.problem,)
        return tuple(dict.fromkeys([*found, *lost]))

    def adopt_releases(self, reason: str, *, folders: Iterable[str | Path] = ()) -> list[Entry]:
        """Record the releases on disk that the ledger lacks, for a ledger that was lost or restored from a backup.

        Their ε counts as spent, and so does any further spending that a head file names. ``reason`` is stored with each
        entry. ``folders`` are further folders with releases, outside the study's own folder.
        """
        return workflow.adopt_releases(
            self.declared, self.ledger, reason=reason, folders=[Path(folder) for folder in folders]
        )

    def check(self, *, memory_limit: str | None = None) -> list[DomainViolations]:
        """For the owner: missing and out-of-domain values. Computed from raw data, covered by no guarantee."""
        return workflow.domain_violations(self.declared, memory_limit=memory_limit)

    def plan(
        self,
        what: "Method | DiffPC45 | str | None" = None,
        *,
        purpose: str | None = None,
        check: bool = True,
        memory_limit: str | None = None,
    ) -> Plan:
        """Describe what a release or a learnt model would do, its cost and the remaining budget; spends nothing.

        With ``check`` the table is read, to tell the owner how many records are left out for missing or invalid values.
        """
        if workflow.is_learner(what):
            return workflow.plan_learning(
                self.declared, what, purpose=purpose, ledger=self.ledger, check=check, memory_limit=memory_limit
            )
        recipe = self.recipe(what, purpose=purpose)
        return workflow.plan(self.declared, recipe, ledger=self.ledger, check=check, memory_limit=memory_limit)

    def choose_epsilon(
        self,
        what: Method | str | None = None,
        *,
        epsilons: Sequence[object] = workflow.EPSILONS,
        within: float | None = None,
        records: int | None = None,
        stand_in: object = None,
        purpose: str | None = None,
        progress: Progress = silent,
    ) -> EpsilonChoice:
        """The expected errors of a release at several ε, and the smallest ε that reaches an error; spends nothing.

        Noise on counts follows from the declarations; ``within`` asks for the smallest ε at which 95 % of the counts
        are so near to the truth. ``records`` is about how many records there are, as far as that is public.
        ``stand_in`` is a public table with the study's columns, on which accuracy and marginals are measured. The
        study's own table is not read.
        """
        recipe = self.recipe(what, purpose=purpose)
        return workflow.choose_epsilon(
            self.declared, recipe, epsilons=epsilons, within=within, records=records, stand_in=stand_in,
            progress=progress,
        )  # fmt: skip

    def release(  # noqa: PLR0913 - all but the first come by keyword
        self,
        what: Method | str | None = None,
        *,
        out: str | Path | None = None,
        purpose: str | None = None,
        chosen: Chosen | str = Chosen.IN_ADVANCE,
        progress: Progress = silent,
        memory_limit: str | None = None,
        insecure_seed: int | None = None,
        anyway: bool = False,
        report: bool = True,
        to: str | None = None,
    ) -> Published:
        """Make and publish a release, and record it in the ledger; then make the owner's report.

        ``out`` is a folder that does not exist yet; without it, the next free one below `releases/`. ``purpose`` and
        ``chosen`` go with a method; a declared release has its own. ``insecure_seed`` is for tests: the noise is
        repeatable, and the release has no guarantee. With ``anyway`` the release is made even if more records are left
        out for missing or invalid values than the study's ``most_invalid`` allows. The release is complete before the
        report begins: if the report fails, a warning in the result says so. With ``report=False`` no report is made;
        see `report`. ``to`` is the address of a new table of PostgreSQL, or of a new table or folder of Spark, that the
        records are written to in place of files in the bundle.
        """
        recipe = self.recipe(what, purpose=purpose, chosen=chosen)
        done = workflow.release(
            self.declared,
            recipe,
            folder=Path(out) if out is not None else next_folder(self.declared, recipe),
            ledger=self.ledger,
            source=None if insecure_seed is None else InsecureSource(insecure_seed),
            progress=progress,
            memory_limit=memory_limit,
            anyway=anyway,
            to=to,
        )
        if not report:
            return done
        return workflow.report_after(
            self.declared, done, ledger=self.ledger, progress=progress, memory_limit=memory_limit
        )

    def report(
        self,
        release: str | Path | Published | Release,
        *,
        was: str | None = None,
        data: str | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> Path:
        """For the owner: make the report of a published release, and return its path.

        ``release`` is the folder of the release, its bundle, or the result of `release`. It is read as its receiver
        reads it and compared with the study's table. Nothing is spent or recorded in the ledger. An earlier report is
        replaced. ``was``: see `measure`. ``data`` is where the tables of the release are, if its bundle does not hold
        them. The table is counted first, and refused if it has more combinations of values than fit ``memory_limit``.
        """
        return workflow.make_report(
            self.declared, release, ledger=self.ledger, was=was, data=data, progress=progress,
            memory_limit=memory_limit,
        )  # fmt: skip

    def run(
        self,
        releases: Iterable[str] | None = None,
        *,
        runs: int = 5,
        report: bool = True,
        progress: Progress = silent,
        anyway: bool = False,
        memory_limit: str | None = None,
    ) -> list[RunResult]:
        """Make, publish, check and classify the declared releases, all or those named: one `RunResult` each.

        ``runs`` is the number of splits on which the class is learnt; the accuracies are for the owner only. With
        ``report=False`` no owner's reports are made. ``anyway``: see `release`.
        """
        return workflow.run_study(
            self.declared, releases, folder=lambda recipe: next_folder(self.declared, recipe), ledger=self.ledger,
            runs=runs, report=report, progress=progress, anyway=anyway, memory_limit=memory_limit,
        )  # fmt: skip

    def ask(  # noqa: PLR0913 - all but the first come by keyword
        self,
        question: str = "",
        *,
        epsilon: Exact,
        by: str | None = None,
        span: str | None = None,
        strategy: str = "cells",
        ranges: Sequence[str] = (),
        progress: Progress = silent,
        memory_limit: str | None = None,
        insecure_seed: int | None = None,
        anyway: bool = False,
    ) -> Answer:
        """A noisy count of the records that satisfy a question, charged to the budget; with ``by`` a histogram.

        ``question`` is in the language of `Release.query`; empty, it counts all records. ``span`` is text such as
        ``[2004-01-01, 2010-01-01)``, by the study's time attribute. ``strategy`` and ``ranges`` are for a histogram:
        what is measured (`cells`, `hierarchical`, `wavelet`, `auto`), and conditions on ``by`` whose sums are answered
        with intervals. ``anyway``: see `release`.
        """
        return workflow.ask(
            self.declared,
            Question(
                text=question, epsilon=parse_epsilon(epsilon), by=by, span=span, strategy=strategy, ranges=tuple(ranges)
            ),
            ledger=self.ledger,
            source=None if insecure_seed is None else InsecureSource(insecure_seed),
            progress=progress,
            memory_limit=memory_limit,
            anyway=anyway,
        )

    def learn(
        self,
        estimator: "DiffPC45",
        *,
        out: str | Path | None = None,
        purpose: str | None = None,
        chosen: Chosen | str = Chosen.IN_ADVANCE,
        progress: Progress = silent,
        memory_limit: str | None = None,
        insecure_seed: int | None = None,
        anyway: bool = False,
    ) -> "DiffPC45":
        """Fit a private estimator to the table, at the cost of its ε, and enter that into the ledger.

        What comes out is one model: it predicts the class and answers nothing else, and its budget is gone. ``out`` is
        a file that does not exist yet, for the model as JSON, which may be published. Gives the estimator back, fitted.
        ``anyway``: see `release`.
        """
        return workflow.learn(
            self.declared,
            estimator,
            purpose=purpose,
            chosen=_parse_chosen(chosen),
            out=None if out is None else Path(out),
            ledger=self.ledger,
            source=None if insecure_seed is None else InsecureSource(insecure_seed),
            progress=progress,
            memory_limit=memory_limit,
            anyway=anyway,
        )

    def accuracy(
        self,
        what: Method | str | None = None,
        *,
        purpose: str | None = None,
        classifier: str = "decision-tree",
        protocol: str = "split",
        runs: int = 10,
        workers: int | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> Comparison:
        """For the owner: accuracy of a classifier trained on such releases, next to raw data. Covered by no guarantee.

        ``protocol`` is `split` (two thirds to learn on, drawn anew each run) or `folds` (as many stratified folds as
        runs). ``workers`` processes share the runs; None uses one per processor where that is faster.
        """
        return workflow.accuracy(
            self.declared, self.recipe(what, purpose=purpose), classifier=classifier, protocol=protocol, runs=runs,
            workers=workers, progress=progress, memory_limit=memory_limit,
        )  # fmt: skip

    def accuracies(
        self,
        what: Method | str | None = None,
        *,
        purpose: str | None = None,
        classifiers: Iterable[str] | None = None,
        protocol: str = "split",
        runs: int = 10,
        workers: int | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> Mapping[str, Comparison]:
        """The same for several classifiers, all five if none is named; they are trained on the same releases."""
        return workflow.accuracies(
            self.declared, self.recipe(what, purpose=purpose), classifiers=classifiers, protocol=protocol, runs=runs,
            workers=workers, progress=progress, memory_limit=memory_limit,
        )  # fmt: skip

    def measure(
        self,
        release: str | Path | Published | Release | None = None,
        *,
        table: Any = None,
        purpose: str | None = None,
        only: Iterable[str | Measure] | None = None,
        was: str | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> dict[str, Reading | Refused]:
        """For the owner: privacy and utility measures of a release. Computed from raw data, covered by no guarantee.

        ``release`` is a bundle's folder, the result of `release`, or an opened `Release`; ``only`` has names of
        measures, or measures with their parameters. The result has an entry for each measure by its name: a `Reading`
        with ``value`` and ``details``, or a `Refused` with the ``reason`` why it does not apply. ``was`` is the name
        that the study had when the release was made, if it was renamed since.

        In place of a release, ``table`` is one that another tool made from the same records: a file, a URL, a table in
        memory, or a `ForeignTable`, which says more of it. It is measured over the attributes of ``purpose``; see also
        `read_table`.
        """
        if table is not None:
            _refuse_both(release, table)
            return workflow.measure_table(
                self.declared, table, only, purpose=purpose, progress=progress, memory_limit=memory_limit
            )[0]
        release = _one_release(release, purpose)
        return workflow.measure_release(
            self.declared, release, only, was=was, progress=progress, memory_limit=memory_limit
        )

    def compare_columns(
        self,
        first: Method | str,
        second: Method | str,
        *,
        sweep: Sweep | str | None = None,
        purpose: str | None = None,
        repeats: int = REPEATS,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> ColumnComparison:
        """For the owner: two candidate releases beside the raw table, column by column, before one is published.

        ``first`` and ``second`` are methods, releases that the study declares, or candidates of ``sweep`` as `frontier`
        lists them. Each column has its distribution in the table and in a draft of both, with their total variation
        distance; a random release is drawn ``repeats`` times. Computed from raw records, covered by no guarantee.
        """
        return workflow.compare_columns(
            self.declared, first, second, sweep=sweep, purpose=purpose, repeats=repeats, progress=progress,
            memory_limit=memory_limit,
        )  # fmt: skip

    def read_table(self, table: Any, *, purpose: str | None = None, memory_limit: str | None = None) -> ReadTable:
        """For the owner: a table that another tool made, as `measure` reads it; ``sentences()`` say what was found.

        Its rows, how many of them are suppressed records, columns that were ignored, attributes that it does not
        publish. A label that has no meaning in the study is an error.
        """
        return workflow.evidence_of_table(self.declared, table, purpose=purpose, memory_limit=memory_limit)[1]

    def attack_link(
        self,
        release: str | Path | Published | Release | None = None,
        *,
        table: Any = None,
        known: Any = None,
        was: str | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> Linkage:
        """For the owner: link people to a release by their quasi-identifiers. Uses raw data, covered by no guarantee.

        ``known`` is a table of people (a file, a URL, or a table in memory) with columns as in the study; without it,
        everybody in the study's table is looked up. ``was`` and ``table``: see `measure`.
        """
        if table is not None:
            _refuse_both(release, table)
            return workflow.attack_table(
                self.declared, table, known=known, progress=progress, memory_limit=memory_limit
            )
        return workflow.attack_link(
            self.declared,
            _one_release(release, None),
            known=known,
            was=was,
            progress=progress,
            memory_limit=memory_limit,
        )

    def attack_attributes(
        self,
        release: str | Path | Published | Release,
        *,
        was: str | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> CarriedRisk:
        """For the owner: which quasi-identifiers carry the risk of linkage. Uses raw data, covered by no guarantee.

        Everybody is looked up by all quasi-identifiers of a release of records, and by all but one. ``was``: see
        `measure`.
        """
        return workflow.attack_attributes(self.declared, release, was=was, progress=progress, memory_limit=memory_limit)

    def attack_intersect(
        self,
        one: str | Path | Published | Release,
        two: str | Path | Published | Release,
        *,
        k: int = 5,
        attribute: str | None = None,
        was: str | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> Intersection:
        """For the owner: intersection attack on two releases of records. Uses raw data, covered by no guarantee.

        ``k`` is the number of candidates below which people are counted; ``attribute`` is sensitive in both. ``was``:
        see `measure`.
        """
        return workflow.attack_intersect(
            self.declared, one, two, k=k, attribute=attribute, was=was, progress=progress, memory_limit=memory_limit
        )

    def audit(
        self,
        what: "Method | DiffPC45 | str | None" = None,
        *,
        purpose: str | None = None,
        runs: int = 4_000,
        progress: Progress = silent,
    ) -> Finding:
        """Audit a method's guarantee as a black box, on two small synthetic tables; opens and spends nothing."""
        if workflow.is_learner(what):
            return workflow.audit_tree(self.declared, what.method(), purpose=purpose, runs=runs, progress=progress)
        return workflow.audit_recipe(self.declared, self.recipe(what, purpose=purpose), runs=runs, progress=progress)

    def max_k(
        self,
        cap: ConfidenceCap | None = None,
        *,
        purpose: str | None = None,
        between: tuple[int, int] = (2, 1_000),
        every: bool = False,
        like: Mondrian | None = None,
        progress: Progress = silent,
        memory_limit: str | None = None,
    ) -> MaxK:
        """For the owner: the k at which Mondrian satisfies capped confidence, and the average group size under the cap.

        ``cap`` gives the rate, the sensitive attribute and public statistics; ``like`` gives Mondrian's other settings.
        Computed from raw records, covered by no guarantee.
        """
        return workflow.max_k(
            self.declared,
            cap or ConfidenceCap(),
            purpose=purpose,
            between=between,
            every=every,
            like=like,
            progress=progress,
            memory_limit=memory_limit,
        )

    def recipe(
        self,
        what: Method | str | None = None,
        *,
        purpose: str | None = None,
        chosen: Chosen | str = Chosen.IN_ADVANCE,
    ) -> Recipe:
        """The recipe of a release: its description, as the ledger and the manifest will have it."""
        if what is not None and not isinstance(what, str):
            return recipe_of(what, name=what.name, purpose=purpose, chosen=_parse_chosen(chosen))
        if purpose is not None or chosen != Chosen.IN_ADVANCE:
            raise UsageError(
                "a declared release has its own `purpose` and `chosen`",
                "change them in the study, or give a method instead of a name",
                code="SF-USAGE-001",
            )
        return recipe_from_study(self.declared, what)


def frontier(  # noqa: PLR0913 - all but the first two by keyword
    study: Study | Declared,
    sweep: Sweep | str | None = None,
    *,
    purpose: str | None = None,
    x: str | Measure = "ploss",
    y: str | Measure = "uloss",
    measures: Sequence[str | Measure] = (),
    tables: Mapping[str, Any] | None = None,
    repeats: int = REPEATS,
    workers: int | None = None,
    folder: str | Path | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Frontier:
    """For the owner: make and measure every release of a sweep, to compare their privacy and utility and choose one.

    ``sweep`` is made by `sweep`, or the name of one the study declares; without it the study's only one, or a default.
    ``measures`` are further measures besides the two axes; each is a name, or a measure with parameters. ``tables`` are
    releases that other tools made from the same records, by the name of their point: a file, a URL, a table in memory,
    or a `ForeignTable`. A random release is drawn ``repeats`` times: its point is the mean, with the standard deviation
    of the draws. Finished points are stored in ``folder`` (`frontier/NAME` beside the study) and not made again.
    Nothing is published and no ε is spent. A release that is chosen this way is chosen on the raw table, and must say
    so.
    """
    return workflow.run_frontier(
        study.declared if isinstance(study, Study) else study,
        sweep,
        purpose=purpose,
        x=x,
        y=y,
        measures=measures,
        tables=tables,
        repeats=repeats,
        workers=workers,
        folder=None if folder is None else Path(folder),
        progress=progress,
        memory_limit=memory_limit,
    )


def _refuse_both(release: object, table: object) -> None:
    if release is not None and table is not None:
        raise UsageError(
            "a release and a table are given", "give one of them: `release`, or `table=`", code="SF-USAGE-351"
        )


def _one_release(
    release: str | Path | Published | Release | None, purpose: str | None
) -> str | Path | Published | Release:
    if release is None:
        raise UsageError(
            "no release is given",
            "give the folder of a bundle or the result of `release`, or a table of another tool as `table=`",
            code="SF-USAGE-352",
        )
    if purpose is not None:
        raise UsageError(
            "a purpose is given with a bundle, which has its own", "leave `purpose` out", code="SF-USAGE-353"
        )
    return release


def _parse_chosen(how: Chosen | str) -> Chosen:
    if how not in list(Chosen):
        raise UsageError(f"parameters cannot be '{how}'", f"use one of: {', '.join(Chosen)}", code="SF-USAGE-002")
    return Chosen(how)


def next_folder(study: Declared, recipe: Recipe) -> Path:
    """The first free folder for a release: ``releases/NAME-1``, ``-2`` … beside the study."""
    name = checked_file_name("the release", recipe.name)
    for number in range(1, 100_000):
        folder = study.base / "releases" / f"{name}-{number}"
        if not folder.exists():
            return folder
    raise PublishError(
        "there are 100,000 releases in one folder", "name another folder with --out", code="SF-PUBLISH-001"
    )


def describe(source: Any, *, name: str | None = None, target: str | None = None) -> Proposal:
    """Inspect a table and propose a study: types, roles with a reason each, unique columns, observed domains.

    The proposal is made from raw data: it is for the owner only.
    """
    with open_source(source) as table:
        read = settled_if_wide(table)
        marks = find_missing_tokens(read)
        profile = profile_table(read, marks)
        texts = {name for name, kind in table.table.schema().items() if kind.is_string()}
        if numbers := missing_numbers([column for column in profile.columns if column.name in texts]):
            marks = (*marks, *numbers)
            profile = profile_table(read, marks)
        written = {**_guessed_format(table.read_as), **({"missing": list(marks)} if marks else {})}
    where = source.path if isinstance(source, Source) else source
    shown = str(where) if isinstance(where, (str, Path)) else "table"
    return propose(profile, name=name or _name(shown), source=shown, target=target, written=written)


def _guessed_format(read_as: Mapping[str, str]) -> dict[str, Any]:
    """How a CSV file is written, as far as its records had to tell."""
    said = [what for what in read_as.get("guessed", "").split(", ") if what]
    return {what: read_as[what] for what in said if ", " not in read_as[what]}  # several files may differ


def _name(source: str) -> str:
    """A name for a study of this table: the file's, or that of the folder of several; of an address, the table's."""
    path = Path(source)
    if "://" in source and not path.exists():
        named = parse_qs(urlsplit(source).query).get("table", [""])[0]
        path = Path(named or urlsplit(source).path)
    if has_magic(path.name) and path.is_file():  # `visits[1].csv` is a file, and no pattern
        return re.sub(r"[*?\[\]]+", "-", path.name.split(".")[0]).strip("-") or "study"
    plain = [part for part in (path.name, path.parent.name) if part and not has_magic(part)]
    return (plain[0].split(".")[0] if plain else "") or "study"
