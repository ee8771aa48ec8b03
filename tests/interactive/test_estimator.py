"""The estimator as scikit-learn knows one, and as the ledger knows it."""

import hashlib
import json
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import sfumato as sf
from sfumato.errors import BudgetError, InternalError, PublishError, StudyError, UsageError, VerifyError
from sfumato.interactive import DiffPC45, growing
from sfumato.workflow import learn
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

RAW = {
    "age": [23, 35, 41, 58, 62, 29] * 60,
    "job": ["Engineer", "Dancer", "Lawyer", "Writer", "Lawyer", "Dancer"] * 60,
    "who": [f"p{n // 2}" for n in range(360)],
    "income": ["<=50K", "<=50K", ">50K", ">50K", ">50K", "<=50K"] * 60,
}
JOBS = {"Any": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}}


def study(**changes):
    fields = {
        "name": "people",
        "source": pa.table(RAW),
        "privacy": {"unit": "record", "budget": 30},
        "attributes": {
            "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 120]},
            "job": {"role": "quasi_identifier", "taxonomy": JOBS, "missing": "suppress", "outside": "suppress"},
            "income": {"role": "class", "values": ["<=50K", ">50K"]},
        },
        **changes,
    }
    return sf.Study.from_mapping(fields)


@pytest.fixture(scope="module")
def fitted():
    return study().learn(DiffPC45("20", depth=2), insecure_seed=3)


def test_parameters_go_in_and_out():
    estimator = DiffPC45("0.5", depth=3, criterion="gini", prune=False, branch="values")
    assert estimator.get_params() == {
        "epsilon": "0.5", "depth": 3, "criterion": "gini", "prune": False, "branch": "values",
    }  # fmt: skip
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.set_params(depth=4).depth == 4
    assert is_classifier(estimator)
    assert repr(DiffPC45(depth=7)) == "DiffPC45(depth=7)"


def test_wrong_parameters_are_found_when_it_learns_and_cost_nothing():
    opened = study()
    with raises_code(StudyError, "SF-STUDY-109", match="no score called 'luck'"):
        opened.learn(DiffPC45(criterion="luck"))
    assert opened.ledger.spent("people") == 0


def test_before_it_has_learnt_it_says_so():
    for ask in (lambda e: e.predict(RAW), lambda e: e.predict_proba(RAW), DiffPC45.to_text, DiffPC45.to_json):
        with pytest.raises(NotFittedError):
            ask(DiffPC45())


def test_it_learns_from_a_study_and_from_nothing_else():
    with raises_code(UsageError, "SF-USAGE-045"):
        DiffPC45().fit(pd.DataFrame(RAW))
    with pytest.raises(ValueError, match="learns from a study"):
        DiffPC45().fit(study(), RAW["income"])
    opened = study()
    estimator = DiffPC45("1/3")
    assert estimator.fit(opened) is estimator
    assert opened.ledger.spent("people") == estimator.method().spends


