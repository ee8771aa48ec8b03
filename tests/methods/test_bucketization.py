"""Bucketization: Mondrian's groups as buckets, and a promise about sensitive values."""

from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import Bucketization, Mondrian, build, recipe_of
from sfumato.privacy.models import DistinctLDiversity, ProbabilisticLDiversity
from tests.methods.partition_tables import cells_of, groups_of, partition_tables, partition_view
from tests.raising import raises_code
from tests.small_domains import JOB, grid

DIVERSE = {"distinct-l-diversity": 2}


@given(table=partition_tables(), k=st.integers(1, 4), strict=st.booleans(), tables=st.sampled_from([1, "2"]))
def test_buckets_are_mondrians_groups(table, k, strict, tables):
    view, records = table
    ill = len(view.quasi)
    if len(records) < k or len({r[ill] for r in records}) < 2:
        return
    cells = cells_of(view, records)
    draft = Bucketization(k=k, privacy=DIVERSE, strict=strict, tables=tables).draft(view, cells)
    assert draft.form == ("bucketized" if tables == 1 else "anatomy")
    assert draft.partition.group.tolist() == (
        Mondrian(k=k, privacy=DIVERSE, strict=strict).draft(view, cells).partition.group.tolist()
    )
    assert draft.models == (DistinctLDiversity(l=2),), "exact quasi-identifiers are not k-anonymous"
    for members in groups_of(draft.partition).values():
        assert len(members) >= k and len({r[ill] for r in members}) >= 2


def test_a_promise_about_sizes_alone_is_refused():
    view = partition_view(age=grid(0, 9))
    for method in (Bucketization(k=5), Bucketization(privacy={"k-anonymity": 5})):
        with raises_code(StudyError, "SF-STUDY-034"):
            method.check(view)


def test_what_cannot_be_is_refused():
    view = partition_view(age=grid(0, 9))
    with raises_code(StudyError, "SF-STUDY-079"):
        Bucketization(privacy=DIVERSE).check(partition_view(age=grid(0, 9), sensitive=()))
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match="set l to 1 or less"):
        Bucketization(privacy=DIVERSE).draft(view, cells_of(view, [(1, 0, 0), (2, 0, 0)]))
    with raises_code(StudyError, "SF-STUDY-032", match=r"tables is '3'. To fix: publish 1 table or 2"):
        Bucketization(privacy=DIVERSE, tables=3)
    with raises_code(StudyError, "SF-STUDY-055"):
        Bucketization()


def test_the_forecast_says_that_presence_can_be_seen():
    said = Bucketization(k=4, privacy=DIVERSE).forecast(partition_view(age=grid(0, 9), job=JOB)).sentences
    assert "a bucket has at least 4 records" in said
    assert any("membership in the table is disclosed" in sentence for sentence in said)
    assert not any("look alike" in sentence or "region" in sentence for sentence in said)


def test_a_recipe_can_be_made_from_it_and_it_from_the_recipe():
    method = Bucketization(k=4, privacy=(ProbabilisticLDiversity(l="2.5"),), tables=2, ordered="all")
    assert build(recipe_of(method, name="b")) == method
    assert method.spends is None
