from fractions import Fraction
from pathlib import Path
from textwrap import dedent

import pytest

from sfumato.domains.domain import DROP, Categories, Grid
from sfumato.domains.number_format import NumberFormat
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.by_rule import flat
from sfumato.errors import StudyError, TaxonomyError
from sfumato.study.attribute import InvalidValuePolicy, Role
from sfumato.study.file import load_study, study_from_mapping, study_from_text
from sfumato.study.unit import PersonUnit, RecordUnit
from tests.raising import raises_code

HOSPITAL = """\
name: county-hospital
source: visits.parquet
privacy:
  unit: {person: patient_id, at_most: 3}
  budget: 0.1
attributes:
  patient_id: {role: identifier}
  age:        {role: quasi_identifier, type: integer, bounds: [0, 120], step: 1, at_least: 5}
  job:        {role: quasi_identifier, taxonomy: {Any: {Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}}
  visited:    {role: time, type: date}
  income:     {role: class, values: ["<=50K", ">50K"], description: What is predicted}
purposes:
  insurers:   {attributes: [age, income]}
releases:
  insurers-dp: {purpose: insurers, method: diffgen, epsilon: 0.5, h: 10, score: max, fresh: true}
ledger: sqlite:///ledger.db
"""


def attribute(fields, base=None):
    """One attribute, declared by the text of its fields."""
    return study_from_text(f"name: a\nsource: a.csv\nattributes:\n  x: {fields}\n", base=base).attributes["x"]


def wrong(text, file="study.yaml"):
    with pytest.raises(StudyError) as caught:
        study_from_text(dedent(text), file=file)
    return caught.value


def wrong_attribute(fields):
    return wrong(f"name: a\nsource: a.csv\nattributes:\n  x: {fields}\n")


def test_every_field_of_a_study():
    study = study_from_text(HOSPITAL, base=Path("folder"))
    assert (study.name, study.source, study.base) == ("county-hospital", "visits.parquet", Path("folder"))
    assert study.unit == PersonUnit("patient_id", 3)
    assert study.budget == Fraction(1, 10)
    assert study.ledger == "sqlite:///ledger.db"
    assert {name: a.role.value for name, a in study.attributes.items()} == {
        "patient_id": "identifier",
        "age": "quasi_identifier",
        "job": "quasi_identifier",
        "visited": "time",
        "income": "class",
    }
    age = study.attributes["age"]
    assert age.domain == Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(1), unit="integer")
    assert (age.at_least, age.missing, age.outside) == (5, InvalidValuePolicy.ERROR, InvalidValuePolicy.KEEP)
    assert study.attributes["job"].domain.label(0, 2) == "Professional"
    assert study.attributes["patient_id"].domain is None
    visited = study.attributes["visited"]
    assert (visited.domain.unit, visited.domain.points, visited.missing) == (
        "day",
        3_652_059,
        InvalidValuePolicy.SUPPRESS,
    )
    assert study.target.domain == Categories(taxonomy=flat(["<=50K", ">50K"]))
    assert study.target.description == "What is predicted"
    assert study.purposes["insurers"].attributes == ("age", "income")


def test_settings_of_a_release_stay_exact():
    settings = study_from_text(HOSPITAL).releases["insurers-dp"]
    assert settings == {
        "purpose": "insurers", "method": "diffgen", "epsilon": "0.5", "h": 10, "score": "max", "fresh": True,
    }  # fmt: skip
    assert type(settings["h"]) is int


def test_a_study_says_little_by_default():
    study = study_from_text("name: a\nsource: a.csv\nattributes: {x: {role: identifier}}\n")
    assert study.unit == RecordUnit()
    assert (study.budget, study.ledger, dict(study.purposes), dict(study.releases)) == (None, None, {}, {})


@pytest.mark.parametrize("budget", ["0.1", "1/10", ".1", "1e-1", '"0.1"'])
def test_the_budget_is_the_number_that_was_typed(budget):
    text = f"name: a\nsource: a.csv\nprivacy: {{budget: {budget}}}\nattributes: {{x: {{role: identifier}}}}\n"
    assert study_from_text(text).budget == Fraction(1, 10)


