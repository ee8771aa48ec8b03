"""What an object shows of itself: as text where it is printed, as HTML in a notebook, always the same content.

Both forms are made of the same strings, so a notebook shows nothing that `repr` does not show, and an object decides
once what it shows. What is computed from raw records is marked in both. The HTML has no script, loads nothing, and
takes its colours from the notebook, light or dark. All text is escaped: a bundle may come from an unknown sender, and
a name in a study may be anything. Characters that do not print, among them those that turn the direction of text
around, are written as escapes, so that they command no terminal.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

OWNER_ONLY: Final = "For the owner only: computed from raw records, covered by no guarantee"
"""How everything that is computed from raw records begins."""

_MARK: Final = " (for the owner only)"
_LONGEST: Final = 800  # characters of a value or sentence
_WIDEST: Final = 60  # characters of a cell of text
_MOST_ROWS: Final = 40

_LEFT: Final = "text-align:left;vertical-align:top;padding:.15em .9em .15em 0"
_LINE: Final = "border-bottom:1px solid rgba(128,128,128,.45)"
_OWNER: Final = "margin:.3em 0;padding-left:.6em;border-left:.3em solid #c45500"


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """A title, named facts, sentences, and a table.

    ``owner_only`` marks all of it as computed from raw records, ``owner_facts`` single facts.

    >>> shown = Display(title="Plan of 'dp'", facts=(("ε", "1"),), owner_facts=(("records", "400"),))
    >>> print(shown.as_text())
    Plan of 'dp'
      ε: 1
      records: 400 (for the owner only)
    >>> Display(title="<b>").as_html()
    '<div><p style="margin:0"><strong>&lt;b&gt;</strong></p></div>'
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    owner_facts: tuple[tuple[str, str], ...] = ()
    sentences: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    owner_only: bool = False

    def as_text(self) -> str:
        """Lines for a terminal."""
        lines = [plain(self.title)]
        if self.owner_only:
            lines.append(f"  {OWNER_ONLY}")
        lines += [f"  {name}: {value}" for name, value in self._facts()]
        lines += [f"  • {plain(one)}" for one in self.sentences]
        if self.columns:
            table = [tuple(plain(cell, _WIDEST) for cell in row) for row in (self.columns, *self._rows())]
            widths = [max(len(row[at]) for row in table) for at in range(len(self.columns))]
            lines += [
                "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
                for row in table
            ]
        lines += [f"  {more}" for more in self._more()]
        return "\n".join(lines)

    def as_html(self) -> str:
        """The same as a fragment of HTML that stands in a notebook."""
        parts = [f'<p style="margin:0"><strong>{_safe(self.title)}</strong></p>']
        if self.owner_only:
            parts.append(f'<p style="{_OWNER}"><strong>{OWNER_ONLY}</strong></p>')
        facts = self._facts()
        if facts:
            rows = "".join(
                f'<tr><th scope="row" style="{_LEFT};font-weight:normal">{escape(name)}</th>'
                f'<td style="{_LEFT}">{escape(value)}</td></tr>'
                for name, value in facts
            )
            parts.append(_table(f"<tbody>{rows}</tbody>"))
        if self.sentences:
            items = "".join(f"<li>{_safe(one)}</li>" for one in self.sentences)
            parts.append(f'<ul style="margin:.3em 0;padding-left:1.4em">{items}</ul>')
        if self.columns:
            head = "".join(f'<th scope="col" style="{_LEFT};{_LINE}">{_safe(name)}</th>' for name in self.columns)
            body = "".join(
                "<tr>" + "".join(f'<td style="{_LEFT}">{_safe(cell, _WIDEST)}</td>' for cell in row) + "</tr>"
                for row in self._rows()
            )
            parts.append(_table(f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"))
        parts += [f'<p style="margin:.3em 0">{_safe(more)}</p>' for more in self._more()]
        return f"<div>{''.join(parts)}</div>"

    def _facts(self) -> list[tuple[str, str]]:
        own = [(plain(name), f"{plain(value)}{_MARK}") for name, value in self.owner_facts]
        return [*((plain(name), plain(value)) for name, value in self.facts), *own]

    def _rows(self) -> Sequence[tuple[str, ...]]:
        return self.rows[:_MOST_ROWS]

    def _more(self) -> list[str]:
        left = len(self.rows) - _MOST_ROWS
        return [f"and {left:,} more"] if left > 0 else []


class Displayed:
    """Gives an object its plain representation and the one of notebooks, both made of `display`.

    A dataclass that inherits it says ``repr=False``, or it would get a representation that lists its fields.
    """

    __slots__ = ()

    @abstractmethod
    def display(self) -> Display:
        """What it shows of itself."""

    def __repr__(self) -> str:
        return self.display().as_text()

    def _repr_html_(self) -> str:
        return self.display().as_html()


def plain(text: str, most: int = _LONGEST) -> str:
    r"""Text on one line that commands nothing, at most so long.

    >>> plain("two\nlines"), plain("a\x1b[31mb"), plain("abcdef", 4)
    ('two lines', 'a\\x1b[31mb', 'abc…')
    """
    line = " ".join(text.split())
    return _cut("".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line), most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _safe(text: str, most: int = _LONGEST) -> str:
    return escape(plain(text, most))


def _table(content: str) -> str:
    return (
        f'<table style="border-collapse:collapse;color:inherit;background:transparent;margin:.3em 0">{content}</table>'
    )
