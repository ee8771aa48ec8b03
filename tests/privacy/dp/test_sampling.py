import numpy as np
import pytest
from scipy import stats

from sfumato.privacy.dp.sampling import InsecureSource, SecureSource, random_below, random_permutation


@pytest.mark.parametrize("source", [SecureSource(), InsecureSource(1)], ids=["secure", "insecure"])
@pytest.mark.error_rate(1e-13, reason="two of 1,000 words alike: 2.7e-14; 100 leading zeros: 1e-30")
def test_bits_and_words_have_their_range(source):
    assert source.bits(0) == 0
    assert {source.bits(1) for _ in range(200)} == {0, 1}
    assert all(0 <= source.bits(13) < 2**13 for _ in range(200))
    assert source.bits(400).bit_length() > 300
    words = source.uint64(1000)
    assert words.dtype == np.uint64
    assert words.shape == (1000,)
    assert len(np.unique(words)) == 1000


@pytest.mark.error_rate(1e-38, reason="128 bits alike")
def test_a_seed_repeats_and_the_secure_source_does_not():
    assert InsecureSource(5).uint64(4).tolist() == InsecureSource(5).uint64(4).tolist()
    assert InsecureSource(5).bits(64) != InsecureSource(6).bits(64)
    assert SecureSource().bits(128) != SecureSource().bits(128)


def test_only_the_secure_source_says_it_is():
    assert SecureSource().secure
    assert not InsecureSource(0).secure


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_below_is_uniform(n):
    # False alarm: 1e-9 each.
    source = InsecureSource(n)
    drawn = np.bincount([random_below(n, source) for _ in range(6000)], minlength=n)
    assert len(drawn) == n
    assert n == 1 or stats.chisquare(drawn).pvalue > 1e-9


def test_permutations_are_uniform():
    # False alarm: 1e-9.
    source = InsecureSource(3)
    drawn = [tuple(random_permutation(3, source)) for _ in range(6000)]
    counts = [drawn.count(order) for order in sorted(set(drawn))]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-9