def test_labels_are_the_text_that_was_typed():
    leaves = attribute("{role: sensitive, values: [no, yes, 1, 01, 0.10, 1e3, null, ~, 2004-01-01, true]}")
    assert leaves.domain.taxonomy.leaves == (
        "no", "yes", "1", "01", "0.10", "1e3", "null", "~", "2004-01-01", "true",
    )  # fmt: skip
    nested = attribute("{role: sensitive, taxonomy: {Any: {0: [00, 01], 1: , no: ~}}}")
    assert nested.domain.taxonomy.leaves == ("00", "01", "1", "no")


def test_bounds_and_steps_are_exact():
    grid = attribute("{role: sensitive, type: number, bounds: [-0.3, 0.7], step: 0.1}").domain
    assert (grid.lower, grid.upper, grid.step, grid.size) == (Fraction(-3, 10), Fraction(7, 10), Fraction(1, 10), 11)


def test_dates_are_days():
    grid = attribute("{role: time, type: date, bounds: [2004-01-01, 2004-12-31]}").domain
    assert (grid.unit, grid.points, grid.step) == ("day", 366, 1)
    assert grid.encode(["2004-01-01", "2004-12-31"]).tolist() == [0, 365]


@pytest.mark.parametrize(
    ("written", "formats"),
    [
        ("{thousands: ','}", [NumberFormat(thousands=",")]),
        ("{decimal: ',', thousands: ., prefix: €}", [NumberFormat(decimal=",", thousands=".", prefix="€")]),
        ("{thousands: space, negative: trailing}", [NumberFormat(thousands=" ", negative="trailing")]),
        ("[{suffix: '%'}, {}]", [NumberFormat(suffix="%"), NumberFormat()]),
    ],
)
def test_how_numbers_are_written(written, formats):
    for kind in ("integer", "number"):
        grid = attribute(f"{{role: sensitive, type: {kind}, bounds: [0, 99], step: 1, format: {written}}}").domain
        assert list(grid.number_formats) == formats and grid.formats == ()


def test_missing_and_outside_values_that_are_kept():
    found = attribute("{role: sensitive, values: [a, b], missing: keep, outside: keep}")
    assert (found.missing, found.outside) == (InvalidValuePolicy.KEEP, InvalidValuePolicy.KEEP)
    assert found.domain.taxonomy.leaves == ("a", "b", "(missing)", "(other)")
    assert found.domain.encode(["b", None, "", "z"]).tolist() == [1, 2, 2, 3]


def test_missing_and_outside_values_under_a_name():
    found = attribute("{role: sensitive, values: [a, '?'], missing: '?', outside: odd}")
    assert found.domain.taxonomy.leaves == ("a", "?", "odd")
    assert found.domain.encode([None, "?", "z"]).tolist() == [1, 1, 2]


@pytest.mark.parametrize("policy", ["error", "suppress"])
def test_missing_and_outside_values_that_are_not_kept(policy):
    found = attribute(f"{{role: sensitive, values: [a, b], missing: {policy}, outside: {policy}}}")
    assert (found.missing, found.outside) == (InvalidValuePolicy(policy), InvalidValuePolicy(policy))
    assert found.domain.encode(["b", None, "z"]).tolist() == [1, DROP, DROP]


def test_the_missing_value_of_a_number():
    found = attribute("{role: sensitive, type: integer, bounds: [0, 9], missing: unknown, outside: suppress}")
    assert (found.domain.missing, found.domain.label(10, 11), found.outside) == (
        10,
        "unknown",
        InvalidValuePolicy.SUPPRESS,
    )


def test_an_observed_domain_says_so():
    assert not attribute("{role: sensitive, values: [a, b], domain: observed}").domain.declared
    assert not attribute("{role: sensitive, type: integer, bounds: [0, 1], domain: observed}").domain.declared
    assert attribute("{role: sensitive, values: [a, b], domain: declared}").domain.declared


