"""Tables of a bundle that an engine keeps: written there, read back, and described in the manifest.

The manifest has the SHA-256 of the text that data.csv would have: the rows of a table have no order, their text in the
order of publication has one. So the same release has the same hash, wherever it lies, and a change of any value or
number of rows is found without the raw table.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from sfumato.errors import PublishError, VerifyError
from sfumato.release.bundle.atomic_files import FileFacts
from sfumato.release.checks import Check
from sfumato.release.form import Form
from sfumato.release.forms.records.data_files import write_csv
from sfumato.release.forms.records.runs import Runs
from sfumato.release.storage.seal import Json
from sfumato.tables.publishing.destination import Destination, PublishedTables
from sfumato.tables.publishing.distinct_rows import count_distinct_rows


@dataclass(frozen=True, eq=False)
class StoredContent:
    """What the tables of a bundle hold, and whether it is what the manifest describes."""

    content: Any
    checks: list[Check]


class _Digest:
    """A file that only adds up what is written to it."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._size = 0

    def write(self, piece: Any) -> None:
        self._hash.update(piece)
        self._size += len(piece)

    @property
    def facts(self) -> FileFacts:
        return FileFacts(size=self._size, sha256=self._hash.hexdigest())


def write_stored(
    destination: Destination, form: Form, layout: Any, content: Any, *, memory_limit: str | None = None
) -> Json:
    """Write the tables of a release, compare what the engine then has with them, and describe them."""
    described: Json = {}
    tables = form.runs(layout, content)
    rows = {}
    for name, pieces in tables.items():
        rows[name] = sum(map(len, pieces))
        destination.write(table_suffix(name), ((runs.table, runs.times) for runs in pieces))
    back = {
        name: _read(
            destination, name, dict(layout.tables[name]), rows[name], memory_limit, in_pieces=form.in_pieces(layout)
        )
        for name in tables
    }
    if not form.same(form.from_runs(layout, back), content):
        raise PublishError(
            "the engine does not give back what was written to it",
            "publish again; if that fails too, it is a bug in Sfumato: please report it",
            code="SF-PUBLISH-025",
        )
    for name, pieces in tables.items():
        facts = _text_facts(pieces)
        described[name] = {
            "name": destination.public_name(table_suffix(name)),
            "rows": rows[name],
            "size": facts.size,
            "sha256": facts.sha256,
            "parts": {
                part: {"size": file.size, "sha256": file.sha256}
                for part, file in destination.parts(table_suffix(name)).items()
            },
        }
    return {"engine": destination.kind, "tables": described}


def read_stored(
    form: Form, layout: Any, manifest: Mapping[str, Any], data: PublishedTables, *, memory_limit: str | None = None
) -> StoredContent:
    """The content of a bundle whose tables lie elsewhere, and the checks that it is the described one.

    What cannot be read as the declared columns is a `VerifyError`.
    """
    stated = manifest["stored"]["tables"]
    if any(table["rows"] > table["size"] for table in stated.values()):  # a row is a byte of text at least
        raise VerifyError(
            "the manifest states more rows than its text has room for", "get the bundle again", code="SF-VERIFY-148"
        )
    tables = {
        name: _read(data, name, dict(kinds), stated[name]["rows"], memory_limit, in_pieces=form.in_pieces(layout))
        for name, kinds in layout.tables.items()
    }
    content = form.from_runs(layout, tables)
    checks = []
    for name, pieces in form.runs(layout, content).items():
        facts, described = _text_facts(pieces), stated[name]
        same = (facts.size, facts.sha256) == (described["size"], described["sha256"])
        detail = "has the SHA-256 of the manifest" if same else "is not the table that the manifest describes"
        checks.append(Check(name, same, f"the table '{described['name']}', {described['rows']:,} rows, {detail}"))
        if described["parts"]:
            checks.append(_check_parts(data, name, described["parts"]))
    return StoredContent(content, checks)


def _check_parts(data: PublishedTables, name: str, stated: Mapping[str, Any]) -> Check:
    """Whether the files of a table are those that were published."""
    found = {part: {"size": file.size, "sha256": file.sha256} for part, file in data.parts(table_suffix(name)).items()}
    if not found:
        return Check(f"{name} parts", ok=True, detail="read as a table, so its files were not compared")
    same = found == stated
    detail = f"{len(stated):,} files, {'each with' if same else 'not all of which have'} the SHA-256 of the manifest"
    return Check(f"{name} parts", same, detail)


def _read(
    data: PublishedTables, name: str, kinds: Mapping[str, Any], rows: int, memory_limit: str | None, *, in_pieces: bool
) -> Iterator[Runs]:
    found = count_distinct_rows(
        data.open(table_suffix(name)), kinds, rows=rows, memory_limit=memory_limit, in_pieces=in_pieces
    )
    return starmap(Runs, found)


def _text_facts(pieces: Iterable[Runs]) -> FileFacts:
    out = _Digest()
    write_csv(pieces, out)
    return out.facts


def table_suffix(name: str) -> str:
    """What tells the tables of a release apart."""
    return name.removeprefix("data")
