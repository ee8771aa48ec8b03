import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.domains.taxonomy.text import DEEPEST, draw, from_csv, from_nested, to_csv, to_nested
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import TaxonomyError
from tests.raising import raises_code

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(lambda text: text.strip())


@st.composite
def trees(draw):
    """Trees of uneven depth with odd labels, among them chains of only children that repeat their label."""
    labels = iter(draw(st.lists(WORDS, min_size=2, max_size=30, unique=True)))
    root = [next(labels), []]
    nodes = [root]
    for label in labels:
        parent = draw(st.sampled_from(nodes))
        child = [label, []]
        parent[1].append(child)
        nodes.append(child)

    def grown(node):
        children = tuple(grown(child) for child in node[1])
        return Node(node[0], children)

    def chained(node):
        children = tuple(chained(child) for child in node.children)
        grown = Node(node.label, children)
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            grown = Node(node.label, (grown,))
        return grown

    return Taxonomy.of(chained(grown(root)))


@given(trees())
def test_nested_form_loses_nothing(taxonomy):
    assert from_nested(to_nested(taxonomy)) == taxonomy


@given(trees(), st.sampled_from(";\t,"))
def test_csv_form_loses_nothing(taxonomy, delimiter):
    assert from_csv(to_csv(taxonomy, delimiter=delimiter), delimiter=delimiter) == taxonomy


@given(trees())
def test_the_delimiter_is_found_in_what_we_write(taxonomy):
    assert from_csv(to_csv(taxonomy)) == taxonomy


@given(trees())
def test_the_two_forms_turn_into_each_other(taxonomy):
    assert to_csv(from_nested(to_nested(from_csv(to_csv(taxonomy))))) == to_csv(taxonomy)


@given(trees(), st.integers(1, 40))
def test_a_drawing_keeps_its_limit_and_counts_what_it_hides(taxonomy, limit):
    assume("…" not in taxonomy.labels)  # a node of that name looks like what is hidden
    lines = draw(taxonomy, limit=limit).split("\n")
    more = [line for line in lines if "└── … " in line]
    assert len(lines) - len(more) == min(limit, len(taxonomy.labels))
    assert len(draw(taxonomy, limit=None).split("\n")) == len(taxonomy.labels)


def test_labels_are_the_text_that_was_written():
    taxonomy = from_nested({"Any": ["01", "no", 1, " x "]})
    assert taxonomy.leaves == ("01", "no", "1", " x ")
    assert from_csv(to_csv(taxonomy)) == taxonomy


def test_rows_in_any_order_make_one_tree():
    taxonomy = from_csv("a;A;*\nb;B;*\nc;A;*\n")
    assert to_nested(taxonomy) == {"*": {"A": ["a", "c"], "B": ["b"]}}


def test_repeated_labels_of_a_hierarchy_with_even_rows():
    taxonomy = from_csv("Canada;Canada;Any\nOhio;USA;Any\nUtah;USA;Any\n")
    assert to_nested(taxonomy) == {"Any": {"Canada": ["Canada"], "USA": ["Ohio", "Utah"]}}
    assert to_csv(taxonomy) == "Canada;Canada;Any\nOhio;USA;Any\nUtah;USA;Any\n"


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa;A;*\r\nb;*\r\n",
        "a,A,*\nb,*\n",
        "a\tA\t*\nb\t*",
        '"a";"A";*\nb;*',
        "a;A;*\nb;*;\n\n;;\n",
        "a;A;*\rb;*\r",
    ],
    ids=["BOM and CRLF", "commas", "tabs", "quotes", "padding and blank rows", "CR"],
)
def test_dialects(text):
    assert to_nested(from_csv(text)) == {"*": {"A": ["a"], "b": None}}


def test_a_quoted_label_may_hold_the_delimiter_quotes_and_line_ends():
    taxonomy = from_csv(['"x;1";*\n', '"say ""hi""\n', 'twice";*\n'])
    assert taxonomy.leaves == ("x;1", 'say "hi"\ntwice')


