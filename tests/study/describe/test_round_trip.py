"""A proposal is a study: it loads, fits its table, and can be released, with nothing done but to confirm it."""

import csv
import gzip
import itertools
import re

import pytest

import sfumato as sf
from sfumato.domains.domain import Categories, Grid
from sfumato.errors import StudyError
from sfumato.release.verify import verify_bundle
from sfumato.study.attribute import Role
from sfumato.study.unit import PersonUnit
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

NUMBERS = ("income", "tax_paid", "debt", "tax_rate")
DAYS = [(1 + n % 28, 1 + n % 12, 2010 + n % 6) for n in range(400)]
SWAPPED = str.maketrans(",.", ".,")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def people():
    """Records by rule: persons who come back, dates in three formats, codes, marks of missing values."""
    for n, (day, month, year) in enumerate(DAYS):
        yield {
            "visit_id": f"v{n}",
            "patient_nbr": 10_000 + n // 2,
            "visited": f"{day:02}/{month:02}/{year}",
            "discharged": f"{day}-{MONTHS[month - 1]}-{year}" if n % 9 else "",
            "birth_date": f"{1930 + n % 60}{month:02}{day:02}",
            "age": 20 + n % 60 if n % 17 else "?",
            "sex": 1 + n % 2,
            "region_code": (1, 2, 3, 5, 8)[n % 5],
            "hours": n % 9,
            "city": ("Zürich", "Genève", "NA", "Basel")[n % 4],
            "diagnosis": ("flu", "asthma", "?")[n % 3],
            "outcome": ("home", "ward")[n % 7 == 0],
        }


def written(path, rows, *, encoding="utf-8", delimiter=","):
    rows = list(rows)
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def confirmed(text):
    """What the owner does: confirm domains, decide open roles, choose a budget, take the proposed release."""
    text = re.sub(r"domain: observed +# confirm.*", "domain: declared", text)
    text = text.replace("{role: undecided}", "{role: identifier}").replace("role: undecided\n", "role: sensitive\n")
    return text.replace("  # budget: 1 ", "  budget: 1 ").replace("# releases: {dp", "releases: {dp")


def through(folder, table, **more):
    """Describe a table, check the unchanged proposal, confirm it, release it; the study and the release."""
    proposal = sf.describe(table, **more)
    file = folder / "study.yaml"
    file.write_text(proposal.to_yaml(), encoding="utf-8")
    assert [report for report in sf.Study.load(file).check() if report.outside] == [], "the domains fit as proposed"
    file.write_text(confirmed(proposal.to_yaml()), encoding="utf-8")
    study = sf.Study.load(file)
    done = study.release("dp", out=folder / "dp", report=False)
    assert verify_bundle(done.bundle).ok
    return proposal, study


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    return through(folder, written(folder / "clinic.csv", people()))


def test_persons_are_the_unit(clinic):
    proposal, study = clinic
    assert study.declared.unit == PersonUnit(column="patient_nbr", at_most=3)
    assert proposal.person == "patient_nbr"
    assert proposal.role("visit_id") is Role.IDENTIFIER
    assert "about 2.0 records share each value" in proposal.to_yaml()


def test_one_date_is_the_time_and_the_file_says_which_and_why(clinic):
    proposal, study = clinic
    assert [p.column.name for p in proposal.columns if p.role is Role.TIME] == ["visited"]
    assert "# of 2 dates the first date that every record has" in proposal.to_yaml()
    assert proposal.role("discharged") is Role.QUASI_IDENTIFIER
    assert study.declared.time.name == "visited"
    assert study.ledger.spent("clinic") == 1


def test_dates_are_read_by_the_formats_that_were_found(clinic):
    _, study = clinic
    domains = {name: a.domain for name, a in study.declared.attributes.items()}
    assert domains["visited"].formats == ("%d/%m/%Y",)
    assert domains["discharged"].formats == ("%d-%b-%Y",)
    assert domains["birth_date"].formats == ("%Y%m%d",)
    reports = {report.attribute: report for report in study.check()}
    assert reports["discharged"].missing == sum(not n % 9 for n in range(400))
    assert reports["birth_date"].missing == reports["visited"].missing == 0


def test_codes_are_categories_and_amounts_are_numbers(clinic):
    proposal, study = clinic
    domains = {name: a.domain for name, a in study.declared.attributes.items()}
    assert isinstance(domains["sex"], Categories) and isinstance(domains["region_code"], Categories)
    assert domains["region_code"].taxonomy.leaves == ("1", "2", "3", "5", "8")
    assert isinstance(domains["hours"], Grid) and isinstance(domains["age"], Grid)
    assert "taken for codes: if they are amounts, write" in " ".join(proposal.to_yaml().split()).replace(" # ", " ")


