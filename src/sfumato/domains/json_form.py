"""Domains and cuts as plain JSON values, and back without loss.

What comes in may have been written by anybody, so reading checks everything and answers with a `VerifyError`.
"""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, cast, get_args

from sfumato.domains.cut import Cut
from sfumato.domains.dates import formats_of
from sfumato.domains.domain import MOST_POINTS, Categories, Domain, Grid, Unit
from sfumato.domains.number_format import NumberFormat
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import InternalError, StudyError, VerifyError

Json = dict[str, Any]

_EXACT: Final = re.compile(r"-?\d{1,400}(/[1-9]\d{0,400})?")
_FINEST: Final = "finest"
_LARGEST: Final = Fraction(10**130)  # a study's numbers have 30 digits and an exponent of two
_MOST_FORMATS: Final = 100
_LONGEST_FORMAT: Final = 1_000


def domain_to_json(domain: Domain) -> Json:
    """A domain as JSON: exact numbers as text, the taxonomy as lists with an entry a node.

    >>> age = Grid(lower=Fraction(0), upper=Fraction(1), step=Fraction(1, 4))
    >>> domain_to_json(age)["step"], domain_from_json(domain_to_json(age)) == age
    ('1/4', True)
    """
    if isinstance(domain, Categories):
        return {
            "kind": "categories",
            "declared": domain.declared,
            "missing": domain.missing,
            "other": domain.other,
            "taxonomy": _taxonomy_to_json(domain.taxonomy),
        }
    if isinstance(domain, Grid):
        formats: Json = {"formats": list(domain.formats)} if domain.formats else {}  # others are older than formats
        if domain.number_formats:
            formats["number_formats"] = [form.fields() for form in domain.number_formats]
        return formats | {
            "kind": "grid",
            "declared": domain.declared,
            "unit": domain.unit,
            "lower": str(domain.lower),
            "upper": str(domain.upper),
            "step": str(domain.step),
            "missing": domain.missing,
            "missing_label": domain.missing_label,
            "taxonomy": None if domain.taxonomy is None else _taxonomy_to_json(domain.taxonomy),
        }
    if isinstance(domain, SetDomain):
        return {
            "kind": "sets",
            "declared": domain.declared,
            "separator": domain.separator,
            "columns": list(domain.columns),
            "most": domain.most,
            "level": domain.level,
            "other": domain.other,
            "empty": domain.empty,
            "taxonomy": _taxonomy_to_json(domain.taxonomy),
        }
    raise InternalError(f"a domain of kind {type(domain).__name__} has no JSON form")


def domain_from_json(data: Mapping[str, Any]) -> Domain:
    """Read what `domain_to_json` wrote."""
    kind = _of(data, "kind", str)
    domain: Categories | Grid | SetDomain
    if kind == "categories":
        _refuse_strangers(data, {"kind", "declared", "missing", "other", "taxonomy"})
        domain = Categories(
            taxonomy=_taxonomy_from_json(_of(data, "taxonomy", dict)),
            declared=_of(data, "declared", bool),
            missing=_code(data, "missing"),
            other=_code(data, "other"),
        )
        codes = [domain.missing, domain.other]
    elif kind == "grid":
        domain = _grid_from_json(data)
        codes = [domain.missing]
    elif kind == "sets":
        domain = _sets_from_json(data)
        codes = [domain.other]
    else:
        raise _broken(f"a domain is of kind '{kind}'", code="SF-VERIFY-001")
    if domain.taxonomy is not None and domain.taxonomy.size != domain.size:
        raise _broken(
            f"a taxonomy covers {domain.taxonomy.size} codes of a domain with {domain.size}", code="SF-VERIFY-002"
        )
    if any(code is not None and code >= domain.size for code in codes):
        raise _broken("a missing or other value has a code outside its domain", code="SF-VERIFY-003")
    return domain


def cut_to_json(cut: Cut) -> Json:
    """A cut as JSON; the finest one as a word, since a grid may have millions of points.

    >>> cut_to_json(Cut("age", (0, 40), 121)), cut_to_json(Cut.finest("age", 10**9))["starts"]
    ({'attribute': 'age', 'size': 121, 'starts': [0, 40]}, 'finest')
    """
    if isinstance(cut, SetCut):
        return {"attribute": cut.attribute, "size": cut.size, "nodes": list(cut.starts), "most": cut.most}
    starts = _FINEST if isinstance(cut.starts, range) else list(cut.starts)
    return {"attribute": cut.attribute, "size": cut.size, "starts": starts}


