"""ARCHITECTURE's layers are those that import-linter holds."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_layers_are_the_real_ones():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    held = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    real = {path.stem for path in (ROOT / "src" / "sfumato").iterdir() if path.suffix in {"", ".py"}}
    held = [[name for name in layer if name in real] for layer in held]
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Layers")[1].split("Siblings in a layer")[0]
    lines = [re.match(r"    ((?:\w+ │ )*\w+)(?:  |$)", line) for line in text.splitlines()]
    assert [found[1].split(" │ ") for found in lines if found] == [layer for layer in held if layer]


def test_every_command_and_stage_of_the_picture_exists():
    text = (
        (ROOT / "ARCHITECTURE.md")
        .read_text(encoding="utf-8")
        .split("## Data flows one way")[1]
        .split("The measures")[0]
    )
    for module in ("workflow/make_release", "study/purpose", "release/form"):
        assert module in text and (ROOT / "src" / "sfumato" / f"{module}.py").is_file()
    assert "(later)" not in text