def paid():
    """Records by rule: numbers in four formats."""
    for n in range(400):
        yield {
            "income": f"{n * 137 + n % 7 / 10:,.2f}" if n % 11 else "",
            "tax_paid": f"{n * 3.25:,.2f} £".translate(SWAPPED),
            "debt": f"({n})" if n % 3 else f"{n * 1000:,}",
            "tax_rate": f"{n % 40}.5%",
            "outcome": ("home", "ward")[n % 7 == 0],
        }


def test_numbers_are_read_by_the_formats_that_were_found(tmp_path):
    """Of 1,053.30 nothing was a number, so that a release by the proposal left out every record."""
    proposal = sf.describe(written(tmp_path / "clinic.csv", paid()))
    (tmp_path / "study.yaml").write_text(proposal.to_yaml(), encoding="utf-8")
    assert [report for report in sf.Study.load(tmp_path / "study.yaml").check() if report.outside] == []
    (tmp_path / "study.yaml").write_text(confirmed(proposal.to_yaml()), encoding="utf-8")
    study = sf.Study.load(tmp_path / "study.yaml")
    assert study.plan("dp").left_out.left_out == 0
    assert study.ask("income >= 1000 and tax_rate < 20", epsilon=1).left == 0, "nothing is left out, so it is answered"
    domains = {name: a.domain for name, a in study.declared.attributes.items()}
    found = {name: [form.fields() for form in domains[name].number_formats] for name in NUMBERS}
    assert found == {
        "income": [{"thousands": ","}],
        "tax_paid": [{"decimal": ",", "thousands": ".", "suffix": "£"}],
        "debt": [{"thousands": ",", "negative": "parentheses"}],
        "tax_rate": [{"suffix": "%"}],
    }
    assert {name: domains[name].unit for name in NUMBERS} == dict.fromkeys(NUMBERS, "number") | {"debt": "integer"}
    assert (domains["income"].lower, domains["income"].upper) == (0, 100_000)
    assert (domains["debt"].lower, domains["debt"].upper) == (-500, 500_000)
    reports = {report.attribute: report for report in study.check()}
    assert {name: reports[name].missing for name in NUMBERS} == dict.fromkeys(NUMBERS, 0) | {"income": 37}
    line = next(line for line in proposal.to_yaml().splitlines() if "decimal:" in line)
    assert line.strip().startswith(
        'format: {decimal: ",", thousands: ".", suffix: "£"}   # as the records suggest: confirm'
    )


def test_thousands_that_only_late_records_have(tmp_path):
    """Below 1,000 nobody sees a separator: the first values alone do not tell."""
    rows = [{"salary": f"{n * 7:,}", "sex": "fm"[n % 2]} for n in range(900)]
    proposal, study = through(
        tmp_path, written(tmp_path / "x.csv", [{**row, "class": "ab"[n % 2]} for n, row in enumerate(rows)])
    )
    assert proposal.missing == {}
    assert [form.fields() for form in study.declared.attributes["salary"].domain.number_formats] == [{"thousands": ","}]


def test_a_mark_that_may_stand_before_decimals_is_said_to_be(tmp_path):
    rows = [{"salary": f"{1000 + n * 37:,}", "sex": "fm"[n % 2]} for n in range(200)]
    text = sf.describe(written(tmp_path / "x.csv", rows)).to_yaml()
    assert 'format: {thousands: ","}   # or the mark is a decimal one (the values do not decide it): confirm' in text
    rows[7]["salary"] = "1,000,000"
    assert "as the records suggest: confirm" in sf.describe(written(tmp_path / "y.csv", rows)).to_yaml()


def test_marks_of_missing_values_are_missing(clinic):
    proposal, study = clinic
    assert study.declared.source.missing == ("?", "NA")
    assert "?" not in study.declared.attributes["diagnosis"].domain.taxonomy.leaves
    assert proposal.missing["city"] == 100
    assert study.declared.attributes["age"].domain.unit == "integer", "numbers with a mark among them are numbers"


def test_what_records_decided_is_to_be_confirmed(tmp_path):
    """One record may have decided any of these; the owner is asked to look at each."""
    path = written(tmp_path / "clinic.csv", people(), encoding="latin-1")
    lines = sf.describe(path).to_yaml().splitlines()
    asked = [line.strip() for line in lines if line.strip().startswith(("encoding:", "missing: [", "format:"))]
    assert {line.partition(":")[0] for line in asked} == {"encoding", "missing", "format"}
    assert [line for line in asked if ": confirm it, so that it does not depend on records" not in line] == []


def test_groups_need_no_confirmation(tmp_path):
    table = written(tmp_path / "clinic.csv", ({**row, "patient_nbr": n} for n, row in enumerate(people())))
    (tmp_path / "study.yaml").write_text(sf.describe(table).to_yaml(), encoding="utf-8")
    done = sf.Study.load(tmp_path / "study.yaml").release(sf.Mondrian(k=5), out=tmp_path / "out", report=False)
    assert verify_bundle(done.bundle).ok


