"""An estimate in words, the same in a terminal and on a page."""

from collections.abc import Sequence

from sfumato.release.answer.estimate import Estimate


def estimate_words(found: Estimate) -> str:
    """An estimate in words: the number, its interval, and what it assumes."""
    rough = found.sampled is not None or found.confidence < 1  # the total of noisy counts is noisy, too
    of = f"{'about ' * rough}{found.total:,} records"
    span = f"{found.low:,.0f} to {found.high:,.0f}"
    sure = f"{100 * found.confidence:.0f} % interval {span}" if found.confidence < 1 else f"certainly {span}"
    if found.count is None or found.share is None:
        words = f"between {found.low:,.0f} and {found.high:,.0f} of {of} ({100 * found.confidence:.0f} % interval)"
        same = _quoted(found.undecided)
        words += f"; no single number is given, because the release does not distinguish values of {same}"
    elif found.low == found.high and found.confidence == 1:
        words = f"{_rounded(found.count)} of {of}, {100 * found.share:.2f} %"
    else:
        words = f"about {_rounded(found.count)} of {of}, {100 * found.share:.2f} %; {sure}"
        if found.assumes:
            words += (
                f"; the single number assumes that values of {_quoted(found.assumes)} are uniform within their regions"
            )
        if found.modelled:
            words += (
                f"; no published table has {_quoted(found.modelled)} together, and the single number relates them by "
                "the model that the tables make"
            )
    if found.sampled is not None:
        words += (
            f"; the release is a random sample of {found.sampled} of the records, and counts are scaled up accordingly"
        )
    return words


def _rounded(count: float) -> str:
    """A count to whole records; six digits first, so that the last bits of a sum do not decide a tie."""
    return f"{round(count, 6):,.0f}"


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)
