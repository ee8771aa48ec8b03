from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

import sfumato as sf
from sfumato.domains.number_format import NumberFormat
from sfumato.errors import UsageError
from sfumato.study.attribute import Role
from sfumato.study.describe import propose
from sfumato.study.describe.column_profile import ColumnProfile, Distribution, Profile
from sfumato.study.file import study_from_text
from tests.raising import raises_code

THOUSANDS = (NumberFormat(thousands=","),)


def column(name, kind="category", *, rows=1000, distinct=3, missing=0, **more):
    if kind == "category" and "values" not in more and distinct <= 1000:
        more["values"] = tuple(f"v{n}" for n in range(distinct))
    if kind in ("integer", "number"):
        more = {"lower": "0", "upper": "99", **more}
    if kind == "date":
        more = {"lower": "2004-01-01", "upper": "2010-12-31", **more}
    return ColumnProfile(name=name, kind=kind, rows=rows, distinct=distinct, missing=missing, **more)


def proposed(*columns, **more):
    return propose(Profile(rows=columns[0].rows, columns=columns), name="a", source="a.csv", **more)


@pytest.mark.parametrize(
    ("profile", "role"),
    [
        (column("patient_id", "integer", distinct=400), Role.IDENTIFIER),
        (column("PatientID", "integer", rows=9, distinct=9), Role.IDENTIFIER),
        (column("tax_id", "integer", distinct=1000), Role.IDENTIFIER),
        (column("citizen_id", "integer", distinct=300), Role.IDENTIFIER),
        (column("surname", "text", distinct=700), Role.IDENTIFIER),
        (column("serial", "integer", distinct=950), Role.IDENTIFIER),
        (column("x7", "integer", distinct=950), Role.IDENTIFIER),
        (column("x7", "integer", distinct=950, number_formats=THOUSANDS), Role.UNDECIDED),
        (column("amount", "integer", rows=9, distinct=9, number_formats=THOUSANDS), Role.UNDECIDED),
        (column("account_sum", "number", distinct=950, number_formats=THOUSANDS), Role.UNDECIDED),
        (column("account_balance", "number", distinct=950), Role.SENSITIVE),
        (column("account", "number", distinct=950), Role.IDENTIFIER),
        (column("patient_id", "integer", distinct=1000, number_formats=THOUSANDS), Role.IDENTIFIER),
        (column("comment", "text", distinct=990), Role.IDENTIFIER),
        (column("contact", "category", distinct=500, looks_like=("email",)), Role.IDENTIFIER),
        (column("age", "integer", distinct=70), Role.QUASI_IDENTIFIER),
        (column("age", "integer", rows=9, distinct=9), Role.QUASI_IDENTIFIER),
        (column("Sex"), Role.QUASI_IDENTIFIER),
        (column("zip", distinct=80), Role.QUASI_IDENTIFIER),
        (column("zipCode", "integer", distinct=80), Role.QUASI_IDENTIFIER),
        (column("marital-status"), Role.QUASI_IDENTIFIER),
        (column("maritalstatus"), Role.QUASI_IDENTIFIER),
        (column("workclass"), Role.QUASI_IDENTIFIER),
        (column("native-country", distinct=41), Role.QUASI_IDENTIFIER),
        (column("country_name", distinct=41), Role.QUASI_IDENTIFIER),
        (column("birth_date", "date", distinct=900), Role.QUASI_IDENTIFIER),
        (column("diagnosis", distinct=40), Role.SENSITIVE),
        (column("salary", "number", distinct=400), Role.SENSITIVE),
        (column("religion"), Role.SENSITIVE),
        (column("income", "integer", distinct=500), Role.SENSITIVE),
        (column("visited", "date", distinct=300), Role.TIME),
        (column("income", distinct=2), Role.CLASS),
        (column("label", distinct=20), Role.CLASS),
        (column("label", distinct=21), Role.UNDECIDED),
        (column("note", "text", distinct=300), Role.UNDECIDED),
        (column("sex_note", "text", distinct=300), Role.UNDECIDED),
        (column("flag", "boolean", distinct=2, values=("false", "true")), Role.UNDECIDED),
        (column("bmi", "number", distinct=990), Role.SENSITIVE),
        (column("region_id", distinct=5), Role.QUASI_IDENTIFIER),
        (column("thing_id", distinct=5), Role.UNDECIDED),
        (column("sex", distinct=1), Role.UNDECIDED),
        (column("sex", distinct=0, missing=1000), Role.UNDECIDED),
        (column("job", distinct=1001), Role.UNDECIDED),
    ],
    ids=lambda value: value.name if isinstance(value, ColumnProfile) else str(value),
)
def test_roles(profile, role):
    found = proposed(profile).columns[0]
    assert found.role is role
    assert found.reason