def cut_from_json(data: Mapping[str, Any]) -> Cut:
    """Read what `cut_to_json` wrote."""
    sets = "nodes" in data
    _refuse_strangers(data, {"attribute", "size", "nodes", "most"} if sets else {"attribute", "size", "starts"})
    attribute, size = _of(data, "attribute", str), _of(data, "size", int)
    starts = data["nodes"] if sets else data.get("starts")
    if size < 1:
        raise _broken(f"the cut of '{attribute}' is over {size} codes", code="SF-VERIFY-004")
    if starts == _FINEST and not sets:
        return Cut.finest(attribute, size)
    numbers = _whole_numbers(starts, "starts")
    if numbers[:1] != (0,) or not all(a < b for a, b in pairwise((*numbers, size))):
        raise _broken(f"the cut of '{attribute}' is not a partition of its {size} codes", code="SF-VERIFY-005")
    return SetCut(attribute, numbers, size, _above_0(data, "most")) if sets else Cut(attribute, numbers, size)


def _taxonomy_to_json(taxonomy: Taxonomy) -> Json:
    """``widths`` is left out where every leaf covers one code."""
    form: Json = {"labels": list(taxonomy.labels), "parents": list(taxonomy.parents)}
    if any(width != 1 for width in taxonomy.widths):
        form["widths"] = list(taxonomy.widths)
    return form


def _taxonomy_from_json(data: Mapping[str, Any]) -> Taxonomy:
    _refuse_strangers(data, {"labels", "parents", "widths"})
    labels = _of(data, "labels", list)
    parents = _whole_numbers(data.get("parents"), "parents")
    if not labels or not all(isinstance(label, str) for label in labels) or len(labels) != len(parents):
        raise _broken("a taxonomy does not have one label and one parent a node", code="SF-VERIFY-006")
    _refuse_disorder(parents)
    leaves = len(parents) - len({parent for parent in parents if parent >= 0})
    widths = _whole_numbers(data["widths"], "widths") if "widths" in data else (1,) * leaves
    if len(widths) != leaves or min(widths) < 1 or sum(widths) > MOST_POINTS + 1:
        raise _broken(
            f"a taxonomy of {leaves} leaves has {len(widths)} widths, or one below 1, or too large ones",
            code="SF-VERIFY-007",
        )
    return Taxonomy(tuple(labels), parents, widths)


def _refuse_disorder(parents: Sequence[int]) -> None:
    """Nodes stand depth first, else the codes below a node would not be neighbours."""
    path: list[int] = []  # from the root to the node before
    for node, parent in enumerate(parents):
        while path and path[-1] != parent:
            path.pop()
        if (node == 0) != (parent == -1) or (node > 0 and not path):
            raise _broken("the nodes of a taxonomy do not stand depth first below one root", code="SF-VERIFY-008")
        path.append(node)


def _grid_from_json(data: Mapping[str, Any]) -> Grid:
    fields = {"kind", "declared", "unit", "lower", "upper", "step", "missing", "missing_label", "taxonomy"}
    _refuse_strangers(data, fields | {"formats", "number_formats"})
    unit = _of(data, "unit", str)
    if unit not in get_args(Unit):
        raise _broken(f"a grid counts in '{unit}'", code="SF-VERIFY-009")
    taxonomy = data.get("taxonomy")
    lower, upper, step = (_exact(data, field) for field in ("lower", "upper", "step"))
    _refuse_bounds(unit, lower, upper, step)
    try:
        return Grid(
            lower=lower,
            upper=upper,
            step=step,
            unit=cast("Unit", unit),
            taxonomy=None if taxonomy is None else _taxonomy_from_json(_of(data, "taxonomy", dict)),
            declared=_of(data, "declared", bool),
            missing=_code(data, "missing"),
            missing_label=_of(data, "missing_label", str),
            formats=_formats(data.get("formats", [])),
            number_formats=_number_formats(data.get("number_formats", [])),
        )
    except StudyError as error:
        raise _broken(f"a grid is wrong: {error.problem}", code="SF-VERIFY-010") from None


