"""Releases under a cap, recounted with pandas from the published records alone: no code of the method or the model.

Expected confidences are recounted twice: by the shares of the table (the statistics that the method was given), and by
those that the release itself shows, which is what its promise speaks of.
"""

import re
from fractions import Fraction
from importlib.resources import files
from itertools import product

import numpy as np
import pandas as pd
import pytest

from papers.tables.acs import OCCUPATION, Survey
from papers.tables.adult import SIX, occupations
from sfumato.api import Study
from sfumato.ledger.memory import MemoryLedger
from sfumato.methods import ConfidenceCap

pytestmark = pytest.mark.usefixtures("seeded")

GRID = list(product(("0.5", "0.9", "1"), ("0.3", "0.6", "1")))
QUICK = {("0.5", "0.3"), ("0.9", "1"), ("1", "0.6")}  # each rate and each distortion once
CAPS = pytest.mark.parametrize(
    ("rate", "distortion"), [pytest.param(*cap, marks=[] if cap in QUICK else pytest.mark.slow) for cap in GRID]
)
ROOTS = ("Any", "*")


def members(label, codes, trees):
    """Which codes (0 or 1 each) a published label stands for."""
    if isinstance(codes[0], int):
        found = re.fullmatch(r"\[(\d+), (\d+)([)\]])", label)
        if not found:
            return np.array([code == int(label) for code in codes], float)
        low, high, end = int(found[1]), int(found[2]), found[3]
        return np.array([low <= code < high or (end == "]" and code == high) for code in codes], float)
    if label in codes:
        return np.array([code == label for code in codes], float)
    if trees is not None and (trees == label).to_numpy().any():
        inside = set(trees[(trees == label).any(axis=1)][0])
        return np.array([code in inside for code in codes], float)
    assert label in ROOTS, label
    return np.ones(len(codes))


def shown_shares(regions, records):
    """Narrow regions first; a wider one as those inside it, evenly where there are none."""
    mass = np.zeros(regions.shape[1])
    widths = regions.sum(axis=1)
    for width in sorted(set(widths)):
        before = mass.copy()
        for region, count in zip(regions[widths == width], records[widths == width], strict=True):
            inside = before @ region
            mass += count * region * (before / inside if inside else 1 / width)
    return mass / mass.sum()


def broken(published, raw, quasi, sensitive, rate, domains, trees):
    """The rows (region, value) that are told too surely, by the table's shares and by those that are shown."""
    n = len(published)
    text = published[[*quasi, sensitive]].astype(str)
    sizes = text.groupby(quasi, sort=False)[sensitive].transform("size")
    pairs = text.groupby([*quasi, sensitive], sort=False)[sensitive].transform("size")
    observed = float(rate) * pairs / sizes
    by_table = text[sensitive].map(raw[sensitive].astype(str).value_counts(normalize=True)).astype(float)
    by_release = text[sensitive].map(text[sensitive].value_counts(normalize=True)).astype(float)
    for name in quasi:
        codes = domains[name]
        labels = text[name].value_counts()
        regions = np.stack([members(label, codes, trees.get(name)) for label in labels.index])
        counted = raw[name].value_counts(normalize=True).reindex(codes, fill_value=0.0).to_numpy()
        by_table *= text[name].map(dict(zip(labels.index, regions @ counted, strict=True))).astype(float)
        shown = shown_shares(regions, labels.to_numpy())
        by_release *= text[name].map(dict(zip(labels.index, regions @ shown, strict=True))).astype(float)
    return [int((observed > 1 - (1 - chance) ** n + 1e-9).sum()) for chance in (by_table, by_release)]


def released(study, rate, distortion, folder):
    opened = Study(study, ledger=MemoryLedger())  # else there would be one beside the packaged table
    table = opened.release(ConfidenceCap(rate=rate, distortion=distortion), out=folder, report=False).open().to_pandas()
    kept = table[~table["suppressed"].astype(bool)] if "suppressed" in table else table
    return len(table), kept


@pytest.fixture(scope="module")
def survey(shared_data):
    """A sample of 25,000 records, with its hierarchies as pandas reads them."""
    loaded = Survey.load(shared_data)
    ((_, records),) = loaded.samples((25_000,))
    folder = shared_data / "acs_pums_2024" / "hierarchies"
    trees = {
        name: pd.read_csv(folder / f"{file}.csv", dtype=str) for name, file in (("education", "schl"), ("state",) * 2)
    }
    trees = {name: tree.set_axis(range(tree.shape[1]), axis=1) for name, tree in trees.items()}
    raw = records.to_pandas()
    domains = {
        "age": list(range(15, 100)), "sex": ["1", "2"], "marital": list("12345"), "race": list("123456789"),
        "education": list(trees["education"][0]), "state": list(trees["state"][0]),
    }  # fmt: skip
    return loaded.study(records, OCCUPATION), raw, domains, trees


@CAPS
def test_every_published_record_of_the_survey_keeps_the_cap(survey, rate, distortion, tmp_path):
    study, raw, domains, trees = survey
    drawn, kept = released(study, rate, distortion, tmp_path / "out")
    assert drawn == int(25_000 * Fraction(rate))
    assert len(kept) > (0 if distortion == "0.3" else 0.9 * drawn)
    assert broken(kept, raw, list(domains), OCCUPATION, rate, domains, trees) == [0, 0]


def test_the_recount_finds_what_is_broken(survey):
    """Records as they are break it: the recount is no rubber stamp."""
    _, raw, domains, trees = survey
    by_table, by_release = broken(raw, raw, list(domains), OCCUPATION, "0.9", domains, trees)
    assert by_table == by_release > 10_000, "exact values show the table's own shares"


@pytest.fixture(scope="module")
def adult():
    study = occupations()
    folder = files("sfumato") / "data" / "adult"
    raw = pd.read_parquet(str(folder / "adult.parquet"))
    names = [name for name in SIX if name != "age"]
    trees = {
        name: pd.DataFrame(
            [line.split(";") for line in (folder / f"{name}.csv").read_text("utf-8").split("\n") if line]
        )
        for name in names
    }
    return study, raw, {"age": list(range(121)), **{name: list(trees[name][0]) for name in names}}, trees


@CAPS
def test_every_published_record_of_adult_keeps_the_cap(adult, rate, distortion, tmp_path):
    study, raw, domains, trees = adult
    drawn, kept = released(study, rate, distortion, tmp_path / "out")
    assert drawn == int(len(raw) * Fraction(rate))
    assert len(kept) > 0
    assert broken(kept, raw, list(SIX), "occupation", rate, domains, trees) == [0, 0]
