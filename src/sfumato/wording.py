"""Words as people write them."""


def sentence(text: str) -> str:
    """Text as it begins a sentence; a Greek letter is a symbol and stays as it is.

    >>> sentence("noise is added"), sentence("ε = 1 is spent")
    ('Noise is added', 'ε = 1 is spent')
    """
    return text if "α" <= text[:1] <= "ω" else text[:1].upper() + text[1:]


def count_of(share: float, total: int) -> str:
    """A share of so many as a count with its percentage; one that would round to nothing says so.

    >>> count_of(12 / 45222, 45222), count_of(0.0, 10), count_of(1 / 10**6, 10**6)
    ('12 of 45,222 (0.03 %)', '0 of 10 (0 %)', '1 of 1,000,000 (< 0.01 %)')
    """
    percent = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    shown = "< 0.01" if 0 < share < 0.00005 else percent  # noqa: PLR2004 - half of the last digit shown
    return f"{round(share * total):,} of {total:,} ({shown} %)"
