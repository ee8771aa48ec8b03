"""The query language: comparisons of attributes with values, joined by and, or, not and parentheses.

    query      := all ("or" all)*
    all        := one ("and" one)*
    one        := "not" one | "(" query ")" | name comparison
    comparison := "contains" value
                | ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
                | ["not"] "in" "(" value ("," value)* ")"

Names and values are words, or anything in '…' or "…" with the quote doubled inside. Words that look like part of the
language, such as `and`, need quotes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.errors import UsageError

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<mark>==|!=|<>|<=|>=|=|<|>|\(|\)|,)
      | (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")
      | (?P<word>[^\s()<>=!,'"]+)
    )""",
    re.VERBOSE,
)
_SAME: Final = {"==": "=", "<>": "!="}
_OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=")
RESERVED: Final = ("and", "or", "not", "in", "contains")
_CONTAINS: Final = "contains"
_DEEPEST: Final = 100  # parentheses and nots within each other
_LONGEST: Final = 100_000


@dataclass(frozen=True)
class Token:
    """A piece of the text and where it stands."""

    kind: str  # "mark", "word", "quoted", or "end"
    text: str
    at: int


@dataclass(frozen=True)
class Comparison:
    """One attribute against values; ``operator`` is =, !=, <, <=, >, >= or contains; = has several values for `in`."""

    name: Token
    operator: str
    values: tuple[Token, ...]


@dataclass(frozen=True)
class Not:
    """The opposite."""

    part: "Tree"


@dataclass(frozen=True)
class Every:
    """All of the parts."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True)
class Either:
    """At least one of the parts."""

    parts: tuple["Tree", ...]


Tree = Comparison | Not | Every | Either


def parse_query(text: str) -> Tree:
    """Read a query.

    >>> parse_query("age >= 40 and job in (Lawyer, 'Head cook')").parts[1].values[1].text
    'Head cook'
    """
    return _Parser(text).whole()


class QueryError(UsageError):
    """What is wrong with a query, and where; ``bare`` is the problem without the place, for who wrote no query."""

    bare = ""


def query_error(text: str, at: int, problem: str, fix: str, *, code: str = "") -> QueryError:
    """An error that points at a place in the query."""
    start, stop = max(at - 40, 0), at + 40
    shown = f"{'…' if start else ''}{text[start:at]}▶{text[at:stop]}{'…' if stop < len(text) else ''}"
    error = QueryError(f"{problem}, at character {at + 1} of the query: {shown}", fix, code=code)
    error.bare = problem
    return error


class _Parser:
    """Reads by recursive descent, a method a rule."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise UsageError(
                f"the query has {len(text):,} characters", f"write at most {_LONGEST:,}", code="SF-USAGE-021"
            )
        self._text = text
        self._tokens = self._split()
        self._place = 0
        self._depth = 0

    def whole(self) -> Tree:
        tree = self._either()
        if self._next.kind != "end":
            after = "end the query here, or go on with `and` or `or`"
            decimal = "; decimals are written with a point: 1.5" if self._next.text == "," else ""
            raise self._unexpected("`and`, `or` or the end", after + decimal)
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _split(self) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        end = len(self._text.rstrip())
        while at < end:
            found = _TOKEN.match(self._text, at)
            if found is None:
                at += len(self._text[at:]) - len(self._text[at:].lstrip())
                quote = self._text[at] in "'\""
                problem = "a quote is not closed" if quote else f"'{self._text[at]}' is not expected here"
                raise self._error(
                    at,
                    problem,
                    "close it" if quote else "put it in quotes if it is part of a value",
                    code="SF-USAGE-022",
                )
            kind = str(found.lastgroup)
            piece = found.group(kind)
            if kind == "quoted":
                piece = piece[1:-1].replace(piece[0] * 2, piece[0])
            tokens.append(Token(kind, piece, found.start(kind)))
            at = found.end()
        return [*tokens, Token("end", "the end", len(self._text))]

    def _either(self) -> Tree:
        parts = [self._every()]
        while self._took("or"):
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _every(self) -> Tree:
        parts = [self._one()]
        while self._took("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _one(self) -> Tree:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(
                self._next.at,
                f"more than {_DEEPEST} parentheses or nots within each other",
                "use fewer",
                code="SF-USAGE-023",
            )
        if self._took("not"):
            tree: Tree = Not(self._one())
        elif self._took("("):
            tree = self._either()
            self._expect(")")
        else:
            tree = self._comparison()
        self._depth -= 1
        return tree

    def _comparison(self) -> Tree:
        name = self._value("the name of an attribute")
        negated = self._took("not")
        if self._took("in"):
            self._expect("(")
            values = [self._value("a value")]
            while self._took(","):
                values.append(self._value("a value"))
            self._expect(")")
            return Comparison(name, "!=" if negated else "=", tuple(values))
        if not negated and self._took(_CONTAINS):
            return Comparison(name, _CONTAINS, (self._value("a value"),))
        operator = _SAME.get(self._next.text, self._next.text)
        if negated or self._next.kind != "mark" or operator not in _OPERATORS:
            raise self._unexpected("`in`" if negated else f"one of {', '.join(_OPERATORS)}, `in` or `contains`")
        self._place += 1
        return Comparison(name, operator, (self._value("a value"),))

    def _value(self, what: str) -> Token:
        token = self._next
        if token.kind not in ("word", "quoted") or self._reserved(token):
            raise self._unexpected(what)
        self._place += 1
        return token

    def _took(self, text: str) -> bool:
        token = self._next
        word = token.kind == "word" and token.text.lower() == text
        if word or (token.kind == "mark" and token.text == text):
            self._place += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise self._unexpected(f"'{text}'")

    @staticmethod
    def _reserved(token: Token) -> bool:
        return token.kind == "word" and token.text.lower() in RESERVED

    def _unexpected(self, wanted: str, fix: str = "") -> UsageError:
        token = self._next
        found = token.text if token.kind == "end" else f"'{token.text}'"
        if self._reserved(token):
            fix = f"put '{token.text}' in quotes if it is a name or value"
        return self._error(
            token.at, f"{wanted} was expected and {found} found", fix or f"write {wanted}", code="SF-USAGE-024"
        )

    def _error(self, at: int, problem: str, fix: str, *, code: str = "") -> UsageError:
        return query_error(self._text, at, problem, fix, code=code)


def list_names(names: Sequence[str], most: int = 12) -> str:
    """Names for a message, not too many."""
    more = f", … ({len(names) - most} more)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
