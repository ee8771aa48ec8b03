"""From the declared fields of an attribute to the attribute with its domain."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from sfumato.domains.dates import formats_of
from sfumato.domains.domain import MOST_POINTS, Categories, Grid, Unit
from sfumato.domains.number_classes import NumberClasses
from sfumato.domains.number_format import NumberFormat
from sfumato.domains.sets.set_domain import TEXT_SEPARATOR, SetDomain
from sfumato.domains.taxonomy.by_rule import flat
from sfumato.domains.taxonomy.check import compare
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import StudyError, TaxonomyError
from sfumato.study.attribute import Attribute, InvalidValuePolicy, Role
from sfumato.study.file.exact_numbers import point, positive
from sfumato.study.file.schema import AttributeFields, NumberFields, Type
from sfumato.study.file.taxonomy_field import category_taxonomy, grid_taxonomy
from sfumato.study.file.yaml_lines import Places

LoadTaxonomy = Callable[[str], Taxonomy]

MISSING, OTHER = "(missing)", "(other)"

_UNITS: dict[Type, Unit] = {Type.INTEGER: "integer", Type.NUMBER: "number", Type.DATE: "day"}
_SET_FIELDS = ("separator", "columns", "most", "level")
_DOMAIN_FIELDS = (
    "bounds", "step", "at_least", "classes", "values", "taxonomy", "missing", "outside", "format", *_SET_FIELDS
)  # fmt: skip
_FEW = 100  # values of a column whose tree is remembered
_NEEDS_DOMAIN = (Role.QUASI_IDENTIFIER, Role.CLASS)


def attribute(name: str, fields: AttributeFields, *, places: Places, load: LoadTaxonomy) -> Attribute:
    """Build one attribute; ``load`` opens a taxonomy file by the name written in the study."""
    here = _Here(name, fields, places, load)
    _refuse_what_does_not_fit(here)
    kind = fields.type or Type.CATEGORY
    # A class without values is refused, so that role comes last; the others are there from the start.
    first = Role.INSENSITIVE if fields.role is Role.CLASS else fields.role
    bare = Attribute(name=name, role=first, description=fields.description or "")
    if fields.role is Role.TIME and kind is Type.DATE and fields.bounds is None:
        fields = fields.model_copy(update={"bounds": [dt.date.min.isoformat(), dt.date.max.isoformat()]})
        here = _Here(name, fields, places, load)
    if not any(getattr(fields, field) is not None for field in ("bounds", "values", "taxonomy")):
        if fields.role in _NEEDS_DOMAIN:
            raise here.error(
                "role", f"the {fields.role.value} '{name}' has no domain", _domain_fix(kind), code="SF-STUDY-117"
            )
        return replace(bare, role=fields.role)
    if kind is Type.SET:
        built = sets(here, bare)
    else:
        built = _category(here, bare) if kind is Type.CATEGORY else _grid(here, bare, _UNITS[kind])
    if built.role is fields.role:
        return built
    with places.at("attributes", name, "role"):
        return replace(built, role=fields.role)


class _Here:
    """One attribute's fields and how to name the places they stand at."""

    def __init__(self, name: str, fields: AttributeFields, places: Places, load: LoadTaxonomy) -> None:
        self.name, self.fields, self.places, self.load = name, fields, places, load

    def error(self, field: str, problem: str, fix: str, *, code: str = "") -> StudyError:
        return self.places.error(("attributes", self.name, field), problem, fix, code=code)


