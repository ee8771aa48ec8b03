"""What the published model of measured tables makes an adversary believe of a person, given the quasi-identifiers.

The model generates records (`release.model.records`): the groups of the first stage with a class, those of each later
stage given score band and class, those of a remaining table given the predicted class. So the likelihood of groups is

    L = Σ_class w₁[cell₁, class] · Π_t w_t[band_t, cell_t, class] / Σ_cells w_t[band_t, ·, class] · Π share[predicted]

and bands and predicted class follow from the groups. It is evaluated for every group of the protected attribute, and
summed over attributes that the adversary does not know either. The tables know their noise: w and the shares are what a
fit with the known variance leaves of the counts. A synthetic record is one draw from this, and is never looked at.

The adversary knows the table's overall distribution P, as of every other release. So it takes the place of what the
model says of the protected attribute as a whole: Q(a | q) ∝ L(a | q)·P(a) / mean over people of L(a | q). Else the
noise of a marginal, which tells nothing of anybody, would count as a loss of everybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.evaluate.beliefs.noisy_beliefs import js_terms
from sfumato.evaluate.evidence import Evidence, distinct_rows
from sfumato.release.measured import MeasuredTables
from sfumato.release.model.fit import expected_cells
from sfumato.release.model.plug_in import PlugIn, Stage, band_of
from sfumato.release.model.records import expected_remaining, remaining_totals

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_LEAST: Final = 1e-9  # what a draw adds to every weight
_ROWS: Final = 200_000  # of people × values that are held at once
_MOST_ROWS: Final = 50_000_000


@dataclass(frozen=True, eq=False)
class ModelLosses:
    """JS(P, Q) of distinct people, by quasi-identifiers, and how many records of the table each stands for."""

    losses: Floats
    uncalibrated: Floats  # with the model's own shares in place of P
    records: Floats


def too_many(evidence: Evidence, tables: MeasuredTables, name: str) -> str | None:
    """Why the beliefs cannot be worked out: too many values that the adversary does not know."""
    unknown = prod(cut.total for cut in _unknown(evidence, tables, name))
    people, _ = evidence.people
    if unknown * (int(people.max(initial=-1)) + 1) <= _MOST_ROWS:
        return None
    return (
        f"the tables hold {unknown:,} combinations of values that an adversary does not know, which is too many to go "
        "through for every person"
    )


def model_losses(evidence: Evidence, tables: MeasuredTables, name: str, *, as_drawn: bool = False) -> ModelLosses:
    """The loss of each person of the table, for one protected attribute.

    ``as_drawn`` takes the likeliest numbers of each cell, from which synthetic records are drawn, many of them 0.
    """
    _, people = evidence.people
    records = people.counts.astype(np.float64)
    target = evidence.target
    of_class = target is not None and target.name == name
    cut = None if of_class else tables.cuts.get(name)
    if not of_class and (cut is None or cut.total == 1):
        none = np.zeros(len(records))
        return ModelLosses(none, none, records)
    value = evidence.column(name) if cut is None else cut.regions(evidence.column(name))
    many = tables.classes if cut is None else cut.total
    shares = np.bincount(value, weights=evidence.raw.counts, minlength=many) / max(evidence.records, 1)
    columns = [np.asarray(people.codes[:, n], np.int64) for n in range(people.codes.shape[1])]
    known = {
        attribute: tables.cuts[attribute].regions(column)
        for attribute, column in zip(people.attributes, columns, strict=True)
        if attribute in tables.cuts
    }
    alike, first = distinct_rows(list(known.values()), len(records))
    some = {attribute: groups[first] for attribute, groups in known.items()}
    weights = np.bincount(alike, weights=records, minlength=len(first)).astype(np.float64)
    model = _Model(evidence, tables, name, as_drawn=as_drawn)
    beliefs = np.empty((len(first), many))
    step = max(1, _ROWS // max(model.rows, 1))
    for start in range(0, len(first), step):
        here = slice(start, start + step)
        beliefs[here] = model.beliefs({attribute: groups[here] for attribute, groups in some.items()}, len(first[here]))
    fair, plain = fair_losses(beliefs, shares, weights)
    return ModelLosses(fair[alike], plain[alike], records)


def fair_losses(beliefs: Floats, shares: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """JS(P, Q) of each row of beliefs, with P in place of what the model says of all people, and as the model says it.

    ``shares`` are P, ``weights`` how many people each row stands for.
    """
    whole = weights @ beliefs / max(float(weights.sum()), 1.0)
    fair = beliefs * np.divide(shares, whole, out=np.zeros_like(whole), where=whole > 0)
    fair /= np.maximum(fair.sum(axis=1, keepdims=True), 1e-300)
    one, two = (
        np.clip(js_terms(np.broadcast_to(shares, q.shape), q).sum(axis=1), 0, np.log(2.0)) for q in (fair, beliefs)
    )
    return one, two


def _unknown(evidence: Evidence, tables: MeasuredTables, name: str) -> list[Cut]:
    """The attributes of stage tables that the adversary does not know, the protected one first."""
    quasi = set(evidence.shown.attributes)
    found = {c.attribute: c for table in tables.stages for c in table.cuts if c.attribute not in quasi}
    return sorted(found.values(), key=lambda cut: cut.attribute != name)


class _Model:
    """The likelihood of a protected attribute's groups, for people of whom the quasi-identifiers are known."""

    def __init__(self, evidence: Evidence, tables: MeasuredTables, name: str, *, as_drawn: bool) -> None:
        self._tables, self._name = tables, name
        self._plug_in = PlugIn(tables.stages)
        self._unknown = _unknown(evidence, tables, name)
        every = list(product(*(range(cut.total) for cut in self._unknown)))
        self._combinations = np.array(every, np.int64).reshape(len(every), len(self._unknown))
        target = evidence.target
        self._of_class = target is not None and target.name == name
        self._staged = bool(self._unknown) and self._unknown[0].attribute == name
        self._weights = [_stage_weights(stage, as_drawn=as_drawn) + _LEAST for stage in self._plug_in.stages]
        self._remaining = [(one.cut, _shares(one.counts, one.scale, as_drawn=as_drawn)) for one in tables.remaining]

    @property
    def rows(self) -> int:
        """How many combinations are gone through for a person."""
        return len(self._combinations)

    def beliefs(self, known: Mapping[str, Integers], size: int) -> Floats:
        """The share of each group of the protected attribute, or of each class; a row a person."""
        groups = {attribute: np.repeat(found, self.rows) for attribute, found in known.items()}
        for column, cut in enumerate(self._unknown):
            groups[cut.attribute] = np.tile(self._combinations[:, column], size)
        log, predicted = self._likelihood(groups, size * self.rows)
        log -= log.reshape(size, -1).max(axis=1).repeat(self.rows)[:, None]
        mass = np.exp(log)
        if self._of_class:
            found = mass.reshape(size, self.rows, -1).sum(axis=1)
        elif self._staged:
            values = self._unknown[0].total
            found = mass.sum(axis=1).reshape(size, values, -1).sum(axis=2)
        else:
            [shares] = [shares for cut, shares in self._remaining if cut.attribute == self._name]
            told = shares[predicted] if len(shares) > 1 else np.broadcast_to(shares[0], (len(mass), shares.shape[1]))
            found = np.einsum("prc,prv->pv", mass.reshape(size, self.rows, -1), told.reshape(size, self.rows, -1))
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def _likelihood(self, groups: Mapping[str, Integers], size: int) -> tuple[Floats, Integers]:
        """Log L of each class, and the class that the model predicts."""
        scores = np.tile(self._plug_in.first, (size, 1))
        log = np.zeros((size, self._tables.classes))
        for number, stage in enumerate(self._plug_in.stages):
            table = stage.table
            bands = band_of(scores) if number else np.zeros(size, np.int64)
            cell = bands
            for cut in table.cuts:
                cell = cell * cut.total + groups[cut.attribute]
            weights = self._weights[number]
            log += np.log(weights)[cell]
            if number:
                sums = weights.reshape(table.bands, -1, self._tables.classes).sum(axis=1)
                log -= np.log(sums)[bands]
            scores = scores + stage.update[cell]
        predicted = scores.argmax(axis=1).astype(np.int64)
        for cut, shares in self._remaining:
            if cut.attribute in groups and len(shares) > 1:  # else it tells the same of every class and value
                log += np.log(shares)[predicted, groups[cut.attribute]][:, None]
        return log, predicted


def _stage_weights(stage: Stage, *, as_drawn: bool) -> Floats:
    """How many records each cell has of each class."""
    if as_drawn:
        return stage.weights
    share, _ = stage.fit
    return np.asarray(share * expected_cells(stage.table)[:, None])


def _shares(counts: Integers, scale: float, *, as_drawn: bool) -> Floats:
    """The share of each group, a row for each predicted class, or one."""
    totals = (remaining_totals if as_drawn else expected_remaining)(counts, scale) + _LEAST
    return np.asarray(totals / totals.sum(axis=1, keepdims=True))
