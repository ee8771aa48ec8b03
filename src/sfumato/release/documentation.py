"""The documentation of a release: what was promised, to whom, on which basis.

For whoever answers for a release, such as a data protection officer. Everything in it is in the published manifest, was
found by `verify_bundle` from the bundle alone, or was given by the caller: no record is read, and a receiver could
write the same document. What a manifest cannot know, such as a legal basis, stands in it as text to fill in, never as a
guess.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import UsageError, VerifyError
from sfumato.release import documentation_words as words
from sfumato.release.bundle.atomic_files import MANIFEST, file_facts, find_bundle
from sfumato.release.checks import Verification
from sfumato.release.documentation_words import QUESTIONS
from sfumato.release.form import FORMS
from sfumato.release.guarantee import NO_GUARANTEE
from sfumato.release.manifest.read_manifest import parse_manifest
from sfumato.release.storage.untrusted import printable, read_bounded, refuse_unexpected
from sfumato.release.verify import verify_bundle
from sfumato.study.recipe import Chosen
from sfumato.study.unit import RecordUnit
from sfumato.wording import markdown_code, markdown_text, sentence


@dataclass(frozen=True, kw_only=True)
class Documentation:
    """The documentation of a release, as Markdown, and the names of what is still to fill in."""

    markdown: str
    unfilled: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The document as plain values."""
        return {"markdown": self.markdown, "unfilled": list(self.unfilled)}


def document_bundle(
    path: str | Path,
    *,
    fill: Mapping[str, str] | None = None,
    sha256: str | None = None,
    population: str | Path | None = None,
    data: str | None = None,
    memory_limit: str | None = None,
) -> Documentation:
    """Document a release from its bundle, which is verified first; a bundle that does not verify is refused.

    ``fill`` has texts by the names in `QUESTIONS`. The other arguments are those of `verify_bundle`.
    """
    answers = {name: text.strip() for name, text in (fill or {}).items() if text.strip()}
    for name in answers:
        if name not in QUESTIONS:
            raise UsageError(
                f"the documentation of a release does not ask for '{printable(name, 60)}'",
                f"use one of: {', '.join(QUESTIONS)}",
                code="SF-USAGE-682",
            )
    found = verify_bundle(path, sha256=sha256, population=population, data=data, memory_limit=memory_limit)
    if not found.ok:
        failed = "; ".join(f"{check.name}: {check.detail}" for check in found.checks if not check.ok)
        raise VerifyError(
            f"the bundle does not verify, so nothing can be documented ({failed})",
            "get the bundle again, and give what its checks need: see `sfumato verify`",
            code="SF-VERIFY-681",
        )
    with refuse_unexpected():
        place = find_bundle(Path(path))
        manifest = parse_manifest(read_bounded(place / MANIFEST))
        hashed = file_facts(place / MANIFEST).sha256
        unique = _unique(place, manifest)
    parts = [
        _head(manifest, hashed),
        _basis(answers),
        _what(manifest),
        _guarantee(manifest),
        _limits(manifest),
        _risks(manifest, unique),
        _proof(manifest, hashed, found),
    ]
    return Documentation(markdown="\n".join(parts), unfilled=tuple(name for name in QUESTIONS if name not in answers))


def _head(manifest: Mapping[str, Any], hashed: str) -> str:
    release, study = markdown_text(manifest["release"]), markdown_text(manifest["study"])
    return (
        f"# Documentation of the release {release} of {study}\n\n"
        f"Filled in from the manifest of the bundle with the SHA-256 `{hashed}`. What a "
        "manifest cannot know stands as **to fill in**.\n"
    )


def _basis(answers: Mapping[str, str]) -> str:
    rows = [
        (
            sentence(name.replace("_", " ")),
            " ".join(answers[name].split()) if name in answers else f"**to fill in:** {asked}",
        )
        for name, asked in QUESTIONS.items()
    ]
    return _section("1. Who, for whom, on which basis", _table(("", ""), rows))


def _what(manifest: Mapping[str, Any]) -> str:
    form = FORMS[manifest["form"]]
    method = manifest["method"]
    parameters = json.dumps(method["parameters"], ensure_ascii=False)
    rows = [
        ("Release", markdown_text(manifest["release"])),
        ("Study", markdown_text(manifest["study"])),
        ("Day", manifest["date"]),
        ("Contents", markdown_text(form.about())),
        ("Method", f"{markdown_code(method['name'])} with {markdown_code(parameters)}"),
        ("Records", _records(manifest.get("selection"))),
    ]
    text = [_table(("", ""), rows)]
    roles = {attribute["name"]: _role(attribute) for attribute in manifest["attributes"]}
    for name, schema in form.columns(form.layout(manifest), manifest).items():
        columns = [
            (
                markdown_code(field["name"]),
                field["type"],
                markdown_text(field.get("description", "")) or roles.get(field["name"], ""),
            )
            for field in schema["fields"]
        ]
        text.append(f"Columns of {markdown_code(name)}:\n\n{_table(('column', 'type', 'holds'), columns)}")
    rules = "".join(f"- {markdown_text(sentence(rule))}.\n" for rule in manifest["rules"])
    return _section("2. What is released", *text, f"How records and values were treated:\n\n{rules}" if rules else "")


