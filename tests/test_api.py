"""The Python side: the same way as the command line, with tables in memory."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.api import next_folder
from sfumato.errors import BudgetError, StudyError, UsageError
from sfumato.study.recipe import Chosen, Recipe
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

JOBS = ["Engineer", "Dancer", "Lawyer", "Writer"]
TABLE = pa.table(
    {
        "person": [f"p{n}" for n in range(200)],
        "job": [JOBS[n % 4] for n in range(200)],
        "income": [("<=50K", ">50K")[n % 4 in (0, 2)] for n in range(200)],
    }
)


def study(**changes):
    fields = {
        "name": "people",
        "source": TABLE,
        "privacy": {"budget": "1"},
        "attributes": {
            "person": {"role": "identifier"},
            "job": {"role": "quasi_identifier", "values": JOBS},
            "income": {"role": "class", "values": ["<=50K", ">50K"]},
        },
        "purposes": {"few": {"attributes": ["job", "income"]}},
        "releases": {"dp": {"method": "diffgen", "epsilon": "0.5", "h": 1}},
    }
    return sf.Study.from_mapping(fields | changes)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_in_memory_becomes_a_release(folder):
    people = study()
    plan = people.plan(sf.DiffGen(epsilon="0.5", h=1))
    assert (plan.epsilon, plan.left, plan.fits) == (Fraction(1, 2), 1, True)
    published = people.release(sf.DiffGen(epsilon="0.5", h=1))
    assert published.bundle == Path("releases/diffgen-1/bundle")
    assert published.left == Fraction(1, 2)
    features, classes, weights = published.open().to_training()
    assert features.shape[0] == len(classes) == len(weights)
    assert sf.verify_bundle(str(published.bundle), sha256=published.sha256).ok
    assert [e.state for e in people.ledger.entries("people")] == ["done"]


def test_the_next_folder_is_a_free_one():
    people = study()
    first, second = (people.release(sf.ContingencyTable(epsilon="0.1"), report=False) for _ in range(2))
    assert [p.folder.name for p in (first, second)] == ["contingency-1", "contingency-2"]


@pytest.mark.parametrize("name", ["../../x", "/abs", "a:b", ".."])
def test_a_name_is_not_a_path_in_python_either(name, folder):
    declared = study().declared
    with raises_code(StudyError, "SF-STUDY-023", match="cannot be the name of a folder"):
        next_folder(declared, Recipe(name=name, method="diffgen"))
    swept = replace(declared, base=folder, sweeps={name: ({"method": "mondrian", "k": [2]},)})
    with raises_code(StudyError, "SF-STUDY-023", match="the sweep is called"):
        sf.frontier(swept, name)
    assert list(folder.iterdir()) == []


def test_budgets_hold_in_python_too():
    people = study()
    people.release("dp", out="first", report=False)
    assert not people.plan(sf.DiffGen(epsilon="0.6")).fits
    with raises_code(BudgetError, "SF-BUDGET-003", match=r"0\.5 is left of the study's 1"):
        people.release(sf.DiffGen(epsilon="0.6"), out="second", report=False)
    assert not Path("second").exists()


def test_a_declared_release_keeps_its_own_purpose():
    people = study()
    with raises_code(UsageError, "SF-USAGE-001"):
        people.release("dp", purpose="few")
    with raises_code(UsageError, "SF-USAGE-001"):
        people.release("dp", chosen=Chosen.ON_RAW)
    with raises_code(StudyError, "SF-STUDY-182", match="no purpose 'many'"):
        people.plan(sf.DiffGen(epsilon=1), purpose="many")


def test_how_parameters_were_chosen_is_in_the_guarantee():
    published = study().release(
        sf.DiffGen(epsilon=1, h=1), chosen="chosen on the raw table", purpose="few", report=False
    )
    assert "ε does not cover that choice" in published.open().guarantee
    with raises_code(UsageError, "SF-USAGE-002", match="use one of: fixed in advance"):
        study().recipe(sf.DiffGen(epsilon=1), chosen="by magic")


def test_a_seed_repeats_the_noise_and_takes_the_promise_away():
    method = sf.ContingencyTable(epsilon=1)
    tables = [
        study(ledger="memory:").release(method, out=f"s{n}", insecure_seed=4, report=False).open() for n in range(2)
    ]
    assert tables[0].to_arrow() == tables[1].to_arrow()
    assert tables[0].guarantee.startswith("none")


@pytest.mark.usefixtures("seeded")
def test_the_owners_own_looks():
    people = study()
    assert all(report.fits for report in people.check())
    found = people.accuracy(sf.DiffGen(epsilon=100, h=2), runs=2)
    assert found.ca.mean > found.la.mean
    assert not people.audit("dp", runs=400).violates
    assert people.ledger.entries("people") == ()


def test_progress_is_told():
    told = []
    study().release("dp", progress=lambda what, done, total: told.append((what, done, total)))
    assert told[0][0] == "opening the table"
    assert ("publishing", 1, 1) in told
    assert told[-1][0] == "writing your report"


def test_describe_takes_tables_and_paths(folder):
    proposal = sf.describe(TABLE, target="income")
    assert (proposal.name, proposal.role("person").value) == ("table", "identifier")
    (folder / "parts").mkdir()
    for n in range(2):
        pa.parquet.write_table(TABLE, folder / "parts" / f"{n}.parquet")
    assert sf.describe("parts/*.parquet").name == "parts"
    assert sf.describe(folder / "parts" / "0.parquet", name="mine").name == "mine"


def test_the_public_names():
    assert dir(sf) == sf.__all__
    assert all(getattr(sf, name) is not None for name in sf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        _ = sf.anonymise


def test_frontier_stays_the_function_when_the_package_of_that_name_is_imported():
    code = "import sfumato as sf; from sfumato.frontier import sweep; import sfumato.api; assert callable(sf.frontier)"
    code += "; from sfumato import frontier; assert frontier is sf.frontier is sfumato.api.frontier"
    source = str(Path(sf.__file__).parents[1])
    subprocess.run([sys.executable, "-W", "error", "-c", code], env={"PYTHONPATH": source}, check=True)
