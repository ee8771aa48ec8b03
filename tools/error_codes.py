"""Give every error message of Sfumato its code, check the codes, and list them in docs/reference/errors.md.

    python tools/error_codes.py --assign   # new messages get the next free number of their kind
    python tools/error_codes.py --docs     # write docs/reference/errors.md
    python tools/error_codes.py --check    # what is wrong with the codes; exit code 1 if anything is

The flags can be combined, and run in this order. Run `make fix` after `--assign`: it breaks lines that became too long.

A *site* is a call in src/sfumato that makes an error: of an error class, of a variable that holds one
(``error: type[SfumatoError] = SourceError``), or of a *factory*. A factory is a function that takes ``code`` and passes
it on to another site, as in

    def broken(problem: str, *, code: str = "") -> VerifyError:
        return VerifyError(problem, "get the bundle again", code=code)

Then not the factory but each of its callers has a code. A site that tells an error again (``error.fix`` is its fix)
passes ``code=error.code``. Code is read here and never run.
"""

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BASE = "SfumatoError"
INTERNAL = "SF-INTERNAL-001"  # the one code of all our bugs: each says itself what it is
CODE = re.compile(r"SF-[A-Z]+-\d{3,}")
GAP = "…"  # stands for what a message is filled with
RETIRED = "retired: "

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Message(NamedTuple):
    """What is wrong and what to do, with `GAP` where values stand."""

    problem: str
    fix: str


class Fault(NamedTuple):
    """Something wrong with a code, and where."""

    place: str
    said: str

    def __str__(self) -> str:
        return f"{self.place}: {self.said}"


@dataclass(frozen=True, eq=False)
class Kind:
    """A class of errors: its name, and what its codes begin with."""

    name: str
    prefix: str


@dataclass(frozen=True, eq=False)
class Scope:
    """The module, class and function in which something stands."""

    module: "Module"
    of: ast.ClassDef | None = None
    function: Function | None = None


@dataclass(frozen=True, eq=False)
class Factory:
    """A function that hands its ``code`` on to the site inside it."""

    scope: Scope
    function: Function
    call: ast.Call

    @property
    def parameters(self) -> list[str]:
        """The names that arguments are bound to by position."""
        given = [arg.arg for arg in (*self.function.args.posonlyargs, *self.function.args.args)]
        return given[1:] if self.scope.of is not None and given[:1] == ["self"] else given


@dataclass(eq=False)
class Module:
    """A file of the package, and the names at its top."""

    path: Path
    name: str
    source: bytes
    tree: ast.Module
    names: dict[str, ast.stmt] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for statement in self.tree.body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self.names[statement.name] = statement
            elif isinstance(statement, ast.Assign):
                self.names |= {target.id: statement for target in statement.targets if isinstance(target, ast.Name)}
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                self.names[statement.target.id] = statement
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.imports |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}


@dataclass(frozen=True, eq=False)
class Site:
    """A call that makes an error."""

    scope: Scope
    call: ast.Call
    kind: Kind | None  # None: the class of another error, which is told again
    factory: Factory | None

    @property
    def place(self) -> str:
        """The file and line."""
        return f"{self.scope.module.path.as_posix()}:{self.call.lineno}"

    @property
    def given(self) -> ast.expr | None:
        """What is passed as code."""
        return next((keyword.value for keyword in self.call.keywords if keyword.arg == "code"), None)

    @property
    def code(self) -> str | None:
        """The code, if one is written out."""
        given = self.given
        return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None

    @property
    def hands_on(self) -> bool:
        """Whether the code is a parameter of the function around: then that function is a factory."""
        function, given = self.scope.function, self.given
        return isinstance(given, ast.Name) and function is not None and given.id in _parameters(function)

    @property
    def internal(self) -> bool:
        """Whether it is a bug of ours, which needs no code of its own."""
        return self.kind is not None and INTERNAL.startswith(f"{self.kind.prefix}-")

    @property
    def told_again(self) -> str | None:
        """The variable with the error that is told again: the fix is its fix."""
        for argument in (*self.call.args[1:], *(keyword.value for keyword in self.call.keywords)):
            for node in ast.walk(argument):
                if isinstance(node, ast.Attribute) and node.attr == "fix" and isinstance(node.value, ast.Name):
                    return node.value.id
        return None