@pytest.mark.parametrize(
    ("fields", "leaves"),
    [
        ("{values: [a, b], taxonomy: flat}", ("a", "b")),
        ("{values: ['13053', '14850'], taxonomy: {prefix: [1, 3]}}", ("13053", "14850")),
        ("{type: integer, bounds: [0, 29], taxonomy: {intervals: {width: 10}}}", ("[0, 10)", "[10, 20)", "[20, 29]")),
        (
            "{type: integer, bounds: [5, 29], taxonomy: {intervals: {width: 10, from: 0}}}",
            ("[5, 10)", "[10, 20)", "[20, 29]"),
        ),
        ("{type: integer, bounds: [0, 29], taxonomy: {intervals: {bounds: [18]}}}", ("[0, 18)", "[18, 29]")),
        (
            "{type: integer, bounds: [0, 29], taxonomy: {intervals: {bounds: [[18], [5, 25]]}}}",
            ("[0, 5)", "[5, 18)", "[18, 25)", "[25, 29]"),
        ),
        (
            "{type: integer, bounds: [0, 29], taxonomy: {intervals: {quantiles: 2, public: [1, 2, 3, 4]}}}",
            ("[0, 3)", "[3, 29]"),
        ),
        (
            "{type: date, bounds: [2003-12-01, 2004-01-31], taxonomy: {dates: [year]}}",
            ("[2003-12-01, 2004-01-01)", "[2004-01-01, 2004-01-31]"),
        ),
        (
            "{type: date, bounds: [2003-12-01, 2004-01-31], taxonomy: {intervals: {bounds: [2004-01-06]}}}",
            ("[2003-12-01, 2004-01-06)", "[2004-01-06, 2004-01-31]"),
        ),
        (
            "{type: integer, bounds: [0, 9], missing: keep, taxonomy: {intervals: {width: 5}}}",
            ("[0, 5)", "[5, 9]", "(missing)"),
        ),
    ],
)
def test_taxonomies_made_by_rule(fields, leaves):
    domain = attribute("{role: quasi_identifier, " + fields[1:]).domain
    assert domain.taxonomy.leaves == leaves
    assert domain.taxonomy.size == domain.size


def test_a_taxonomy_file_is_relative_to_the_study(tmp_path):
    (tmp_path / "job.csv").write_bytes("Bäcker;Any\nKoch;Any\n".encode("latin-1"))
    (tmp_path / "study.yaml").write_text(
        "name: a\nsource: a.csv\nattributes: {job: {role: quasi_identifier, taxonomy: job.csv}}", encoding="utf-8-sig"
    )
    study = load_study(tmp_path / "study.yaml")
    assert study.attributes["job"].domain.taxonomy.leaves == ("Bäcker", "Koch")
    assert study.base == tmp_path


def test_the_packaged_study_loads():
    study = load_study(Path(__file__).parents[3] / "src" / "sfumato" / "data" / "adult" / "study.yaml")
    assert len(study.attributes) == 15
    assert study.target.name == "income"


TOP = """\
name: a
source: a.csv
privacy: {PRIVACY}
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 9]}
  id: {role: identifier}
  sex: {role: class, values: [f, m]}
"""


