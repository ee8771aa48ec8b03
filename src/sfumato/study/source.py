"""A source as the study declares it: where the table is, how its file is written, and which texts mean nothing.

What is declared is public, so reading by it never hangs on what a record holds: with `encoding`, `delimiter` and
`quote` declared, one record more cannot change how the others are read. A text that means nothing is told from that
text alone, so a table with one record more is still a neighbour after reading.
"""

import codecs
from dataclasses import dataclass
from typing import Any, Final

from sfumato.errors import StudyError

NO_QUOTE: Final = "none"
WORDS: Final = {"tab": "\t", "space": " "}  # hard to see between quotes


@dataclass(frozen=True, kw_only=True)
class Source:
    r"""A table and how it is written; ``path`` is a path, a glob, a URL, or a table in memory.

    ``encoding``, ``delimiter`` and ``quote`` are for CSV files; None leaves them to be found out. ``missing`` are texts
    that stand for no value, in any column of text; blanks around a text do not count.

    >>> Source(path="a.csv", encoding="latin1", delimiter="tab").encoding
    'iso8859-1'
    >>> Source(path="a.csv", delimiter="tab").separates
    '\t'
    """

    path: Any
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        for name, mark in (("delimiter", self.separates), ("quote", self.quotes)):
            if mark and (len(mark) != 1 or mark.isalnum() or mark in "\r\n"):
                raise StudyError(
                    f"the {name} of a file is one mark, not '{mark}'",
                    f"write one such as {'`,` `;` `tab` or `|`' if name == 'delimiter' else chr(39) + ' or `none`'}",
                    code="SF-STUDY-193",
                )
        if self.separates is not None and self.separates == self.quotes:
            raise StudyError(
                "the delimiter and the quote of a file are the same", "write two different marks", code="SF-STUDY-194"
            )

    @property
    def separates(self) -> str | None:
        """The delimiter as a mark."""
        return None if self.delimiter is None else WORDS.get(self.delimiter, self.delimiter)

    @property
    def quotes(self) -> str | None:
        """The quote as a mark; nothing where fields are never quoted."""
        return "" if self.quote == NO_QUOTE else self.quote

    @property
    def written(self) -> tuple[str, ...]:
        """Which of the fields that are for CSV alone are declared."""
        return tuple(n for n in ("encoding", "delimiter", "quote") if getattr(self, n) is not None)


def _encoding(name: str) -> str:
    """The one name of an encoding of text."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):  # no encoding is called by a zero byte, or by half a character
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise StudyError(
            f"there is no encoding '{name[:40]}'",
            "write one such as utf-8, latin-1, windows-1252, utf-16 or cp850",
            code="SF-STUDY-195",
        )
    return found.name