def _refuse_what_does_not_fit(here: _Here) -> None:
    fields, name = here.fields, here.name
    written = [field for field in _DOMAIN_FIELDS if getattr(fields, field) is not None]
    if fields.role is Role.IDENTIFIER and written:
        raise here.error(
            written[0],
            f"'{name}' is an identifier and never released, so `{written[0]}` would have no effect",
            f"take `{written[0]}` out, or give '{name}' another role",
            code="SF-STUDY-118",
        )
    kind = fields.type or Type.CATEGORY
    if fields.format is not None and kind not in _UNITS:
        raise here.error(
            "format",
            f"`format` is for dates and numbers, and '{name}' has none",
            f"add `type: date`, `type: number` or `type: integer` to '{name}'",
            code="SF-STUDY-119",
        )
    numeric = ("bounds", "step", "at_least", "classes")
    named = kind in (Type.CATEGORY, Type.SET)
    misplaced = [f for f in written if (f in numeric) == named and f in (*numeric, "values")]
    misplaced += [f for f in written if f in _SET_FIELDS and kind is not Type.SET]
    if misplaced:
        raise here.error(
            misplaced[0],
            f"`{misplaced[0]}` does not go with the type `{kind.value}` of '{name}'",
            _type_fix(misplaced[0], kind, name),
            code="SF-STUDY-120",
        )
    timed = fields.role is Role.TIME and kind is Type.DATE
    if not named and written and fields.bounds is None and not timed:
        raise here.error(
            written[0], f"'{name}' has `{written[0]}` and no `bounds`", _domain_fix(kind), code="SF-STUDY-121"
        )


def _type_fix(field: str, kind: Type, name: str) -> str:
    if field in _SET_FIELDS:
        return "add `type: set`, or take it out"
    if kind is Type.SET:
        return "take it out: a set has codes, which its `taxonomy` lists"
    if kind is Type.CATEGORY:
        return f"add `type: integer`, `type: number` or `type: date` to '{name}'"
    return "use `bounds` for it, or take `type` out: its values are then matched as text"


def _domain_fix(kind: Type) -> str:
    if kind is Type.SET:
        return "declare a `taxonomy` of its codes"
    if kind is Type.CATEGORY:
        return "declare `values: [...]` or a `taxonomy`, or for a number its `type` and `bounds`"
    example = "[2000-01-01, 2030-12-31]" if kind is Type.DATE else "[0, 120]"
    return f"declare its bounds from public knowledge, such as `bounds: {example}`"


def _declared_taxonomy(here: _Here) -> Taxonomy:
    fields = here.fields
    with here.places.at("attributes", here.name, "values" if fields.taxonomy is None else "taxonomy"):
        if fields.taxonomy is None:
            values = tuple(fields.values or ())
            return _known_flat(values) if len(values) <= _FEW else flat(values)
        taxonomy = category_taxonomy(fields.taxonomy, values=fields.values, load=here.load)
        _refuse_other_values(taxonomy, fields.values)
    return taxonomy


@lru_cache(maxsize=2_000)
def _known_flat(values: tuple[str, ...]) -> Taxonomy:
    """The tree of few values, made once: of thousands of columns most have the values of another one."""
    return flat(values)


def _category(here: _Here, bare: Attribute) -> Attribute:
    fields = here.fields
    taxonomy = _declared_taxonomy(here)
    missing, outside = (
        _policy(fields.missing, InvalidValuePolicy.ERROR),
        _policy(fields.outside, InvalidValuePolicy.ERROR),
    )
    with here.places.at("attributes", here.name, "missing"):
        taxonomy, lost = _with_value(taxonomy, missing, _label(fields.missing, MISSING))
    with here.places.at("attributes", here.name, "outside"):
        taxonomy, other = _with_value(taxonomy, outside, _label(fields.outside, OTHER))
    domain = Categories(taxonomy=taxonomy, declared=fields.domain == "declared", missing=lost, other=other)
    return replace(bare, domain=domain, missing=missing, outside=outside)


