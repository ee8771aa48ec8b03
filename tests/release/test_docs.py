import json
from pathlib import Path

import pytest

from tests.pages.running import run_page

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "bundle.md"


def fields(value, above=""):
    """The names of all fields but those below lists and open mappings."""
    for name, inner in value.items():
        yield f"{above}{name}"
        if name in ("privacy", "method", "groups"):
            yield from (path for path in fields(inner, f"{name}.") if path.count(".") == 1)


def test_the_examples_run(bundle):
    ran, told = run_page(DOCS, bundle=bundle)
    assert ran >= 6 and not told


def test_every_field_of_the_manifest_is_explained(bundle):
    text = DOCS.read_text(encoding="utf-8")
    manifest = json.loads((bundle / "manifest.json").read_text())
    names = [name for name in fields(manifest) if name not in ("privacy", "method", "groups")]
    assert len(names) > 25
    assert [name for name in names if f"`{name}`" not in text] == []
    nested = [manifest["attributes"][0], manifest["attributes"][0]["domain"], manifest["attributes"][3]["domain"]]
    nested += [
        manifest["attributes"][0]["cut"],
        manifest["privacy"]["budget_breakdown"][0],
        manifest["files"]["data.csv"],
    ]
    assert [name for entry in nested for name in entry if f"`{name}`" not in text] == []


def test_every_file_of_the_bundle_is_explained(bundle):
    text = DOCS.read_text(encoding="utf-8")
    assert [path.name for path in bundle.iterdir() if f"`{path.name}`" not in text] == []


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_the_readme_s_own_code_runs(bundle, monkeypatch):
    import pandas as pd

    text = (bundle / "README.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    assert len(blocks) == 2
    monkeypatch.chdir(bundle)
    records = pd.DataFrame({"age": [30], "pay": [3.5], "day": ["2004-05-01"], "job": ["Dancer"]})
    for block in blocks:
        exec(block, {"new_records": records})
