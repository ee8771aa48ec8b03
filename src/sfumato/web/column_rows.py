"""The columns of a table as the page lists them: what `describe` proposes, and what the study file declares."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sfumato.domains.number_format import NumberFormat
from sfumato.errors import SfumatoError
from sfumato.study.attribute import Role
from sfumato.study.describe.column_profile import ColumnProfile
from sfumato.study.file.yaml_lines import parse
from sfumato.web.workspace import OpenStudy

PAGE: Final = 50
SHOWS: Final = (("all", "All"), ("confirm", "To confirm"), ("missing", "Missing"), ("invalid", "Invalid"))
LEFT_OUT: Final = "left out"  # where a study keeps which columns its owner left out: no file says so, and none needs to
ROLES: Final = {
    "identifier": ("identifier", "Names a person. It is never released, so it has no domain."),
    "quasi_identifier": (
        "quasi-identifier",
        "An adversary may know it about a person, and a few such columns together single one out.",
    ),
    "sensitive": ("sensitive", "It must not be disclosed for a person: models such as l-diversity protect it."),
    "class": ("target (class)", "The attribute that a receiver predicts. It needs values, a taxonomy or classes."),
    "time": ("time", "The date of the record. It selects records by spans and is never released."),
    "insensitive": ("insensitive", "It may be published unchanged. It needs a domain to be published."),
    "undecided": ("undecided", "Its role is to be decided: until then the study can be checked, and nothing released."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One column; ``entry`` is what the study file declares of it, None until the owner confirmed a role."""

    number: int
    name: str
    kind: str
    proposed: str | None
    reason: str
    entry: Mapping[str, Any] | None
    described: Mapping[str, Any] | None  # what `describe` found; None for a column that the table does not have
    rows: int
    violations: Mapping[str, Any] | None  # of the last check
    left_out: bool = False  # whether the owner chose not to declare it, since the workbench was started

    @property
    def role(self) -> str | None:
        """The declared role, or else the proposed one."""
        return self.proposed if self.entry is None else str(self.entry.get("role"))

    @property
    def undecided(self) -> bool:
        """Whether its role is an open question: proposed or declared as undecided."""
        return self.role == Role.UNDECIDED

    @property
    def open(self) -> bool:
        """Whether its owner has still to decide: it is neither declared with a role nor left out."""
        return self.described is not None and not self.left_out if self.entry is None else self.undecided

    @property
    def type(self) -> str:
        """The declared type, or else what the values are."""
        return self.kind if self.entry is None else str(self.entry.get("type") or self._listed_kind())

    def _listed_kind(self) -> str:
        return self.kind if str(self.entry and self.entry.get("role")) == "identifier" else "category"

    @property
    def missing(self) -> int | None:
        """How many records have no value, as described."""
        return None if self.described is None else int(self.described["missing"])

    @property
    def distinct(self) -> int | None:
        """How many different values there are."""
        return None if self.described is None else int(self.described["distinct"])

    @property
    def unique_share(self) -> float:
        """Different values per record that has one."""
        present = self.rows - (self.missing or 0)
        return (self.distinct or 0) / present if present > 0 else 0.0

    @property
    def invalid(self) -> int | None:
        """Values outside the domain, or that cannot be read, by the last check; None where none was checked."""
        return None if self.violations is None else int(self.violations["outside"]) + int(self.violations["unreadable"])

    @property
    def origin(self) -> str:
        """Where the domain comes from: declared, observed, or none."""
        if self.entry is None:
            return "proposed"
        if not any(key in self.entry for key in ("bounds", "values", "taxonomy")):
            return "none"
        return "observed" if self.entry.get("domain") == "observed" else "declared"

    @property
    def domain(self) -> str:
        """The domain in a few words."""
        if self.entry is None:
            return ""
        bounds, values, taxonomy = (self.entry.get(key) for key in ("bounds", "values", "taxonomy"))
        if isinstance(bounds, Sequence) and not isinstance(bounds, str):
            return f"[{', '.join(map(str, bounds))}]"
        if taxonomy is not None:
            return f"taxonomy, {len(values)} values" if isinstance(values, list) else "taxonomy"
        if isinstance(values, list):
            return f"{len(values)} values"
        return "any date" if self.entry.get("role") == "time" else "none"

    @property
    def bars(self) -> list[tuple[float, float, float]]:
        """The distribution as bars: left, top, width, in a picture of 112 by 30."""
        counts = ((self.described or {}).get("distribution") or {}).get("counts") or []
        most = max(counts, default=0)
        if not most:
            return []
        step = 112 / len(counts)
        width = round(max(step - (0.6 if len(counts) > 6 else 3), 1), 1)  # noqa: PLR2004 - wide bars, wide gaps
        return [
            (round(n * step, 1), round(30 - max(30 * c / most, 1 if c else 0), 1), width) for n, c in enumerate(counts)
        ]

    @property
    def words(self) -> str:
        """The distribution for those who do not see it."""
        found = (self.described or {}).get("distribution") or {}
        counts, labels = found.get("counts") or [], found.get("labels") or []
        if not counts:
            return "no distribution"
        most = max(range(len(counts)), key=counts.__getitem__)
        return f"{len(counts)} bars, the highest at {labels[most]}"

    def profile(self) -> ColumnProfile:
        """What `describe` found, for the rules that propose an entry."""
        found = self.described or {}
        formats = found.get("formats") or ()
        return ColumnProfile(
            name=self.name,
            kind=found.get("kind", "category"),
            rows=self.rows,
            distinct=self.distinct or 0,
            missing=self.missing or 0,
            lower=found.get("lower"),
            upper=found.get("upper"),
            values=tuple(found.get("values") or ()),
            formats=tuple(form for form in formats if isinstance(form, str)),
            number_formats=tuple(NumberFormat(**form) for form in formats if isinstance(form, Mapping)),
            ambiguous=bool(found.get("ambiguous")),
            separator=str(found.get("separator") or ""),
            codes=tuple(found.get("codes") or ()),
        )


