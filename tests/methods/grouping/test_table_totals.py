"""Of a table that does not fit, the values of a single attribute are brought: where they do not fit, that is said."""

import pytest

from sfumato.methods import FullDomain, Tds
from sfumato.tables import ManyCellsError
from tests.methods.plain_counter import parts_of, published
from tests.methods.small_views import BANDS, cells_of, view_of
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid

ILL = flat(*(f"i{n}" for n in range(6)))
RECORDS = [(n % 4, n % 10, n % 6, n % 2) for n in range(60)]


@pytest.mark.parametrize(
    ("method", "age", "why"),
    [
        (Tds(k=2), grid(0, 63), "for `tds`, split points are looked for"),
        (FullDomain(k=2), BANDS, "for `full-domain`, the loss of each step"),
        (Tds(k=2, privacy={"distinct-l-diversity": 2}), None, "sensitive attribute"),
        (FullDomain(k=2, privacy={"distinct-l-diversity": 2}), None, "sensitive attribute"),
    ],
    ids=str,
)
def test_values_that_do_not_fit_are_refused_in_words(method, age, why):
    if age is None:
        view = view_of({"job": JOB}, {"ill": ILL}, {"class": flat("N", "Y")})
        records, room = [(j, i, c) for j, _, i, c in RECORDS], 5
    else:
        view, records, room = view_of({"job": JOB, "age": age}, {"ill": ILL}, {"class": flat("N", "Y")}), RECORDS, 8
    parts, counter = parts_of(view, records, 100)
    counter.room = room
    with raises_code(ManyCellsError, "SF-SOURCE-397") as caught:
        method.draft(view, parts)
    assert why in caught.value.problem
    counter.room = 60
    method.draft(view, parts)


@pytest.mark.parametrize("method", [Tds(k=60), FullDomain(k=60)], ids=str)
def test_one_class_with_more_beside_it_than_fits_is_published_in_slices(method):
    view = view_of({"job": JOB, "age": BANDS}, {"ill": ILL}, {"class": flat("N", "Y")})
    records = [(n % 4, n % 4, n % 6, n // 6 % 2) for n in range(60)]
    parts, counter = parts_of(view, records, 5)
    counter.room = 8
    draft = method.draft(view, parts)
    assert draft.facts["groups"] == 1
    assert published(draft) == published(method.draft(view, cells_of(view, records)))
    assert max(rows for _, rows in counter.brought) <= counter.room, "of twelve combinations beside the class"