def top(privacy="{unit: record}", **more):
    return TOP.replace("{PRIVACY}", privacy) + "".join(f"{name}: {text}\n" for name, text in more.items())


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("", "study.yaml, line 1: the study is empty", "write it, or make one with `sfumato describe TABLE`"),
        ("[a, b]", "study.yaml, line 1: a study is a mapping of fields", "begin with `name: …`"),
        ("name: a\n", "study.yaml, line 1: the field 'source' is missing", "add `source: …`"),
        ("name: a\nsource:\nattributes: {}\n", "study.yaml, line 2: the study has no source", "write a path or URL"),
        (
            "name: a\nsource: b\nattributes:\n",
            "study.yaml, line 3: the study declares no attribute",
            "give each column",
        ),
        (top(ledgr="x"), "study.yaml, line 8: there is no field 'ledgr'", "write 'ledger'; there are name, source"),
        (top("{unit: recrd}"), "study.yaml, line 3: there is no privacy unit 'recrd'", "write 'record'"),
        (
            top("{unit: {person: id}}"),
            "study.yaml, line 3: the field 'at_most' is missing",
            "add `at_most: …`",
        ),
        (
            top("{unit: {person: id, at_most: 0}}"),
            "study.yaml, line 3: '0' is not a whole number above 0",
            "write a number such as 1 or 3",
        ),
        (
            top("{unit: {person: id, atmost: 1, at_most: 1}}"),
            "study.yaml, line 3: there is no field 'atmost'",
            "write 'at_most'",
        ),
        (top("{budget: 0}"), "study.yaml, line 3: ε = 0 is not positive", "write a positive number"),
        (top("{budget: -1}"), "study.yaml, line 3: ε = -1 is not positive", "write a positive number"),
        (top("{budget: inf}"), "study.yaml, line 3: 'inf' is not a privacy budget (ε)", "write a positive number"),
        (top("{budget: .nan}"), "study.yaml, line 3: '.nan' is not a privacy budget (ε)", "write a positive number"),
        (top("{budget: much}"), "study.yaml, line 3: 'much' is not a privacy budget (ε)", "write a positive number"),
        (top("{budget: [1]}"), "study.yaml, line 3: a single value is expected here", "write one text or number"),
        (
            top(purposes="{p: {attributes: [age, sx]}}"),
            "study.yaml, line 8: purpose 'p' asks for 'sx', which is no attribute of the study",
            "write 'sex'",
        ),
        (
            top(purposes="{p: {attributes: [id]}}"),
            "study.yaml, line 8: purpose 'p' asks for 'id', which identifies people",
            "take it out: identifiers are never released",
        ),
        (
            top(purposes="{p: {attributes: [age, age]}}"),
            "study.yaml, line 8: purpose 'p' asks for 'age' twice",
            "write it once",
        ),
        (top(purposes="{p: {attributes: []}}"), "study.yaml, line 8: purpose 'p' asks for no attribute", "list"),
        (top(purposes="{p: }"), "study.yaml, line 8: the field 'attributes' is missing in 'p'", "add `attributes: …`"),
        (
            top(purposes="\n  p:\n    attributes: [age]\n    span: [2004-01-01, 2010-01-01]"),
            "study.yaml, line 11: the study 'a' declares no attribute with the role `time`",
            "give one attribute `role: time, type: date`",
        ),
        (
            top(purposes="{p: {attributes: [age], filter: age > 3}}"),
            "study.yaml, line 8: there is no field 'filter'",
            "choose one of: attributes, span, where",
        ),
        (top(releases="{r: {epsilon: 1}}"), "study.yaml, line 8: release 'r' names no method", "add one, such as"),
        (top(releases="{r: }"), "study.yaml, line 8: release 'r' has no settings", "write at least its method"),
        (
            top(releases="{r: {method: diffgen, purpose: insurers}}"),
            "study.yaml, line 8: release 'r' is for 'insurers', which is no purpose",
            "declare it under `purposes`",
        ),
        (top(sweeps="{s: }"), "study.yaml, line 8: sweep 's' has no settings", "write a method with values to try"),
        (top(sweeps="{s: [5]}"), "study.yaml, line 8: sweep 's' has no settings", "write a method with values to try"),
        (top(sweeps="{s: {k: [5]}}"), "study.yaml, line 8: sweep 's' names no method", "add one, such as"),
        (
            top(sweeps="\n  s:\n  - {method: tds, k: 5}\n  - {k: [5, 10]}"),
            "study.yaml, line 11: sweep 's' names no method",
            "add one, such as",
        ),
        (
            top(sweeps="\n  s:\n    method: tds\n    k: []"),
            "study.yaml, line 11: sweep 's' tries no value of 'k'",
            "list at least one",
        ),
        (
            top(sweeps="{s: {method: [tds, mondrian], k: 5}}"),
            "study.yaml, line 8: sweep 's' lists methods",
            "give each method its own part",
        ),
        (
            top(sweeps="\n  s:\n    method: tds\n    purpose: p"),
            "study.yaml, line 11: sweep 's' has a `purpose`",
            "take it out, and name the purpose",
        ),
        (
            "name: a\nsource: b\nattributes:\n  x: {role: identifier}\n  y: {role: identifier}\n  x: {role: time}\n",
            "study.yaml, line 6: 'x' is written twice, first in line 4",
            "keep one of them, or rename one",
        ),
        ("name: a\nsource: [b\n", "study.yaml, line 2: this is not YAML: expected ',' or ']'", "look at the"),
        ("name: a\n\tsource: b\n", "study.yaml, line 2: this is not YAML", "look at the indentation"),
        ("name: \x01\n", "study.yaml holds characters that YAML does not allow", "save it as UTF-8 text"),
        ("[a]: b\n", "study.yaml, line 1: a name is a list or a mapping", "write a plain text before the colon"),
        ("name: &a {b: *a}\n", "study.yaml, line 1: this contains itself (a cycle of aliases)", "write it out"),
        ("name: " + "[" * 1000, "study.yaml is nested too deeply", "take some levels out"),
    ],
)
def test_what_is_wrong_with_a_study(text, problem, fix):
    error = wrong(text)
    assert error.problem.startswith(problem)
    assert error.fix.startswith(fix)


