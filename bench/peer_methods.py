"""Other people's private methods on one split: run by an interpreter that has them, and not Sfumato.

    python bench/peer_methods.py METHOD EPSILON IN.npz OUT.npz

The versions that these libraries ask for do not agree with ours, so they live in an environment of their own (dpmm
0.1.9, interpret-core 0.7, diffprivlib 0.6). IN.npz has the codes of the records to learn from and of those to be
tested on, a column an attribute, the class last, how many codes each has, and which are numbers. OUT.npz has the
probability of the second class for each test record, or synthetic records (`rows`).
"""

import sys
import time
import warnings
from typing import Any

import numpy as np

DELTA_TABLES = 1e-9  # of MST and AIM
DELTA_EBM = 1e-6
_GIVEN = ("train", "test", "sizes", "ordered")


def one_hot(codes: Any, sizes: Any) -> Any:
    """An indicator a code: every row has the same length, √attributes, which is public."""
    return np.hstack([np.eye(int(size))[codes[:, place]] for place, size in enumerate(sizes)])


def synthetic(method: str, epsilon: float, train: Any, sizes: Any) -> Any:
    """Records of MST or AIM."""
    import pandas as pd  # noqa: PLC0415 - of the other environment
    from dpmm.models.aim import AIMGM  # type: ignore[import-not-found]  # noqa: PLC0415
    from dpmm.models.mst import MSTGM  # type: ignore[import-not-found]  # noqa: PLC0415

    names = [f"a{place}" for place in range(train.shape[1])]
    domain = {name: int(size) for name, size in zip(names, sizes, strict=True)}
    given: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA_TABLES, "domain": domain, "n_jobs": 2}
    if method == "AIM":
        model = AIMGM(**given, rounds=30, n_iters=250, max_model_size=1)
    else:
        model = MSTGM(**given, n_iters=1_000)
    model.fit(pd.DataFrame(train, columns=names))
    return model.generate(n_records=len(train))[names].to_numpy().astype(np.int64)


def classifier(method: str, epsilon: float, train: Any, test: Any, sizes: Any, ordered: Any) -> Any:
    """The probability of the second class by a private classifier."""
    x, y, asked, sizes = train[:, :-1], train[:, -1], test[:, :-1], sizes[:-1]
    if method == "DP-EBM":
        from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found]  # noqa: PLC0415

        bounds = {place: (0, int(size) - 1) for place, size in enumerate(sizes) if ordered[place]}
        kinds = ["continuous" if number else "nominal" for number in ordered]
        model = DPExplainableBoostingClassifier(
            epsilon=epsilon, delta=DELTA_EBM, feature_types=kinds, privacy_bounds=bounds
        )
        return model.fit(x, y).predict_proba(asked)[:, 1]
    from diffprivlib import models  # type: ignore[import-not-found]  # noqa: PLC0415

    if method == "diffprivlib logistic":
        model = models.LogisticRegression(epsilon=epsilon, data_norm=float(np.sqrt(len(sizes))), max_iter=500)
        return model.fit(one_hot(x, sizes), y).predict_proba(one_hot(asked, sizes))[:, 1]
    low, high = np.zeros(len(sizes)), np.asarray(sizes, float) - 1
    if method == "diffprivlib naive Bayes":
        model = models.GaussianNB(epsilon=epsilon, bounds=(low, high), priors=None)
    else:
        model = models.RandomForestClassifier(epsilon=epsilon, bounds=(low, high), classes=[0, 1], n_estimators=10)
    return model.fit(x.astype(float), y).predict_proba(asked.astype(float))[:, 1]


def main() -> None:
    """Run one method."""
    warnings.simplefilter("ignore")
    method, epsilon, source, target = sys.argv[1:]
    given = np.load(source)
    began = time.perf_counter()
    if method in {"MST", "AIM"}:
        found = {"rows": synthetic(method, float(epsilon), given["train"], given["sizes"])}
    else:
        found = {"chance": classifier(method, float(epsilon), *(given[name] for name in _GIVEN))}
    np.savez(target, seconds=time.perf_counter() - began, **found)


if __name__ == "__main__":
    main()
