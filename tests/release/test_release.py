import datetime as dt
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Grid
from sfumato.errors import UsageError
from sfumato.release.forms.noisy_counts.count_table import layout_of
from sfumato.release.release import Release
from sfumato.release.sample import sample
from tests.raising import raises_code
from tests.release.conftest import AGE, CUTS, DAY, INCOME, JOB, PAY, draft_of, drafts, publish, small_draft

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


def test_a_release_opens_from_its_folder_or_the_one_above(bundle):
    assert len(Release.open(bundle).groups) == len(Release.open(str(bundle.parent)).groups) == 6


def test_what_a_release_knows(release):
    assert release.cuts == {cut.attribute: cut for cut in CUTS}
    assert release.domains == {"age": AGE, "pay": PAY, "day": DAY, "job": JOB, "income": INCOME}
    assert release.classes == ("<=50K", ">50K")
    assert release.guarantee.startswith("This release is ε-differentially private with ε = 1 ")
    assert release.groups.counts.tolist() == [7, 3, 12, 5, 9, 2]


def test_tables_are_those_of_the_file(bundle, release):
    rows = pq.read_table(bundle / "data.parquet").to_pylist()
    assert release.to_arrow().to_pylist() == rows
    assert release.to_pandas().to_dict("records") == rows
    assert release.to_polars().to_dicts() == rows
    assert isinstance(release.to_pandas(), pd.DataFrame)
    assert isinstance(release.to_polars(), pl.DataFrame)


def test_training_data_are_numbers_labels_and_weights(release):
    matrix, y, w = release.to_training()
    names = list(release.features.names)
    assert matrix.shape == (6, len(names))
    assert np.isfinite(matrix).all()
    assert y.tolist() == ["<=50K", ">50K", "<=50K", ">50K", ">50K", "<=50K"]
    assert w.tolist() == [7.0, 3.0, 12.0, 5.0, 9.0, 2.0]
    assert matrix[:, names.index("job=Artist")].tolist() == [0, 0, 1, 0, 0, 1]
    assert matrix[:, names.index("pay")].tolist() == [1, 1, 6, 1, 6, 6]
    assert matrix[:, names.index("age missing")].tolist() == [0, 0, 0, 0, 0, 1]


def test_training_data_as_frames(release):
    matrix, y, w = release.to_training(as_frame=True)
    assert matrix.columns.tolist() == list(release.features.names)
    assert (y.name, w.name) == ("income", "count")
    np.testing.assert_array_equal(matrix.to_numpy(), release.to_training()[0])


def test_an_attribute_in_one_region_is_left_out(tmp_path):
    draft = draft_of({"age": AGE, "job": JOB}, [Cut("age", (0,), 101), Cut("job", (0, 2, 4, 5), 6)], [(0, 1, 0, 4)])
    release = Release.open(publish(draft, tmp_path).path)
    assert release.features.names == ("job=Professional", "job=Artist", "job=(missing)", "job=(other)")


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_named(release, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with raises_code(UsageError, "SF-USAGE-063", match=f"{package} is not installed"):
        getattr(release, f"to_{package}")()


def test_a_sample_has_a_record_for_every_count(release):
    table = release.sample(seed=1)
    assert table.num_rows == 38
    assert [str(t) for t in table.schema.types] == ["int64", "double", "date32[day]", "string", "string"]
    first = table.slice(0, 7).to_pylist()
    for record in first:
        assert 0 <= record["age"] < 40
        assert record["pay"] * 4 == int(record["pay"] * 4) < 8
        assert dt.date(2004, 1, 1) <= record["day"] < dt.date(2004, 4, 10)
        assert record["job"] in ("Engineer", "Lawyer")
        assert record["income"] == "<=50K"
    assert table.slice(36).column("age").to_pylist() == [None, None]
    assert table.slice(10, 12).column("job").unique().to_pylist() != [None]


def test_a_sample_depends_on_its_seed_alone(release):
    assert release.sample(100, seed=4).equals(release.sample(100, seed=4))
    assert not release.sample(100, seed=4).equals(release.sample(100, seed=5))


@given(drafts(), st.integers(0, 2**32), st.none() | st.integers(0, 30))
def test_a_sampled_record_lies_in_its_group(draft, seed, n):
    layout = layout_of(draft)
    if n and not len(draft.groups):
        with raises_code(UsageError, "SF-USAGE-068"):
            sample(layout, draft.groups, n=n, seed=seed)
        return
    table = sample(layout, draft.groups, n=n, seed=seed)
    assert table.num_rows == (draft.groups.counts.sum() if n is None else n)
    columns = [
        cut.regions(domain.encode(table.column(name).to_pylist()))
        for name, domain, cut in zip(layout.names, layout.domains, layout.cuts, strict=True)
    ]
    columns.append(INCOME.encode(table.column("income").to_pylist()))
    found = set(map(tuple, np.stack(columns, axis=1).tolist()))
    listed = np.column_stack([draft.groups.regions, draft.groups.classes])
    expected = set(map(tuple, listed.tolist()))
    assert found <= expected
    if n is None:
        assert found == expected


def test_a_sample_is_uniform_within_a_region(tmp_path):
    draft = draft_of({"age": AGE}, [Cut("age", (0, 10), 101)], [(0, 0, 100_000)])
    ages = sample(layout_of(draft), draft.groups, seed=0).column("age").to_numpy()
    counts = np.bincount(ages, minlength=10)
    assert len(counts) == 10
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 40  # chi squared with 9 degrees of freedom: p < 10⁻⁵


def test_decimal_steps_sample_to_decimals():
    tenths = Grid(lower=AGE.lower, upper=AGE.step, step=PAY.step * 4 / 10)
    draft = draft_of({"x": tenths}, [Cut.finest("x", 11)], [(i, 0, 1) for i in range(11)])
    assert sample(layout_of(draft), draft.groups).column("x").to_pylist() == [i / 10 for i in range(11)]


def test_a_sample_of_fewer_than_none_is_refused(release):
    with raises_code(UsageError, "SF-USAGE-065", match="a sample of -1 records"):
        release.sample(-1)
    assert release.sample(0).num_rows == 0
    assert isinstance(release.sample(0), pa.Table)


def test_opening_does_not_need_scikit_learn_pandas_or_polars():
    import subprocess

    code = "import sys, sfumato.release; print({'sklearn', 'pandas', 'polars'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "set()"


def test_a_small_draft_is_as_it_seems():
    assert small_draft().groups.counts.sum() == 38