def test_a_comma_in_a_label_does_not_hide_the_semicolons():
    assert from_csv("a,b;*\nc;*\n").leaves == ("a,b", "c")


@pytest.mark.parametrize(
    ("tree", "problem", "fix"),
    [
        ({}, "the taxonomy is empty", "write its root and the values below it: {Any: [a, b]}"),
        (None, "the taxonomy is empty", "write its root and the values below it: {Any: [a, b]}"),
        ({"Any": []}, "the taxonomy is empty: nothing stands below its root 'Any'", "write the values below it"),
        (
            {"A": ["a"], "B": ["b"]},
            "the taxonomy has 2 roots: 'A', 'B'",
            "put them below one root, such as 'Any'; if the first line of the file is a header, remove it",
        ),
        ({"Any": ["a", "b", "a"]}, "'a' stands twice below 'Any'", "write it once"),
        (
            {"Any": {"A": ["x", "y"], "B": ["x"]}},
            "'x' stands at two places: below 'A' and below 'B'",
            "keep one of them, or rename one",
        ),
        (
            {"Any": {"A": {"B": {"A": ["x"]}}}},
            "'A' stands above itself (a cycle): A > B > A",
            "write each node once, below one parent",
        ),
        (
            {"Any": {"Canada": ["Canada", "Ontario"]}},
            "'Canada' stands below itself, beside other values",
            "give the inner one another name, such as 'other Canada'",
        ),
        (
            {"Any": ["a", " "]},
            "a node below 'Any' has an empty label",
            "give it a name; for records without a value use the attribute's `missing` instead",
        ),
        (
            {"Any": "Dancer"},
            "below 'Any' stands the single name 'Dancer'",
            "write a list, also for one value: [Dancer]",
        ),
    ],
)
def test_what_is_wrong_with_a_nested_taxonomy(tree, problem, fix):
    with pytest.raises(TaxonomyError) as caught:
        from_nested(tree)
    assert (caught.value.problem, caught.value.fix) == (problem, fix)


def test_a_mapping_that_contains_itself():
    tree = {}
    tree["Any"] = {"x": tree}
    with raises_code(TaxonomyError, "SF-TAXONOMY-018", match=f"more than {DEEPEST} levels: it is a cycle"):
        from_nested(tree)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the taxonomy is empty"),
        ("\n;;\n", "the taxonomy is empty"),
        ("Any\n", "the taxonomy is empty: nothing stands below its root 'Any'"),
        ("a;*\nb;Any\n", "the taxonomy has 2 roots: '*', 'Any'"),
        ("a;*\nb;*\na;*\n", "the leaf 'a' stands in two rows, 1 and 3"),
        ("a;A;*\na;B;*\n", "'a' stands at two places: below 'A' and below 'B'"),
        ("A;*\na;A;*\n", "'A' is a leaf in one row and stands above 'a' in another"),
        ("a;b;c;a;*\n", "'a' stands above itself (a cycle): a > c > b > a"),
        ("a;;*\n", "row 1 has an empty label"),
        ('a;*\n"b;*\n', "row 2 is not CSV: unexpected end of data"),
    ],
)
def test_what_is_wrong_with_a_csv_taxonomy(text, problem):
    with pytest.raises(TaxonomyError) as caught:
        from_csv(text)
    assert caught.value.problem == problem


def test_a_drawing_never_moves_the_cursor():
    assert "\x1b" not in draw(from_nested({"Any": ["\x1b[2Jgone"]}))


def test_a_drawing_shows_the_top_levels_first():
    taxonomy = from_nested({"Any": {"A": ["a", "b"], "B": ["c"]}})
    assert draw(taxonomy, limit=4).split("\n") == [
        "Any (3 leaves)",
        "├── A (2 leaves)",
        "│   ├── a",
        "│   └── … 1 more",
        "└── B (1 leaf)",
    ]