def _role(attribute: Mapping[str, Any]) -> str:
    """What a column of records is to a person, and how far it was generalised."""
    how = {"regions": ", generalised", "values": ", as in the table"}
    return str(attribute["role"]).replace("_", "-") + how.get(attribute.get("published", ""), "")


def _records(selection: Mapping[str, Any] | None) -> str:
    """Which records it was made from, in words."""
    parts = []
    if selection is not None and selection["span"] is not None:
        first, end = selection["span"]
        parts.append(f"{markdown_code(selection['time'])} from {first} up to, and not including, {end}")
    if selection is not None and selection["where"] is not None:
        parts.append(f"where {markdown_code(selection['where'])}")
    return ", ".join(parts) or "all records of the table, by the rules below"


def _guarantee(manifest: Mapping[str, Any]) -> str:
    privacy = manifest["privacy"]
    quoted = f"> {markdown_text(manifest['guarantee'])}"
    rows = [("Privacy unit", markdown_text(privacy["unit"])), ("Choice of the parameters", privacy["chosen"])]
    if privacy["kind"] == "syntactic":
        models = [
            (
                markdown_text(entry["model"]),
                markdown_code(json.dumps(entry["parameters"], ensure_ascii=False)),
                markdown_text(entry["sentence"]),
            )
            for entry in privacy["models"]
        ]
        return _section(
            "3. What is guaranteed", quoted, _table(("", ""), rows), _table(("model", "parameters", "says"), models)
        )
    rows += [("ε", privacy["epsilon"] or "none"), ("Neighbouring tables", markdown_text(privacy["neighbouring"]))]
    steps = [
        (markdown_text(step["on"]), step["epsilon"], markdown_text(step["mechanism"]))
        for step in privacy["budget_breakdown"]
    ]
    text = [quoted, privacy["odds"] or "", _table(("", ""), rows)]
    if steps:
        text += ["How ε was spent:", _table(("on", "ε", "mechanism"), steps), f"{sentence(privacy['composition'])}."]
    return _section("3. What is guaranteed", *text)


def _limits(manifest: Mapping[str, Any]) -> str:
    privacy = manifest["privacy"]
    points = [words.SEEDED] if manifest["guarantee"] == NO_GUARANTEE else []
    if privacy["kind"] == "syntactic":
        points.append(markdown_text(privacy["limits"]))
    else:
        points += [words.MANY, words.OTHERS, *([words.SEVERAL] if privacy["unit"] == RecordUnit().words else [])]
    if privacy["chosen"] == Chosen.ON_RAW:
        points.append(words.ON_RAW)
    return _section("4. What is not guaranteed", "\n".join(f"- {point}" for point in points))


def _unique(place: Path, manifest: Mapping[str, Any]) -> str:
    """How many published rows can be singled out by columns that are published exactly; nothing of noisy counts."""
    if manifest.get("stored") is not None:
        return words.UNIQUE_ELSEWHERE
    form = FORMS[manifest["form"]]
    layout = form.layout(manifest)
    if manifest["privacy"]["kind"] != "syntactic":
        return ""
    found = form.unique(layout, form.read(place, manifest, layout, "parquet"))
    if found is None or not found.exact:
        return ""
    return words.UNIQUE.format(
        names=", ".join(markdown_code(name) for name in found.exact), unique=markdown_text(found.words)
    )


def _risks(manifest: Mapping[str, Any], unique: str) -> str:
    """The three questions by which European authorities judge anonymisation, each with what the guarantee says."""
    if manifest["guarantee"] == NO_GUARANTEE:
        answers = (words.SEEDED,) * 3
    elif manifest["privacy"]["kind"] == "differential privacy":
        answers = (words.BOUNDED,) * 3
    else:
        regions = any(attribute["published"] == "regions" for attribute in manifest["attributes"])
        single, link = words.IN_CLASSES if regions else words.EXACT
        answers = (f"{single} {unique}".rstrip(), link, words.INFERENCE)
    rows = list(zip(words.ASKED, answers, strict=True))
    return _section(
        "5. Three questions of data protection", words.WHENCE, _table(("question", "what the guarantee says"), rows)
    )


def _proof(manifest: Mapping[str, Any], hashed: str, found: Verification) -> str:
    checks = [(markdown_text(check.name), markdown_text(check.detail)) for check in found.checks]
    files = [
        (markdown_code(name), f"{file['size']:,}", f"`{file['sha256']}`") for name, file in manifest["files"].items()
    ]
    versions = ", ".join(
        f"{markdown_text(name)} {markdown_text(version)}" for name, version in manifest["versions"].items()
    )
    entry = (
        f"The entry of the release in the owner's ledger has the hash `{manifest['ledger']}`."
        if manifest["ledger"]
        else ""
    )
    return _section(
        "6. How to check this",
        f"`sfumato verify BUNDLE --sha256 {hashed}` repeats these checks, from the bundle alone:",
        _table(("check", "found"), checks),
        _table(("file", "bytes", "SHA-256"), files),
        entry,
        f"Made with {versions}." if versions else "",
    )


def _section(title: str, *parts: str) -> str:
    """A heading with what is below it, blank lines between."""
    return "\n\n".join([f"## {title}", *(part.rstrip() for part in parts if part)]) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