@pytest.mark.parametrize(
    ("fields", "problem", "fix"),
    [
        ("", "'x' has no role", "give it one of: identifier, quasi_identifier, sensitive, class, time, insensitive"),
        ("{type: integer, bounds: [0, 9]}", "'x' has no role", "give it one of: identifier"),
        ("identifier", "a mapping is expected here", "write fields below it"),
        (
            "{role: quasi-identifier}",
            "there is no role 'quasi-identifier'",
            "write 'quasi_identifier'; there are ident",
        ),
        ("{role: [identifier]}", "a single value is expected here", "write one text or number"),
        ("{rolle: time}", "there is no field 'rolle' in 'x'", "write 'role'; there are role, type"),
        ("{role: time, type: datum}", "there is no type 'datum'", "write 'date'"),
        ("{role: quasi_identifier, type: set}", "the quasi_identifier 'x' has no domain", "declare a `taxonomy`"),
        (
            "{role: sensitive, values: [a], separator: ;}",
            "`separator` does not go with the type `category`",
            "add `type: set`",
        ),
        (
            "{role: time, type: integer, bounds: [0, 9], most: 3}",
            "`most` does not go with the type `integer`",
            "add `type: set`",
        ),
        ("{role: class, type: set, values: [a, b]}", "'x' is a set, and a class is one value", "choose another class"),
        (
            "{role: sensitive, type: set, values: [a, b], missing: gone}",
            "a record without codes has the empty set, not 'gone'",
            "write `keep`",
        ),
        (
            "{role: sensitive, type: set, values: [a, b], columns: [p, p]}",
            "'x' is joined from one column twice",
            "name each",
        ),
        ("{role: sensitive, type: set, values: [a, b], level: 2}", "the level of a set is 2", "choose one"),
        ("{role: sensitive, type: set, values: ['a, b', b]}", "the name 'a, b' in a set's taxonomy", "rename it"),
        ("{role: sensitive, type: set, bounds: [1, 2]}", "`bounds` does not go with the type `set`", "take it out"),
        ("{role: sensitive, values: [a], domain: guessed}", "there is no kind of domain 'guessed'", "choose one of"),
        ("{role: quasi_identifier}", "the quasi_identifier 'x' has no domain", "declare `values: [...]`"),
        ("{role: class}", "the class 'x' has no domain", "declare `values: [...]`"),
        ("{role: quasi_identifier, type: integer}", "the quasi_identifier 'x' has no domain", "declare its bounds"),
        ("{role: class, type: integer, bounds: [0, 9]}", "the class 'x' has no list of values", "declare `values"),
        (
            "{role: identifier, taxonomy: x.csv}",
            "'x' is an identifier and never released, so `taxonomy` would have no effect",
            "take `taxonomy` out, or give 'x' another role",
        ),
        ("{role: time, bounds: [0, 9]}", "`bounds` does not go with the type `category` of 'x'", "add `type: integer`"),
        ("{role: time, type: integer, values: [a]}", "`values` does not go with the type `integer` of 'x'", "use `bo"),
        ("{role: time, type: integer, step: 1}", "'x' has `step` and no `bounds`", "declare its bounds"),
        ("{role: time, type: integer, bounds: 9}", "a list is expected here", "write it in brackets: [a, b]"),
        ("{role: time, type: integer, bounds: [9]}", "'x' has 1 bounds", "write two: [lower, upper]"),
        ("{role: time, type: integer, bounds: [9, 0]}", "the lower bound of 'x' is above the upper one", "swap them"),
        ("{role: time, type: integer, bounds: [0, nan]}", "'nan' is not a number", "write a number such as"),
        ("{role: time, type: integer, bounds: [0, .inf]}", "'.inf' is not a number", "write a number such as"),
        ("{role: time, type: integer, bounds: [0, 1e999999999]}", "'1e999999999' is not a number", "write a number"),
        (
            "{role: time, type: number, step: 1, bounds: [0, 1e309]}",
            "'1e309' is no number of a table",
            "write a number",
        ),
        ("{role: time, type: number, step: 1e-400, bounds: [0, 1]}", "'1e-400' is no number of a", "write a number"),
        ("{role: time, type: integer, bounds: [0, 9.5]}", "9.5 is not a whole number", "write a whole number, or use"),
        ("{role: time, type: integer, bounds: [0, 9], step: 0}", "`step` is 0", "write a number above 0"),
        ("{role: time, type: integer, bounds: [0, 9], step: 0.5}", "0.5 is not a whole number", "write a whole number"),
        ("{role: time, type: integer, bounds: [0, 9], at_least: -1}", "`at_least` is -1", "write a number above 0"),
        ("{role: time, type: number, bounds: [0, 1]}", "a number has no step", "add its public resolution"),
        ("{role: time, type: number, bounds: [0, 1e30], step: 1}", "'x' has more than 2^53 steps", "choose a larger"),
        ("{role: time, type: date, bounds: [1.1.2004, 2.1.2004]}", "'1.1.2004' is not a date", "write dates as year-"),
        ("{role: time, type: integer, bounds: [0, 9], outside: odd}", "'x' is a number, and 'odd' is none", "write `k"),
        ("{role: sensitive, values: [a, b, a]}", "'a' stands twice in the list of values", "write it once"),
        ("{role: sensitive, values: []}", "the list of values is empty", "write at least one value"),
        ("{role: sensitive, values: a}", "a list is expected here", "write it in brackets: [a, b]"),
        ("{role: sensitive, values: [a, [b]]}", "a single value is expected here", "write one text or number"),
        ("{role: sensitive, values: [a, '']}", "this field is empty", "write a value, or take the field out"),
        ("{role: sensitive, taxonomy: {A: [a], B: [b]}}", "the taxonomy has 2 roots: 'A', 'B'", "put them below one"),
        ("{role: sensitive, taxonomy: {A: {B: [a], C: [a]}}}", "'a' stands at two places: below 'B'", "keep one of"),
        (
            "{role: sensitive, taxonomy: {A: {B: {C: {B: [a]}}}}}",
            "'B' stands above itself (a cycle): B > C",
            "write each",
        ),
        ("{role: sensitive, taxonomy: {A: {B: [b], B: [c]}}}", "'B' is written twice, first in line 4", "keep one"),
        (
            "{role: sensitive, taxonomy: gone.csv}",
            "the taxonomy 'gone.csv' cannot be opened (No such",
            "check the name",
        ),
        ("{role: sensitive, taxonomy: flat}", "`flat` needs the values it is made from", "list them: `values"),
        ("{role: sensitive, taxonomy: {prefix: [1]}}", "`prefix` needs the values it is made from", "list them"),
        ("{role: sensitive, values: [ab], taxonomy: {prefix: 1}}", "`prefix` is not a list", "write it in brackets"),
        ("{role: sensitive, values: [ab], taxonomy: {prefix: [x]}}", "`prefix` is 'x'", "write a whole number above 0"),
        (
            "{role: sensitive, taxonomy: {intervals: {width: 5}}}",
            "`intervals` needs a number or a date",
            "add `type: i",
        ),
        (
            "{role: sensitive, values: [a, B], taxonomy: {Any: [a, b]}}",
            "the value 'B' is no leaf of the taxonomy",
            "write 'b'",
        ),
        (
            "{role: sensitive, values: [a], taxonomy: {Any: [a, b]}}",
            "the leaf 'b' of the taxonomy is not among the `values`",
            "add 'b' to them",
        ),
        (
            "{role: sensitive, taxonomy: {Any: {A: [a], B: [b]}}, missing: A}",
            "'A' has other values below it",
            "name a leaf, or a new value",
        ),
        (
            "{role: time, type: integer, bounds: [0, 9], taxonomy: {Any: [a]}}",
            "a tree of names does not go with a number",
            "write {intervals: {width: 10}}",
        ),
        (
            "{role: time, type: integer, bounds: [0, 9], taxonomy: {intervals: {widht: 5}}}",
            "`intervals` has no setting 'widht'",
            "write 'width'",
        ),
        (
            "{role: time, type: integer, bounds: [0, 9], taxonomy: {intervals: {width: 5, bounds: [3]}}}",
            "`intervals` says `width` and `bounds`",
            "write one of",
        ),
        (
            "{role: time, type: integer, bounds: [0, 9], taxonomy: {intervals: }}",
            "`intervals` has no settings",
            "write {width: 10}",
        ),
        (
            "{role: time, type: integer, bounds: [0, 9], taxonomy: {intervals: {quantiles: 4}}}",
            "`quantiles` has no public numbers to take them from",
            "list them",
        ),
        (
            "{role: time, type: integer, bounds: [0, 9], taxonomy: {dates: [year]}}",
            "the calendar needs whole days",
            "use `type: date`",
        ),
        (
            "{role: sensitive, values: [a], format: {decimal: ','}}",
            "`format` is for dates and numbers, and 'x' has none",
            "add `type: date`, `type: number` or `type: integer` to 'x'",
        ),
        (
            "{role: sensitive, type: integer, bounds: [0, 9], format: '%d'}",
            "'%d' does not say how a number is written",
            "write fields such as `{thousands: ',', decimal: '.', prefix: $}`",
        ),
        (
            "{role: sensitive, type: date, bounds: [2004-01-01, 2005-01-01], format: {decimal: ','}}",
            "a date is not written by marks of numbers",
            "write a format such as `%d/%m/%Y`",
        ),
        (
            "{role: sensitive, type: integer, bounds: [0, 9], format: {decimal: ',', thousands: ','}}",
            "',' cannot be the decimal mark and the thousands separator of one number format",
            "write two different marks, such as `{decimal: ',', thousands: '.'}`",
        ),
        (
            "{role: sensitive, type: integer, bounds: [0, 9], format: {thousand: ','}}",
            "there is no field 'thousand' in 'format'",
            "write 'thousands'",
        ),
        (
            "{role: sensitive, type: integer, bounds: [0, 9], format: [{negative: red}]}",
            "there is no way to write negative numbers 'red'",
            "choose one of: parentheses, trailing",
        ),
    ],
)
def test_what_is_wrong_with_an_attribute(fields, problem, fix):
    error = wrong_attribute(fields)
    assert error.problem.startswith(f"study.yaml, line 4: {problem}")
    assert error.fix.startswith(fix)


