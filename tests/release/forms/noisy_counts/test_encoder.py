import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Grid
from sfumato.errors import UsageError
from sfumato.release.features import Features
from sfumato.release.forms.noisy_counts.encoder import RegionEncoder
from tests.raising import raises_code
from tests.release.conftest import AGE, CUTS, DAY, JOB, PAY, cuts_of, small_domains

DOMAINS = (AGE, PAY, DAY, JOB)
NAMES = ("age", "pay", "day", "job")
RAW = {
    "age": [5, 39, 40, 300, None],
    "pay": [0.1, 1.99, 2.0, -3.0, 9.9],
    "day": [dt.date(2004, 1, 1), dt.date(2004, 4, 9), dt.date(2004, 4, 10), dt.date(2020, 1, 1), dt.date(1990, 1, 1)],
    "job": ["Lawyer", "Dancer", None, "Astronaut", "Engineer"],
}
REGIONS = [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 2], [1, 0, 1, 3], [2, 1, 0, 0]]


@pytest.fixture
def encoder():
    return RegionEncoder(tuple(zip(NAMES, DOMAINS, CUTS, strict=True)))


def forms():
    rows = [list(row) for row in zip(*RAW.values(), strict=True)]
    return {
        "pandas": pd.DataFrame(RAW),
        "pandas, any order": pd.DataFrame(RAW)[["job", "day", "pay", "age"]].assign(more=1),
        "pandas, own types": pd.DataFrame(RAW).convert_dtypes(),
        "pandas, timestamps": pd.DataFrame(RAW).assign(day=pd.to_datetime(pd.DataFrame(RAW)["day"])),
        "pandas, categories": pd.DataFrame(RAW).astype({"job": "category"}),
        "polars": pl.DataFrame(RAW),
        "arrow": pa.table(RAW),
        "lists": rows,
        "array": np.array(rows, dtype=object),
        "text": pd.DataFrame(RAW).astype(object).where(lambda f: f.notna(), "").astype(str),
    }


@pytest.mark.parametrize("form", forms())
def test_every_form_of_table_gives_the_same_regions(encoder, form):
    assert encoder.regions(forms()[form]).tolist() == REGIONS
    expected = Features(CUTS, DOMAINS).matrix(np.array(REGIONS))
    np.testing.assert_array_equal(encoder.transform(forms()[form]), expected)


def values(domain):
    odd = st.sampled_from([None, float("nan"), "", " ", "odd", float("inf"), -1e300, np.float64(1), np.nan])
    if isinstance(domain, Grid):
        return odd | st.integers(-20, 20) | st.floats(-20, 20)
    return odd | st.sampled_from(domain.taxonomy.labels)


@given(st.data())
def test_encoding_is_coding_and_cutting(data):
    domains = data.draw(small_domains())
    cuts = data.draw(cuts_of(domains))
    rows = data.draw(st.lists(st.tuples(*(values(domain) for domain in domains.values())), min_size=1, max_size=10))
    encoder = RegionEncoder(tuple(zip(domains, domains.values(), cuts, strict=True)))
    columns = list(zip(*rows, strict=True))
    expected = [cut.regions(d.encode(c)) for cut, d, c in zip(cuts, domains.values(), columns, strict=True)]
    assert encoder.regions(rows).T.tolist() == [column.tolist() for column in expected]
    frame = pd.DataFrame({n: pd.Series(c, dtype=object) for n, c in zip(domains, columns, strict=True)})
    matrix = encoder.transform(frame)
    np.testing.assert_array_equal(matrix, Features(cuts, tuple(domains.values())).matrix(np.stack(expected, axis=1)))
    assert matrix.shape == (len(rows), len(encoder.get_feature_names_out()))
    assert np.isfinite(matrix).all()


def test_the_groups_own_labels_meet_their_training_rows(release):
    matrix, _, _ = release.to_training()
    sampled = release.sample(seed=3)
    again = release.encoder().transform(sampled)
    np.testing.assert_array_equal(again, np.repeat(matrix, release.groups.counts, axis=0))


def test_a_record_the_rules_leave_out_still_gets_a_row():
    numbers = Grid(lower=AGE.lower, upper=AGE.upper, step=AGE.step, unit="integer")
    words = type(JOB)(taxonomy=JOB.taxonomy)
    encoder = RegionEncoder((("age", numbers, Cut("age", (0, 50), 100)), ("job", words, Cut("job", (0, 2, 4, 5), 6))))
    assert encoder.regions([[None, "Astronaut"]]).tolist() == [[-1, -1]]
    assert encoder.transform([[None, "Astronaut"]]).tolist() == [[49.5, 0, 0, 0, 0]]


