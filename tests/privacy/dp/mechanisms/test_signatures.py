import importlib
import inspect
import pkgutil
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import InternalError
from sfumato.privacy.dp import mechanisms
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource

COUNTS = np.array([3, 0, 5], dtype=np.int64)
CALLS = {
    "noisy_counts": lambda **rest: mechanisms.noisy_counts(COUNTS, sensitivity=1, **rest),
    "noisy_max": lambda **rest: mechanisms.noisy_max([1, 2], sensitivity=1, monotone=True, **rest),
    "choose_point": lambda **rest: mechanisms.choose_point(COUNTS + 1, COUNTS, sensitivity=1, monotone=True, **rest),
    "noisy_sparse": lambda **rest: mechanisms.noisy_sparse(
        np.array([0, 4, 9]), COUNTS, total=100, threshold=2, sensitivity=1, **rest
    ),
}


def test_the_public_names():
    assert mechanisms.__all__ == ["choose_point", "noisy_counts", "noisy_max", "noisy_sparse"]
    assert set(CALLS) == set(mechanisms.__all__)


@pytest.mark.parametrize("name", mechanisms.__all__)
def test_every_mechanism_takes_a_required_grant_and_a_source_and_no_epsilon(name):
    parameters = inspect.signature(getattr(mechanisms, name)).parameters
    assert "epsilon" not in parameters
    for required, kind in (("grant", "Grant"), ("source", "RandomSource"), ("sensitivity", "int")):
        assert parameters[required].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[required].default is inspect.Parameter.empty
        assert kind in str(parameters[required].annotation)


def test_whatever_public_function_draws_is_one_of_the_mechanisms():
    for module in pkgutil.iter_modules(mechanisms.__path__):
        if module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"{mechanisms.__name__}.{module.name}")
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            ours = function.__module__ == loaded.__name__ and not name.startswith("_")
            if ours and "source" in inspect.signature(function).parameters:
                assert name in mechanisms.__all__


@pytest.mark.parametrize("source", [SecureSource(), InsecureSource(0)], ids=["secure", "insecure"])
@pytest.mark.parametrize("name", mechanisms.__all__)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_one_grant_is_one_draw(name, source):
    grant = Accountant(Fraction(1)).grant(Fraction(1), on="once")
    CALLS[name](grant=grant, source=source)
    with pytest.raises(InternalError, match="redeemed twice"):
        CALLS[name](grant=grant, source=source)


@pytest.mark.parametrize("name", mechanisms.__all__)
def test_every_docstring_states_theorem_neighbours_sensitivity_and_result(name):
    text = inspect.getdoc(getattr(mechanisms, name))
    assert all(word in text for word in ("Theorem:", "Neighbours and sensitivity:", "add/remove", "Returns"))


@pytest.mark.parametrize("name", mechanisms.__all__)
def test_a_seeded_run_repeats(name):
    def run(seed):
        grant = Accountant(Fraction(1)).grant(Fraction(1, 10), on="x")
        return str(CALLS[name](grant=grant, source=InsecureSource(seed)))

    assert run(1) == run(1)
    assert len({run(seed) for seed in range(30)}) > 1


def test_a_forged_grant_is_no_grant():
    with pytest.raises(InternalError, match="outside the accountant"):
        CALLS["noisy_counts"](grant=Grant(Fraction(1), on="x", mint=None), source=SecureSource())


def test_importing_the_layer_is_cheap():
    code = (
        "import sys, sfumato.privacy.dp.mechanisms, sfumato.privacy.dp.accountant, sfumato.ledger; "
        "print([name for name in ('opendp', 'sqlalchemy', 'sklearn', 'scipy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"
