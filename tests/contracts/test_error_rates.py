"""The default tests together are red by chance less than once in 10,000 runs, and the guard that sees to it works."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.error_rates import HIGHEST, RATES, Stated

ROOT = Path(__file__).parents[2]
ALL_TOGETHER = 1e-4


def test_the_stated_rates_add_up_to_less_than_one_in_ten_thousand(request):
    """Every case of a parametrised test counts. By the union bound no independence is asked for."""
    stated = request.config.stash[RATES]
    worst = sorted(stated, key=stated.get, reverse=True)[:5]
    assert sum(stated.values()) < ALL_TOGETHER, {test: stated[test] for test in worst}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (((), {"reason": "x"}), "a number from 0"),
        ((("1e-9",), {"reason": "x"}), "a number from 0"),
        (((True,), {"reason": "x"}), "a number from 0"),
        (((-1e-9,), {"reason": "x"}), "a number from 0"),
        (((2 * HIGHEST,), {"reason": "x"}), "a number from 0"),
        (((float("nan"),), {"reason": "x"}), "a number from 0"),
        (((1e-9,), {}), "says where it comes from"),
        (((1e-9,), {"reason": " "}), "says where it comes from"),
    ],
)
def test_a_rate_is_a_small_number_with_a_reason(given, says):
    args, more = given
    with pytest.raises(pytest.UsageError, match=says):
        Stated(*args, **more)


INNER = {
    "conftest.py": """
        import pytest
        from tests.error_rates import Guard

        def pytest_configure(config):
            config.addinivalue_line("markers", "error_rate(rate, reason): as in the repository")
            config.addinivalue_line("markers", "slow: as in the repository")
            config.pluginmanager.register(Guard(), "error-rates")
        """,
    "test_inner.py": """
        import random, subprocess, sys
        import numpy as np
        import pytest
        from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
        from sfumato.privacy.dp.mechanisms import _noise

        stated = pytest.mark.error_rate(0, reason="nothing is looked at")
        CHILD = "from sfumato.privacy.dp.sampling import SecureSource; SecureSource().bits(3)"

        @pytest.fixture(scope="module")
        def drawn():
            return SecureSource().bits(8)

        def noise():
            return _noise.laplace(1.0, sensitivity=1, at_most=1)([0, 0])

        def test_bad_bits():
            SecureSource().bits(3)

        def test_bad_words():
            SecureSource().uint64(3)

        def test_bad_noise():
            noise()

        def test_bad_numpy():
            np.random.default_rng()

        def test_bad_system_random():
            random.SystemRandom().random()

        def test_bad_child():
            subprocess.run([sys.executable, "-c", CHILD], check=True)

        def test_bad_child_with_an_environment_of_its_own():
            subprocess.run([sys.executable, "-c", CHILD], check=True, env={"PYTHONPATH": %r})

        def test_bad_fixture(drawn):
            pass

        def test_bad_fixture_that_another_test_has_made(drawn):
            pass

        @stated
        def test_good_stated(drawn):
            noise()

        @pytest.mark.slow
        def test_good_slow():
            noise()

        def test_good_seeds():
            InsecureSource(1).bits(3), np.random.default_rng(1), np.random.default_rng(seed=1), random.Random(1)

        FIRST = []

        @pytest.mark.parametrize("time", range(2))
        def test_good_global_generators_start_alike(time):
            FIRST.append((random.random(), np.random.random()))
            assert FIRST[0] == FIRST[-1]

        def test_good_child_that_draws_nothing():
            subprocess.run([sys.executable, "-c", "import numpy, sfumato.privacy.dp.sampling"], check=True)
        """,
}


@pytest.mark.error_rate(0, reason="what is drawn is not looked at")
def test_a_test_that_draws_without_saying_so_fails(tmp_path):
    """In a process of its own, with the guard of the repository; each name says what has to come of it."""
    for name, text in INNER.items():
        (tmp_path / name).write_text(textwrap.dedent(text % str(ROOT / "src") if "%r" in text else text), "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    paths = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'src')!r}]; import pytest; "
    ran = subprocess.run(
        [sys.executable, "-c", paths + "sys.exit(pytest.main(['-q', '-rA', '-p', 'no:cacheprovider']))"],
        cwd=tmp_path, check=False, capture_output=True, text=True,
    )  # fmt: skip
    outcomes = {
        line.split("::")[1].split(" ")[0]: line.split(" ")[0]
        for line in ran.stdout.splitlines()
        if line.startswith(("PASSED ", "FAILED ", "ERROR "))
    }
    assert len(outcomes) == 15, ran.stdout + ran.stderr
    assert outcomes == {name: "FAILED" if name.startswith("test_bad") else "PASSED" for name in outcomes}, ran.stdout
    assert "It drew by SecureSource.bits" in ran.stdout and "in a child process" in ran.stdout
    assert "(fixture 'drawn')" in ran.stdout
    told = ran.stdout.partition("short test summary info")[0]  # which repeats them where CI is set
    assert told.count("or state the rate:") == 9
