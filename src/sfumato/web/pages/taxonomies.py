"""Taxonomies: trees of values that are built, changed, checked and exchanged.

The tree on the page is a draft in memory until it is saved into the study file. A rule (prefixes, intervals, the
calendar) is kept as the rule; its preview is made by the code that reads the study file, and so are the levels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.domains.domain import Domain
from sfumato.domains.sets.set_domain import MOST_CHILDREN
from sfumato.domains.taxonomy.by_rule import CALENDAR
from sfumato.domains.taxonomy.text import to_csv
from sfumato.errors import PublishError, SfumatoError, StudyError, UsageError, unwritable
from sfumato.file_names import file_stem
from sfumato.study.file import taxonomy_to_yaml
from sfumato.study.file.taxonomy_field import RULES
from sfumato.study.file.taxonomy_file import parse_taxonomy
from sfumato.web.editing.taxonomy_drafts import (
    REVISIONS,
    DeclaredAttribute,
    attribute_of,
    attributes_of,
    draft_of,
    drafts_lock,
    forget_draft,
    observed_values,
    same_attribute,
)
from sfumato.web.editing.taxonomy_edit import ROOT, EditableTree, Finding, History, findings, shown_names
from sfumato.web.editing.whole_files import replace_file
from sfumato.web.handling import attachment, go, posted
from sfumato.web.jobs import path_argument, word_argument
from sfumato.web.level_preview import levels_of
from sfumato.web.rendering import open_study, page, shell, study_command
from sfumato.web.workspace import OpenStudy

PAGE: Final = 50
"""Children, or attributes, that are shown at a time."""

_OPEN: Final = 60  # nodes of a tree that is shown as a whole
_INLINE: Final = 30  # nodes of a tree that is written into the study file itself
_MOST_SHOWN: Final = 2000


def show_all(request: Request) -> Response:
    """The attributes that have a taxonomy, or can have one."""
    opened = open_study(request)
    found = [one for one in attributes_of(opened) if _fits(one)]
    start = max(_whole(request.query_params.get("from")), 0)
    rows = [_row(one) for one in found[start : start + PAGE]]
    return page(
        request, "taxonomies.html", **shell(opened, "taxonomies"), rows=rows, start=start, of=len(found), size=PAGE
    )


def _fits(one: DeclaredAttribute) -> bool:
    return one.fields.get("role") not in (None, "identifier") and "classes" not in one.fields


def _row(one: DeclaredAttribute) -> dict[str, Any]:
    row: dict[str, Any] = {"one": one, "problem": None, "depth": 0, "leaves": 0, "levels": 0, "nodes": 0}
    try:
        domain = one.domain()
    except SfumatoError as error:
        return {**row, "problem": error}
    taxonomy = None if domain is None else domain.taxonomy
    if taxonomy is not None:
        leaves = len(taxonomy.leaves)
        row |= {"depth": taxonomy.depth, "leaves": leaves, "levels": taxonomy.depth + 1, "nodes": len(taxonomy.labels)}
    return row


def show(request: Request) -> Response:
    """The taxonomy of one attribute."""
    opened = open_study(request)
    one = attribute_of(opened, request.path_params["number"])
    return page(request, "taxonomy.html", **_values(opened, one, frozenset()))


def children(request: Request) -> Response:
    """The children of a node from one of them on."""
    opened = open_study(request)
    one = attribute_of(opened, request.path_params["number"])
    tree = draft_of(opened, one).history.tree
    node, start = _whole(request.query_params.get("node")), _whole(request.query_params.get("from"))
    if node not in tree.labels:
        raise UsageError("the node is no longer there", "reload the page", code="SF-USAGE-470")
    return page(request, "taxonomy_children.html", study=opened, one=one, branch=_branch(tree, node, {}, start=start))


@posted
def edit(request: Request, form: FormData) -> Response:
    """One edit of the draft."""
    opened = open_study(request)
    one = same_attribute(attribute_of(opened, request.path_params["number"]), form)
    with drafts_lock(opened):
        draft = draft_of(opened, one)
        if _whole(form.get("revision")) != draft.revision:
            raise UsageError(
                "the tree was changed on another page", "reload this page, and edit again", code="SF-USAGE-471"
            )
        before = draft.history
        draft.history = _edited(before, one, form, observed_values(opened, one))
        draft.revision = next(REVISIONS)
        draft.said = _SAID.get(str(form.get("do")), "Changed.")
    return page(request, "taxonomy_editor.html", **_values(opened, one, _opened(form)))


_SAID: Final = {
    "undo": "Undone.", "redo": "Redone.", "group": "Grouped.", "merge": "Merged.", "move": "Moved.", "drop": "Moved.",
    "delete": "Deleted; what was below went up.", "rename": "Renamed.", "sort": "Sorted.", "split": "Divided.",
    "add": "Added.", "add-missing": "Added.", "flat": "All values are below the root.",
}  # fmt: skip


def _edited(history: History, one: DeclaredAttribute, form: FormData, observed: Sequence[str]) -> History:  # noqa: C901, PLR0911, PLR0912 - a case each
    tree, do = history.tree, str(form.get("do") or "")
    picked = [_whole(value) for value in form.getlist("pick")]
    label, target = str(form.get("label") or "").strip(), str(form.get("target") or "").strip()
    if do == "enter":  # the Enter key in one of the two fields
        do = "move" if target else "rename" if len(picked) == 1 else "group"
    match do:
        case "undo":
            return history.undo()
        case "redo":
            return history.redo()
        case "rename":
            return history.then(tree.rename(_single(picked), label))
        case "add":
            return history.then(tree.add(_single(picked) if picked else ROOT, [label]))
        case "group":
            return history.then(tree.group(picked, label))
        case "split":
            return history.then(tree.split(picked, label))
        case "merge":
            return history.then(tree.merge(picked))
        case "delete":
            changed = tree
            for node in picked:
                changed = changed.delete(node)
            return history.then(changed)
        case "sort":
            return history.then(tree.sort(_single(picked) if picked else ROOT))
        case "move":
            return history.then(tree.move(picked, tree.find(target)))
        case "drop":
            return history.then(_dropped(tree, _whole(form.get("node")), _whole(form.get("onto"))))
        case "flat":
            return history.then(EditableTree.flat(one.values or tree.leaves))
        case "add-missing":
            leaves = set(tree.leaves)
            wanted = observed if form.get("which") == "observed" else one.values or ()
            missing = [value for value in dict.fromkeys(wanted) if value not in leaves]
            return history.then(tree.add(_single(picked) if picked else ROOT, missing))
    raise UsageError("there is no such edit", "reload the page", code="SF-USAGE-472")


def _dropped(tree: EditableTree, node: int, onto: int) -> EditableTree:
    """A node that was dropped: on an inner node it goes last below it, on a leaf it goes right before that leaf."""
    if onto in tree.below or onto == ROOT:
        return tree.move([node], onto)
    if onto not in tree.parents:
        raise UsageError("the node is no longer there", "reload the page", code="SF-USAGE-473")
    return tree.move([node], tree.parents[onto], before=onto)


def _single(picked: Sequence[int]) -> int:
    if len(picked) != 1:
        raise UsageError(f"{len(picked)} nodes are selected", "select the one node to change", code="SF-USAGE-474")
    return picked[0]


@posted
def take(request: Request, form: FormData) -> Response:
    """Take a tree from a text: nothing is saved, and the edit can be undone."""
    opened = open_study(request)
    one = same_attribute(attribute_of(opened, request.path_params["number"]), form)
    text = str(form.get("text") or "")
    nested = form.get("form") == "yaml"
    taxonomy = parse_taxonomy(text, "the pasted taxonomy.yaml" if nested else "the pasted taxonomy.csv")
    with drafts_lock(opened):
        draft = draft_of(opened, one)
        old, new = set(draft.history.tree.leaves), set(taxonomy.leaves)
        draft.history = draft.history.then(EditableTree.of(taxonomy))
        draft.revision = next(REVISIONS)
        draft.said = f"Imported, not saved: {len(new - old):,} values are new, {len(old - new):,} are no longer there."
    return page(request, "taxonomy_editor.html", **_values(opened, one, frozenset()))


def export(request: Request) -> Response:
    """The draft as a file: YAML, or CSV as ARX reads it."""
    opened = open_study(request)
    one = attribute_of(opened, request.path_params["number"])
    if one.is_grid:
        domain = one.domain()
        taxonomy = None if domain is None else domain.taxonomy
    else:
        taxonomy = draft_of(opened, one).history.tree.taxonomy()
    if taxonomy is None:
        raise UsageError("the attribute has no taxonomy", "choose a rule first", code="SF-USAGE-475")
    ending = request.path_params["ending"]
    text = to_csv(taxonomy) if ending == "csv" else taxonomy_to_yaml(taxonomy)
    kind = "text/csv" if ending == "csv" else "application/yaml"
    headers = attachment(f"{file_stem(one.name)}.taxonomy.{'csv' if ending == 'csv' else 'yaml'}")
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)


@posted
def save(request: Request, form: FormData) -> Response:
    """Write the draft into the study file, or into a file beside it."""
    opened = open_study(request)
    one = same_attribute(attribute_of(opened, request.path_params["number"]), form)
    with drafts_lock(opened):
        draft = draft_of(opened, one)
        if draft.basis[0] != one.basis()[0]:  # other values are among the checks
            raise StudyError(
                f"the taxonomy of '{one.name}' was changed by another page or program",
                "export the tree of this page, press Discard, and import it again",
                code="SF-STUDY-834",
            )
        tree = draft.history.tree
        taxonomy = tree.taxonomy()
        document, declared = one.document, one.values
        if declared is not None and set(declared) != set(taxonomy.leaves):
            if form.get("declare") != "yes":
                raise StudyError(
                    "the leaves of the tree are not the declared values of the study",
                    "add the missing values, or tick that the leaves replace the declared values",
                    code="SF-STUDY-470",
                )
            document = document.remove("attributes", one.name, "values")
            one = replace(one, fields={name: value for name, value in one.fields.items() if name != "values"})
        one.domain(taxonomy)  # what a set does not take is said before anything is written
        place = ("attributes", one.name, "taxonomy")
        if len(tree.labels) > _INLINE or tree.labels[ROOT] in RULES:
            name = _file_of(opened, one)
            document = document.set(*place, value=name)
            _write(opened, one, name, taxonomy_to_yaml(taxonomy))
        else:
            document = document.set(*place, value=tree.nested())
        document.save()
        draft.saved, draft.said = tree, f"Saved in {opened.path.name}."
        draft.basis = attribute_of(opened, one.number).basis()
        draft.revision = next(REVISIONS)
    return go(f"/s/{opened.key}/taxonomies/{one.number}")


def _file_of(opened: OpenStudy, one: DeclaredAttribute) -> str:
    """The file that the study names already, if it is ours to write; else a new one beside the study."""
    if isinstance(one.written, str) and one.written.endswith(".taxonomy.yaml") and "/" not in one.written:
        return one.written
    stem, number = file_stem(one.name), 1
    while (opened.path.parent / (name := f"{stem}{'' if number == 1 else f'-{number}'}.taxonomy.yaml")).exists():
        number += 1
    return name


def _write(opened: OpenStudy, one: DeclaredAttribute, name: str, text: str) -> None:
    path = opened.path.parent / name
    mine = one.written == name
    try:
        if mine:
            replace_file(path, text.encode())
        else:
            with path.open("x", encoding="utf-8") as out:
                out.write(text)
    except FileExistsError:
        raise PublishError(
            f"'{name}' exists already, and the study does not name it", "save again", code="SF-PUBLISH-470"
        ) from None
    except OSError as error:
        raise unwritable(path, error) from None


@posted
def discard(request: Request, form: FormData) -> Response:
    """Go back to the tree of the study file."""
    opened = open_study(request)
    one = same_attribute(attribute_of(opened, request.path_params["number"]), form)
    with drafts_lock(opened):
        forget_draft(opened, one)
    return go(f"/s/{opened.key}/taxonomies/{one.number}")


# What a page shows.


def _values(opened: OpenStudy, one: DeclaredAttribute, open_nodes: frozenset[tuple[int, int]]) -> dict[str, Any]:
    command = study_command(opened, "taxonomy", "show", path_argument(opened.path.name), *word_argument(one.name))
    shared = {
        **shell(opened, "taxonomies", command=command),
        "one": one,
        "calendar": CALENDAR,
        "levels": [],
        "tree_error": None,
    }
    if one.is_grid:
        domain, problem = _domain(one)
        return {**shared, "levels": levels_of(domain), "tree_error": problem, "draft": None}
    draft = draft_of(opened, one)
    tree = draft.history.tree
    wanted = dict(open_nodes)
    if not wanted:
        wanted = dict.fromkeys(tree.below if len(tree.labels) <= _OPEN else (ROOT,), PAGE)
    found = findings(
        tree,
        values=one.values,
        observed=observed_values(opened, one),
        widest=MOST_CHILDREN if one.kind == "set" else None,
    )
    levels, problem = [], None
    try:
        levels = levels_of(one.domain(tree.taxonomy()))
    except SfumatoError as error:
        problem = error
    return {
        **shared,
        "draft": draft,
        "tree": tree,
        "root": _node(tree, ROOT, wanted),
        "findings": [(finding, *shown_names(finding.names)) for finding in found],
        "targets": [tree.labels[node] for node in tree.walk() if node in tree.below][:300],
        "levels": levels,
        "tree_error": problem if not any(finding.kind == "problem" for finding in found) else None,
        "blocked": _blocked(found),
        "inline": len(tree.labels) <= _INLINE,
    }


def _blocked(found: Sequence[Finding]) -> bool:
    """Whether a problem stands that saving cannot settle by declaring the leaves."""
    return any(one.kind == "problem" and one.fix not in ("add", "declare") for one in found)


def _domain(one: DeclaredAttribute) -> tuple[Domain | None, SfumatoError | None]:
    try:
        return one.domain(), None
    except SfumatoError as error:
        return None, error


def _node(tree: EditableTree, node: int, wanted: Mapping[int, int]) -> dict[str, Any]:
    opened = node in wanted and node in tree.below
    return {
        "number": node,
        "label": tree.labels[node],
        "leaf": node not in tree.below,
        "root": node == ROOT,
        "leaves": tree.leaf_counts[node],
        "open": opened,
        "branch": _branch(tree, node, wanted) if opened else None,
    }


def _branch(tree: EditableTree, node: int, wanted: Mapping[int, int], *, start: int = 0) -> dict[str, Any]:
    """Some children of a node, and where the next ones begin."""
    kids = tree.kids(node)
    stop = start + min(max(wanted.get(node, PAGE), PAGE), _MOST_SHOWN)
    shown = [_node(tree, kid, wanted) for kid in kids[start:stop]]
    return {"node": node, "shown": shown, "next": stop if stop < len(kids) else None, "left": max(len(kids) - stop, 0)}


def _opened(form: FormData) -> frozenset[tuple[int, int]]:
    """The nodes that are open on the page, each with how many children are shown."""
    pairs = (part.partition(":") for part in str(form.get("open") or "").split(",") if part)
    return frozenset((_whole(node), _whole(count)) for node, _, count in pairs)


def _whole(text: object) -> int:
    found = str(text or "0")
    return int(found) if found.isascii() and found.isdigit() and len(found) < 10 else -1  # noqa: PLR2004 - digits


ROUTES: Final = [
    Route("/s/{study}/taxonomies", show_all),
    Route("/s/{study}/taxonomies/{number:int}", show),
    Route("/s/{study}/taxonomies/{number:int}/children", children),
    Route("/s/{study}/taxonomies/{number:int}/edit", edit, methods=["POST"]),
    Route("/s/{study}/taxonomies/{number:int}/import", take, methods=["POST"]),
    Route("/s/{study}/taxonomies/{number:int}/taxonomy.{ending}", export),
    Route("/s/{study}/taxonomies/{number:int}/save", save, methods=["POST"]),
    Route("/s/{study}/taxonomies/{number:int}/discard", discard, methods=["POST"]),
]
