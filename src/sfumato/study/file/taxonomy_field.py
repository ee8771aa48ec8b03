"""The `taxonomy` field of an attribute: nested names, a file, or a rule to make one by."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from sfumato.domains.domain import Grid
from sfumato.domains.taxonomy.by_rule import dates, equal_width, flat, nested_bounds, prefixes, quantile_bounds
from sfumato.domains.taxonomy.check import did_you_mean
from sfumato.domains.taxonomy.text import from_nested
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import TaxonomyError
from sfumato.study.file.exact_numbers import positive

RULES = ("flat", "prefix", "intervals", "dates")
_INTERVALS = ("width", "levels", "factor", "from", "bounds", "quantiles", "public")


def category_taxonomy(written: object, *, values: Sequence[str] | None, load: Callable[[str], Taxonomy]) -> Taxonomy:
    """The taxonomy of a category; ``load`` opens a file by the name written."""
    if isinstance(written, Taxonomy | Node):
        return Taxonomy.of(written) if isinstance(written, Node) else written
    rule, setting = _rule(written)
    if rule in ("intervals", "dates"):
        raise TaxonomyError(
            f"`{rule}` needs a number or a date",
            "add `type: integer`, `number` or `date`, and `bounds`",
            code="SF-TAXONOMY-039",
        )
    if rule is None:
        return load(written) if isinstance(written, str) else from_nested(written)
    if values is None:
        raise TaxonomyError(
            f"`{rule}` needs the values it is made from", "list them: `values: [...]`", code="SF-TAXONOMY-040"
        )
    if rule == "flat":
        return flat(values)
    return prefixes(values, [_count(length, "prefix") for length in _several(setting, "prefix")])


def grid_taxonomy(written: object, grid: Grid, read: Callable[[str], Fraction]) -> Taxonomy:
    """The taxonomy of a number or date; ``read`` reads a point of its grid."""
    if isinstance(written, Taxonomy):
        if written.size != grid.size:
            raise TaxonomyError(
                f"the taxonomy covers {written.size} codes and the grid has {grid.size}",
                "make it from this grid",
                code="SF-TAXONOMY-041",
            )
        return written
    rule, setting = _rule(written)
    if rule == "dates":
        return dates(grid, [str(level) for level in _several(setting, "dates")])
    if rule == "intervals":
        return _intervals(setting, grid, read)
    raise TaxonomyError(
        "a tree of names does not go with a number" if rule is None else f"`{rule}` does not go with a number",
        "write {intervals: {width: 10}} or {dates: [year, month]}, or take `type` out to match its values as text",
        code="SF-TAXONOMY-042",
    )


def _rule(written: object) -> tuple[str | None, object]:
    if written == "flat":
        return "flat", None
    if isinstance(written, Mapping) and len(written) == 1:
        [(name, setting)] = written.items()
        if name in RULES:
            return str(name), setting
    return None, None


def _intervals(setting: object, grid: Grid, read: Callable[[str], Fraction]) -> Taxonomy:
    if not isinstance(setting, Mapping):
        raise TaxonomyError(
            "`intervals` has no settings", "write {width: 10} or {bounds: [18, 30, 65]}", code="SF-TAXONOMY-043"
        )
    for name in setting:
        if name not in _INTERVALS:
            raise TaxonomyError(
                f"`intervals` has no setting '{name}'", did_you_mean(str(name), _INTERVALS), code="SF-TAXONOMY-044"
            )
    ways = [way for way in ("width", "bounds", "quantiles") if way in setting]
    if len(ways) != 1:
        raise TaxonomyError(
            "`intervals` says " + (" and ".join(f"`{way}`" for way in ways) or "neither width nor bounds"),
            "write one of `width`, `bounds` and `quantiles`",
            code="SF-TAXONOMY-045",
        )
    if ways == ["width"]:
        return equal_width(
            grid,
            positive(str(setting["width"]), "width"),
            levels=_count(setting.get("levels", 1), "levels"),
            factor=_count(setting.get("factor", 2), "factor"),
            origin=read(str(setting["from"])) if "from" in setting else None,
        )
    if ways == ["bounds"]:
        levels = _several(setting["bounds"], "bounds")
        nested = levels if all(isinstance(level, list | tuple) for level in levels) else [levels]
        return nested_bounds(grid, [[read(str(bound)) for bound in _several(level, "bounds")] for level in nested])
    if "public" not in setting:
        raise TaxonomyError(
            "`quantiles` has no public numbers to take them from",
            "list them: `public: [...]`; numbers from the records would disclose information about people",
            code="SF-TAXONOMY-046",
        )
    public = [read(str(number)) for number in _several(setting["public"], "public")]
    return nested_bounds(grid, [quantile_bounds(grid, public, _count(setting["quantiles"], "quantiles"))])


def _several(value: object, name: str) -> Sequence[object]:
    if not isinstance(value, list | tuple) or not value:
        raise TaxonomyError(f"`{name}` is not a list", f"write it in brackets: `{name}: [...]`", code="SF-TAXONOMY-047")
    return value


def _count(value: object, name: str) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit() and int(text[:6]) > 0 and len(text) < 6):  # noqa: PLR2004 - digits
        raise TaxonomyError(f"`{name}` is '{text[:20]}'", "write a whole number above 0", code="SF-TAXONOMY-048")
    return int(text)
