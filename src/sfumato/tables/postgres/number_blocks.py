"""Answers of numbers alone, by column: the server puts the bytes of many rows together.

A million combinations of codes are a million rows. Row by row, the client makes Python objects of every number, which
takes a hundred times as long as to copy their bytes. All columns of a block are put together from the same rows in the
same order, so the numbers of a row stay together, whatever the order of rows and blocks is.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

ROWS: Final = 50_000
"""Rows of a block."""

# How the server sends a number, and how it is read, by the number of its type.
_SENT: Final = {
    16: ("BOOLSEND", np.dtype("?")), 20: ("INT8SEND", np.dtype(">i8")), 21: ("INT2SEND", np.dtype(">i2")),
    23: ("INT4SEND", np.dtype(">i4")), 700: ("FLOAT4SEND", np.dtype(">f4")), 701: ("FLOAT8SEND", np.dtype(">f8")),
}  # fmt: skip


def all_numbers(kinds: Sequence[int]) -> bool:
    """Whether a query with columns of these types can be asked by block."""
    return bool(kinds) and all(kind in _SENT for kind in kinds)


def block_query(sql: str, kinds: Sequence[int]) -> str:
    """A query for the number of each block, its rows, and its columns; in any order.

    >>> block_query("SELECT 1", [23]).partition("FROM")[0]
    "SELECT b, COUNT(*), STRING_AGG(INT4SEND(f0), ''::BYTEA) "
    """
    names = [f"f{place}" for place in range(len(kinds))]
    sent = [f"STRING_AGG({_SENT[kind][0]}({name}), ''::BYTEA)" for name, kind in zip(names, kinds, strict=True)]
    answer = f"({sql}) AS answer({', '.join(names)})"
    numbered = f"SELECT *, (ROW_NUMBER() OVER () - 1) / {ROWS} AS b FROM {answer}"  # noqa: S608 - of our own making
    return f"SELECT b, COUNT(*), {', '.join(sent)} FROM ({numbered}) AS numbered GROUP BY b"  # noqa: S608


def columns_of(blocks: Iterable[Sequence[Any]], kinds: Sequence[int]) -> list[pa.Array] | None:
    """The columns of an answer by block; None where there are nulls, which have no bytes."""
    formats = [_SENT[kind][1] for kind in kinds]
    sizes: dict[int, int] = {}
    parts: list[dict[int, bytes]] = [{} for _ in kinds]
    for number, rows, *columns in blocks:
        sizes[number] = rows
        for part, column, form in zip(parts, columns, formats, strict=True):
            if column is None or len(column) != rows * form.itemsize:
                return None
            part[number] = column
    return [_joined(parts.pop(0), sizes, form) for form in formats]


def _joined(part: dict[int, bytes], sizes: dict[int, int], form: np.dtype[Any]) -> pa.Array:
    """One column, in the order of its blocks."""
    found = np.empty(sum(sizes.values()), form.newbyteorder("="))
    start = 0
    for number in sorted(sizes):
        found[start : start + sizes[number]] = np.frombuffer(part.pop(number), form)
        start += sizes[number]
    return pa.array(found)
