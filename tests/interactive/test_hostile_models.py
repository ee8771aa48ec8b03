"""Model files that somebody damaged, or made to break whoever loads them."""

import copy
import json
import os

import pytest

from sfumato.errors import VerifyError
from sfumato.interactive import DiffPC45
from tests.raising import raises_code
from tests.trust.fuzzing import MODEL


def loaded(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return DiffPC45.load(path)


def changed(*keys, to):
    found = copy.deepcopy(MODEL)
    place = found
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    return found


def test_the_sound_one_is_loaded(tmp_path):
    assert loaded(tmp_path / "m.json", MODEL).predict({"age": [3, 50]}).tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    "content",
    [
        changed("nodes", 1, "counts", to=[10**400, 1]),
        changed("nodes", 1, "counts", to=[2**63, 1]),
        changed("nodes", 1, "counts", to=[float("nan"), 1]),
        changed("nodes", 1, "counts", to=[0.5, 1]),
        changed("nodes", to=[{"counts": [1] * 10**5}]),
        changed("nodes", to=[]),
        changed("nodes", 0, "children", to=[2, 2]),
        changed("nodes", 0, "ranges", to=[[0, 10**18], [10**18, 10**19]]),
        changed("parameters", to=[1]),
        changed("parameters", to="x"),
        changed("attributes", 0, "domain", "upper", to=str(10**30)),
        changed("class", "name", to=10**30),
        "[" * 10**5,
        '{"format": "sfumato-tree", "format": "sfumato-tree"}',
        "9" * 10**4,
        '"\\ud800"',
    ],
)
def test_a_model_that_none_is_refused(tmp_path, content):
    with pytest.raises(VerifyError):
        loaded(tmp_path / "m.json", content)


def test_a_chain_of_questions_without_end_is_refused(tmp_path):
    """Drawn as text, each line is as long as the tree is deep."""
    split = {"counts": [1, 1], "attribute": "age", "ranges": [[0, 100]]}
    nodes = [{**split, "children": [number]} for number in range(1, 3_000)]
    with raises_code(VerifyError, "SF-VERIFY-035"):
        loaded(tmp_path / "m.json", {**MODEL, "nodes": [*nodes, {"counts": [1, 1]}]})


def test_only_a_file_is_a_model(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", ".", "nowhere"):
        with pytest.raises(VerifyError):
            DiffPC45.load(tmp_path / name)
