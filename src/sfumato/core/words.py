"""Words as people write them."""


def sentence(text: str) -> str:
    """Text as it begins a sentence; a Greek letter is a symbol and stays as it is.

    >>> sentence("noise is added"), sentence("ε = 1 is spent")
    ('Noise is added', 'ε = 1 is spent')
    """
    return text if "α" <= text[:1] <= "ω" else text[:1].upper() + text[1:]