@dataclass(frozen=True)
class Columns:
    """All columns of a study's table, in the order of the table, then those that only the study file has."""

    rows: tuple[Row, ...]
    fields: Mapping[str, Any]  # the study file as typed
    lines: Mapping[int, str]  # the column that each line of the file belongs to
    described: Mapping[str, Any] | None

    def get(self, number: int) -> Row | None:
        """A column by its place."""
        return self.rows[number] if 0 <= number < len(self.rows) else None

    def named(self, name: str) -> Row | None:
        """A column by its name."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, Row]:
        return {row.name: row for row in self.rows}

    def matching(self, find: str, show: str) -> list[Row]:
        """The columns that a filter leaves."""
        wanted = find.strip().casefold()
        return [row for row in self.rows if wanted in row.name.casefold() and shown(row, show)]

    def counts(self, find: str) -> dict[str, int]:
        """How many columns each filter leaves."""
        found = self.matching(find, "all")
        return {name: sum(shown(row, name) for row in found) for name, _ in SHOWS}

    def place_of(self, error: SfumatoError | None) -> Row | None:
        """The column that an error of the study file is about, by its line."""
        found = re.search(r", line (\d+):", error.problem) if error is not None else None
        return None if found is None else self.named(self.lines.get(int(found[1]), ""))


def shown(row: Row, show: str) -> bool:
    """Whether a filter leaves a column."""
    if show == "confirm":
        return row.open
    if show == "missing":
        return bool(row.missing)
    return bool(row.invalid) if show == "invalid" else True


def columns_of(study: OpenStudy) -> Columns:
    """The columns of a study; read again only when its file, its description or its check changed."""
    document = study.document()
    described, checked = study.described, study.cache.get("checked")
    left_out = study.cache.get(LEFT_OUT, frozenset())
    state = (document.version, described and (described.id, described.state), checked and checked["version"], left_out)
    if study.cache.get("columns-state") != state:
        study.cache["columns"] = _read(study, document.text)
        study.cache["columns-state"] = state
    found: Columns = study.cache["columns"]
    return found


def _read(study: OpenStudy, text: str) -> Columns:
    try:
        tree, places = parse(text, study.path.name)
    except SfumatoError:
        tree, places = {}, None
    fields = tree if isinstance(tree, Mapping) else {}
    declared = fields.get("attributes")
    entries = (
        {str(k): v for k, v in declared.items() if isinstance(v, Mapping)} if isinstance(declared, Mapping) else {}
    )
    lines = {
        line: str(path[1])
        for path, line in (places.lines.items() if places is not None else ())
        if len(path) > 1 and path[0] == "attributes"
    }
    described = study.profile
    found = {c["name"]: c for c in (described or {}).get("columns", ())}
    checked = {r["attribute"]: r for r in (study.cache.get("checked") or {}).get("reports", ())}
    names = [*found, *(name for name in entries if name not in found)]
    rows = tuple(
        Row(
            number=number,
            name=name,
            kind=found.get(name, {}).get("kind", "category"),
            proposed=found.get(name, {}).get("role"),
            reason=found.get(name, {}).get("reason", "" if described is None else "the table has no such column"),
            entry=entries.get(name),
            described=found.get(name),
            rows=(described or {}).get("rows", 0),
            violations=checked.get(name),
            left_out=name in study.cache.get(LEFT_OUT, ()),
        )
        for number, name in enumerate(names)
    )
    return Columns(rows, fields, lines, described)
