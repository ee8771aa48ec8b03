"""The model that measured tables make, as a scikit-learn classifier of raw records."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from sfumato.domains.domain import Domain
from sfumato.release.forms.noisy_counts.encoder import set_columns
from sfumato.release.measured import MeasuredTables
from sfumato.release.model.plug_in import PlugIn, softmax


class PlugInClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the class of raw records by the published tables; it is fitted by the release, and learns nothing.

    Takes what `Release.encoder` takes: tables with the release's predictors by name, or arrays with them in order.
    """

    def __init__(
        self, tables: MeasuredTables, attributes: tuple[tuple[str, Domain], ...], classes: tuple[str, ...]
    ) -> None:
        self.tables = tables
        self.attributes = attributes
        self.classes = classes

    def fit(self, X: Any, y: Any = None) -> "PlugInClassifier":  # noqa: ARG002, N803 - scikit-learn's signature
        """There is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[np.object_]:
        """The class values, in the order of `predict_proba`."""
        return np.array(self.classes, dtype=object)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """The probability of each class, a row a record."""
        columns = set_columns(X, list(self.attributes), type(self).__name__)
        codes = {
            name: np.asarray(domain.encode(values), dtype=np.int64)
            for (name, domain), values in zip(self.attributes, columns, strict=True)
        }
        size = len(columns[0])
        return softmax(PlugIn(self.tables.stages).scores(codes, size))

    def predict(self, X: Any) -> NDArray[np.object_]:  # noqa: N803 - scikit-learn's name
        """The likeliest class of each record."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
