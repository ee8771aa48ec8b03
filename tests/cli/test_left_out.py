"""Records that are left out for their values: the owner is told and asked, whatever command would spend."""

import pytest

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

SPENDING = {
    "release": ("release", "dp", "--out", "out"),
    "run": ("run", "--only", "dp", "--runs", "1"),
    "ask": ("ask", "age >= 40", "--epsilon", "0.1"),
    "learn": ("learn", "--epsilon", "0.5", "--depth", "1"),
}


@pytest.fixture
def unreadable(study):
    """The study's numbers are written as nobody declared, and records without one are left out."""
    table = study.parent / "people.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    place = lines[0].split(",").index("age")
    rows = [line.split(",") for line in lines[1:]]
    written = [",".join([*row[:place], f"{row[place]} y", *row[place + 1 :]]) for row in rows]
    table.write_text("\n".join([lines[0], *written]) + "\n", encoding="utf-8")
    study.write_text(
        study.read_text(encoding="utf-8").replace(", missing: keep", ", missing: suppress"), encoding="utf-8"
    )
    return study


def test_a_plan_tells_the_owner_first(unreadable, run):
    found = run("plan", unreadable, "dp", "--json").json
    assert found["sentences"][0].startswith("TOO MANY RECORDS ARE LEFT OUT (for your eyes only): 100 %")
    assert (found["left_out"]["share"], found["left_out"]["attributes"]) == (1.0, {"age": 1.0})
    assert "TOO MANY RECORDS" in run("plan", unreadable, "dp").out
    for args in (("plan", unreadable, "dp"), ("learn", unreadable, "--epsilon", "1", "--plan")):
        assert run(*args, "--no-check", "--json").json["left_out"] is None
        assert run(*args, "--json").json["left_out"]["share"] == 1.0


@pytest.mark.parametrize("command", SPENDING)
def test_what_spends_refuses_without_anyway(unreadable, run, command):
    name, *more = SPENDING[command]
    said = run(name, unreadable, *more)
    assert said.code == 4
    told = "too many records" if command == "ask" else "100 % of the records"  # who asks is told no count
    assert told in said.err + said.out and "--anyway" in said.err + said.out
    assert run("ledger", unreadable, "--json").json["entries"] == []
    assert run(name, unreadable, *more, "--anyway").code == 0
    assert len(run("ledger", unreadable, "--json").json["entries"]) == 1


def test_a_format_repairs_it(unreadable, run):
    fitting = unreadable.read_text(encoding="utf-8").replace(
        "bounds: [0, 120]", "bounds: [0, 120], format: {suffix: y}"
    )
    unreadable.write_text(fitting, encoding="utf-8")
    made = run("release", unreadable, "dp", "--out", "out", "--json")
    assert made.code == 0 and made.json["left_out"]["share"] < 0.05


def test_a_plan_that_will_be_refused_also_says_what_else_is_replaced(unreadable, run):
    """Half of the jobs count as the value for all others, which alone is no reason to refuse."""
    fields = "values: [Engineer, Lawyer], outside: keep}"
    text = unreadable.read_text(encoding="utf-8")
    job = next(line for line in text.splitlines() if line.startswith("  job:"))
    unreadable.write_text(text.replace(job, f"  job: {{role: quasi_identifier, {fields}"), encoding="utf-8")
    said = run("plan", unreadable, "dp", "--json").json["sentences"]
    assert said[0].startswith("TOO MANY RECORDS ARE LEFT OUT") and "job" not in said[0]
    assert "values of 'job'" in said[-1] and "counted as the value for all others" in said[-1]


@pytest.mark.parametrize("limit", ["-1", "1.5", "10%", "many", ""])
def test_a_limit_that_is_no_share(study, run, limit):
    study.write_text(study.read_text(encoding="utf-8") + f"most_invalid: {limit}\n", encoding="utf-8")
    said = run("plan", study, "dp")
    assert said.code == 3 and ("most_invalid" in said.err or "this field is empty" in said.err)


def test_a_share_read_as_per_cent_is_not_released_at_its_bound(study, run):
    """Ages between 0 and 1, as somebody declares per cents who thinks of shares: all are moved to the bound."""
    text = study.read_text(encoding="utf-8").replace("bounds: [0, 120]", "bounds: [0, 1]")
    study.write_text(text, encoding="utf-8")
    checked = run("check", study)
    assert "'age': 399 values (99.8 %) are moved to the nearer bound" in checked.out and "`format`" in checked.out
    plan = run("plan", study, "dp", "--json").json
    assert plan["sentences"][0].startswith("TOO MANY VALUES ARE REPLACED (for your eyes only)")
    assert plan["left_out"]["replaced"]["age"]["nearer_bound"] == 399
    refused = run("release", study, "dp", "--out", "out")
    assert refused.code == 4 and "moved to the nearer bound" in refused.err and "`format`" in refused.err
    assert run("ledger", study, "--json").json["entries"] == []
    made = run("release", study, "dp", "--out", "out", "--anyway")
    assert made.code == 0 and "moved to the nearer bound" in made.err
