"""What a caller declares about the columns of a table in Python, as the fields of a study.

Nothing here looks at a record. What is used is what the caller wrote (``domains``, a dtype with its list of values) and
the names of the columns. Types are not taken from the table: a library chooses them by the values (one missing value
turns a column of whole numbers into floats), so a type that followed them would depend on one record.
"""

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sfumato.domains.taxonomy.check import did_you_mean
from sfumato.errors import StudyError

Fields = dict[str, Any]

_STEPS: Final = 1000  # a number without a declared step gets at least so many
_DAY: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}"
)  # a tuple of two such texts is bounds: as two categories nothing would fit
_NUMBERS: Final = (int, float, Decimal, Fraction)
_NAMED: Final = 12  # columns that an error names


def declared_fields(
    table: Any, domains: Mapping[str, Any], *, known: Sequence[str] = (), categories_declared: bool = False
) -> dict[str, Fields]:
    """The domain of every column that is to be released, as fields of a study without a role.

    ``known`` are columns that need no domain, and have none unless it is written. A column of the table that has none
    is an error which says what to write; None says that a column is left out.
    """
    names = column_names(table)
    written = {str(name): domain for name, domain in domains.items()}
    unknown = [name for name in written if names is not None and name not in names]
    if unknown and names is not None:
        raise StudyError(
            f"`domains` has '{unknown[0]}', and the table has no such column",
            did_you_mean(unknown[0], list(names)),
            code="SF-STUDY-741",
        )
    if not categories_declared:
        _refuse_own_categories(table, written)
    carried = _carried(table, categories_declared=categories_declared)
    carried = {name: domain for name, domain in carried.items() if name not in known}  # those of persons list them
    found = {**carried, **written}
    lacking = [name for name in names or () if name not in found and name not in known]
    if lacking:
        raise _undeclared(lacking)
    return {name: domain_fields(name, domain) for name, domain in found.items() if domain is not None}


def domain_fields(name: str, domain: Any) -> Fields:
    """One declared domain as the fields of an attribute.

    >>> domain_fields("age", (0, 120)), domain_fields("age", range(0, 121, 5))
    ({'type': 'integer', 'bounds': [0, 120]}, {'type': 'integer', 'bounds': [0, 120], 'step': 5})
    >>> domain_fields("dose", (0.0, 2.5)), domain_fields("sex", ["f", "m"])
    ({'type': 'number', 'bounds': [0.0, 2.5], 'step': '0.001'}, {'values': ['f', 'm']})
    """
    if isinstance(domain, Mapping):
        return dict(domain)
    if isinstance(domain, range) and len(domain) > 1 and domain.step > 0:
        stepped = {} if domain.step == 1 else {"step": domain.step}
        return {"type": "integer", "bounds": [domain[0], domain[-1]], **stepped}
    if isinstance(domain, tuple) and len(domain) == 2:  # noqa: PLR2004 - a lower and an upper bound
        bounds = _bounds(domain)
        if bounds is not None:
            return bounds
    listed = _listed(domain)
    if listed is None:
        raise StudyError(
            f"the domain of '{name}' is a {type(domain).__name__}",
            "write a tuple of two numbers or dates (the bounds), a list of all possible values, or a mapping with the "
            "fields of an attribute of a study",
            code="SF-STUDY-742",
        )
    return {"values": listed}


def column_names(table: Any) -> tuple[str, ...] | None:
    """The names of the columns of a table in memory; None where they cannot be had without opening it."""
    match type(table).__module__.partition(".")[0]:
        case "polars":
            return tuple(table.collect_schema().names())
        case "pyarrow" if hasattr(table, "schema"):
            return tuple(table.schema.names)
        case "pandas" | "ibis" | "pyspark" if hasattr(table, "columns"):
            return tuple(str(name) for name in table.columns)
        case _:
            return None


def _bounds(domain: tuple[Any, Any]) -> Fields | None:
    """Bounds of numbers or dates; None if they are neither."""
    if any(isinstance(end, bool) for end in domain):
        return None
    if all(isinstance(end, int) for end in domain):
        return {"type": "integer", "bounds": list(domain)}
    if all(isinstance(end, _NUMBERS) for end in domain):
        return {"type": "number", "bounds": [_exact(end) for end in domain], "step": _step(*domain)}
    if all(isinstance(end, dt.date) for end in domain):
        days = [end.date() if isinstance(end, dt.datetime) else end for end in domain]
        return {"type": "date", "bounds": [day.isoformat() for day in days]}
    if all(isinstance(end, str) and _DAY.fullmatch(end) for end in domain):
        return {"type": "date", "bounds": list(domain)}
    return None


def _exact(end: Any) -> Any:
    return float(end) if isinstance(end, Fraction) else end


def _step(lower: Any, upper: Any) -> str:
    """The largest power of ten that divides the bounds into a thousand steps or more: a function of them alone."""
    width = float(upper) - float(lower)
    if not (math.isfinite(width) and width > 0):
        return "1"  # the bounds are refused, with a reason, when they are read
    power = math.floor(math.log10(width / _STEPS))
    return str(10**power) if power >= 0 else f"{Decimal(1).scaleb(power):f}"


def _listed(domain: Any) -> list[Any] | None:
    """All values of a category: a list, or a dtype that carries one (pandas CategoricalDtype, polars Enum)."""
    categories = getattr(domain, "categories", None)
    if categories is not None:
        return list(categories)
    return list(domain) if isinstance(domain, (list, tuple)) else None


def _carried(table: Any, *, categories_declared: bool) -> Fields:
    """Domains that the columns of a table carry: of polars Enum, and of pandas categories if they were declared.

    The values of an Enum are written out by whoever makes it. The categories of pandas may be the values that occur
    (`astype("category")`), and nothing in the table says whether they are; so the caller has to.
    """
    library = type(table).__module__.partition(".")[0]
    if library == "polars":
        schema = table.collect_schema()
        return {str(n): dtype for n, dtype in schema.items() if type(dtype).__name__ == "Enum"}
    if categories_declared and library == "pandas":
        types = zip(table.columns, table.dtypes, strict=True)
        return {str(n): dtype for n, dtype in types if getattr(dtype, "categories", None) is not None}
    return {}


def _refuse_own_categories(table: Any, written: Mapping[str, Any]) -> None:
    """A pandas dtype that is the column's own says no more than the column: its list may be that of what occurs."""
    if type(table).__module__.partition(".")[0] != "pandas":
        return
    for name, dtype in zip(map(str, table.columns), table.dtypes, strict=True):
        if getattr(dtype, "categories", None) is not None and _has_categories(written.get(name), dtype):
            raise StudyError(
                f"the domain of '{name}' is the type of that column, and its categories may be the values that occur",
                f"write the values out, {{'{name}': [every possible value]}}, or say that nobody took them from the "
                "records: categories_declared=True",
                code="SF-STUDY-802",
            )


def _has_categories(domain: Any, dtype: Any) -> bool:
    return getattr(domain, "categories", None) is not None and bool(domain == dtype)


def _undeclared(names: Sequence[str]) -> StudyError:
    said = ", ".join(f"'{name}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    first = names[0]
    return StudyError(
        f"these columns have no declared domain: {said}{more}; the values that occur in a table tell about the people "
        "in it, so a differentially private release takes no domain from there",
        f"write what is publicly known: domains={{'{first}': (lowest, highest)}} for numbers and dates, "
        f"{{'{first}': [every possible value]}} for categories, {{'{first}': None}} to leave the column out; a pandas "
        "categorical counts as declared with categories_declared=True",
        code="SF-STUDY-743",
    )
