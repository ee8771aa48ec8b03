import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.dates import DayFormat, formats_of, read_day
from sfumato.errors import StudyError

FORMATS = [
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%Y%m%d", "%d %b %Y", "%B %d, %Y", "%Y-%m-%d %H:%M:%S", "%d-%b-%y", "%Y/%m/%d",
    "%A, %d %B %Y", "%m/%d/%Y %I:%M %p", "%Y-%m-%dT%H:%M:%S.%f", "%d%%%m%%%Y",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
@given(when=st.datetimes().map(lambda when: when.replace(year=1969 + when.year % 100, day=min(when.day, 28))))
def test_what_strftime_writes_is_read_back(form, when):
    assert DayFormat.of(form).read(when.strftime(form)) == when.date()


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("%d/%m/%Y", " 1/2/2004\t", dt.date(2004, 2, 1)),
        ("%d/%m/%Y", "31/6/2004", None),
        ("%d/%m/%Y", "1/2/04", None),
        ("%d/%m/%Y", "1/2/2004 10:00", None),
        ("%d/%m/%Y", "१/2/2004", None),
        ("%d/%m/%Y", "00/01/2004", None),
        ("%d/%m/%Y", "01/01/0000", None),
        ("%d %b %Y", "3 FEBRUARY 2004", dt.date(2004, 2, 3)),
        ("%d %b %Y", "3 febr 2004", None),
        ("%Y%m%d", "2004123", None),
        ("%Y%m%d", "20041231", dt.date(2004, 12, 31)),
        ("%Y-%m", "2004-7", dt.date(2004, 7, 1)),
        ("%Y", "2004", dt.date(2004, 1, 1)),
        ("%d.%m.%y", "1.1.68", dt.date(2068, 1, 1)),
        ("%d.%m.%y", "1.1.69", dt.date(1969, 1, 1)),
        ("%H:%M %d.%m.%Y", "25:00 1.1.2004", None),
        ("(%Y) *", "(2004) *", dt.date(2004, 1, 1)),
    ],
)
def test_texts(form, text, day):
    assert DayFormat.of(form).read(text) == day


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("%d/%m", "has no year"),
        ("%d/%Y", "has no month"),
        ("%d/%m/%Y %y", "has the year twice"),
        ("%b %m %Y", "has the month twice"),
        ("%j %Y", "has '%j', which is not known here"),
        ("%Y %", "has '%', which is not known here"),
        ("", "has no year"),
    ],
)
def test_formats_that_make_no_sense(form, says):
    with pytest.raises(StudyError, match=says):
        DayFormat.of(form)


def test_the_first_format_that_fits_wins():
    both = formats_of(("%d/%m/%Y", "%m/%d/%Y"))
    assert read_day("2/1/2004", both) == dt.date(2004, 1, 2)
    assert read_day("1/31/2004", both) is None, "the first fits, and says a day that is none"
    assert read_day("31.1.2004", formats_of(())) == dt.date(2004, 1, 31)
    assert read_day("2004-01-31T23:59:59Z\nand more", formats_of(())) == dt.date(2004, 1, 31)
