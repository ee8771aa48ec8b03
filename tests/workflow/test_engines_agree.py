"""The same study, the same recipe and the same draws: every engine gives the same release."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.methods import METHODS
from tests.contracts.test_wrong_types import LEAST
from tests.tables.engines import TESTED, loader

AGES = {"intervals": {"width": 10, "levels": 3}}
PAYS = {"intervals": {"width": 100, "levels": 2}}


def table():
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(17, 90, 400).astype(str),
            "pay": np.where(rng.random(400) < 0.05, np.nan, rng.random(400) * 1000),
            "town": rng.choice(["Ulm", "Bonn", "Jena", "?"], 400),
            "ill": rng.choice(list("abcd"), 400, p=[0.3, 0.3, 0.3, 0.1]),
            "dead": rng.choice(["no", "yes"], 400),
            "who": rng.integers(0, 300, 400),
        }
    )


def study(source, unit):
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": {"path": source, "missing": ["?"]},
            "privacy": {"budget": 10, "unit": unit},
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 119], "taxonomy": AGES},
                "pay": {
                    "role": "quasi_identifier",
                    "type": "number",
                    "bounds": [0, 1000],
                    "step": 10,
                    "taxonomy": PAYS,
                    "missing": "own_value",
                },
                "town": {"role": "quasi_identifier", "values": ["Ulm", "Bonn", "Jena"], "missing": "own_value"},
                "ill": {"role": "sensitive", "values": list("abcd")},
                "dead": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )


def published(source, unit, name, place):
    """The data files of a release, by name."""
    given = {"epsilon": "1/2"} if METHODS[name].needs.private else LEAST[name]
    study(source, unit).release(METHODS[name](**given), out=place, insecure_seed=7, report=False)
    return {path.name: path.read_bytes() for path in (place / "bundle").glob("*.csv")}


@pytest.fixture(scope="module")
def engine(request):
    return loader(request)


UNITS = [(name, "record") for name in METHODS]
UNITS += [(name, {"person": "who", "at_most": 2}) for name in METHODS if METHODS[name].needs.private]


QUICK_ON_SPARK = {("staged", "record"), ("contingency", "persons"), ("mondrian", "record")}


def cases():
    """Every method on every engine; on Spark most are slow."""
    for engine in TESTED:
        for name, unit in UNITS if engine != "duckdb" else ():
            slow = engine == "spark+local" and (name, unit if unit == "record" else "persons") not in QUICK_ON_SPARK
            yield pytest.param(engine, name, unit, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(("engine", "name", "unit"), list(cases()), ids=str, indirect=["engine"])
def test_a_release_does_not_depend_on_the_engine(engine, tmp_path, name, unit):
    pq.write_table(table(), tmp_path / "here.parquet")
    here = published(str(tmp_path / "here.parquet"), unit, name, tmp_path / "one")
    assert here
    assert published(engine.store(table()), unit, name, tmp_path / "two") == here
