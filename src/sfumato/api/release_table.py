"""The short way in: a table in memory with declared domains becomes a study, or a release."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.api.declared_columns import column_names, declared_fields
from sfumato.api.study import Study
from sfumato.domains.taxonomy.check import did_you_mean
from sfumato.errors import StudyError
from sfumato.ledger import Ledger
from sfumato.methods import Marginals, Staged
from sfumato.methods.method import Exact
from sfumato.progress import Progress, silent
from sfumato.study.budget import parse_epsilon
from sfumato.workflow import Published


def study_of(  # noqa: PLR0913 - all but the first by keyword
    table: Any,
    *,
    domains: Mapping[str, Any],
    budget: Exact,
    target: str | None = None,
    name: str = "table",
    person: str | None = None,
    at_most: int | None = None,
    categories_declared: bool = False,
    ledger: Ledger | None = None,
) -> Study:
    """Declare a study of a table in memory in one call; see `release` for the arguments.

    Every column with a domain is a quasi-identifier, the ``target`` is the class. For other roles, purposes or
    hierarchies write a study file, or use `Study.from_mapping`.
    """
    known = () if person is None else (person,)
    if person is not None and domains.get(person) is not None:
        raise StudyError(
            f"'{person}' says whose record it is, and `domains` has it as a column to be released",
            f"take '{person}' out of `domains`: it identifies people and is never released",
            code="SF-STUDY-801",
        )
    fields = declared_fields(table, domains, known=known, categories_declared=categories_declared)
    names = column_names(table)
    if target is not None and names is not None and target not in names:
        raise StudyError(
            f"the table has no column '{target}', the target", did_you_mean(target, names), code="SF-STUDY-981"
        )
    if target is not None and target not in fields:
        raise StudyError(
            f"the target '{target}' has no declared domain",
            f"list its values: domains={{'{target}': [every possible value]}}",
            code="SF-STUDY-744",
        )
    attributes = {
        column: {"role": "class" if column == target else "quasi_identifier", **domain}
        for column, domain in fields.items()
    }
    unit: Any = "record"
    if person is not None:
        if at_most is None:
            raise StudyError(
                f"'{person}' says whose record it is, and nothing how many records of a person are used",
                "give the most that is publicly plausible: at_most=3",
                code="SF-STUDY-745",
            )
        attributes = {person: {"role": "identifier"}, **attributes}
        unit = {"person": person, "at_most": at_most}
    mapping = {"name": name, "source": table, "privacy": {"unit": unit, "budget": budget}, "attributes": attributes}
    return Study.from_mapping(mapping, ledger=ledger)


def release(  # noqa: PLR0913 - all but the first by keyword
    table: Any,
    *,
    domains: Mapping[str, Any],
    epsilon: Exact,
    target: str | None = None,
    budget: Exact | None = None,
    name: str = "table",
    person: str | None = None,
    at_most: int | None = None,
    categories_declared: bool = False,
    out: str | Path | None = None,
    ledger: Ledger | None = None,
    report: bool = True,
    progress: Progress = silent,
) -> Published:
    """Publish a table in memory with ε-differential privacy: what can be predicted of ``target``, or its marginals.

    ``domains`` declares every column, from public knowledge: a tuple of two numbers or dates is the lowest and the
    highest, a list has every possible value, a ``range`` is whole numbers, a mapping has the fields of an attribute of
    a study file, and None leaves the column out. With a ``target`` the method is `Staged`, without one `Marginals`.

    ``budget`` is the total ε of all releases of this study, ever; it is ``epsilon`` if nothing is said, so a second
    release is refused. The ledger that enforces it, also among processes and after a restart, is the file
    `NAME.ledger.sqlite` in the working folder, beside `releases/`. A ``person`` names the column that says whose a
    record is; then the guarantee holds for a person with at most ``at_most`` records.

    **Why nothing is inferred from the records.** ε bounds how much the output can depend on one record, for *fixed*
    columns, types, bounds and values. Were the bounds the lowest and highest value that occur, one person more with an
    income of a billion would change the columns of the release itself, whatever noise is then added; were the values
    those that occur, a value that one person has would appear in the release. So all of these come from the arguments.
    From the table before the ledger is debited come the names of its columns, which are not records, and for the owner
    the share of records that the domains leave out (`most_invalid`), which stops a release and is never in one. The
    dtypes of the table are not used, because libraries choose them by the values; a polars ``Enum`` lists values that
    somebody wrote and counts as declared, and so do pandas categories with ``categories_declared=True``, by which the
    caller states that no list was taken from the records (as `astype("category")` does). One thing is out of reach
    here: pandas makes a column of whole numbers one of floats where one is missing, and above 2⁵³ those are other
    numbers, before Sfumato sees them. Give such numbers as text.
    """
    parse_epsilon(epsilon)  # a wrong one is said to be that, and not the budget that it would become
    study = study_of(
        table,
        domains=domains,
        budget=epsilon if budget is None else budget,
        target=target,
        name=name,
        person=person,
        at_most=at_most,
        categories_declared=categories_declared,
        ledger=ledger,
    )
    method = Marginals(epsilon=epsilon) if target is None else Staged(epsilon=epsilon)
    return study.release(method, out=out, progress=progress, report=report)