def test_an_error_names_the_line_of_the_field_at_fault():
    text = """\
    name: a
    source: a.csv
    attributes:
      x:
        role: quasi_identifier
        type: integer
        bounds:
          - 0
          - nine
        step: 1
    """
    assert wrong(text).problem == "study.yaml, line 7: 'nine' is not a number"


def test_the_first_of_several_problems_is_named():
    text = "name: a\nsource: a.csv\nattributes:\n  x: {role: tim}\n  y: {rolle: time}\nledgr: x\n"
    assert wrong(text).problem == "study.yaml, line 4: there is no role 'tim'"


def test_an_error_in_a_taxonomy_file_names_the_file_and_the_line_of_the_study(tmp_path):
    (tmp_path / "job.csv").write_text("a;A;*\na;B;*\n", encoding="utf-8")
    with pytest.raises(TaxonomyError) as caught:
        attribute("{role: sensitive, taxonomy: job.csv}", base=tmp_path)
    assert caught.value.problem == (
        "study.yaml, line 4: job.csv, lines 1 and 2: 'a' stands at two places: below 'A' and below 'B'"
    )


FILTERED = """name: a
source: a.csv
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 99]}
  job: {role: quasi_identifier, taxonomy: {Any: {P: [E, L], A: [D]}}}
  ill: {role: class, values: ["no", "yes"]}
purposes:
  p:
    attributes: [age, job, ill]
    where:
      job: P
"""