def sets(here: _Here, bare: Attribute) -> Attribute:
    """An attribute whose values are sets of codes; a record without codes has the empty set unless it is left out."""
    fields = here.fields
    if fields.role is Role.CLASS:
        raise here.error(
            "role", f"'{here.name}' is a set, and a class is one value", "choose another class", code="SF-STUDY-122"
        )
    taxonomy = _declared_taxonomy(here)
    missing, outside = (
        _policy(fields.missing, InvalidValuePolicy.KEEP),
        _policy(fields.outside, InvalidValuePolicy.ERROR),
    )
    if fields.missing is not None and fields.missing not in list(InvalidValuePolicy):
        raise here.error("missing", f"a record without codes has the empty set, not '{fields.missing}'",
                         "write `keep`, `suppress` or `error`", code="SF-STUDY-123")  # fmt: skip
    with here.places.at("attributes", here.name, "outside"):
        taxonomy, other = _with_value(taxonomy, outside, _label(fields.outside, OTHER))
    columns = tuple(fields.columns or ())
    if fields.columns is not None and len(set(columns)) != len(columns):
        raise here.error(
            "columns", f"'{here.name}' is joined from one column twice", "name each column once", code="SF-STUDY-124"
        )
    single = bool(columns) and fields.separator is None  # a code a column, so no set has more than columns
    with here.places.at("attributes", here.name, "level" if fields.level is not None else "taxonomy"):
        domain = SetDomain(
            taxonomy=taxonomy,
            separator=fields.separator or (None if columns else TEXT_SEPARATOR),
            columns=columns,
            most=min(fields.most or len(columns), len(columns)) if single else fields.most,
            level=fields.level,
            other=other,
            empty=missing is InvalidValuePolicy.KEEP,
            declared=fields.domain == "declared",
        )
    return replace(bare, domain=domain, missing=missing, outside=outside)


def _refuse_other_values(taxonomy: Taxonomy, values: list[str] | None) -> None:
    found = compare(taxonomy, values if values is not None else taxonomy.leaves)
    if found.missing:
        value = found.missing[0]
        close = found.proposals.get(value, ())
        raise TaxonomyError(
            f"the value '{value}' is no leaf of the taxonomy",
            f"write '{close[0]}'" if close else f"add '{value}' to the taxonomy, or take it out of `values`",
            code="SF-TAXONOMY-036",
        )
    if found.extra:
        raise TaxonomyError(
            f"the leaf '{found.extra[0]}' of the taxonomy is not among the `values`",
            f"add '{found.extra[0]}' to them, or leave `values` out: the taxonomy lists them already",
            code="SF-TAXONOMY-037",
        )


def _with_value(taxonomy: Taxonomy, policy: InvalidValuePolicy, label: str) -> tuple[Taxonomy, int | None]:
    """The taxonomy with the leaf that invalid values are kept under, and the code of that leaf."""
    if policy is not InvalidValuePolicy.KEEP:
        return taxonomy, None
    if label in taxonomy.leaves:
        return taxonomy, taxonomy.leaves.index(label)
    if label in taxonomy.labels:
        raise TaxonomyError(
            f"'{label}' has other values below it", "name a leaf, or a new value", code="SF-TAXONOMY-038"
        )
    return taxonomy.with_leaf(label), taxonomy.size


def _grid(here: _Here, bare: Attribute, unit: Unit) -> Attribute:
    fields, at = here.fields, here.places.at
    with at("attributes", here.name, "bounds"):
        if len(fields.bounds or []) != 2:  # noqa: PLR2004 - a lower and an upper one
            raise StudyError(
                f"'{here.name}' has {len(fields.bounds or [])} bounds", "write two: [lower, upper]", code="SF-STUDY-125"
            )
        lower, upper = (point(text, unit) for text in fields.bounds or [])
        if upper < lower:
            raise StudyError(
                f"the lower bound of '{here.name}' is above the upper one", "swap them", code="SF-STUDY-126"
            )
    with at("attributes", here.name, "bounds" if fields.step is None else "step"):
        step = _step(fields.step, unit)
        if (upper - lower) / step >= MOST_POINTS:
            raise StudyError(
                f"'{here.name}' has more than 2^53 steps between its bounds",
                "choose a larger step",
                code="SF-STUDY-127",
            )
    with at("attributes", here.name, "at_least"):
        narrowest = None if fields.at_least is None else positive(fields.at_least, "at_least")
    # A time only selects: without it a record is in no span, and nothing else is the matter with it.
    lost = InvalidValuePolicy.SUPPRESS if fields.role is Role.TIME else InvalidValuePolicy.ERROR
    missing, outside = _policy(fields.missing, lost), _policy(fields.outside, InvalidValuePolicy.KEEP)
    if fields.outside is not None and fields.outside not in list(InvalidValuePolicy):
        raise here.error(
            "outside",
            f"'{here.name}' is a number, and '{fields.outside}' is none",
            "write `keep` (the nearer bound), `suppress` or `error`",
            code="SF-STUDY-128",
        )
    grid = Grid(lower=lower, upper=upper, step=step, unit=unit, declared=fields.domain == "declared")
    if fields.format is not None:
        with at("attributes", here.name, "format"):
            grid = _with_formats(grid, fields.format)
    if missing is InvalidValuePolicy.KEEP:
        grid = replace(grid, missing=grid.points, missing_label=_label(fields.missing, MISSING))
    if fields.taxonomy is not None:
        with at("attributes", here.name, "taxonomy"):
            grid = replace(grid, taxonomy=grid_taxonomy(fields.taxonomy, grid, lambda text: point(text, unit)))
    built = replace(bare, domain=grid, missing=missing, outside=outside, at_least=narrowest)
    return built if fields.classes is None else replace(built, domain=_number_classes(here, grid))


