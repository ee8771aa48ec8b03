"""`sfumato plan` with --epsilons, --within and --stand-in."""

from fractions import Fraction

import sfumato as sf


def test_the_command_says_what_python_says(run, study, folder):
    (folder / "people.csv").unlink()  # nothing is read of it
    told = run("plan", study, "dp", "--epsilons", "0.1, 1", "--within", "50", "--json").json
    solved = sf.Study.load(study).choose_epsilon("dp", within=50).solved
    assert [point["epsilon"] for point in told["points"]] == ["0.1", "1"]
    assert Fraction(told["solved"]["epsilon"]) == solved.epsilon
    said = run("plan", study, "dp", "--within", "50")
    assert said.code == 0 and "was not read" in said.out and "95 % within" in said.out


def test_a_bound_is_rounded_up(run, study):
    """e = 2.71828…: 2.718 would be a bound that does not hold."""
    said = run("plan", study, "dp", "--epsilons", "0.1,1").out
    assert "\n0.1  1.106 " in said and "\n1    2.719 " in said


def test_a_wrong_epsilon_is_refused_by_its_code(run, study):
    found = run("plan", study, "dp", "--epsilons", "0.1,none", "--json")
    assert found.code != 0 and '"SF-' in found.err


def test_a_number_of_records_alone_is_refused_and_not_passed_over(run, study):
    found = run("plan", study, "dp", "--records", "1000", "--json")
    assert found.code == 2 and "SF-USAGE-981" in found.err
    assert run("plan", study, "dp", "--records", "1000", "--within", "50").code == 0


def test_the_table_of_the_study_is_no_stand_in(run, study, folder):
    found = run("plan", study, "dp", "--stand-in", str(folder / "people.csv"), "--json")
    assert found.code == 2 and "SF-USAGE-452" in found.err