def test_reasons_say_why():
    reasons = [
        found.reason
        for found in proposed(
            column("patient_id", "integer", distinct=400),
            column("age", "integer"),
            column("note", "text", distinct=300),
            column("x", "number"),
            column("same", distinct=1),
            column("job", distinct=1001),
        ).columns
    ]
    assert reasons == [
        "it is named like a key, and about 2.5 records share each value: it defines the privacy unit",
        "its name says 'age', which others may know of a person",
        (
            "it is free text, which can name people: it is published only if you list its values by hand; else make it "
            "an `identifier`, which is never released"
        ),
        (
            "neither its name nor its values say what it is: may others know it of a person (`quasi_identifier`), must "
            "it not be disclosed for a person (`sensitive`), or neither (`insensitive`)?"
        ),
        "all records have the same value, so it carries no information: may it be published at all?",
        (
            "its name says 'job', which others may know of a person, but it has 1001 values, too many to list: "
            "give it a taxonomy and a role"
        ),
    ]


def test_only_one_class_is_guessed():
    found = proposed(column("income", distinct=2), column("class", distinct=2))
    assert [p.role for p in found.columns] == [Role.SENSITIVE, Role.CLASS]


def test_the_class_that_is_asked_for():
    found = proposed(column("income", distinct=2), column("smoker", distinct=2), target="smoker")
    assert [p.role for p in found.columns] == [Role.SENSITIVE, Role.CLASS]


def test_a_class_that_is_not_there_or_cannot_be_one():
    with raises_code(UsageError, "SF-USAGE-070", match=r"the table has no column 'smokr'\. To fix: write 'smoker'"):
        proposed(column("smoker", distinct=2), target="smokr")
    with raises_code(UsageError, "SF-USAGE-071", match="'name' cannot be the class: it has 1001 values"):
        proposed(column("name", distinct=1001), target="name")


def test_a_key_is_no_class():
    listed = tuple(f"K-{n}" for n in range(1000))
    with raises_code(UsageError, "SF-USAGE-982", match="'case' cannot be the class: nearly every record"):
        proposed(column("case", distinct=1000, values=listed), target="case")


def test_unique_near_unique_and_missing_values_are_listed():
    found = proposed(
        column("key", distinct=990, missing=10, values=()),
        column("almost", distinct=950, values=()),
        column("sex", missing=7),
    )
    assert (found.unique, found.near_unique, found.missing) == (("key",), ("almost",), {"key": 10, "sex": 7})
    assert "# Unique in every record that has a value: key\n" in found.to_yaml()
    assert "# Unique in nearly every record that has a value: almost\n" in found.to_yaml()


