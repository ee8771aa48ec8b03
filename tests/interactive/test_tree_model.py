"""Trees as values: prediction, pruning, text, and JSON that reads back."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sfumato.domains.domain import DROP
from sfumato.errors import InternalError, VerifyError
from sfumato.interactive import Model, Node, Tree
from sfumato.interactive.pruning import CONFIDENCE, _errors, prune
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid

TREE = Tree(
    (
        Node((60, 38), "age", ((0, 40), (40, 121)), (1, 2)),
        Node((55, 9), "job", ((0, 2), (2, 4)), (3, 4)),
        Node((5, 29)),
        Node((55, 11)),
        Node((0, -2)),
    )
)


def model(tree=TREE):
    return Model(
        tree=tree, domains={"age": grid(0, 120), "job": JOB}, target="ill", target_domain=flat("no", "yes"),
        facts={"method": "diffp-c4.5", "parameters": {"epsilon": "1"}},
    )  # fmt: skip


def test_records_follow_the_questions():
    codes = {"age": np.array([3, 39, 40, 120, DROP, 3]), "job": np.array([1, 2, 0, DROP, 0, DROP])}
    assert TREE.leaf_of(codes).tolist() == [3, 4, 2, 2, 0, 1]
    assert model().predict(codes).tolist() == [0, 0, 1, 1, 0, 0]


def test_a_leaf_of_noise_alone_predicts_as_its_parent():
    assert TREE.shares[4].tolist() == TREE.shares[1].tolist()
    assert Tree((Node((-1, -3)),)).shares.tolist() == [[0.5, 0.5]]


def test_it_reads_well():
    assert model().to_text().splitlines() == [
        "everybody: no (60, 38)",
        "├─ age: [0, 40): no (55, 9)",
        "│  ├─ job: Professional: no (55, 11)",
        "│  ├─ job: Artist: no (0, -2)",
        "├─ age: [40, 120]: yes (5, 29)",
    ]


@given(errors=st.integers(0, 40), more=st.integers(1, 60))
def test_a_leaf_errs_as_often_as_c45_says(errors, more):
    """U is the share at which so few errors would be seen one time in four."""
    size = errors + max(more, errors)
    share = _errors(Node((size - errors, errors))) / size
    assert binom.cdf(errors, size, share) == pytest.approx(CONFIDENCE, abs=1e-6)


def test_quinlans_numbers():
    """C4.5 prints U(0, 6) = 0.206, U(0, 9) = 0.143 and U(0, 1) = 0.750 (Quinlan 1993, section 4.2)."""
    for size, printed in ((6, 0.206), (9, 0.143), (1, 0.750)):
        assert round(_errors(Node((size, 0))) / size, 3) == printed


def test_a_branch_of_noise_is_pruned_and_one_that_tells_stays():
    pruned = prune(TREE)
    assert [node.attribute for node in pruned.nodes] == ["age", None, None]
    assert [node.counts for node in pruned.nodes] == [(60, 38), (55, 9), (5, 29)]
    assert prune(Tree((Node((-2, -3)),))).leaves == 1


def test_json_reads_back():
    told = json.loads(model().to_text_json())
    assert Model.from_json(told) == model()
    assert told["nodes"][0] == {
        "counts": [60, 38],
        "attribute": "age",
        "ranges": [[0, 40], [40, 121]],
        "children": [1, 2],
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(format="tree"),
        lambda m: m.update(version=2),
        lambda m: m.update(nodes=[]),
        lambda m: m.pop("class"),
        lambda m: m.update(attributes=3),
        lambda m: m["nodes"][0].update(attribute="height"),
        lambda m: m["nodes"][0].update(children=[1, 1]),
        lambda m: m["nodes"][0].update(children=[0, 1]),
        lambda m: m["nodes"][0].update(ranges=[[0, 40]]),
        lambda m: m["nodes"][0].update(ranges=[[0, 40], [50, 121]]),
        lambda m: m["nodes"][0].update(ranges=[[0, 40], [40, 122]]),
        lambda m: m["nodes"][0].update(counts=[1]),
        lambda m: m["nodes"][2].update(counts=[1, 2, 3]),
        lambda m: m["nodes"][2].update(counts=["1", 2]),
        lambda m: m["class"].update(domain=m["attributes"][0]["domain"]),
    ],
)
def test_a_changed_model_is_refused(change):
    told = model().to_json()
    told = json.loads(json.dumps(told))
    change(told)
    with pytest.raises(VerifyError):
        Model.from_json(told)


def test_what_is_no_model_is_refused():
    for nothing in (None, [], 3, {}):
        with raises_code(VerifyError, "SF-VERIFY-031"):
            Model.from_json(nothing)


def test_nodes_that_make_no_tree_are_our_bug():
    with pytest.raises(InternalError):
        Tree((Node((1, 2), "age", ((0, 1), (1, 2)), (1, 1)),))
