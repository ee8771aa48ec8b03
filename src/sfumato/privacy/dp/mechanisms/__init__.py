"""The mechanisms: thin, exact, each paid for with a single-use grant. None takes ε, none has a default grant."""

from sfumato.privacy.dp.mechanisms.interval_choice import choose_point
from sfumato.privacy.dp.mechanisms.laplace import noisy_counts
from sfumato.privacy.dp.mechanisms.noisy_max import noisy_max
from sfumato.privacy.dp.mechanisms.sparse import noisy_sparse

__all__ = ["choose_point", "noisy_counts", "noisy_max", "noisy_sparse"]