def test_the_proposed_file():
    text = proposed(
        column("id", "integer", distinct=1000),
        column("age", "integer", missing=3),
        column("weight", "number", distinct=900, upper="148.9"),
        column("zip", "integer", distinct=2, values=("13053", "14850")),
        column("shoes", "number"),
        column("label", distinct=2, values=("<=50K", ">50K")),
    ).to_yaml()
    assert text.split("attributes:\n")[1] == (
        "  # its name says 'id' and it has 1000 different values\n"
        "  id: {role: identifier}\n"
        "  # its name says 'age', which others may know of a person\n"
        "  age:\n"
        "    role: quasi_identifier\n"
        "    type: integer\n"
        "    bounds: [0, 120]   # ages of people\n"
        "    missing: keep      # 3 of 1000 records have no value\n"
        "    domain: observed   # confirm by what is known of the quantity, then change to declared\n"
        "    # taxonomy: {intervals: {width: 5, levels: 4}}   # for methods that follow a fixed hierarchy\n"
        "  # its name says 'weight', which others may know of a person\n"
        "  weight:\n"
        "    role: quasi_identifier\n"
        "    type: number\n"
        "    bounds: [0, 200]\n"
        "    step: 0.1\n"
        "    domain: observed   # confirm by law, price list, top code or instrument, then change to declared\n"
        "  # its name says 'zip', which others may know of a person\n"
        "  zip:\n"
        "    role: quasi_identifier\n"
        '    values: ["13053", "14850"]\n'
        "    taxonomy: {prefix: [1, 3]}   # levels of postal codes\n"
        "    domain: observed   # confirm by the list of the postal service, then change to declared\n"
        "  # neither its name nor its values say what it is: may others know it of a person (`quasi_identifier`), "
        "must\n"
        "  # it not be disclosed for a person (`sensitive`), or neither (`insensitive`)?\n"
        "  shoes:\n"
        "    role: undecided\n"
        "    type: number\n"
        "    bounds: [0, 100]\n"
        "    step: 0.01\n"
        "    domain: observed   # confirm by law, price list, top code or instrument, then change to declared\n"
        "  # its name says 'label' and it has 2 values\n"
        "  label:\n"
        "    role: class\n"
        '    values: ["<=50K", ">50K"]\n'
        "    domain: observed   # confirm by the answers that the form allows, then change to declared\n"
    )


def test_the_proposed_file_loads_and_says_observed():
    found = proposed(
        column("id", "integer", distinct=1000),
        column("age", "integer", missing=3),
        column("visited", "date", distinct=300),
        column("weight", "number", distinct=3, values=("1.25", "2.5", "3")),
        column("bmi", "number"),
        column("sex"),
    )
    study = study_from_text(found.to_yaml())
    assert {name: a.role for name, a in study.attributes.items()} == {p.column.name: p.role for p in found.columns}
    leaving = [a for a in study.attributes.values() if a.domain and a.role is not Role.TIME]  # a time never leaves
    assert len(leaving) == 4 and not any(a.domain.declared for a in leaving)
    assert str(study.attributes["weight"].domain.step) == "1/100"
    assert study.budget is None


def test_a_column_that_nothing_speaks_for_is_undecided_with_all_that_was_found():
    """The type, bounds and format that were found were dropped where no role was."""
    values = tuple(f"a rather long value {n}" for n in range(40))
    found = proposed(
        column("amount", "number", missing=3, upper="5000", number_formats=THOUSANDS),
        column("same", "integer", distinct=1, lower="7", upper="7"),
        column("thing", distinct=40, values=values),
        column("kind", distinct=2, values=("Any", "b: {}")),
        column("note", "text", distinct=2, values=("Ann", "Bob")),
        column("empty", distinct=0, missing=1000),
        column("thing_list", distinct=800, rows=1000, values=()),
    )
    text = found.to_yaml()
    assert "Ann" not in text, "free text is not listed"
    assert max(len(line) for line in text.splitlines() if "long value" in line) <= 120
    study = study_from_text(text)
    assert list(study.attributes) == [p.column.name for p in found.columns]
    assert {a.role for a in study.attributes.values()} == {Role.UNDECIDED}
    assert found.undecided == tuple(study.attributes)
    domains = {name: a.domain for name, a in study.attributes.items()}
    assert domains["amount"].number_formats == THOUSANDS and domains["amount"].upper == 5000
    assert domains["amount"].missing is not None
    assert (domains["same"].lower, domains["same"].upper) == (7, 7)
    assert domains["thing"].taxonomy.leaves == values
    assert domains["kind"].taxonomy.leaves == ("Any", "b: {}")
    assert domains["note"] is None and domains["empty"] is None and domains["thing_list"] is None


