"""TDS of a table that does not fit here: the same steps and the same groups, whichever way they are counted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.methods import Tds
from tests.examples import examples
from tests.methods.plain_counter import draft_or_words, parts_of, published
from tests.methods.small_views import cells_of, tables, view_of
from tests.methods.test_tds import FREE, PROMISES
from tests.small_domains import JOB, flat, grid


@settings(max_examples=examples(quick=150, slow=1500), deadline=None)
@given(
    table=tables(shapes=FREE, target=True, most=60),
    k=st.integers(1, 6),
    asked=st.sampled_from([asked for asked, _ in PROMISES]),
    most=st.integers(1, 40),
)
def test_parts_give_the_steps_of_the_whole_table(table, k, asked, most):
    view, records = table
    method = Tds(k=k, privacy=asked)
    parts, _ = parts_of(view, records, most)
    whole = draft_or_words(method, view, cells_of(view, records))
    if isinstance(whole, str):
        assert draft_or_words(method, view, parts) == whole
        return
    found = method.draft(view, parts)
    assert found.facts == whole.facts
    assert published(found) == published(whole)


def told_apart():
    view = view_of(
        {"job": JOB, "age": grid(0, 63), "pay": grid(0, 31)}, {"ill": flat("a", "b")}, {"class": flat("N", "Y")}
    )
    return view, [(n % 4, n % 64, n * 7 % 32, n % 2, int(n % 64 > 20) ^ int(n * 7 % 32 > 9)) for n in range(512)]


@pytest.mark.parametrize("privacy", [{}, {"distinct-l-diversity": 2}], ids=str)
@pytest.mark.parametrize(("most", "queries"), [(1, "each"), (24, "some"), (10_000, "one")])
def test_no_more_is_brought_than_fits(monkeypatch, privacy, most, queries):
    """With room for all cuts one table is brought, with less several, and without any only what is published."""
    view, records = told_apart()
    parts, counter = parts_of(view, records, most)
    brought = []
    regions = counter.regions_within
    monkeypatch.setattr(
        counter, "regions_within", lambda *given, **more: brought.append(regions(*given, **more)) or brought[-1]
    )
    draft = Tds(k=8, privacy=privacy).draft(view, parts)
    assert len(draft.facts["specializations"]) > 3
    names = tuple(a.name for a in view.attributes)
    searched = [cells for cells in brought if cells.attributes != names]
    assert len(searched) < len(brought), "what is published comes last, in slices"
    if queries == "one":
        assert len(searched) == 1
    if queries == "some":
        assert len(searched) > 1
    room = max(most, 4)  # the values of a single class are not divided
    assert all(len(cells) <= room for cells in brought)