class Package:
    """The modules below a folder, their error classes and the sites that make errors."""

    def __init__(self, root: Path, folder: str = "src/sfumato") -> None:
        self.root = root
        self.modules: dict[str, Module] = {}
        top = (root / folder).parent
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(top).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            source = path.read_bytes()
            self.modules[name] = Module(path.relative_to(root), name, source, ast.parse(source))

    def find(self, module: Module, name: str, most: int = 10) -> tuple[Module, ast.stmt] | None:
        """Where a name of a module is defined, through imports."""
        if name in module.names:
            return module, module.names[name]
        where, original = module.imports.get(name, ("", ""))
        return self.find(self.modules[where], original, most - 1) if most and where in self.modules else None

    @cached_property
    def kinds(self) -> dict[tuple[str, str], Kind]:
        """Every error class by module and name."""
        found: dict[tuple[str, str], Kind] = {}
        classes = [(m, c) for m in self.modules.values() for c in m.names.values() if isinstance(c, ast.ClassDef)]
        before = -1
        while before < len(found):  # a class may stand before its base
            before = len(found)
            for module, defined in classes:
                above = [found.get((at[0].name, at[1].name)) for at in self._bases(module, defined)]
                base = next((kind for kind in above if kind is not None), None)
                if base is not None or defined.name == BASE:
                    prefix = _prefix(defined) or (base.prefix if base else "")
                    found[module.name, defined.name] = Kind(defined.name, prefix)
        return found

    def _bases(self, module: Module, defined: ast.ClassDef) -> Iterator[tuple[Module, ast.ClassDef]]:
        for base in defined.bases:
            at = self.find(module, base.id) if isinstance(base, ast.Name) else None
            if at is not None and isinstance(at[1], ast.ClassDef):
                yield at[0], at[1]

    @cached_property
    def sites(self) -> list[Site]:
        """Every call that makes an error, in the order of files and lines; calls of factories too."""
        calls = [(scope, call) for module in self.modules.values() for scope, call in _calls(module)]
        factories: dict[int, Factory] = {}  # by the id of the function
        found: dict[int, Site] = {}
        before = -1
        while before < len(factories):  # a factory may call another
            before = len(factories)
            for scope, call in calls:
                site = found.get(id(call)) or self._site(scope, call, factories)
                if site is None:
                    continue
                found[id(call)] = site
                if site.hands_on and scope.function is not None:
                    factories[id(scope.function)] = Factory(scope, scope.function, call)
        return sorted(found.values(), key=lambda site: (site.scope.module.path.as_posix(), site.call.lineno))

    @cached_property
    def by_call(self) -> dict[int, Site]:
        """The sites by the ids of their calls."""
        return {id(site.call): site for site in self.sites}

    def _site(self, scope: Scope, call: ast.Call, factories: Mapping[int, Factory]) -> Site | None:
        called = call.func
        if isinstance(called, ast.Call):  # type(error)(…)
            of_type = isinstance(called.func, ast.Name) and called.func.id == "type"
            return Site(scope, call, None, None) if of_type and _mentions(call, "problem") else None
        if isinstance(called, ast.Name):
            at = self.find(scope.module, called.id)
            kind = self._kind(at) or self._held(scope, called.id)
            factory = factories.get(id(at[1])) if at is not None else None
        elif isinstance(called, ast.Attribute):
            factory = _method(scope, call, called, factories.values())
            kind = None if factory else self._held_by_self(scope, called)
        else:
            return None
        if factory is not None:
            kind = self._made_by(factory, factories)
        return None if kind is None else Site(scope, call, kind, factory)

    def _kind(self, at: tuple[Module, ast.stmt] | None) -> Kind | None:
        return self.kinds.get((at[0].name, at[1].name)) if at and isinstance(at[1], ast.ClassDef) else None

    def _made_by(self, factory: Factory, factories: Mapping[int, Factory]) -> Kind | None:
        site = self._site(factory.scope, factory.call, factories)
        return None if site is None else site.kind

    def _held(self, scope: Scope, name: str, function: Function | None = None) -> Kind | None:
        """The class that a parameter ``name: type[…] = …`` holds unless another is given."""
        function = function or scope.function
        for parameter, default in _defaults(function) if function else ():
            if parameter.arg == name and isinstance(parameter.annotation, ast.Subscript):
                held = default if isinstance(default, ast.Name) else parameter.annotation.slice
                return self._kind(self.find(scope.module, held.id)) if isinstance(held, ast.Name) else None
        return None

    def _held_by_self(self, scope: Scope, called: ast.Attribute) -> Kind | None:
        """The class that ``__init__`` keeps of such a parameter."""
        if scope.of is None or not (isinstance(called.value, ast.Name) and called.value.id == "self"):
            return None
        for method in scope.of.body:
            if not (isinstance(method, ast.FunctionDef) and method.name == "__init__"):
                continue
            for node in ast.walk(method):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                    target = node.targets[0]
                    if isinstance(target, ast.Attribute) and target.attr == called.attr:
                        return self._held(scope, node.value.id, method)
        return None

    def message(self, site: Site, *, strict: bool = False) -> Message:
        """What a site says; ``strict`` leaves a gap also where it says one of several things."""
        words = Words(self, strict=strict)
        given = words.arguments(site.scope, site.call, ["problem", "fix"], {})
        if site.factory is not None:
            given = words.through(site.factory, site.scope, site.call, {})
        return Message(_tidy(given.get("problem", GAP)), _tidy(given.get("fix", GAP)))


