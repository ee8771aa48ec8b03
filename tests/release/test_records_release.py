"""Releases of records in use: tables, training data, encoder, samples, queries."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import UsageError, VerifyError
from sfumato.privacy.models import DistinctLDiversity
from sfumato.release.forms.records.release import RecordsRelease
from sfumato.release.release import Release
from tests.examples import examples
from tests.raising import raises_code
from tests.release.partitions import VIEW, draft_of, drafts, publish, small_draft

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

L1 = (DistinctLDiversity(l=1),)


@pytest.fixture
def release(tmp_path):
    return Release.open(publish(small_draft(suppressed=True), tmp_path).path)


def opened(draft, folder, **more):
    return Release.open(publish(draft, folder, **more).path)


def test_it_opens_as_what_it_is(release):
    assert isinstance(release, RecordsRelease)
    assert "not a guarantee" in release.guarantee
    assert list(release.domains) == ["age", "job", "ill", "income", "pay", "day"]


def test_tables_hold_suppressed_records_too(release):
    assert len(release.to_arrow()) == len(release.to_pandas()) == len(release.to_polars()) == 9
    assert release.to_pandas()["suppressed"].sum() == 3


def test_a_changed_data_file_is_refused(release):
    path = release.path / "data.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    with raises_code(VerifyError, "SF-VERIFY-091", match=r"data\.parquet is not the file"):
        Release.open(release.path)


def test_training_data_are_middles_labels_and_ones(release):
    x, y, w = release.to_training()
    names = release.features.names
    assert names == (
        "age", "age missing", "job=Professional", "job=Artist", "ill=flu", "ill=asthma", "ill=none", "pay", "day",
    )  # fmt: skip
    assert x.shape == (6, 9) and w.tolist() == [1.0] * 6
    first = dict(zip(names, x[0].tolist(), strict=True))
    assert first["age"] == 25.0 and first["job=Professional"] == 1.0 and first["job=Artist"] == 0.0
    assert first["ill=flu"] == 1.0 and first["age missing"] == 0.0
    assert sorted(y.tolist()) == ["<=50K"] * 4 + [">50K"] * 2


def test_another_attribute_can_be_the_target(release):
    x, y, _ = release.to_training(target="ill")
    assert set(y) == {"flu", "asthma", "none"} and x.shape[0] == 6
    with raises_code(UsageError, "SF-USAGE-061", match="'age' is generalised"):
        release.to_training(target="age")
    with raises_code(UsageError, "SF-USAGE-062", match="no attribute 'height'"):
        release.to_training(target="height")
    frame, labels, _ = release.to_training(as_frame=True)
    assert list(frame.columns) == list(release.features.names) and labels.name == "income"


def test_shuffled_values_are_no_features(tmp_path):
    for form in ("bucketized", "anatomy"):
        found = opened(small_draft(form=form, models=L1), tmp_path / form)
        assert not [name for name in found.features.names if name.startswith("ill")]


def records(**values):
    row = {"age": 25, "job": "Lawyer", "ill": "flu", "income": "<=50K", "pay": 1.0, "day": "2004-01-02"}
    return pd.DataFrame([row | values])


def test_new_records_go_where_they_belong(release):
    x, _, _ = release.to_training()
    encoder = release.encoder()
    assert encoder.transform(records()).tolist() == x[:1].tolist()
    assert list(encoder.get_feature_names_out()) == list(release.features.names)
    near = dict(zip(release.features.names, encoder.transform(records(age=70, job="Dancer"))[0], strict=True))
    assert near["age"] == 45.0 and near["job=Artist"] == 1.0, "the nearest region"
    lost = dict(zip(release.features.names, encoder.transform(records(job="Zookeeper"))[0], strict=True))
    assert lost["job=Professional"] == lost["job=Artist"] == 0.0


def test_where_regions_overlap_a_record_goes_to_the_one_that_holds_it(tmp_path):
    """Two local recodings of age: by value alone no region could be told."""
    draft = draft_of(
        [(20, 0, 0, 0, 0, 0, 2), (35, 0, 0, 0, 0, 0, 2), (30, 2, 1, 1, 0, 0, 4)],
        [0, 1, 2],
        [((0, 30), (0, 2)), ((30, 60), (0, 2)), ((0, 60), (2, 4))],
    )
    release = opened(draft, tmp_path)
    found = release.encoder().transform(pd.concat([records(age=35), records(age=35, job="Dancer")]))
    ages = found[:, list(release.features.names).index("age")]
    assert ages.tolist() == [45.0, 30.0]


@settings(max_examples=examples(quick=10, slow=25), deadline=None)
@given(draft=drafts())
def test_every_published_record_encodes_to_a_region_that_holds_it(tmp_path_factory, draft):
    release = opened(draft, tmp_path_factory.mktemp("out"), suppression=True)
    regions = release._regions
    cells, kept = draft.partition.cells, draft.partition.group >= 0
    codes = [cells.codes[kept, place] for place in (0, 1)]
    for column, spans, place in zip(codes, regions.columns, regions.places(codes), strict=True):
        assert np.all((spans.starts[place] <= column) & (column < spans.stops[place]))


def test_samples_lie_in_the_regions(release):
    drawn = release.sample(seed=1)
    assert len(drawn) == 6
    ages = drawn["age"].to_pylist()
    assert all(20 <= age < 30 for age in ages[:3]) and all(40 <= age < 50 for age in ages[3:])
    assert len(release.sample(50, seed=2)) == 50
    assert release.sample(5, seed=3).equals(release.sample(5, seed=3))
    with raises_code(UsageError, "SF-USAGE-065", match="a sample of -1"):
        release.sample(-1)


def test_queries_take_values_to_be_uniform_in_a_region(release):
    assert release.query("age < 25").count == pytest.approx(1.5)
    assert release.query("age < 25 and job = Lawyer").count == pytest.approx(0.75)
    assert release.query("ill = flu").count == 2
    assert release.query("ill = flu or not (ill = flu)").total == 6
    young = release.query("age < 25")
    assert (young.low, young.confidence, young.assumes) == (0, 1.0, ("age",)) and young.high > young.count


@pytest.mark.parametrize("form", ["bucketized", "anatomy"])
def test_queries_on_buckets_do_not_depend_on_the_shuffling(tmp_path, form):
    release = opened(small_draft(form=form, models=L1), tmp_path)
    assert release.query("age < 50 and age >= 40 and ill = flu").count == pytest.approx(1.0)
    assert release.query("age = 40 and ill = flu").count == pytest.approx(1 / 3)
    assert release.query("ill = flu").count == pytest.approx(5.0)


def test_a_release_without_a_class_needs_a_target(tmp_path):
    from dataclasses import replace

    view = replace(VIEW, others=VIEW.others[1:])
    release = opened(draft_of([(20, 0, 0, 0, 0, 3)], [0], [((20, 21), (0, 1))], view=view), tmp_path)
    with raises_code(UsageError, "SF-USAGE-060"):
        release.to_training()
    assert release.to_training(target="ill")[1].tolist() == ["flu"] * 3


@given(st.integers(0, 100))
def test_an_exact_number_is_its_own_middle(age):
    from sfumato.release.forms.records.code_spans import Spans
    from sfumato.release.forms.records.record_features import RecordFeatures
    from sfumato.release.forms.records.record_table import Column
    from tests.release.partitions import AGE

    spans = Spans.of_codes(np.array([age, (age + 1) % 101]), AGE.size)
    found = RecordFeatures((Column("age", "insensitive", AGE, regions=False),), {"age": spans})
    value = found.matrix({"age": spans.places})[0]
    assert value.tolist() == ([49.5, 1.0] if age == 100 else [float(age), 0.0])
