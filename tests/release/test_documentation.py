"""What `sfumato document` writes is in the manifest, for every form of release, and nothing else is claimed."""

import json
import re
import shutil
import sys
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest
from markdown_it import MarkdownIt

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import UsageError, VerifyError
from sfumato.release.documentation_words import QUESTIONS
from tests.raising import raises_code

STORED = sorted(path for path in (Path(__file__).parents[1] / "stored").glob("manifest-*/*") if path.is_dir())
EACH = pytest.mark.parametrize(
    "bundle",
    [pytest.param(path, marks=[pytest.mark.slow] if path.parent.name == "manifest-1" else []) for path in STORED],
    ids=[f"{path.parent.name}/{path.name}" for path in STORED],
)


def manifest_of(bundle):
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))


def plain(markdown):
    """What a reader sees: the text of a document, marks of Markdown taken away by another library."""
    tokens = MarkdownIt().enable("table").parse(markdown)
    return "\n".join(
        "".join(part.content for part in token.children)
        for token in tokens
        if token.type == "inline" and token.children
    )


@EACH
def test_everything_that_was_promised_is_in_it(bundle):
    manifest, seen = manifest_of(bundle), plain(sf.document_bundle(bundle).markdown)
    privacy = manifest["privacy"]
    words = [manifest["study"], manifest["release"], manifest["date"], manifest["method"]["name"], privacy["unit"]]
    words += [manifest.get("guarantee", manifest.get("promise")), privacy["chosen"]]
    words += [file["sha256"] for file in manifest["files"].values()]
    words += [sha256((bundle / "manifest.json").read_bytes()).hexdigest(), manifest["ledger"]]
    for step in privacy.get("budget_breakdown", privacy.get("receipt", [])):
        words += [step["on"], step["epsilon"], step["mechanism"]]
    for model in privacy.get("models", privacy.get("promises", [])):
        words += [model["model"], model["sentence"]]
    missing = [word for word in words if word not in seen]
    assert not missing
    assert ("ε-differentially private" in seen) == ("epsilon" in privacy)
    assert ("not differential privacy" in seen) == ("epsilon" not in privacy)


@EACH
def test_every_column_is_in_it(bundle):
    package = json.loads((bundle / "datapackage.json").read_text(encoding="utf-8"))
    text = sf.document_bundle(bundle).markdown
    for resource in package["resources"]:
        for field in resource.get("schema", {}).get("fields", []):
            assert f"| `{field['name']}` |" in text


@EACH
def test_whether_quasi_identifiers_are_exact_is_said_as_it_is(bundle):
    manifest, seen = manifest_of(bundle), plain(sf.document_bundle(bundle).markdown)
    shapes = {attribute.get("published") for attribute in manifest["attributes"] if "quasi" in attribute["role"]}
    assert ("quasi-identifiers, which are published as they are" in seen) == (shapes == {"values"})


@pytest.mark.error_rate(0, reason="what is documented holds for every draw")
def test_the_form_that_is_not_stored(tmp_path):
    ages = pa.table({"age": [n % 100 for n in range(300)], "ill": ["yes" if n % 3 else "no" for n in range(300)]})
    attributes = {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
        "ill": {"role": "class", "values": ["no", "yes"]},
    }
    study = sf.Study.from_mapping(
        {"name": "ages", "source": ages, "privacy": {"budget": 3}, "attributes": attributes, "ledger": "memory:"}
    )
    done = study.release(sf.ContingencyTable(epsilon="0.7", strategy="hierarchical"), out=tmp_path / "c", report=False)
    found = sf.document_bundle(done.bundle, sha256=done.sha256)
    assert manifest_of(done.bundle)["form"] == "consistent-counts"
    assert "| ε | 0.7 |" in found.markdown
    seeded = study.release(sf.DiffGen(epsilon="0.5"), out=tmp_path / "s", report=False, insecure_seed=1)
    text = sf.document_bundle(seeded.bundle).markdown
    assert text.count("It has no guarantee and must not be passed on") == 4
    assert "e^ε" not in text


def test_what_a_manifest_cannot_know_is_asked_and_not_guessed():
    bundle = STORED[-1]
    empty = sf.document_bundle(bundle)
    assert empty.unfilled == tuple(QUESTIONS)
    assert empty.markdown.count("**to fill in:**") == len(QUESTIONS)
    given = sf.document_bundle(bundle, fill={"recipient": " Ministry of\nHealth ", "purpose": " "})
    assert "| Recipient | Ministry of Health |" in given.markdown
    assert set(given.unfilled) == set(QUESTIONS) - {"recipient"}
    with raises_code(UsageError, "SF-USAGE-682"):
        sf.document_bundle(bundle, fill={"receiver": "Ministry"})


def test_a_bundle_that_does_not_verify_is_not_documented(tmp_path):
    changed = tmp_path / "bundle"
    shutil.copytree(STORED[0], changed)
    (changed / "README.md").write_text("all is well", encoding="utf-8")
    with raises_code(VerifyError, "SF-VERIFY-681"):
        sf.document_bundle(changed)
    with raises_code(VerifyError, "SF-VERIFY-681"):
        sf.document_bundle(STORED[0], sha256="0" * 64)


def test_names_from_a_bundle_are_no_markup(tmp_path):
    rows = pa.table({"a|b": ["x"] * 5 + ["y"] * 5})
    attributes = {"a|b": {"role": "quasi_identifier", "values": ["x", "y"]}}
    study = sf.Study.from_mapping(
        {"name": "<b>[x](javascript:y)</b>", "source": rows, "attributes": attributes, "ledger": "memory:"}
    )
    done = study.release(sf.Mondrian(k=5), out=tmp_path / "out", report=False)
    text = sf.document_bundle(done.bundle).markdown
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    kinds = {part.type for token in tokens for part in token.children or ()}
    assert "link_open" not in kinds
    assert not re.search(r"<b>", MarkdownIt().render(text))


def test_the_command_writes_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["sfumato", "document", str(STORED[0]), "--fill", "recipient=all=any", "--out", "doc.md"]
    monkeypatch.setattr(sys, "argv", command)
    run()
    text = Path("doc.md").read_text(encoding="utf-8")
    assert text == sf.document_bundle(STORED[0], fill={"recipient": "all=any"}).markdown
    assert "to fill in: controller" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*command[:-2], "--json"])
    run()
    assert json.loads(capsys.readouterr().out)["markdown"] == text
    monkeypatch.setattr(sys, "argv", [*command[:4], "recipient"])
    assert run() == 2
    assert "SF-USAGE-681" in capsys.readouterr().err


def run():
    try:
        main()
    except SystemExit as stop:
        return stop.code or 0
    return 0


def test_how_many_rows_can_be_singled_out_is_an_answer(tmp_path):
    """k-anonymity is about the quasi-identifiers: a column beside them that is published exactly tells rows apart."""
    table = pa.table({"age": [n % 40 for n in range(80)], "pay": [str(n) for n in range(80)]})
    study = sf.Study.from_mapping({
        "name": "pay",
        "source": table,
        "ledger": "memory:",
        "attributes": {
            "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 50]},
            "pay": {"role": "sensitive", "values": [str(n) for n in range(80)]},
        },
    })  # fmt: skip
    made = study.release(sf.Mondrian(k=5), out=tmp_path / "made", report=False)
    seen = plain(sf.document_bundle(made.bundle).markdown)
    assert "80 of 80 published records (100 %) are unique" in seen and "published exactly: pay." in seen
    assert "80 of 80" in (made.bundle / "README.md").read_text(encoding="utf-8")
