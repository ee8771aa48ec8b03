"""How results are said."""

import io

from rich.console import Console

from sfumato.cli import show
from sfumato.release.answer.estimate import Estimate
from sfumato.release.answer.words import estimate_words


def test_a_noisy_total_is_about_so_many_records():
    noisy = Estimate(count=100.0, low=90.0, high=110.0, confidence=0.95, share=0.3, total=326)
    assert "about 100 of about 326 records" in estimate_words(noisy)
    exact = Estimate(count=100.0, low=100.0, high=100.0, confidence=1.0, share=0.3, total=326)
    assert estimate_words(exact).startswith("100 of 326 records")
    open_ended = Estimate(count=None, low=90.0, high=110.0, confidence=0.95, share=None, total=326, undecided=("job",))
    assert estimate_words(open_ended).startswith("between 90 and 110 of about 326 records")


def test_bullets_wrap_between_words_in_a_terminal_and_are_lines_in_a_pipe(monkeypatch):
    long = " ".join(["generalised"] * 30)
    for terminal in (True, False):
        written = io.StringIO()
        console = Console(file=written, force_terminal=terminal, width=60, soft_wrap=True, highlight=False)
        monkeypatch.setattr(show, "out", console)
        show.bullets([long])
        lines = written.getvalue().splitlines()
        assert " ".join(written.getvalue().split()) == f"• G{long[1:]}."
        assert max(map(len, lines)) <= 60 if terminal else len(lines) == 1
        assert all(line.startswith("    ") for line in lines[1:])
