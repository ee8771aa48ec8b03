"""Bundles, studies and models of others on the command line: an error and its exit code, never a traceback."""

import os

import pytest

from tests.trust.forged import forge, write_sound

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


@pytest.fixture
def bundle(tmp_path):
    return write_sound("generalised", tmp_path)


def test_a_hostile_manifest_is_an_error_on_one_line(bundle, run):
    (bundle / "manifest.json").write_bytes(b'{"format": NaN, ' + b"[" * 10_000)
    for command in (("verify", bundle), ("query", bundle, "age >= 3")):
        found = run(*command)
        assert found.code == 8
        assert "Traceback" not in found.out + found.err
    assert run("verify", bundle, "--json").json["ok"] is False


def test_a_manifest_cannot_give_orders_to_a_terminal(bundle, run):
    forge(bundle, lambda content: content.update(promise="\x1b[2J\x1b]0;x\x07", study="\x1b[31m"))
    found = run("verify", bundle)
    assert found.code == 8
    assert "\x1b" not in found.out + found.err


def test_a_pipe_in_the_place_of_data_is_an_error(bundle, run):
    (bundle / "data.parquet").unlink()
    os.mkfifo(bundle / "data.parquet")
    assert run("verify", bundle).code == 8
    found = run("query", bundle, "age >= 3")
    assert found.code == 8
    assert "regular file" in found.err


@pytest.mark.parametrize("given", ["{t: 0.2, distance: [js]}", "{t: [1]}", "9" * 400, "{}", "[1, [2]]"])
def test_a_parameter_of_a_wrong_type_is_an_error(folder, run, given):
    found = run("verify", "people.csv", "--model", f"t-closeness={given}", "--quasi", "age", "--sensitive", "job")
    assert found.code in {2, 3}
    assert "Traceback" not in found.out + found.err


@pytest.mark.parametrize(
    "setting",
    [
        "k: 2, privacy: {t-closeness: {t: 0.2, distance: [js]}}", "k: [2]",
        f"k: {'9' * 400}", f"k: {'9' * 5000}", "k: {}",
        "privacy: {alpha-k-anonymity: {alpha: 1, k: 1, values: 5}}", f"k: 2, suppress: {'9' * 400}",
    ],
)  # fmt: skip
def test_a_setting_of_a_wrong_type_is_a_study_error(study, run, setting):
    text = study.read_text(encoding="utf-8")
    study.write_text(f"{text}  groups: {{method: mondrian, {setting}}}\n", encoding="utf-8")
    found = run("release", study, "groups")
    assert found.code == 3, found.err
    assert "Traceback" not in found.out + found.err
    assert "line" in found.err
