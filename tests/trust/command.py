"""The command line in this process: what it said and how it ended."""

import sys
from dataclasses import dataclass

import pytest

from sfumato.cli import main


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def all(self):
        return self.out + self.err


@pytest.fixture
def sfumato(monkeypatch, capsys):
    """Call `sfumato` with arguments, as from a shell."""

    def call(*arguments):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as left:
            code = left.code or 0
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call
