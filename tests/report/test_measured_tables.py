"""The owner's report of measured tables: where ε went, how much noise there is, and what the guarantee is not."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import sfumato as sf
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.report.measured_tables import tables_sections
from tests.small_domains import JOB, counter, grid, view

VIEW = view(n=grid(0, 9), job=JOB)
CODES = {"n": np.arange(200) % 10, "job": np.arange(200) % 4, "class": np.arange(200) % 2}


@pytest.mark.parametrize("method", [sf.Staged(epsilon=2), sf.Marginals(epsilon=2)], ids=lambda method: method.name)
def test_it_tells_where_epsilon_went_and_how_much_noise_there_is(method):
    accountant = Accountant(Fraction(2))
    draft = method.draft(VIEW, counter(VIEW, CODES), Context(accountant=accountant, source=InsecureSource(3)))
    draft = replace(draft, guarantee=draft.guarantee.with_breakdown(accountant.breakdown))
    made = SimpleNamespace(stated=("it is private", "the unit is a record"), left="0.5")
    found = tables_sections(draft, made, {})
    steps = found["breakdown"].lines
    assert len(steps) == len(accountant.breakdown)
    assert sum(Fraction(epsilon) for _, epsilon, _ in steps) == pytest.approx(2)
    tiles = {tile.means: tile.value for tile in found["tiles"]}
    assert tiles["tables are published, each with all its cells"] == str(len(draft.content.measured.counts))
    assert "No record of the table is published" in found["published"]
    assert any("adds up" in sentence for sentence in found["not_guaranteed"])