def test_it_works_in_a_pipeline(release):
    matrix, y, w = release.to_training()
    model = make_pipeline(release.encoder(), LogisticRegression(max_iter=5000).fit(matrix, y, sample_weight=w))
    assert set(model.predict(pd.DataFrame(RAW))) <= {"<=50K", ">50K"}
    whole = make_pipeline(release.encoder(), LogisticRegression(max_iter=5000))
    whole.fit(pd.DataFrame(RAW), ["a", "b", "a", "b", "a"])
    assert whole.predict(pl.DataFrame(RAW)).shape == (5,)


@pytest.mark.parametrize(("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_names_the_columns(encoder, output, kind):
    for form in (pd.DataFrame(RAW, index=list("abcde")), pl.DataFrame(RAW), forms()["lists"]):
        table = encoder.set_output(transform=output).transform(form)
        assert isinstance(table, kind)
        assert list(table.columns) == encoder.get_feature_names_out().tolist()
    if output == "pandas":
        assert encoder.transform(pd.DataFrame(RAW, index=list("abcde"))).index.tolist() == list("abcde")


def test_it_is_fitted_from_birth_and_survives_cloning_and_pickling(encoder):
    check_is_fitted(encoder)
    assert encoder.fit(forms()["lists"]) is encoder
    for copy in (clone(encoder), pickle.loads(pickle.dumps(encoder))):
        assert copy.n_features_in_ == 4
        np.testing.assert_array_equal(copy.transform(forms()["lists"]), encoder.transform(forms()["lists"]))


def test_feature_names(encoder):
    names = encoder.get_feature_names_out().tolist()
    assert names[0] == "age"
    assert "job=Artist" in names
    assert encoder.get_feature_names_out(list(NAMES)).tolist() == names
    with pytest.raises(ValueError, match="not the predictors"):
        encoder.get_feature_names_out(["x"])


@pytest.mark.parametrize(
    ("records", "problem", "fix"),
    [
        (pd.DataFrame(RAW).drop(columns="pay"), "no column 'pay'", "age, pay, day, job"),
        ([[1, 2]], "X has 2 features, but RegionEncoder is expecting 4", "in this order: age, pay, day, job"),
        ([1, 2], "1 dimensions", "two-dimensional"),
        (np.zeros((2, 4), dtype=complex), "Complex data", "raw records"),
    ],
)
def test_records_that_do_not_fit_are_refused(encoder, records, problem, fix):
    for call in (encoder.fit, encoder.transform):
        with pytest.raises(UsageError) as caught:
            call(records)
        assert problem in caught.value.problem
        assert fix in caught.value.fix
        assert isinstance(caught.value, ValueError)


def test_a_sparse_matrix_is_refused(encoder):
    from scipy.sparse import csr_matrix

    with raises_code(UsageError, "SF-USAGE-053"):
        encoder.transform(csr_matrix((2, 4)))


def test_an_encoder_without_attributes_is_refused():
    with raises_code(UsageError, "SF-USAGE-052"):
        RegionEncoder().transform([[1]])


# The checks hand an estimator matrices of floats with 1 to 10 columns and expect that `fit` takes whatever comes. The
# encoder takes as many columns as its release has predictors, so it is checked once for each number of columns, and a
# check applies where it brings the right number. These cannot pass with any:
CANNOT_PASS = {
    "check_estimators_empty_data_messages": "a table without records is a fine table: it gives no rows",
    "check_n_features_in": "how many columns come in is known before `fit`: the release says it",
}


@pytest.fixture(scope="module")
def results():
    numbers = Grid(lower=AGE.lower, upper=AGE.upper, step=AGE.step)
    found = {}
    for columns in (1, 2, 3, 4, 5, 10):
        names = [f"a{i}" for i in range(columns)]
        encoder = RegionEncoder(tuple((name, numbers, Cut(name, (0, 1, 2, 5), 100)) for name in names))
        for result in check_estimator(encoder, on_fail=None, on_skip=None):
            found.setdefault(result["check_name"], {})[columns] = (result["status"], result["exception"])
    return found


def test_it_passes_scikit_learn_s_checks_where_they_apply(results):
    passed = {name for name, by in results.items() if any(status == "passed" for status, _ in by.values())}
    skipped = {name for name, by in results.items() if all(status == "skipped" for status, _ in by.values())}
    assert len(passed) > 35
    assert set(results) - passed - skipped == set(CANNOT_PASS)


def test_elsewhere_a_check_fails_for_the_number_of_columns_alone(results):
    for name, by_columns in results.items():
        for columns, (status, exception) in by_columns.items():
            if status == "failed" and name not in CANNOT_PASS:
                told = f"{exception} {exception.__cause__}"
                assert f"features, but RegionEncoder is expecting {columns} features" in told


def test_a_table_without_records_gives_no_rows(encoder):
    assert encoder.transform(pd.DataFrame(RAW).iloc[:0]).shape == (0, len(encoder.get_feature_names_out()))
