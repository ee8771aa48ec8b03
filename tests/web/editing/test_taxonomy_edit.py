"""Edits of a tree keep its values, undo each other, and give what a study reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.taxonomy.text import from_csv, from_nested, to_csv
from sfumato.errors import TaxonomyError
from sfumato.study.file import taxonomy_to_yaml
from sfumato.study.file.taxonomy_file import parse_taxonomy
from sfumato.web.editing.taxonomy_edit import MOST_NODES, ROOT, EditableTree, History, findings
from tests.raising import raises_code

JOB = {"Any": [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Dancer", "Writer"]}, "Retired"]}


@pytest.fixture
def job():
    return EditableTree.of(from_nested(JOB))


def test_a_tree_is_read_and_written_alike(job):
    assert job.nested() == JOB
    assert job.taxonomy() == from_nested(JOB)
    assert (job.depth, job.leaves) == (2, ("Engineer", "Lawyer", "Dancer", "Writer", "Retired"))


def test_leaves_are_grouped_in_the_place_of_the_first(job):
    found = job.group([job.find("Writer"), job.find("Retired")], "Other")
    assert found.nested() == {
        "Any": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", {"Other": ["Writer", "Retired"]}]}
    }
    assert found.parents[found.find("Other")] == found.find("Artist")


def test_a_node_moves_with_what_is_below_it_and_never_below_itself(job):
    professional, artist = job.find("Professional"), job.find("Artist")
    found = job.move([professional], artist)
    assert found.nested() == {
        "Any": [{"Artist": ["Dancer", "Writer", {"Professional": ["Engineer", "Lawyer"]}]}, "Retired"]
    }
    with raises_code(TaxonomyError, "SF-TAXONOMY-432"):
        found.move([artist], professional)
    before = job.move([job.find("Retired")], artist, before=job.find("Writer"))
    assert [before.labels[kid] for kid in before.kids(artist)] == ["Dancer", "Retired", "Writer"]


def test_children_go_up_when_their_node_is_deleted(job):
    assert job.delete(job.find("Artist")).nested() == {
        "Any": [{"Professional": ["Engineer", "Lawyer"]}, "Dancer", "Writer", "Retired"]
    }
    with raises_code(TaxonomyError, "SF-TAXONOMY-436"):
        job.delete(ROOT)


def test_nodes_merge_and_leaves_do_not(job):
    found = job.merge([job.find("Artist"), job.find("Professional"), job.find("Retired")])
    assert found.nested() == {"Any": {"Professional": ["Engineer", "Lawyer", "Dancer", "Writer", "Retired"]}}
    with raises_code(TaxonomyError, "SF-TAXONOMY-435"):
        job.merge([job.find("Dancer"), job.find("Writer")])


def test_a_node_is_divided(job):
    found = job.split([job.find("Dancer")], "Stage")
    assert found.nested() == {
        "Any": [{"Professional": ["Engineer", "Lawyer"]}, {"Artist": ["Writer"]}, {"Stage": ["Dancer"]}, "Retired"]
    }
    with raises_code(TaxonomyError, "SF-TAXONOMY-434"):
        job.split([job.find("Retired")], "x")


def test_a_node_is_found_by_its_label(job):
    chain = EditableTree.of(from_csv("a;North;North;Any\nb;North;North;Any\nc;Any\n"))
    assert chain.move([chain.find("c")], chain.find("North")).leaves == ("a", "b", "c")
    with raises_code(TaxonomyError, "SF-TAXONOMY-430"):
        job.find("nobody")
    with raises_code(TaxonomyError, "SF-TAXONOMY-431"):
        job.add(ROOT, ["Dancer"]).find("Dancer")


def test_names_sort_by_the_numbers_in_them():
    tree = EditableTree.flat(["10th", "9th", "1st-4th", "Bachelors"])
    assert tree.sort(ROOT).leaves == ("1st-4th", "9th", "10th", "Bachelors")


def test_what_is_wrong_is_found(job):
    def texts(tree, **more):
        return [(one.kind, one.fix, one.names) for one in findings(tree, **more)]

    assert [kind for kind, _, _ in texts(job)] == ["note"]  # uneven depth is allowed
    assert ("problem", "", ("Dancer",)) in texts(job.add(ROOT, ["Dancer"]))
    assert ("problem", "add", ("Baker",)) in texts(job, values=[*job.leaves, "Baker"])
    assert ("problem", "declare", ("Retired",)) in texts(job, values=job.leaves[:-1])
    assert ("note", "add-observed", ("Clerk",)) in texts(job, observed=["Clerk", "Dancer"])
    assert ("problem", "", ("Any",)) in texts(job, widest=2)
    assert texts(EditableTree.of(from_csv("Canada;Canada;Any\nUSA;USA;Any\n"))) == []


def test_undo_and_redo_go_back_and_forth(job):
    first = History(job)
    second = first.then(job.delete(job.find("Artist")))
    assert second.undo().tree == job and second.undo().redo().tree == second.tree
    assert first.undo() is first and second.redo() is second


@st.composite
def trees(draw):
    """A tree that some edits were made to."""
    labels = draw(
        st.lists(
            st.text(min_size=1, max_size=6).filter(lambda t: t.strip() and t.isprintable()),
            min_size=1,
            max_size=12,
            unique=True,
        )
    )
    tree = EditableTree.flat(labels, root=max(labels, key=len) + "*")
    for number in range(draw(st.integers(0, 6))):
        nodes = [node for node in tree.walk() if node != ROOT]
        some = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4))
        tree = tree.group(some, f"{max(labels, key=len)}+{number}")
    return tree


@given(trees(), st.data())
def test_every_edit_keeps_the_values(tree, data):
    nodes = [node for node in tree.walk() if node != ROOT]
    node, onto = data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from([ROOT, *nodes]))
    values = sorted(tree.leaves)
    assert set(tree.parents) == set(tree.labels) - {ROOT} == set(nodes)
    if onto in tree.below and onto not in set(tree.walk(node)):
        moved = tree.move([node], onto)
        assert set(tree.leaves) <= set(moved.leaves)  # a node whose last child left becomes a leaf, and is reported
        assert set(moved.labels) == set(moved.walk())
    if node in tree.below:
        assert sorted(tree.delete(node).leaves) == values
        assert sorted(tree.sort(node).leaves) == values
    assert set(tree.group([node], "a new name").leaves) >= set(values)


@given(trees())
def test_every_form_reads_back_the_same(tree):
    taxonomy = tree.taxonomy()
    assert EditableTree.of(taxonomy).nested() == tree.nested()
    assert from_csv(to_csv(taxonomy)) == taxonomy
    assert parse_taxonomy(taxonomy_to_yaml(taxonomy), "a.yaml") == taxonomy


def test_what_is_kept_for_undoing_is_bounded(job):
    large = EditableTree.flat([str(n) for n in range(50_000)])
    history = History(large)
    for n in range(8):
        history = history.then(history.tree.rename(1, f"name {n}"))
        assert history.tree.depths and history.tree.leaf_counts  # a page computes them
    kept = sum(len(tree.labels) for tree in history.past)
    assert MOST_NODES - 60_000 < kept <= MOST_NODES
    assert all(set(vars(tree)) == {"labels", "below", "unused"} for tree in history.past)
    undone = history
    while undone.past:
        undone = undone.undo()
    assert undone.tree.labels[1] == "name 4"
    assert all(set(vars(tree)) == {"labels", "below", "unused"} for tree in undone.future)
    while undone.future:
        undone = undone.redo()
    assert undone.tree.labels == history.tree.labels

    short = History(job)
    for n in range(300):
        short = short.then(short.tree.rename(1, str(n)))
    assert len(short.past) == 200
