"""A README keeps its form whatever names and values a study has, and its examples use public names alone."""

import ast
import re

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.wording import markdown_code, markdown_text

pytestmark = pytest.mark.error_rate(1e-9, reason="a class of 10 records vanishes at ε = 50 below e^(-200)")

NASTY = (
    "a|b",
    "`x` ``` y",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "back\\|slash",
    "*b* _i_ ~~s~~ &lt;",
    "![img](http://x)",
    "two\nlines\r\n| and | more |",
)


def unescaped(text):
    return re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), text)


@pytest.mark.parametrize("text", NASTY)
def test_text_comes_back_as_it_was_and_has_no_syntax(text):
    for found in (markdown_text(text), markdown_code(text)):
        bare = re.sub(r"^<code>|</code>$|^`|`$", "", found)
        assert unescaped(bare) == " ".join(text.split())
        assert "\n" not in found
        if not found.startswith("`"):
            assert not re.search(r"[\\`*\[\]<|]", bare)
        else:
            assert not re.search(r"[\\`|]", bare), "in a code span nothing else has a meaning"


def test_an_empty_name_opens_no_code_span():
    assert markdown_code("") == "<code></code>"


METHODS = {
    "groups": sf.Mondrian(k=2),
    "counts": sf.DiffGen(epsilon=50, h=1),
    "contingency": sf.ContingencyTable(epsilon=50),
}


def released(method, folder, values, names=("age", "job", "pay"), study="s", release=None):
    age, job, pay = names
    table = pa.table({age: [20, 30, 40, 50] * 5, job: [values[0], values[1]] * 10, pay: ["low", "high"] * 10})
    opened = sf.Study.from_mapping(
        {
            "name": study,
            "source": table,
            "privacy": {"budget": 200},
            "attributes": {
                age: {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
                job: {"role": "quasi_identifier", "values": list(values)},
                pay: {"role": "class", "values": ["low", "high"]},
            },
        }
    )
    return opened, opened.release(method, out=folder / "out")


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("nasty", NASTY[:-1])
def test_a_bundle_of_nasty_names_has_a_readme_in_form(kind, nasty, tmp_path):
    names = (f"age {nasty}", f"job {nasty}", f"pay {nasty}")
    _, done = released(METHODS[kind], tmp_path, (f"one {nasty}", f"two {nasty}"), names)
    text = (done.bundle / "README.md").read_text(encoding="utf-8")
    outside = re.sub(r"```python\n.*?\n```\n", "", text, flags=re.DOTALL)
    assert "<script" not in re.sub(r"`[^`\n]*`", "", outside)
    assert "](" not in re.sub(r"`[^`\n]*`", "", outside)
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert len(rows) >= 5
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}, "three columns each"
    for block in re.findall(r"```python\n(.*?)\n```\n", text, flags=re.DOTALL):
        ast.parse(block)
    assert len(re.findall(r"^ {0,3}```", text, flags=re.MULTILINE)) == 4, "a fence stands at the beginning of a line"


@pytest.mark.parametrize("kind", METHODS)
def test_examples_run_and_use_public_names_alone(kind, tmp_path, monkeypatch):
    _, done = released(METHODS[kind], tmp_path, ("a", "b"))
    text = (done.bundle / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(done.bundle)
    import pandas as pd

    for block in blocks:
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sfumato"):
                assert node.module == "sfumato", "a receiver needs no inner module"
                assert {name.name for name in node.names} <= set(sf.__all__)
            if isinstance(node, ast.Attribute):
                assert not node.attr.startswith("_")
        exec(block, {"new_records": pd.DataFrame({"age": [33], "job": ["a"]})})
