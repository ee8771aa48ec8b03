"""How results are said."""

from sfumato.cli import show
from sfumato.publish.query import Estimate


def test_a_noisy_total_is_about_so_many_records():
    noisy = Estimate(count=100.0, low=90.0, high=110.0, confidence=0.95, share=0.3, total=326)
    assert "about 100 of about 326 records" in show.estimate(noisy)
    exact = Estimate(count=100.0, low=100.0, high=100.0, confidence=1.0, share=0.3, total=326)
    assert show.estimate(exact).startswith("100 of 326 records")
    open_ended = Estimate(count=None, low=90.0, high=110.0, confidence=0.95, share=None, total=326, undecided=("job",))
    assert show.estimate(open_ended).startswith("between 90 and 110 of about 326 records")
