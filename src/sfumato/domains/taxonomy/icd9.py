"""ICD-9-CM diagnosis codes as a taxonomy: chapter, block, category of three digits, four digits, full code.

    Any > 240-279 Endocrine … > 249-259 Diseases of other endocrine glands > 250.* > 250.8* > 250.83

A code is told from its category alone: three characters (428, V57), or four after an E (E909); up to two digits follow.
Lists of codes differ in depth: 042 has nothing below it, 428 has four digits, 250 has five. Tables differ more: many
give the category alone (428), cut codes short (250.8), or lose zeros in front (8 for 008). So every category and every
four digits that have codes below them are leaves too, below a node with a star: `428` below `428.*` is a record that
was coded so far and no further, and every code is one leaf.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InternalError, StudyError

SPELLINGS: Final[Mapping[str, str]] = {
    "dotted": "008.45, 250.83, V57.3, E909.0",
    "plain": "00845, 25083, V573, E9090",
    "unpadded": "8.45, 250.83, V57.3, E909.0",
}
ROOT: Final = "Any"

Span = tuple[str, str, str]  # first category, last category, title


def category(code: str) -> str:
    """The category of a code as the list writes it, without a dot.

    >>> category("25083"), category("V573"), category("E9090"), category("042")
    ('250', 'V57', 'E909', '042')
    """
    return code[: 4 if code.startswith("E") else 3]


def spell_code(code: str, spelling: str) -> str:
    """A code of the list as a table writes it.

    >>> [spell_code("00845", way) for way in SPELLINGS]
    ['008.45', '00845', '8.45']
    >>> spell_code("E9090", "unpadded"), spell_code("042", "unpadded")
    ('E909.0', '42')
    """
    if spelling == "plain":
        return code
    head, tail = category(code), code[len(category(code)) :]
    if spelling == "unpadded" and head.isdigit():
        head = head.lstrip("0") or "0"
    return f"{head}.{tail}" if tail else head


def icd9(chapters: Sequence[Span], blocks: Sequence[Span], codes: Iterable[str], spelling: str) -> Taxonomy:
    """The taxonomy of a list of codes, below the blocks and chapters whose ranges they are in."""
    if spelling not in SPELLINGS:
        raise StudyError(
            f"there is no spelling '{spelling}' of ICD-9 codes",
            f"use one of: {', '.join(SPELLINGS)}",
            code="SF-STUDY-018",
        )
    below: dict[str, list[str]] = {}
    for code in codes:
        below.setdefault(category(code), []).append(code)
    found = [(head, _category(head, members, spelling)) for head, members in sorted(below.items())]
    groups = [(span, [node for head, node in found if _in(head, span)]) for span in blocks]
    tree = [
        (chapter, [Node(_title(span), tuple(nodes)) for span, nodes in groups if nodes and _in(span[0], chapter)])
        for chapter in chapters
    ]
    if sum(len(nodes) for _, nodes in groups) != len(found) or sum(len(nodes) for _, nodes in tree) != len(groups):
        raise InternalError("the blocks of ICD-9 do not tile its chapters")
    return Taxonomy.of(Node(ROOT, tuple(Node(_title(chapter), tuple(nodes)) for chapter, nodes in tree)))


def _category(head: str, codes: Sequence[str], spelling: str) -> Node:
    """A category: a leaf, or a node with a star over itself, its four digits and its codes."""
    if list(codes) == [head]:
        return Node(spell_code(head, spelling))
    parts: dict[str, list[str]] = {}
    for code in sorted(codes):
        if code != head:
            parts.setdefault(code[: len(head) + 1], []).append(code)
    dot = "" if spelling == "plain" else "."
    inner = [_four(part, members, spelling) for part, members in parts.items()]
    return Node(f"{spell_code(head, spelling)}{dot}*", (Node(spell_code(head, spelling)), *inner))


def _four(part: str, codes: Sequence[str], spelling: str) -> Node:
    if list(codes) == [part]:
        return Node(spell_code(part, spelling))
    leaves = [Node(spell_code(code, spelling)) for code in codes if code != part]
    return Node(f"{spell_code(part, spelling)}*", (Node(spell_code(part, spelling)), *leaves))


def _in(head: str, span: Span) -> bool:
    """Whether a category is in a range; digits, V and E are three lists, and text compares right within one."""
    first, last, _ = span
    kind = "" if head[0].isdigit() else head[0]
    return (first[0].isdigit() if not kind else first[0] == kind) and first <= head <= last


def _title(span: Span) -> str:
    """The range and its title, without commas: they stand between the nodes of a published set."""
    first, last, title = span
    return f"{first}-{last} {title}".replace(",", "")