@pytest.mark.parametrize(
    ("more", "problem", "fix"),
    [
        ("      age: old", "line 12: the filter by 'age': 'old' is no value of 'age'", "write a number from 0 to 99"),
        ("      ill: maybe", "line 12: the filter by 'ill': 'ill' has no value 'maybe'", "use one of: Any, no, yes"),
        ("\n      agge: 3", "line 13: the filter by 'agge': the study has no attribute 'agge'", "write 'age'"),
        ("      age: {}", "line 10: the filter gives 'age' no value", "write a value, or a list of them"),
    ],
)
def test_a_filter_that_is_no_query_is_not_called_one(more, problem, fix):
    said = wrong(f"{FILTERED}{more}\n")
    assert (said.problem, said.fix) == (f"study.yaml, {problem}", fix)


def test_a_filter_that_is_a_query_points_into_it():
    text = FILTERED.replace("    where:\n      job: P\n", "    where: age >= old\n")
    assert (
        wrong(text).problem
        == "study.yaml, line 10: 'old' is no value of 'age', at character 8 of the query: age >= ▶old"
    )


def test_a_few_aliases_cannot_fill_the_memory():
    bomb = "\n".join(
        ["a0: &a0 [x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 12)]
    )
    assert wrong(bomb).problem == "study.yaml stands for too many values"


def test_a_study_that_is_not_there(tmp_path):
    with raises_code(StudyError, "SF-STUDY-139", match=r"cannot be opened \(No such file or directory\)"):
        load_study(tmp_path / "study.yaml")
    with raises_code(StudyError, "SF-STUDY-139"):
        load_study(tmp_path)


def test_a_study_that_is_not_utf8(tmp_path):
    (tmp_path / "study.yaml").write_bytes("name: Bäcker".encode("latin-1"))
    with raises_code(StudyError, "SF-STUDY-138"):
        load_study(tmp_path / "study.yaml")


def test_a_study_from_python():
    table = object()
    study = study_from_mapping(
        {
            "name": "a",
            "source": table,
            "privacy": {"budget": 0.1},
            "attributes": {
                "age": {"role": Role.QUASI_IDENTIFIER, "type": "number", "bounds": (0, 1.5), "step": Fraction(1, 3)},
                "job": {"role": "class", "taxonomy": flat(["a", "b"])},
            },
            "releases": {"dp": {"method": "diffgen", "epsilon": Fraction(1, 2)}},
        }
    )
    assert study.source is table
    assert study.budget == Fraction(1, 10)
    assert study.attributes["age"].domain.step == Fraction(1, 3)
    assert study.attributes["age"].domain.upper == Fraction(3, 2)
    assert study.releases["dp"]["epsilon"] == Fraction(1, 2)


TREE = "taxonomy: {Any: {1*: ['15', '16'], 3*: ['31', '32']}}"


def test_sets_of_codes():
    found = attribute(
        f"{{role: quasi_identifier, type: set, separator: ',', {TREE}, outside: keep, most: 3, level: 1}}"
    )
    domain = found.domain
    assert isinstance(domain, SetDomain)
    assert (domain.separator, domain.columns, domain.most, domain.level, domain.empty) == (",", (), 3, 1, True)
    assert (found.missing, found.outside) == (InvalidValuePolicy.KEEP, InvalidValuePolicy.KEEP)
    assert domain.taxonomy.leaves[domain.other] == "(other)"


def test_a_set_joined_from_columns_holds_no_more_codes_than_there_are_columns():
    domain = attribute(f"{{role: quasi_identifier, type: set, columns: [p, q], {TREE}}}").domain
    assert (domain.separator, domain.columns, domain.most) == (None, ("p", "q"), 2)
    several = attribute(f"{{role: quasi_identifier, type: set, columns: [p, q], separator: '|', {TREE}}}").domain
    assert (several.separator, several.most) == ("|", None)
    left_out = attribute(f"{{role: quasi_identifier, type: set, missing: suppress, {TREE}}}")
    assert (left_out.domain.separator, left_out.domain.empty, left_out.missing) == (
        ";",
        False,
        InvalidValuePolicy.SUPPRESS,
    )


def test_a_mistake_in_python_is_named_by_its_place():
    with pytest.raises(StudyError) as caught:
        study_from_mapping({"name": "a", "source": "b", "attributes": {"x": {"role": "time", "type": "sets"}}})
    assert caught.value.problem == "the study, attributes.x.type: there is no type 'sets'"


def test_sweeps_are_one_part_or_several_with_exact_values():
    study = study_from_text(
        top(sweeps="{a: {method: mondrian, k: [5, 10]}, b: [{method: tds, k: 2}, {method: diffgen, epsilon: [0.10]}]}")
    )
    assert study.sweeps == {
        "a": ({"method": "mondrian", "k": [5, 10]},),
        "b": ({"method": "tds", "k": 2}, {"method": "diffgen", "epsilon": ["0.10"]}),
    }


@pytest.mark.parametrize("encoding", [r'"\0"', '"none such"'])
def test_an_encoding_that_is_none_is_refused_by_name(encoding):
    text = f"name: a\nsource: {{path: a.csv, encoding: {encoding}}}\nattributes: {{s: {{role: class, values: [f, m]}}}}"
    with raises_code(StudyError, "SF-STUDY-195", match="there is no encoding"):
        study_from_text(text)


def test_a_name_like_no_other_is_answered_with_all_names_once():
    with raises_code(StudyError, "SF-STUDY-159") as caught:
        study_from_text(top(zzzzzz="x"))
    assert caught.value.fix.startswith("choose one of: name, source") and "there are" not in caught.value.fix