@pytest.mark.parametrize(
    ("profile", "bounds"),
    [
        (column("age", "integer", lower="17", upper="90"), (0, 120)),
        (column("age_of_house", "integer", lower="0", upper="340"), (0, 500)),
        (column("hours_per_week", "integer", lower="1", upper="99"), (0, 168)),
        (column("weeks_worked", "integer", lower="0", upper="52"), (0, 52)),
        (column("lon", "number", lower="-117.3", upper="-70.9"), (-180, 180)),
        (column("year_built", "integer", lower="1932", upper="2004"), (1930, 2010)),
        (column("gain", "integer", lower="-398", upper="41310"), (-500, 50_000)),
        (column("fever", "number", lower="35.1", upper="41.9"), (35, 42)),
        (column("loss", "integer", lower="-700", upper="-3"), (-1000, 0)),
        (column("zero", "integer", lower="0", upper="0"), (0, 1)),
    ],
    ids=lambda value: value.name if isinstance(value, ColumnProfile) else "",
)
def test_bounds_are_round(profile, bounds):
    """What occurs at the ends is nobody's any more, and stays observed."""
    domain = study_from_text(proposed(profile).to_yaml()).attributes[profile.name].domain
    assert (domain.lower, domain.upper) == bounds and not domain.declared


def test_dates_have_whole_years_or_decades():
    found = proposed(
        column("time", "date"),
        column("birth_date", "date", lower="1931-05-02", upper="2003-12-31"),
        column("seen", "date", lower="2004-02-29", upper="2005-01-01"),
    )
    domains = {name: a.domain for name, a in study_from_text(found.to_yaml()).attributes.items()}
    assert [domains["birth_date"].text(end) for end in (domains["birth_date"].lower, domains["birth_date"].upper)] == [
        "1930-01-01", "2009-12-31",
    ]  # fmt: skip
    assert [domains["seen"].text(end) for end in (domains["seen"].lower, domains["seen"].upper)] == [
        "2004-01-01", "2005-12-31",
    ]  # fmt: skip


def test_taxonomies_that_are_commented_out_work_once_they_are_not():
    found = proposed(
        column("age", "integer"),
        column("income", "integer", distinct=900, lower="0", upper="70000"),
        column("time", "date"),
        column("born", "date"),
    )
    text = found.to_yaml()
    assert text.count("    # taxonomy: ") == 3
    study = study_from_text(text.replace("    # taxonomy: ", "    taxonomy: "))
    trees = {name: study.attributes[name].domain.taxonomy for name in ("age", "income", "born")}
    assert "[20, 25)" in trees["age"].labels and "[0, 40)" in trees["age"].labels
    assert {"[0, 1000)", "[200, 500)", "[10000, 100000]", "[20000, 50000)"} <= set(trees["income"].labels)
    assert "2004-01" in " ".join(trees["born"].labels)


def said(found):
    """The proposed file without the marks and ends of its lines."""
    return " ".join(word for word in found.to_yaml().split() if word != "#")


def test_spellings_of_one_value_stand_together():
    found = proposed(column("sex", distinct=4, values=("Male", "female", "male", "MALE ")))
    study = study_from_text(found.to_yaml())
    tree = study.attributes["sex"].domain.taxonomy
    assert set(tree.leaves) == {"Male", "female", "male", "MALE "}
    assert tree.label(*tree.lowest_common([tree.leaves.index(v) for v in ("Male", "male", "MALE ")])) == (
        "male (all spellings)"
    )
    assert "'Male', 'male', 'MALE ' differ in case or blanks alone" in said(found)


def test_codes_of_public_lists_have_their_prefixes_and_name_the_list():
    found = proposed(
        column("diag_1", distinct=4, values=("A01.1", "A02", "E11.9", "E12.0")),
        column("soc", distinct=3, values=("11-1011", "11-2021", "29-1141")),
        column("nace", distinct=3, values=("A01.1", "A02.1", "C10.5")),
    )
    text = found.to_yaml()
    for lengths, named in (("[1]", "ICD-10 codes"), ("[2, 4]", "SOC codes"), ("[1, 2]", "NACE codes")):
        assert f"taxonomy: {{prefix: {lengths}}}   # levels of {named}" in text
    assert study_from_text(text).attributes["soc"].domain.taxonomy.find("11*****") > 0
    assert proposed(column("number_of_diagnoses", "integer", distinct=3, values=("1", "2", "9"))).columns[0].column.kind