@dataclass(frozen=True)
class Words:
    """Turns expressions into the text they stand for, with gaps."""

    package: Package
    strict: bool

    def arguments(
        self, scope: Scope, call: ast.Call, parameters: list[str], known: Mapping[str, str]
    ) -> dict[str, str]:
        """The text of each argument by its parameter."""
        given = dict(zip(parameters, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        return {name: self.text(scope, value, known) for name, value in given.items()}

    def through(self, factory: Factory, scope: Scope, call: ast.Call, known: Mapping[str, str]) -> dict[str, str]:
        """What the site inside a factory is given, by ``problem`` and ``fix``, when the factory is called like this."""
        filled = self.arguments(scope, call, factory.parameters, known)
        inner = self.package.by_call[id(factory.call)]
        if inner.factory is not None:
            return self.through(inner.factory, factory.scope, factory.call, filled)
        return self.arguments(factory.scope, factory.call, ["problem", "fix"], filled)

    def text(self, scope: Scope, value: ast.expr, known: Mapping[str, str], depth: int = 6) -> str:
        """The text of an expression; parameters that are ``known`` are filled in."""
        if not depth:
            return GAP

        def below(part: ast.expr) -> str:
            return self.text(scope, part, known, depth - 1)

        if isinstance(value, ast.Constant):
            return value.value if isinstance(value.value, str) else GAP
        if isinstance(value, ast.JoinedStr | ast.BinOp):
            return "".join(
                below(part.value if isinstance(part, ast.FormattedValue) else part) for part in _parts(value)
            )
        if isinstance(value, ast.IfExp):
            return self._one_of([below(value.body), below(value.orelse)])
        if isinstance(value, ast.Name):
            return self._named(scope, value.id, known, below)
        inside = value.value if isinstance(value, ast.Subscript) else None  # problem[:300]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.args:  # printable(problem, 1_000)
            inside = value.args[0]
        return known[inside.id] if isinstance(inside, ast.Name) and inside.id in known else GAP

    def _named(self, scope: Scope, name: str, known: Mapping[str, str], below: Callable[[ast.expr], str]) -> str:
        if name in known:
            return known[name]
        if scope.function is not None:
            assigned = [
                node.value
                for node in ast.walk(scope.function)
                if isinstance(node, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            ]
            if assigned:
                return self._one_of([below(value) for value in assigned])
            if name in _bound(scope.function):
                return GAP
        at = self.package.find(scope.module, name)
        value = getattr(at[1], "value", None) if at is not None else None
        if at is None or not isinstance(value, ast.expr):
            return GAP
        return replace(self).text(Scope(at[0]), value, {})

    def _one_of(self, texts: list[str]) -> str:
        several = list(dict.fromkeys(texts))
        if len(several) == 1:
            return several[0]
        return GAP if self.strict or not all(_has_words(text) for text in several) else " / ".join(several)


def _parts(value: ast.JoinedStr | ast.BinOp) -> list[ast.expr]:
    """The texts that an f-string or a sum puts together."""
    return value.values if isinstance(value, ast.JoinedStr) else [value.left, value.right]


def _calls(module: Module) -> Iterator[tuple[Scope, ast.Call]]:
    def walk(node: ast.AST, scope: Scope) -> Iterator[tuple[Scope, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield scope, child
            if isinstance(child, ast.ClassDef):
                yield from walk(child, replace(scope, of=child, function=None))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from walk(child, replace(scope, function=child))
            else:
                yield from walk(child, scope)

    yield from walk(module.tree, Scope(module))


def _method(scope: Scope, call: ast.Call, called: ast.Attribute, factories: Iterable[Factory]) -> Factory | None:
    """The factory that ``something.name(…)`` means: of the own class, of the annotated one, or the first there is."""
    alike = [factory for factory in factories if factory.scope.of and factory.function.name == called.attr]
    alike = [factory for factory in alike if len(call.args) + len(call.keywords) >= len(factory.parameters)]
    owner = called.value.id if isinstance(called.value, ast.Name) else ""
    if owner == "self":
        return next((factory for factory in alike if factory.scope.of is scope.of), None)
    for parameter, _ in _defaults(scope.function) if scope.function else ():
        if parameter.arg == owner and isinstance(parameter.annotation, ast.Name):
            of = parameter.annotation.id
            return next((factory for factory in alike if factory.scope.of and factory.scope.of.name == of), None)
    return alike[0] if alike else None


def _defaults(function: Function) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters of a function with their defaults."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    yield from zip(positional, [*[None] * (len(positional) - len(given.defaults)), *given.defaults], strict=True)
    yield from zip(given.kwonlyargs, given.kw_defaults, strict=True)


def _parameters(function: Function) -> set[str]:
    return {parameter.arg for parameter, _ in _defaults(function)}


def _bound(function: Function) -> set[str]:
    """Every name that a function binds: what it means at a site is known only when it runs."""
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | _parameters(function)


def _prefix(defined: ast.ClassDef) -> str:
    for node in defined.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id == "prefix" and isinstance(value, ast.Constant):
            return str(value.value)
    return ""


def _mentions(call: ast.Call, attribute: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == attribute for node in ast.walk(call))


def _has_words(text: str) -> bool:
    return re.search(r"[^\W\d_]", text) is not None


def _tidy(text: str) -> str:
    return re.sub(rf"{GAP}(\s?{GAP})+", GAP, " ".join(text.split()))


def check(package: Package) -> list[Fault]:
    """What is wrong with the codes in the source."""
    faults = []
    said: dict[str, tuple[Message, str]] = {}
    for site in package.sites:
        if site.hands_on:
            continue
        code, kind, place = site.code, site.kind, site.place
        if code is None:
            if site.given is None and not site.internal:
                again = f": it tells `{site.told_again}` again, so pass `code={site.told_again}.code`"
                faults.append(Fault(place, f"this error has no code{again if site.told_again else ''}"))
            continue
        if not CODE.fullmatch(code):
            faults.append(Fault(place, f"'{code}' is no code such as SF-STUDY-014"))
        elif kind is not None and not code.startswith(f"{kind.prefix}-"):
            faults.append(Fault(place, f"{code} is given to a {kind.name}, whose codes begin with {kind.prefix}-"))
        message = package.message(site)
        if not _has_words(message.problem):
            faults.append(Fault(place, f"{code} has no words of its own: make the function a factory (see its docs)"))
        before, where = said.setdefault(code, (message, place))
        if before != message and not site.internal:
            faults.append(Fault(place, f"{code} is said in other words in {where}"))
    return faults


def assign(package: Package, above: int = 0) -> dict[str, str]:
    """Write codes where they lack; the new codes by their places. Sites with the same message share one."""
    used = {site.code for site in package.sites if site.code} | {*listed(package.root)}
    highest: defaultdict[str, int] = defaultdict(lambda: above)
    for code in used:
        prefix, _, number = code.rpartition("-")
        highest[prefix] = max(highest[prefix], int(number))
    known = {(site.kind, package.message(site)): site.code or "" for site in package.sites if site.code}
    new: dict[str, str] = {}
    edits: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for site in package.sites:
        if site.given is not None or site.internal:
            continue
        if site.told_again is not None:
            text = f"{site.told_again}.code"
        elif site.kind is None:
            continue
        else:
            message = package.message(site)
            code = known.get((site.kind, message), "") if _has_words(message.problem) else ""
            if not code:
                highest[site.kind.prefix] += 1
                code = f"{site.kind.prefix}-{highest[site.kind.prefix]:03}"
                known[site.kind, message] = code
            text = f'"{code}"'
            new[site.place] = code
        edits[site.scope.module.name].append((_after_arguments(site), f", code={text}"))
    for name, inserted in edits.items():
        module = package.modules[name]
        source = module.source
        for at, text in sorted(inserted, reverse=True):
            source = source[:at] + text.encode() + source[at:]
        (package.root / module.path).write_bytes(source)
    return new


def _after_arguments(site: Site) -> int:
    """Where in the file the last argument of a call ends, with the parentheses around it."""
    source = site.scope.module.source
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    values = [*site.call.args, *(keyword.value for keyword in site.call.keywords)]
    end = max(starts[(value.end_lineno or 0) - 1] + (value.end_col_offset or 0) for value in values)
    stop = starts[(site.call.end_lineno or 0) - 1] + (site.call.end_col_offset or 0) - 1
    without_comments = re.sub(rb"#[^\n]*", lambda found: b" " * len(found.group()), source[end:stop])
    return end + without_comments.rfind(b")") + 1


PAGE = """# Error codes

Every error message of Sfumato has a code, such as `SF-STUDY-014`. Search for it here, name it in a question or a
report, and test for it in programs. A code never changes its meaning: the wording of a message may improve, and its
code stays. A code whose message is gone is never given to another one; it is listed as retired.

The code is shown at the end of a message on the [command line](cli.md#exit-codes), in the field `code` of its JSON
form, and in Python as `error.code` of every [`SfumatoError`](python.md#sfumatoerror).

The middle of a code is the kind of error, and each kind has an exit code:

| kind | exit code | meaning |
|---|---|---|
{kinds}

An error in a part of a study (a query, a taxonomy, a budget) keeps its code wherever it comes up, with the exit code
of the place: a wrong query in a study file is `SF-USAGE-…` with exit code 3.

In the tables, … stands for names, numbers or words that a message is filled with, and / separates alternatives.
"""

KINDS = {
    "SF-USAGE": (2, "the command or function was called wrongly"),
    "SF-STUDY": (3, "the study file or a recipe in it is wrong"),
    "SF-TAXONOMY": (3, "a taxonomy is not a tree over the attribute's values"),
    "SF-SOURCE": (4, "the table cannot be read, or does not fit the study"),
    "SF-BUDGET": (5, "the privacy budget does not allow it"),
    "SF-INFEASIBLE": (6, "no release can satisfy this privacy model on this table"),
    "SF-PUBLISH": (7, "the bundle or file cannot be written"),
    "SF-VERIFY": (8, "a bundle or a ledger is not what it says it is"),
    "SF-INTERNAL": (70, "a bug of ours"),
    "SF-STOPPED": (130, "somebody stopped the command"),
}
BUG = Message("an invariant of Sfumato does not hold: …", "report it with the study file and the command")


def listed(root: Path) -> dict[str, Message]:
    """The codes that docs/reference/errors.md lists, with what it says of them, as it is written there."""
    page = root / "docs" / "reference" / "errors.md"
    rows = page.read_text(encoding="utf-8").splitlines() if page.is_file() else []
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows if row.startswith("| SF-")]
    return {row[0]: Message(*row[1:3]) for row in cells}


def page_of(package: Package) -> str:
    """The text of docs/reference/errors.md: the codes in the source, and those that were listed before and are gone."""
    rows = {code: Message(_retired(old.problem), old.fix) for code, old in listed(package.root).items()}
    for site in package.sites:
        if site.code is not None and not site.hands_on:
            problem, fix = package.message(site)
            rows[site.code] = Message(_cell(problem), _cell(fix) if _has_words(fix) else "what the message says")
    rows[INTERNAL] = BUG
    kinds = "\n".join(f"| `{prefix}` | {code} | {meaning} |" for prefix, (code, meaning) in KINDS.items())
    text = [PAGE.format(kinds=kinds)]
    for prefix, (_, meaning) in KINDS.items():
        codes = sorted((code for code in rows if code.rpartition("-")[0] == prefix), key=lambda code: (len(code), code))
        if codes:
            text.append(f"\n## {prefix}\n\n{meaning[0].upper()}{meaning[1:]}.\n\n")
            text.append("| code | what is wrong | what to do |\n|---|---|---|\n")
            text += [f"| {code} | {rows[code].problem} | {rows[code].fix} |\n" for code in codes]
    return "".join(text)


def _retired(said: str) -> str:
    return said if said.startswith(RETIRED) else RETIRED + said


def _cell(text: str) -> str:
    """A text in a cell of a Markdown table."""
    for mark, written in (("\\", "\\\\"), ("|", "\\|"), ("*", "\\*"), ("<", "&lt;")):
        text = text.replace(mark, written)
    return text


def main() -> None:
    """Do what the flags say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--assign", action="store_true", help="give a code to messages that have none")
    parser.add_argument(
        "--above", type=int, default=0, help="new numbers are above this one: branches take no same ones"
    )
    parser.add_argument("--docs", action="store_true", help="write docs/reference/errors.md")
    parser.add_argument("--check", action="store_true", help="list what is wrong, and exit with 1 if anything is")
    asked = parser.parse_args()
    if not (asked.assign or asked.docs or asked.check):
        parser.error("give --assign, --docs or --check")
    if asked.assign:
        for place, code in assign(Package(ROOT), asked.above).items():
            print(f"{place}: {code}")
    package = Package(ROOT)
    if asked.docs:
        (ROOT / "docs" / "reference" / "errors.md").write_text(page_of(package), encoding="utf-8", newline="\n")
    if asked.check:
        faults = check(package)
        if listed(ROOT) and page_of(package) != (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8"):
            faults.append(Fault("docs/reference/errors.md", "it is not up to date: run tools/error_codes.py --docs"))
        for fault in faults:
            print(fault)
        sys.exit(bool(faults))


if __name__ == "__main__":
    main()