def test_a_file_in_latin_1_with_semicolons(tmp_path):
    """Without the encoding in the proposal the release would refuse to guess it."""
    path = written(tmp_path / "clinic.csv", people(), encoding="latin-1", delimiter=";")
    proposal, study = through(tmp_path, path)
    assert proposal.written == {"encoding": "windows-1252", "missing": ["?", "NA"]}
    assert "Zürich" in study.declared.attributes["city"].domain.taxonomy.leaves


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_names_with_two_marks(tmp_path, delimiter):
    """Without the delimiter in the proposal the release would refuse to guess it, and the plan did not say so."""
    rows = [{"a|b": "xy"[n % 5 == 0], "sex": "fm"[n % 2], "outcome": ("home", "ward")[n % 7 == 0]} for n in range(99)]
    path = written(tmp_path / "clinic.csv", rows, delimiter=delimiter)
    bare = confirmed(sf.describe(path).to_yaml())
    proposal, study = through(tmp_path, path)
    assert proposal.written["delimiter"] == delimiter
    assert not any("REFUSED" in sentence for sentence in study.plan("dp").sentences)
    shown = "tab" if delimiter == "\t" else f'"{delimiter}"'
    bare = "\n".join(line for line in bare.splitlines() if not line.startswith("  delimiter:"))
    (tmp_path / "bare.yaml").write_text(bare.replace("name: clinic", "name: bare"), encoding="utf-8")
    study = sf.Study.load(tmp_path / "bare.yaml")
    first = study.plan("dp").sentences[0]
    assert first.startswith("IT WILL BE REFUSED by `release`: the delimiter of ")
    with pytest.raises(sf.SfumatoError) as caught:
        study.release("dp", out=tmp_path / "bare", report=False)
    assert caught.value.problem in first and caught.value.fix in first, "the plan says what the release says"
    assert f"declare it in the study: `source: {{path: …, delimiter: {shown}}}`" in caught.value.fix
    assert not any("REFUSED" in s for s in study.plan(sf.Mondrian(k=5)).sentences), "groups may look at records"
    assert study.ledger.spent("bare") == 0


def test_a_name_that_begins_with_a_quote(tmp_path):
    """A private release takes the first mark for the quote; the records show another, so it is proposed."""
    text = "'t,sex,class\n" + "".join(f'"{n}, x",{"fm"[n % 2]},{"ab"[n % 3 == 0]}\n' for n in range(60))
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    proposal, study = through(tmp_path, tmp_path / "x.csv")
    assert proposal.written == {"quote": '"'}
    assert set(study.declared.attributes) == {"'t", "sex", "class"}


def test_undecided_columns_need_nothing_but_a_role(tmp_path):
    """Three amounts in three formats, whose names say nothing: the study loads and is checked, and asks for roles."""
    rows = [
        {
            "amount": f"{n * 37:,}",
            "sum": f"{n * 3.25:,.2f} £".translate(SWAPPED) if n % 11 else "",
            "rate": f"{n % 40}.5%",
            "sex": "fm"[n % 2],
            "outcome": ("home", "ward")[n % 7 == 0],
        }
        for n in range(400)
    ]
    proposal = sf.describe(written(tmp_path / "visits[1].csv", rows))
    text = proposal.to_yaml()
    assert proposal.undecided == ("amount", "sum", "rate")
    assert proposal.name == "visits-1"
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    study = sf.Study.load(tmp_path / "study.yaml")
    assert set(study.declared.attributes) == {"amount", "sum", "rate", "sex", "outcome"}
    reports = {report.attribute: report for report in study.check()}
    assert {name: (r.missing, r.outside) for name, r in reports.items()} == dict.fromkeys(reports, (0, 0)) | {
        "sum": (37, 0)
    }
    domains = {name: study.declared.attributes[name].domain for name in ("amount", "sum", "rate")}
    assert {name: [form.fields() for form in domain.number_formats] for name, domain in domains.items()} == {
        "amount": [{"thousands": ","}],
        "sum": [{"decimal": ",", "thousands": ".", "suffix": "£"}],
        "rate": [{"suffix": "%"}],
    }
    declared = confirmed(text).replace("role: sensitive", "role: undecided")
    (tmp_path / "study.yaml").write_text(declared, encoding="utf-8")
    with raises_code(StudyError, "SF-STUDY-720", match="'amount', 'sum', 'rate'"):
        sf.Study.load(tmp_path / "study.yaml").release("dp", out=tmp_path / "early", report=False)
    (tmp_path / "study.yaml").write_text(confirmed(text), encoding="utf-8")
    study = sf.Study.load(tmp_path / "study.yaml")
    assert verify_bundle(study.release("dp", out=tmp_path / "dp", report=False).bundle).ok


