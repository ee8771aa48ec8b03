"""The columns of a table as the page lists them: what `describe` proposes, and what the study file declares."""

import hashlib
import re
import threading
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
    """One column; ``entry`` is what the study file declares of it, None until the owner confirmed a role.

    Pages name it by ``number``, which it keeps for as long as the workbench runs. Its ``place`` among the columns is
    another one once the table is described.
    """

    number: int
    place: int
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
    def from_records(self) -> bool:
        """Whether the type and domain that a page shows were read off the records: they are for the owner's eyes."""
        return self.described is not None if self.entry is None else self.origin == "observed"

    @property
    def state(self) -> str:
        """A name of what the file declares of it: a page that shows something else is out of date."""
        return _name_of(self.entry)

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
    places: Mapping[tuple[str | int, ...], int]  # the lines of the file that things stand on
    described: Mapping[str, Any] | None

    def get(self, number: int) -> Row | None:
        """A column by its number."""
        return self._by_number.get(number)

    def after(self, row: Row) -> Row | None:
        """The next column of the table."""
        return self.rows[row.place + 1] if row.place + 1 < len(self.rows) else None

    @cached_property
    def state(self) -> str:
        """A name of what the file declares of all columns."""
        return _name_of(self.fields.get("attributes"))

    @cached_property
    def _by_number(self) -> dict[int, Row]:
        return {row.number: row for row in self.rows}

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
        if found is None:
            return None
        paths = (path for path, line in self.places.items() if line == int(found[1]))
        names = [str(path[1]) for path in paths if len(path) > 1 and path[0] == "attributes"]
        return self.named(names[-1]) if names else None


def shown(row: Row, show: str) -> bool:
    """Whether a filter leaves a column."""
    if show == "confirm":
        return row.open
    if show == "missing":
        return bool(row.missing)
    return bool(row.invalid) if show == "invalid" else True


def _name_of(declared: Any) -> str:
    """Sixteen characters that stand for a declaration: another one has others."""
    return hashlib.sha256(repr(declared).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Numbers:
    """The numbers by which pages name columns: each keeps its own, whatever place it gets among them.

    A study that is not described yet has its columns in the order of the file, and later in that of the table. A panel
    that was opened before then still is the panel of its column.

    >>> numbers = Numbers()
    >>> numbers.of(["age", "sex"]), numbers.of(["sex", "job", "age"])
    ([0, 1], [1, 2, 0])
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}

    def of(self, names: Sequence[str]) -> list[int]:
        """The numbers of columns; a column that was not seen before gets the next one."""
        with self._lock:
            return [self._known.setdefault(name, len(self._known)) for name in names]


def columns_of(study: OpenStudy) -> Columns:
    """The columns of a study; read again only when its file, its description or its check changed."""
    document = study.document()
    job, checked = study.described, study.cache.get("checked")
    left_out: frozenset[str] = study.cache.get(LEFT_OUT, frozenset())
    described = None if job is None or job.state != "done" else job.result
    state = (document.version, described is not None and job and job.id, checked and checked["id"], left_out)
    before: tuple[Any, Columns] | None = study.cache.get("columns")
    if before is not None and before[0] == state:
        return before[1]
    numbers: Numbers = study.cache.setdefault("column numbers", Numbers())
    reports = (checked or {}).get("reports", ())
    found = _read(document.text, study.path.name, described, reports, left_out, numbers)
    study.cache["columns"] = state, found  # at once: a page in another thread gets these columns or the ones before
    return found


def _read(
    text: str,
    file: str,
    described: Mapping[str, Any] | None,
    reports: Sequence[Mapping[str, Any]],
    left_out: frozenset[str],
    numbers: Numbers,
) -> Columns:
    try:
        tree, places = parse(text, file)
    except SfumatoError:
        tree, places = {}, None
    fields = tree if isinstance(tree, Mapping) else {}
    declared = fields.get("attributes")
    entries = (
        {str(k): v for k, v in declared.items() if isinstance(v, Mapping)} if isinstance(declared, Mapping) else {}
    )
    found = {c["name"]: c for c in (described or {}).get("columns", ())}
    checked = {r["attribute"]: r for r in reports}
    names = [*found, *(name for name in entries if name not in found)]
    rows = tuple(
        Row(
            number=number,
            place=place,
            name=name,
            kind=found.get(name, {}).get("kind", "category"),
            proposed=found.get(name, {}).get("role"),
            reason=found.get(name, {}).get("reason", "" if described is None else "the table has no such column"),
            entry=entries.get(name),
            described=found.get(name),
            rows=(described or {}).get("rows", 0),
            violations=checked.get(name),
            left_out=name in left_out,
        )
        for place, (number, name) in enumerate(zip(numbers.of(names), names, strict=True))
    )
    return Columns(rows, fields, {} if places is None else places.lines, described)