def test_words_and_numbers_that_mean_nothing_are_pointed_out():
    ages = tuple(str(n) for n in range(18, 80))
    found = proposed(
        column("age", "integer", distinct=63, values=(*ages, "999"), lower="18", upper="999"),
        column("race", distinct=3, values=("a", "b", "Unknown")),
    )
    text = said(found)
    assert "'999' may stand for a missing value, or for all above a limit" in text
    assert "'Unknown' seems to mean that the value is not known" in text


@pytest.mark.parametrize(
    ("profile", "role"),
    [
        (column("end", "integer", distinct=1115, lower="0", upper="1186", rows=7214), Role.UNDECIDED),
        (column("hh", "integer", distinct=40_000, lower="1", upper="40000", rows=90_000), Role.IDENTIFIER),
        (column("spent", "integer", distinct=950, lower="-5", upper="99999"), Role.UNDECIDED),
        (column("instance_weight", "number", distinct=900), Role.UNDECIDED),
        (column("atorvastatin"), Role.SENSITIVE),
        (column("v7", distinct=2, values=("Female", "Male")), Role.QUASI_IDENTIFIER),
        (column("latitude", "number", distinct=990, upper="70"), Role.QUASI_IDENTIFIER),
        (column("class_of_worker", distinct=9), Role.QUASI_IDENTIFIER),
        (column("target_class", distinct=9), Role.CLASS),
        (column("readmitted", distinct=3), Role.CLASS),
    ],
    ids=lambda value: value.name if isinstance(value, ColumnProfile) else str(value),
)
def test_more_roles(profile, role):
    distribution = Distribution(labels=tuple("abcdefgh"), counts=(900, 50, 20, 10, 9, 5, 3, 3))
    skewed = replace(profile, distribution=distribution) if profile.name == "spent" else profile
    assert proposed(skewed).columns[0].role is role


@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ((900, 70, 20, 7, 2, 1), "integer"),
        ((500, 600, 90, 20, 3, 9), "integer"),
        ((60, 900, 20, 400, 2, 1), "category"),
    ],
)
def test_how_often_something_happened_is_no_code(counts, kind):
    """Such numbers begin at 0 and get ever rarer, but for the last, which may stand for all above it."""
    values = tuple(str(n) for n in range(len(counts)))
    found = proposed(
        column(
            "xq",
            "integer",
            distinct=len(counts),
            values=values,
            upper="5",
            distribution=Distribution(labels=values, counts=counts),
        )
    )
    assert found.columns[0].column.kind == kind


def test_a_number_with_decimals_is_no_class_and_a_number_of_persons_is_a_key():
    found = proposed(
        column("income", "number", distinct=14, values=tuple(f"{n / 10}" for n in range(14))),
        column("nr", "integer", distinct=545, rows=1000),
    )
    assert [p.role for p in found.columns] == [Role.SENSITIVE, Role.IDENTIFIER]


def test_public_census_files_are_known_by_several_of_their_names():
    codes = tuple(str(n) for n in range(1, 25))
    names = ("AGEP", "MAR", "SCHL", "PINCP", "PWGTP")
    columns = [column(name, "integer", distinct=24, values=codes, lower="1", upper="24") for name in names]
    found = proposed(*columns)
    assert [(p.column.kind, p.role) for p in found.columns] == [
        ("integer", Role.QUASI_IDENTIFIER),
        ("category", Role.QUASI_IDENTIFIER),
        ("category", Role.QUASI_IDENTIFIER),
        ("integer", Role.SENSITIVE),
        ("integer", Role.UNDECIDED),
    ]
    alone = proposed(columns[1], column("age"))
    assert (alone.columns[0].column.kind, alone.columns[0].role) == ("integer", Role.UNDECIDED)