def _number_classes(here: _Here, grid: Grid) -> NumberClasses:
    """The classes that begin at the declared numbers; the first begins at the lower bound, named or not."""
    fields = here.fields
    if fields.role is not Role.CLASS or fields.taxonomy is not None:
        raise here.error(
            "classes",
            f"`classes` says which intervals of a number are predicted, and '{here.name}' "
            + ("has a taxonomy" if fields.taxonomy is not None else "is not the class"),
            "use `role: class` without a taxonomy, or take `classes` out",
            code="SF-STUDY-391",
        )
    with here.places.at("attributes", here.name, "classes"):
        numbers = [point(text, grid.unit) for text in fields.classes or []]
        codes = [int((number - grid.lower) // grid.step) for number in numbers]
        exact = [grid.value(code) == number for code, number in zip(codes, numbers, strict=True)]
        starts = tuple(dict.fromkeys([0, *codes]))
        if not all(exact) or list(starts) != sorted(starts) or starts[-1] >= grid.points or len(starts) < 2:  # noqa: PLR2004 - two classes are the least
            raise StudyError(
                f"the classes of '{here.name}' do not begin at numbers between its bounds, in steps, each after the "
                "one before",
                "write where each class begins, such as `classes: [25000, 50000]` for three classes",
                code="SF-STUDY-392",
            )
    return NumberClasses.of(grid, starts)


def _with_formats(grid: Grid, written: Sequence[str | NumberFields]) -> Grid:
    """The grid with how its values are written in text: a text for dates, fields for numbers."""
    days = tuple(form for form in written if isinstance(form, str))
    numbers = tuple(form for form in written if isinstance(form, NumberFields))
    if grid.unit == "day":
        if numbers:
            raise StudyError(
                "a date is not written by marks of numbers", "write a format such as `%d/%m/%Y`", code="SF-STUDY-129"
            )
        formats_of(days)
        return replace(grid, formats=days)
    if days:
        raise StudyError(
            f"'{days[0][:40]}' does not say how a number is written",
            "write fields such as `{thousands: ',', decimal: '.', prefix: $}`",
            code="SF-STUDY-130",
        )
    read = [NumberFormat(**form.model_dump(exclude_none=True)) for form in numbers]
    return replace(grid, number_formats=tuple(read))


def _step(text: str | None, unit: Unit) -> Fraction:
    if text is None:
        if unit == "number":
            raise StudyError(
                "a number has no step", "add its public resolution, such as `step: 0.1`", code="SF-STUDY-131"
            )
        return Fraction(1)
    return positive(text, "step", "integer" if unit == "day" else unit)


def _policy(text: str | None, default: InvalidValuePolicy) -> InvalidValuePolicy:
    if text is None:
        return default
    return InvalidValuePolicy(text) if text in list(InvalidValuePolicy) else InvalidValuePolicy.KEEP


def _label(text: str | None, default: str) -> str:
    return default if text is None or text in list(InvalidValuePolicy) else text
