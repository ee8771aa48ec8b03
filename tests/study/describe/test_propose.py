import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.domains.number_format import NumberFormat
from sfumato.errors import StudyError, UsageError
from sfumato.study.attribute import Role
from sfumato.study.describe import propose
from sfumato.study.describe.column_profile import ColumnProfile, Profile
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
        (column("x7", "integer", distinct=950, number_formats=THOUSANDS), None),
        (column("amount", "integer", rows=9, distinct=9, number_formats=THOUSANDS), None),
        (column("account_sum", "number", distinct=950, number_formats=THOUSANDS), None),
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
        (column("label", distinct=21), None),
        (column("note", "text", distinct=300), None),
        (column("sex_note", "text", distinct=300), None),
        (column("flag", "boolean", distinct=2, values=("false", "true")), None),
        (column("bmi", "number", distinct=990), None),
        (column("region_id", distinct=5), Role.QUASI_IDENTIFIER),
        (column("thing_id", distinct=5), None),
        (column("sex", distinct=1), None),
        (column("sex", distinct=0, missing=1000), None),
        (column("job", distinct=1001), None),
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
        "it is free text, which can name people: it is published only if you list its values by hand",
        "neither its name nor its values say what it is: give it a role, or leave it out",
        "all records have the same value, so it carries no information",
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
        column("bmi", "number"),
        column("income", distinct=2, values=("<=50K", ">50K")),
    ).to_yaml()
    assert text.split("attributes:\n")[1] == (
        "  # its name says 'id' and it has 1000 different values\n"
        "  id: {role: identifier}\n"
        "  # its name says 'age', which others may know of a person\n"
        "  age:\n"
        "    role: quasi_identifier\n"
        "    type: integer\n"
        "    bounds: [0, 99]\n"
        "    missing: keep      # 3 of 1000 records have no value\n"
        "    domain: observed   # confirm, then change to declared\n"
        "  # its name says 'weight', which others may know of a person\n"
        "  weight:\n"
        "    role: quasi_identifier\n"
        "    type: number\n"
        "    bounds: [0, 148.9]\n"
        "    step: 0.1\n"
        "    domain: observed   # confirm, then change to declared\n"
        "  # its name says 'zip', which others may know of a person\n"
        "  zip:\n"
        "    role: quasi_identifier\n"
        '    values: ["13053", "14850"]\n'
        "    taxonomy: {prefix: [1, 3]}\n"
        "    domain: observed   # confirm, then change to declared\n"
        "  # neither its name nor its values say what it is: give it a role, or leave it out\n"
        "  # bmi: {role: , type: number, bounds: [0, 99], step: 0.01, domain: observed}\n"
        "  # its name says 'income' and it has 2 values\n"
        "  income:\n"
        "    role: class\n"
        '    values: ["<=50K", ">50K"]\n'
        "    domain: observed   # confirm, then change to declared\n"
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
    assert {name: a.role for name, a in study.attributes.items()} == {
        p.column.name: p.role for p in found.columns if p.role
    }
    leaving = [a for a in study.attributes.values() if a.domain and a.role is not Role.TIME]  # a time never leaves
    assert len(leaving) == 3 and not any(a.domain.declared for a in leaving)
    assert str(study.attributes["weight"].domain.step) == "1/100"
    assert study.budget is None


def test_where_nothing_can_be_placed_the_file_asks_for_a_role():
    text = proposed(column("bmi", "number")).to_yaml()
    assert "# bmi: {role: , type: number" in text
    with raises_code(StudyError, "SF-STUDY-142"):
        study_from_text(text)


def uncomment(text, roles):
    """What the owner does with columns that are commented out: fill in the role, remove the `# `."""
    lines, open_ = [], False
    for line in text.splitlines():
        name = next((name for name in roles if line.startswith(f"  # {name}: {{role: ")), None)
        if name or open_:
            line = "  " + line.removeprefix("  # ").replace("{role: ", f"{{role: {roles.get(name)}", 1)  # noqa: PLW2901
            open_ = not line.endswith("}")
        lines.append(line)
    return "\n".join(lines)


def test_a_column_without_a_role_needs_nothing_but_the_role():
    """The type, bounds and format that were found were dropped where no role was."""
    values = tuple(f"a rather long value {n}" for n in range(40))
    found = proposed(
        column("sex"),
        column("amount", "number", missing=3, upper="5000", number_formats=THOUSANDS),
        column("same", "integer", distinct=1, lower="7", upper="7"),
        column("first", "date", distinct=1, lower="2004-01-31", upper="2004-01-31", formats=("%d/%m/%Y",)),
        column("thing", distinct=40, values=values),
        column("kind", distinct=2, values=("Any", "b: {}")),
        column("note", "text", distinct=2, values=("Ann", "Bob")),
        column("empty", distinct=0, missing=1000),
    )
    text = found.to_yaml()
    assert set(study_from_text(text).attributes) == {"sex"}, "it loads as it is"
    assert (
        '# amount: {role: , type: number, bounds: [0, 5000], format: {thousands: ","}, step: 1, missing: keep,' in text
    )
    assert "`format`: as the records suggest: confirm" in text and "`missing`: 3 of 1000 records" in text
    assert "# note: {role: }" in text and "Ann" not in text, "free text is not listed"
    assert max(len(line) for line in text.splitlines() if "long value" in line) <= 120
    names = [p.column.name for p in found.columns if p.role is None]
    study = study_from_text(uncomment(text, dict.fromkeys(names, "insensitive")))
    assert list(study.attributes) == [p.column.name for p in found.columns]
    domains = {name: a.domain for name, a in study.attributes.items()}
    assert domains["amount"].number_formats == THOUSANDS and domains["amount"].upper == 5000
    assert domains["first"].formats == ("%d/%m/%Y",)
    assert domains["thing"].taxonomy.leaves == values
    assert domains["kind"].taxonomy.leaves == ("Any", "b: {}")
    assert domains["note"] is None and domains["empty"] is None
    assert not any(domain.declared for domain in domains.values() if domain is not None)


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