def test_one_question_asked_of_many_things_has_one_role():
    answers = ("down", "no", "steady", "up")
    found = proposed(
        column("insulin", distinct=4, values=answers),
        column("xyzzy", distinct=2, values=("no", "steady")),
        column("plugh", distinct=1, values=("no",)),
        column("frob", distinct=2, values=("no", "yes")),
    )
    assert [p.role for p in found.columns] == [Role.SENSITIVE] * 3 + [Role.UNDECIDED]
    assert "the same values as 'insulin' beside it" in found.columns[1].reason


ODD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(lambda text: text.strip())


@given(
    st.lists(ODD | st.sampled_from(["Any", "null", "~", "no", "01", "a: b", "# c", "Any!"]), min_size=2, unique=True),
    ODD,
)
def test_any_names_and_values_survive_the_file(values, name):
    assume(name != "class")
    found = proposed(
        column("class", distinct=len(values), values=tuple(values)),
        column(f"sex {name}"),
        column(name, "number"),
        target="class",
    )
    study = study_from_text(found.to_yaml())
    assert study.target.domain.taxonomy.leaves == tuple(values)
    if found.role(f"sex {name}") is Role.QUASI_IDENTIFIER:
        assert f"sex {name}" in study.attributes


def test_long_lists_are_wrapped():
    values = tuple(f"a rather long value {n}" for n in range(100))
    text = proposed(column("sex", distinct=100, values=values)).to_yaml()
    assert max(map(len, text.splitlines())) <= 120
    assert study_from_text(text).attributes["sex"].domain.taxonomy.leaves == values


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Geschlecht", "quasi_identifier"),
        ("Alter", "quasi_identifier"),
        ("Postleitzahl", "quasi_identifier"),
        ("situation matrimoniale", "quasi_identifier"),
        ("sexe", "quasi_identifier"),
        ("nacionalidad", "quasi_identifier"),
        ("beroep", "quasi_identifier"),
        ("Diagnose", "sensitive"),
        ("salaire", "sensitive"),
        ("Kontosaldo", "sensitive"),
        ("alternative", "undecided"),
        ("Walter", "undecided"),
    ],
)
def test_names_in_other_languages_are_known_and_words_that_contain_them_are_not(name, role):
    table = pa.table({name: ["a", "b", "c", "d"] * 30})
    assert role_in(sf.describe(table).to_yaml(), name) == role


def test_a_date_of_birth_in_german_is_no_time_and_months_are_dates():
    births = [f"{n % 28 + 1:02}.{n % 12 + 1:02}.{1940 + n % 60}" for n in range(300)]
    written = sf.describe(
        pa.table({"Geburtsdatum": births, "seit": [f"{n % 12 + 1}/2010" for n in range(300)]})
    ).to_yaml()
    assert role_in(written, "Geburtsdatum") == "quasi_identifier"
    assert role_in(written, "seit") == "time" and '"%m/%Y"' in written


def test_a_far_number_among_few_codes_is_asked_about():
    def asked(values):
        return "may stand for a missing value" in sf.describe(pa.table({"kids": values * 20})).to_yaml()

    assert asked([0, 1, 2, 3, 99]) and asked([1, 2, 3, 4, 88])
    assert not asked([0, 1, 2, 3, 4]) and not asked([1, 99]) and not asked([1, 2, 50, 99])


def role_in(written, name):
    fields = YAML(typ="safe").load(written)["attributes"][name]
    return fields["role"]


@pytest.mark.parametrize("name", ["occupation", "hispanic_origin", "Beruf"])
def test_numbers_of_what_has_no_amount_are_codes_however_many(name):
    """530 occupations were proposed as numbers from 0 to 10,000, to be split at their median."""
    codes = tuple(str(10 * n) for n in range(1, 531))
    found = proposed(column(name, "integer", distinct=530, upper="5300", values=codes)).columns[0]
    assert found.column.kind == "category" and "stand for what has no amount" in found.reason
    counted = proposed(column(f"{name}_count", "integer", distinct=530, upper="5300", values=codes)).columns[0]
    assert counted.column.kind == "integer"