def _refuse_bounds(unit: str, lower: Fraction, upper: Fraction, step: Fraction) -> None:
    """Refuse a grid that no study can declare: its points are more than codes can tell apart, or no days or floats."""
    if step <= 0 or upper < lower:
        return  # `Grid` says so
    if max(abs(lower), abs(upper), step, 1 / step) > _LARGEST:
        raise _broken("a bound or step of a grid is no number that can be worked with", code="SF-VERIFY-011")
    if (upper - lower) / step > MOST_POINTS:
        raise _broken("a grid has more points than can be distinguished", code="SF-VERIFY-012")
    if unit == "day" and (lower < 1 or upper > dt.date.max.toordinal()):
        raise _broken("a grid of days has a bound that is no day", code="SF-VERIFY-013")


def _formats(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise _broken("'formats' of a grid is not a list of texts", code="SF-VERIFY-014")
    if len(value) > _MOST_FORMATS or any(len(text) > _LONGEST_FORMAT for text in value):
        raise _broken("a grid has too many date formats, or one that is too long", code="SF-VERIFY-015")
    found = tuple(value)
    formats_of(found)
    return found


def _number_formats(value: object) -> tuple[NumberFormat, ...]:
    known = {"decimal", "thousands", "prefix", "suffix", "negative"}
    if not isinstance(value, list) or not all(isinstance(fields, dict) for fields in value):
        raise _broken("'number_formats' of a grid is not a list of formats", code="SF-VERIFY-016")
    for fields in value:
        if not set(fields) <= known or not all(isinstance(text, str) for text in fields.values()):
            raise _broken("a number format has a field that it cannot have", code="SF-VERIFY-017")
    return tuple(NumberFormat(**fields) for fields in value)


def _sets_from_json(data: Mapping[str, Any]) -> SetDomain:
    fields = {"kind", "declared", "separator", "columns", "most", "level", "other", "empty", "taxonomy"}
    _refuse_strangers(data, fields)
    separator, columns = data.get("separator"), _of(data, "columns", list)
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise _broken("the separator of a set is not text", code="SF-VERIFY-018")
    if not all(isinstance(column, str) for column in columns):
        raise _broken("the columns of a set are not text", code="SF-VERIFY-019")
    try:
        return SetDomain(
            taxonomy=_taxonomy_from_json(_of(data, "taxonomy", dict)),
            separator=separator,
            columns=tuple(columns),
            most=_above_0(data, "most"),
            level=_above_0(data, "level"),
            other=_code(data, "other"),
            empty=_of(data, "empty", bool),
            declared=_of(data, "declared", bool),
        )
    except (StudyError, InternalError) as error:
        raise _broken(f"a domain of sets is wrong: {error.problem}", code="SF-VERIFY-020") from None


def _above_0(data: Mapping[str, Any], field: str) -> int | None:
    if data.get(field) == 0:
        raise _broken(f"'{field}' is 0", code="SF-VERIFY-021")
    return _code(data, field)


def _exact(data: Mapping[str, Any], field: str) -> Fraction:
    text = _of(data, field, str)
    if _EXACT.fullmatch(text) is None:
        raise _broken(f"'{field}' of a grid is not an exact number", code="SF-VERIFY-022")
    return Fraction(text)


def _code(data: Mapping[str, Any], field: str) -> int | None:
    if data.get(field) is None:
        return None
    code: int = _of(data, field, int)
    if code < 0:
        raise _broken(f"'{field}' is the code {code}", code="SF-VERIFY-023")
    return code


def _whole_numbers(value: object, field: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(number) is int for number in value):
        raise _broken(f"'{field}' is not a list of whole numbers", code="SF-VERIFY-024")
    return tuple(value)


def _of(data: Mapping[str, Any], field: str, kind: type) -> Any:
    """A field that must be there with its very type: True is no number here."""
    if type(data.get(field)) is not kind:
        raise _broken(f"'{field}' of a domain or cut is not of type {kind.__name__}", code="SF-VERIFY-025")
    return data[field]


def _refuse_strangers(data: Mapping[str, Any], known: set[str]) -> None:
    strangers = sorted(set(data) - known)
    if strangers:
        raise _broken(f"a domain or cut has a field '{strangers[0]}'", code="SF-VERIFY-026")


def _broken(problem: str, *, code: str = "") -> VerifyError:
    return VerifyError(
        problem[:300], "get the file again from who published it, or use the version that wrote it", code=code
    )