def test_shapes_and_attributes(fitted):
    shares = fitted.predict_proba(pd.DataFrame(RAW))
    assert shares.shape == (360, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert fitted.predict(RAW).shape == (360,)
    assert fitted.classes_.tolist() == ["<=50K", ">50K"]
    assert fitted.n_features_in_ == 2
    assert fitted.feature_names_in_.tolist() == ["age", "job"]
    assert set(fitted.predict(RAW)) <= set(fitted.classes_)
    assert fitted.score(RAW, RAW["income"]) > 0.9


def test_every_form_of_records_gives_the_same(fitted):
    rows = [[a, j] for a, j in zip(RAW["age"], RAW["job"], strict=True)]
    expected = fitted.predict(pd.DataFrame(RAW)).tolist()
    for form in (pl.DataFrame(RAW), pa.table(RAW), RAW, rows, np.array(rows, dtype=object)):
        assert fitted.predict(form).tolist() == expected


def test_values_that_are_missing_or_unknown_are_judged_all_the_same(fitted):
    strange = {"age": [None, 300, -5, "x"], "job": [None, "Astronaut", "", float("nan")]}
    assert fitted.predict_proba(strange).shape == (4, 2)
    assert fitted.predict_proba(strange)[0].tolist() == fitted.model_.tree.shares[0].tolist()


def test_records_it_cannot_take_are_refused(fitted):
    with raises_code(UsageError, "SF-USAGE-047", match="no column 'job'"):
        fitted.predict({"age": [1]})
    with raises_code(UsageError, "SF-USAGE-047", match="no column 'job'"):
        fitted.predict(pd.DataFrame({"age": [1]}))
    with raises_code(UsageError, "SF-USAGE-048"):
        fitted.predict({"age": [1], "job": []})
    with raises_code(UsageError, "SF-USAGE-056", match="expecting 2 features"):
        fitted.predict([[1, "Lawyer", 3]])


def test_it_survives_pickling_and_a_file(fitted, tmp_path):
    assert pickle.loads(pickle.dumps(fitted)).predict(RAW).tolist() == fitted.predict(RAW).tolist()
    path = fitted.save(tmp_path / "model.json")
    again = DiffPC45.load(path)
    assert again.get_params() == fitted.get_params()
    assert again.to_json() == fitted.to_json()
    assert again.predict(RAW).tolist() == fitted.predict(RAW).tolist()
    with raises_code(UsageError, "SF-USAGE-046"):
        fitted.save(path)
    path.write_text("{", encoding="utf-8")
    with raises_code(VerifyError, "SF-VERIFY-110"):
        DiffPC45.load(path)


def test_a_seed_repeats_and_promises_nothing(fitted):
    again = study().learn(DiffPC45("20", depth=2), insecure_seed=3)
    assert again.to_json()["nodes"] == fitted.to_json()["nodes"]
    assert fitted.to_json()["guarantee"] == "none (seeded for testing)"
    assert fitted.to_json()["epsilon"] is None


# --- the ledger ---


def test_the_ledger_knows_the_model_and_the_file(tmp_path):
    opened, out = study(), tmp_path / "model.json"
    estimator = opened.learn(DiffPC45("1", depth=3), out=out)
    (entry,) = opened.ledger.entries("people")
    assert (entry.state, entry.method, entry.epsilon) == ("done", "diffp-c4.5", 1)
    assert entry.bundle == hashlib.sha256(out.read_bytes()).hexdigest()
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told == estimator.to_json()
    assert told["ledger"] == entry.hash
    assert told["epsilon"] == "1"
    assert json.loads(entry.recipe)["parameters"] == {
        "branch": "taxonomy", "depth": 3, "epsilon": "1", "prune": True, "score": "max",
    }  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_one_model_and_its_budget_is_gone():
    opened = study(privacy={"unit": "record", "budget": 1})
    opened.learn(DiffPC45("1"))
    with raises_code(BudgetError, "SF-BUDGET-003", match="0 is left"):
        opened.learn(DiffPC45("0.01"))
    with raises_code(BudgetError, "SF-BUDGET-003", match="0 is left"):
        opened.release(sf.DiffGen(epsilon="0.01", h=1))


def test_what_does_not_fit_leaves_no_entry_and_no_file(tmp_path):
    opened, out = study(privacy={"unit": "record", "budget": 1}), tmp_path / "model.json"
    with pytest.raises(BudgetError):
        opened.learn(DiffPC45("2"), out=out)
    assert not out.exists()
    assert opened.ledger.entries("people") == ()


def test_a_file_that_is_there_is_not_touched_and_costs_nothing(tmp_path):
    opened, out = study(), tmp_path / "model.json"
    out.write_text("mine", encoding="utf-8")
    with raises_code(PublishError, "SF-PUBLISH-020"):
        opened.learn(DiffPC45(), out=out)
    with raises_code(PublishError, "SF-PUBLISH-004"):
        opened.learn(DiffPC45(), out=tmp_path / "no" / "model.json")
    assert out.read_text(encoding="utf-8") == "mine"
    assert opened.ledger.spent("people") == 0


def test_the_entry_is_there_before_any_noise_and_a_failure_stays_spent(monkeypatch, tmp_path):
    opened, out, states = study(), tmp_path / "model.json", []

    def fails(*_, **__):
        states.extend(entry.state for entry in opened.ledger.entries("people"))
        raise InternalError("the noise ran out")

    monkeypatch.setattr(growing, "noisy_counts", fails)
    with pytest.raises(InternalError):
        opened.learn(DiffPC45("1"), out=out)
    assert states == ["opened"]
    assert [entry.state for entry in opened.ledger.entries("people")] == ["failed"]
    assert opened.ledger.spent("people") == 1
    assert list(tmp_path.iterdir()) == []


def test_persons_run_at_a_part_of_epsilon():
    attributes = {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 120]},
        "who": {"role": "identifier"},
        "income": {"role": "class", "values": ["<=50K", ">50K"]},
    }
    unit = {"unit": {"person": "who", "at_most": 2}, "budget": 4}
    opened = study(privacy=unit, attributes=attributes)
    told = opened.learn(DiffPC45("1", depth=2)).to_json()
    assert sum(Fraction(line["epsilon"]) for line in told["budget_breakdown"]) == Fraction("1/2")
    assert "their ε add up" in told["composition"]
    assert told["composition"].endswith("the breakdown is per record, and a person has at most 2 of them")
    assert opened.ledger.spent("people") == 1
    assert told["unit"] == "one person with at most 2 records"


def test_for_records_the_budget_breakdown_is_the_whole_of_epsilon():
    told = study().learn(DiffPC45("1", depth=2)).to_json()
    assert sum(Fraction(line["epsilon"]) for line in told["budget_breakdown"]) == 1
    assert "their ε add up" in told["composition"] and "person" not in told["composition"]


def test_observed_domains_and_missing_budgets_are_refused():
    attributes = {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 120], "domain": "observed"},
        "income": {"role": "class", "values": ["<=50K", ">50K"]},
    }
    opened = study(attributes=attributes)
    with raises_code(StudyError, "SF-STUDY-064"):
        opened.learn(DiffPC45())
    assert opened.ledger.entries("people") == ()
    with raises_code(StudyError, "SF-STUDY-214"):
        study(privacy={"unit": "record"}).learn(DiffPC45())


def test_a_study_in_memory_needs_its_ledger():
    with raises_code(StudyError, "SF-STUDY-209"):
        learn(study().declared, DiffPC45())


def test_it_is_reached_by_name():
    assert sf.interactive.DiffPC45 is sf.DiffPC45 is DiffPC45
    with pytest.raises(AttributeError):
        _ = sf.interactive.Forest
