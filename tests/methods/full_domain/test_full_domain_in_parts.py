"""Full-domain recoding of a table that does not fit here: the node, the groups and the facts of the whole table."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.methods import FullDomain
from sfumato.privacy.models import DeltaPresence
from tests.examples import examples
from tests.methods.full_domain.test_full_domain import PROMISES
from tests.methods.plain_counter import draft_or_words, partition_of_draft, parts_of, published
from tests.methods.small_views import BANDS, UNEVEN, cells_of, tables, view_of
from tests.methods.test_presence import with_people
from tests.small_domains import JOB, flat

SUPPRESS = ["0", "0.1", "0.3", "1"]


def compare(method, view, records, most):
    """The draft in parts, or nothing where both ways refuse; what was brought at once comes with it."""
    parts, counter = parts_of(view, records, most)
    whole = draft_or_words(method, view, cells_of(view, records))
    if isinstance(whole, str):
        assert draft_or_words(method, view, parts) == whole
        return None, counter
    found = method.draft(view, parts)
    assert published(found) == published(whole)
    assert found.facts == whole.facts
    return found, counter


@settings(max_examples=examples(quick=150, slow=1500), deadline=None)
@given(
    table=tables(most=40, target=True),
    asked=st.sampled_from([asked for asked, _ in PROMISES]),
    k=st.integers(1, 6),
    suppress=st.sampled_from(SUPPRESS),
    most=st.integers(3, 30),
)
def test_parts_give_the_release_of_the_whole_table(table, asked, k, suppress, most):
    view, records = table
    _, counter = compare(FullDomain(k=k, privacy=asked, suppress=suppress), view, records, most)
    of_one = 6  # values of 'ill' with those of 'class': a class is not divided
    assert all(rows <= max(most, of_one) for attributes, rows in counter.brought if attributes > 1)


@settings(max_examples=examples(quick=60, slow=600), deadline=None)
@given(table=with_people(of=tables(most=30)), k=st.integers(1, 3), most=st.integers(1, 12))
def test_people_are_counted_in_slices_too(table, k, most):
    view, records, _ = table
    compare(FullDomain(k=k, privacy=[DeltaPresence(minimum="0", maximum="0.9")]), view, records, most)


@settings(max_examples=examples(quick=40, slow=400), deadline=None)
@given(data=st.data(), suppress=st.sampled_from(SUPPRESS), most=st.integers(4, 20))
def test_several_sensitive_attributes(data, suppress, most):
    view = view_of({"job": JOB, "age": BANDS}, {"ill": flat("a", "b"), "worse": flat("x", "y")})
    record = st.tuples(*(st.integers(0, a.domain.size - 1) for a in view.attributes))
    records = data.draw(st.lists(record, min_size=10, max_size=40))
    compare(FullDomain(k=2, privacy={"t-closeness": "0.3"}, suppress=suppress), view, records, most)


def test_nodes_that_do_not_fit_are_never_brought_for_k_anonymity():
    """Ten times as many classes as fit at the bottom: sizes tell what they cost, and the best node is found."""
    view = view_of({"job": JOB, "age": BANDS, "deep": UNEVEN}, target={"class": flat("N", "Y")})
    records = [(j, a, d, (j + a) % 2) for j in range(4) for a in range(10) for d in range(4) for _ in range(1 + j)]
    found, counter = compare(FullDomain(k=3, suppress="0.2"), view, records, 16)
    assert found is not None
    assert found.facts["suppressed"] > 0 and len(partition_of_draft(found).boxes) > 16
    assert max(rows for attributes, rows in counter.brought if attributes == len(view.quasi)) <= 16


def test_levels_with_bounds_keep_the_advice():
    view = view_of({"job": JOB, "age": BANDS})
    records = [(n % 4, n % 10) for n in range(40)]
    compare(FullDomain(k=50), view, records, 3)
    compare(FullDomain(k=9, levels={"age": [0, 1]}), view, records, 3)
    compare(FullDomain(k=5, levels={"age": 0, "job": 0}, suppress="0.3"), view, records, 3)


def test_a_time_limit_holds_here_too():
    view = view_of({"job": JOB, "age": BANDS})
    parts, _ = parts_of(view, [(n % 4, n % 10) for n in range(40)], 3)
    ticks = iter(range(100))
    draft = FullDomain(k=2, time_limit=2).draft(view, parts, clock=lambda: float(next(ticks)))
    assert not draft.facts["optimal"]
    whole = FullDomain(k=2).draft(view, replace(cells_of(view, [(n % 4, n % 10) for n in range(40)])))
    assert draft.facts["loss"] - draft.facts["within"] <= whole.facts["loss"]
