"""Taxonomies as people write them: nested names, or a CSV with a row per leaf; and as a tree to look at.

Both forms say the same and turn into each other without loss, uneven depth and repeated labels included:

    {Any: {Professional: [Engineer, Lawyer], Artist: [Dancer]}}        Engineer;Professional;Any
                                                                       Lawyer;Professional;Any
                                                                       Dancer;Artist;Any

Only the number of codes a leaf covers (intervals over a grid) has no place in them.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import TaxonomyError

Nested = dict[str, "Nested | list[str] | None"]

DELIMITERS = ";\t,"  # in the order they are tried
DEEPEST = 200  # levels; deeper trees are mistakes, such as a mapping that contains itself

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_NEEDS_QUOTES = re.compile(r'[;\t,"\r\n\ufeff]|^\s|\s$')

_Branch = dict[str, "_Branch"]


def from_nested(tree: object) -> Taxonomy:
    """Read a mapping with one key, the root, over mappings, lists of labels, or nothing (a leaf).

    >>> from_nested({"Any": {"North": ["Canada", {"USA": ["Ohio", "Utah"]}], "South": None}}).leaves
    ('Canada', 'Ohio', 'Utah', 'South')
    """
    roots = list(_entries(tree, "the top"))
    if not roots:
        raise TaxonomyError(
            "the taxonomy is empty", "write its root and the values below it: {Any: [a, b]}", code="SF-TAXONOMY-015"
        )
    if len(roots) > 1:
        raise _roots([label for label, _ in roots])
    return _checked(_grown(*roots[0], depth=0))


def to_nested(taxonomy: Taxonomy) -> Nested:
    """Write a taxonomy as nested mappings; leaves alone below a node become a list.

    >>> to_nested(from_nested({"Any": [{"North": ["Canada"]}, "South"]}))
    {'Any': {'North': ['Canada'], 'South': None}}
    """

    def below(node: Node) -> Nested | list[str] | None:
        if not node.children:
            return None
        if all(not child.children for child in node.children):
            return [child.label for child in node.children]
        return {child.label: below(child) for child in node.children}

    root = taxonomy.nodes()
    return {root.label: below(root) or []}


def from_csv(lines: str | Iterable[str], *, delimiter: str | None = None) -> Taxonomy:
    r"""Read the form ARX uses: a row per leaf, leaf first, root last, rows of any length.

    ``lines`` keep their line ends (or are one text), so a quoted label may hold one. Without a ``delimiter`` the first
    of ``;``, tab and ``,`` is taken that stands in every row outside quotes.

    >>> from_csv("Engineer;Professional;Any\nLawyer;Professional;Any\nDancer;Any\n").leaves
    ('Engineer', 'Lawyer', 'Dancer')
    """
    text = (lines if isinstance(lines, str) else "".join(lines)).removeprefix("\ufeff")
    paths = _paths(text, delimiter or _delimiter(text))
    if not paths:
        raise TaxonomyError(
            "the taxonomy is empty", "write a row for each value: leaf first, root last", code="SF-TAXONOMY-016"
        )
    roots = list(dict.fromkeys(path[0] for path in paths))
    if len(roots) > 1:
        raise _roots(roots)
    top: _Branch = {}
    for path in paths:
        here = top
        for label in path:
            here = here.setdefault(label, {})
    _refuse_leaves_with_children(paths, top)
    return _checked(_grown(roots[0], top[roots[0]], depth=0))


def lines_of_labels(text: str, labels: Sequence[str]) -> list[int]:
    r"""Where labels stand in the CSV form: the first line of each place in the tree that one of them has.

    >>> lines_of_labels("365;360-379;*\n366;360-379;*\n365.44;365;360-379;*\n", ["365"])
    [1, 3]
    """
    seen: dict[tuple[str, tuple[str, ...], bool], int] = {}
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=_delimiter(text))
    for fields in reader:
        while fields and not fields[-1].strip():
            fields.pop()
        for place, label in enumerate(fields):
            if label in labels:
                seen.setdefault((label, tuple(fields[place + 1 :]), place == 0), reader.line_num)
    return sorted(set(seen.values()))


def to_csv(taxonomy: Taxonomy, *, delimiter: str = ";") -> str:
    r"""Write a row per leaf, leaf first, root last; rows are as long as the leaf is deep.

    >>> to_csv(from_nested({"Any": {"North": ["Canada"], "South": None}}))
    'Canada;North;Any\nSouth;Any\n'
    """
    rows: list[str] = []
    for node in range(len(taxonomy.labels)):
        if not taxonomy.kids(node):
            row = [_quoted(taxonomy.labels[up]) for up in _up(taxonomy, node)]
            rows.append(delimiter.join(row) + "\n")
    return "".join(rows)


def draw(taxonomy: Taxonomy, *, limit: int | None = 60) -> str:
    """Draw the tree for a terminal; inner nodes say how many leaves they have.

    With more than ``limit`` nodes the top levels are shown first, and each node says how many below it are not.

    >>> print(draw(from_nested({"Any": {"North": ["Canada", "USA"], "South": None}})))
    Any (3 leaves)
    ├── North (2 leaves)
    │   ├── Canada
    │   └── USA
    └── South
    """
    shown = _top_levels(taxonomy, limit)
    leaves = _leaf_counts(taxonomy)
    lines: list[str] = []

    def show(node: int, lead: str, below: str) -> None:
        label = taxonomy.labels[node]
        count = f" ({leaves[node]} {'leaf' if leaves[node] == 1 else 'leaves'})" if taxonomy.kids(node) else ""
        lines.append(lead + (label if label.isprintable() else repr(label)) + count)
        kids = [kid for kid in taxonomy.kids(node) if kid in shown]
        hidden = len(taxonomy.kids(node)) - len(kids)
        for number, kid in enumerate(kids):
            last = number == len(kids) - 1 and not hidden
            show(kid, below + ("└── " if last else "├── "), below + ("    " if last else "│   "))
        if kids and hidden:
            lines.append(f"{below}└── … {hidden} more")

    show(0, "", "")
    return "\n".join(lines)


def _entries(tree: object, above: str) -> Iterator[tuple[str, object]]:
    """The labels in a part of the nested form, each with what is below it."""
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            yield _label(label, above), below
    elif isinstance(tree, list | tuple):
        for item in tree:
            if isinstance(item, Mapping | list | tuple):
                yield from _entries(item, above)
            else:
                yield _label(item, above), None
    elif tree is not None:
        raise TaxonomyError(
            f"below {_named(above)} stands the single name '{tree}'",
            f"write a list, also for one value: [{tree}]",
            labels=(above,),
            code="SF-TAXONOMY-017",
        )


def _grown(label: str, below: object, *, depth: int) -> Node:
    if depth > DEEPEST:
        raise TaxonomyError(
            f"the taxonomy has more than {DEEPEST} levels: it is a cycle, or not a taxonomy",
            "write each node once, below one parent",
            code="SF-TAXONOMY-018",
        )
    return Node(label, tuple(_grown(*entry, depth=depth + 1) for entry in _entries(below, label)))


def _label(label: object, above: str) -> str:
    text = "" if label is None else str(label)
    if not text.strip():
        raise TaxonomyError(
            f"a node below {_named(above)} has an empty label",
            "give it a name; for records without a value use the attribute's `missing` instead",
            labels=(above,),
            code="SF-TAXONOMY-019",
        )
    return text


def _named(above: str) -> str:
    return above if above == "the top" else f"'{above}'"


def _roots(labels: list[str]) -> TaxonomyError:
    named = ", ".join(f"'{label}'" for label in labels[:5]) + (", …" if len(labels) > 5 else "")  # noqa: PLR2004 - enough
    return TaxonomyError(
        f"the taxonomy has {len(labels)} roots: {named}",
        "put them below one root, such as 'Any'; if the first line of the file is a header, remove it",
        labels=tuple(labels[:5]),
        code="SF-TAXONOMY-020",
    )


def _checked(root: Node) -> Taxonomy:
    """What `Taxonomy.of` checks, with messages that say which mistake it is."""
    if not root.children:
        raise TaxonomyError(
            f"the taxonomy is empty: nothing stands below its root '{root.label}'",
            "write the values below it",
            code="SF-TAXONOMY-021",
        )
    todo: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while todo:
        node, above = todo.pop()
        _check_below(node, above)
        # A chain of only children may repeat its label: it counts as one node of what stands above.
        todo.extend((child, above if child.label == node.label else (*above, node.label)) for child in node.children)
    return Taxonomy.of(root)


def _check_below(node: Node, above: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for label in (child.label for child in node.children):
        if label in seen:
            raise TaxonomyError(
                f"'{label}' stands twice below '{node.label}'", "write it once", labels=(label,), code="SF-TAXONOMY-022"
            )
        seen.add(label)
        if label in above:
            loop = " > ".join((*above[above.index(label) :], node.label, label))
            raise TaxonomyError(
                f"'{label}' stands above itself (a cycle): {loop}",
                "write each node once, below one parent",
                labels=(label,),
                code="SF-TAXONOMY-023",
            )
        if label == node.label and len(node.children) > 1:
            raise TaxonomyError(
                f"'{label}' stands below itself, beside other values",
                f"give the inner one another name, such as 'other {label}'",
                labels=(label,),
                code="SF-TAXONOMY-024",
            )


def _delimiter(text: str) -> str:
    rows = [row for row in re.split(r"[\r\n]+", _QUOTED.sub("q", text)) if row.strip()]
    everywhere = [mark for mark in DELIMITERS if rows and all(mark in row for row in rows)]
    anywhere = [mark for mark in DELIMITERS if any(mark in row for row in rows)]
    return (everywhere or anywhere or [";"])[0]


def _paths(text: str, delimiter: str) -> list[tuple[str, ...]]:
    """Each row from the root to the leaf; fields that are empty at the end of a row are padding."""
    rows: dict[tuple[str, ...], int] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            while fields and not fields[-1].strip():
                fields.pop()
            if not fields:
                continue
            if any(not field.strip() for field in fields):
                raise TaxonomyError(
                    f"row {reader.line_num} has an empty label",
                    "give it a name; for records without a value use the attribute's `missing` instead",
                    code="SF-TAXONOMY-025",
                )
            path = tuple(reversed(fields))
            if path in rows:
                raise TaxonomyError(
                    f"the leaf '{fields[0]}' stands in two rows, {rows[path]} and {reader.line_num}",
                    f"delete row {reader.line_num}",
                    code="SF-TAXONOMY-026",
                )
            rows[path] = reader.line_num
    except csv.Error as error:
        raise TaxonomyError(
            f"row {reader.line_num} is not CSV: {error}",
            'put labels with quotes or line ends in "…"',
            code="SF-TAXONOMY-027",
        ) from None
    return list(rows)


def _refuse_leaves_with_children(paths: list[tuple[str, ...]], top: _Branch) -> None:
    for path in paths:
        here = top
        for label in path:
            here = here[label]
        if here:
            raise TaxonomyError(
                f"'{path[-1]}' is a leaf in one row and stands above '{next(iter(here))}' in another",
                f"give the leaf another name, such as 'other {path[-1]}', or take it out",
                labels=(path[-1],),
                code="SF-TAXONOMY-028",
            )


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"' if _NEEDS_QUOTES.search(label) else label


def _up(taxonomy: Taxonomy, node: int) -> Iterator[int]:
    while node >= 0:
        yield node
        node = taxonomy.parents[node]


def _leaf_counts(taxonomy: Taxonomy) -> list[int]:
    counts = [0 if taxonomy.kids(node) else 1 for node in range(len(taxonomy.labels))]
    for node in range(len(taxonomy.labels) - 1, 0, -1):
        counts[taxonomy.parents[node]] += counts[node]
    return counts


def _top_levels(taxonomy: Taxonomy, limit: int | None) -> set[int]:
    order = [0]
    for node in order:  # grows while it is walked: level by level
        order.extend(taxonomy.kids(node))
    return set(order[:limit])
