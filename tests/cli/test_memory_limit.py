"""Every command that opens the table takes a memory limit and passes it on."""

import pytest

import sfumato as sf
from tests.cli.test_partition import clinic

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

COMMANDS = [
    "check study.yaml",
    "plan study.yaml k5",
    "release study.yaml k5",
    "report k5 --against study.yaml",
    "run study.yaml --only k5",
    "learn study.yaml --epsilon 1",
    "learn study.yaml --epsilon 1 --plan",
    "ask study.yaml --epsilon 1",
    "frontier study.yaml --workers 1",
    "evaluate measures k5 --against study.yaml",
    "evaluate measures study.yaml --table clinic.csv",
    "evaluate compare study.yaml k5 cut",
    "evaluate accuracy study.yaml k5",
    "evaluate link k5 --against study.yaml",
    "evaluate link study.yaml --table clinic.csv",
    "evaluate intersect k5 cut --against study.yaml",
    "evaluate max-k study.yaml",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    path = clinic(folder)
    path.write_text("privacy: {budget: 5}\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    for name in ("k5", "cut"):
        sf.Study.load(path).release(name, out=folder / name, report=False)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_limit_that_is_no_amount_of_memory_is_refused_by_the_engine(command, made, run, monkeypatch):
    monkeypatch.chdir(made)
    found = run(*command.split(), "--memory-limit", "plenty")
    assert found.code != 0
    assert "SF-USAGE-077" in found.out + found.err, found