@pytest.mark.parametrize(
    ("file", "asked", "name"),
    [
        ("visits[1].csv", "visits[1].csv", "visits-1"),
        ("[1].csv", "[1].csv", "1"),
        ("visits.csv", "visits.csv", "visits"),
        ("visits1.csv", "visits[1].csv", "clinic"),
        ("visits-1.csv", "*.csv", "clinic"),
    ],
)
def test_a_study_is_named_after_its_file_or_the_folder_of_a_pattern(tmp_path, file, asked, name):
    (tmp_path / "clinic").mkdir()
    written(tmp_path / "clinic" / file, people())
    assert sf.describe(tmp_path / "clinic" / asked).name == name


def test_a_byte_without_a_meaning_in_the_proposed_encoding(tmp_path):
    """0x81 is no letter of windows-1252, but what is proposed opens all the same."""
    path = written(tmp_path / "clinic.csv", people(), encoding="latin-1", delimiter=";")
    first, rest = path.read_bytes().split(b"\n", 1)
    odd = rest.replace("Zürich".encode("latin-1"), b"Z\x81rich", 1)
    assert odd != rest
    path.write_bytes(first + b"\n" + odd)
    proposal, study = through(tmp_path, path)
    assert proposal.written["encoding"] == "windows-1252"
    assert "Zürich" in study.declared.attributes["city"].domain.taxonomy.leaves


def test_days_and_months_that_nothing_tells_apart_are_said_to_be(tmp_path):
    rows = [{"seen": f"{1 + n % 12:02}/{1 + n // 12 % 12:02}/2004", "sex": "fm"[n % 2]} for n in range(288)]
    text = sf.describe(written(tmp_path / "x.csv", rows)).to_yaml()
    assert 'format: "%d/%m/%Y"   # or the month first (the values do not decide it): confirm' in text
    rows[7]["seen"] = "02/13/2004"
    text = sf.describe(written(tmp_path / "y.csv", rows)).to_yaml()
    assert 'format: "%m/%d/%Y"   # as the records suggest: confirm' in text


def test_namibia_is_a_country(tmp_path):
    codes = [f"A{letter}" for letter in "BCDEFGHIJKLMNOPQRSTUVW"] + ["NA"]
    rows = [{"country": codes[n % len(codes)], "sex": "fm"[n % 2]} for n in range(200)]
    proposal = sf.describe(written(tmp_path / "x.csv", rows))
    assert "NA" in next(p.column.values for p in proposal.columns if p.column.name == "country")
    assert proposal.written == {}


def test_the_class_and_the_person_are_no_time(tmp_path):
    rows = [{"patient": f"p{n // 3}", "seen": "2004-01-31" if n % 2 else "2004-02-01"} for n in range(90)]
    proposal = sf.describe(written(tmp_path / "x.csv", rows), target="seen")
    assert proposal.role("seen") is Role.CLASS
    assert proposal.role("patient") is Role.IDENTIFIER


# --- real tables ---


def part(shared_data, folder, name, rows):
    """The first records of a shared table, as a CSV file; skipped where it is not there."""
    source = shared_data / name
    if not source.is_file():
        pytest.skip(f"{name} is not there")
    unpack = gzip.open if name.endswith(".gz") else open
    with (
        unpack(source, "rt", encoding="utf-8", newline="") as lines,
        (folder / "table.csv").open("w", encoding="utf-8", newline="") as out,
    ):
        out.writelines(itertools.islice(lines, rows + 1))
    return folder / "table.csv"


@pytest.mark.parametrize(
    ("name", "target", "person", "marks"),
    [
        ("adult/train.csv", None, None, ["?"]),
        pytest.param("compas/compas_two_years.csv", "two_year_recid", None, None, marks=pytest.mark.slow),
        ("diabetes130/diabetic_data.csv.gz", "readmitted", "patient_nbr", ["?"]),
        pytest.param("census_kdd/train.csv.gz", None, None, ["?", "NA"], marks=pytest.mark.slow),
        pytest.param("acs_pums_2024/occ_sal_view.csv.gz", "sex", None, None, marks=pytest.mark.slow),
    ],
)
def test_real_tables(shared_data, tmp_path, name, target, person, marks):
    proposal, study = through(tmp_path, part(shared_data, tmp_path, name, 3_000), name="real", target=target)
    assert proposal.person == person
    assert proposal.written.get("missing") == marks
    assert len([p for p in proposal.columns if p.role is Role.TIME]) == (name.startswith("compas"))
    assert study.ledger.spent("real") == 1
    if name.startswith("compas"):
        assert study.declared.time.name == "compas_screening_date"
        reason = next(p.reason for p in proposal.columns if p.role is Role.TIME)
        assert reason.startswith("of 13 dates the first date that every record has: spans can be defined by one only")
