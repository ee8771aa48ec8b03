"""DiffP-C4.5 as a scikit-learn classifier that learns from a study and is paid for by its ledger."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import UsageError, VerifyError
from sfumato.interactive.decision_tree import Floats, Integers
from sfumato.interactive.growing import DiffPTree
from sfumato.interactive.tree_model import Model
from sfumato.methods.method import Exact
from sfumato.release.forms.noisy_counts.encoder import InputError, raw_columns
from sfumato.release.storage.untrusted import parse_json, printable, read_bounded, refuse_unexpected


class DiffPC45(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A differentially private decision tree (Friedman & Schuster 2010); see `sfumato.interactive.DiffPTree`.

    ``fit(study)``, or ``study.learn(estimator)``, spends ``epsilon`` of the study's budget, once: a model answers one
    question, and its ε does not come back. Raw tables are refused: their domains would be read off the records, and no
    ledger would know. ``predict`` takes raw records: pandas, polars and Arrow tables and mappings of columns by name,
    arrays and lists with the predictors in order. Values are read by the study's domains; a record without a usable
    value for a question is judged by the node that asks.

    ``depth`` is how many questions are asked at most; ``criterion`` is the score of a split: `max`, `gini` or
    `info_gain` (called so here because scikit-learn's ``score(X, y)`` is the accuracy); ``prune`` makes leaves of what
    pays for nothing, from noisy counts, at no cost; ``branch`` splits categories as the `taxonomy` says or into all
    their `values` at once.
    """

    def __init__(
        self,
        epsilon: Exact = "1",
        *,
        depth: int = 5,
        criterion: str = "max",
        prune: bool = True,
        branch: str = "taxonomy",
    ) -> None:
        self.epsilon = epsilon
        self.depth = depth
        self.criterion = criterion
        self.prune = prune
        self.branch = branch

    def fit(self, X: Any, y: Any = None) -> "DiffPC45":  # noqa: N803 - scikit-learn's signature
        """Learn from a `Study`, at the cost of ε; ``y`` stays None, since the study says what the class is."""
        if y is not None or not callable(getattr(X, "learn", None)):
            raise InputError(
                "a private tree learns from a study, whose domains are declared and whose ledger pays",
                "give `fit` a `sfumato.Study` and no `y`, or call `study.learn(estimator)`",
                code="SF-USAGE-045",
            )
        X.learn(self)
        return self

    def method(self) -> DiffPTree:
        """The parameters, checked."""
        return DiffPTree(
            epsilon=self.epsilon, depth=self.depth, score=self.criterion, prune=self.prune, branch=self.branch
        )

    def take(self, model: Model) -> "DiffPC45":
        """Be fitted by a model that was learnt."""
        self.model_ = model
        self.classes_ = np.array(model.classes, dtype=object)
        self.feature_names_in_ = np.array(list(model.domains), dtype=object)
        self.n_features_in_ = len(model.domains)
        return self

    def predict(self, X: Any) -> NDArray[np.object_]:  # noqa: N803 - scikit-learn's name
        """The class of each record."""
        shares = self.predict_proba(X)
        found: NDArray[np.object_] = self.classes_[shares.argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 - scikit-learn's name
        """The noisy share of each class where each record ends, in the order of ``classes_``."""
        self._ready()
        return self.model_.shares(self._codes(X))

    def to_text(self) -> str:
        """The tree for people, a line a branch."""
        self._ready()
        return self.model_.to_text()

    def to_json(self) -> dict[str, Any]:
        """The model as plain values: noisy counts, public domains, and how it was made. It may be published."""
        self._ready()
        return self.model_.to_json()

    def save(self, path: str | Path) -> Path:
        """Write the model to a file that does not exist yet."""
        self._ready()
        place = Path(path)
        try:
            with place.open("x", encoding="utf-8", newline="\n") as file:
                file.write(self.model_.to_text_json())
        except FileExistsError:
            raise UsageError(
                f"'{place}' exists already", "name another file, or move this one away", code="SF-USAGE-046"
            ) from None
        return place

    @classmethod
    def load(cls, path: str | Path) -> "DiffPC45":
        """The fitted estimator of a file that `save` or `sfumato learn` wrote."""
        place = Path(path)
        with refuse_unexpected(f"the model '{printable(place.name)}'"):
            try:
                content = parse_json(read_bounded(place.resolve()), printable(place.name))
            except OSError:
                raise VerifyError(
                    f"'{path}' cannot be read as a model", "give a file that `learn` wrote", code="SF-VERIFY-029"
                ) from None
            model = Model.from_json(content)
            told = model.facts.get("parameters") or {}
            if not isinstance(told, Mapping):
                raise VerifyError(
                    f"the parameters in '{path}' are not a mapping",
                    "give a file that `learn` wrote",
                    code="SF-VERIFY-030",
                )
            named = {"criterion" if key == "score" else key: value for key, value in told.items()}
            return cls(**{key: value for key, value in named.items() if key in cls._names()}).take(model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        return tags

    @classmethod
    def _names(cls) -> list[str]:
        names: list[str] = cls._get_param_names()
        return names

    def _ready(self) -> None:
        check_is_fitted(self, "model_")

    def _codes(self, X: Any) -> dict[str, Integers]:  # noqa: N803 - scikit-learn's name
        """Raw records as codes of the study's domains."""
        names = list(self.model_.domains)
        if isinstance(X, Mapping):
            missing = [name for name in names if name not in X]
            if missing:
                raise InputError(
                    f"the records have no column '{missing[0]}'",
                    f"give the columns: {', '.join(names)}",
                    code="SF-USAGE-047",
                )
            columns = [list(X[name]) for name in names]
        else:
            columns = [list(column) for column in raw_columns(X, names, type(self).__name__)]
        if len({len(column) for column in columns}) != 1:
            raise InputError(
                "the columns of the records are not of one length", "give one value per record", code="SF-USAGE-048"
            )
        return {name: self.model_.domains[name].encode(c) for name, c in zip(names, columns, strict=True)}
