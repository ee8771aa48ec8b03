"""`sfumato taxonomy icd9`: a taxonomy of diagnosis codes, and a study that names it."""

import pytest

import sfumato as sf
from sfumato.domains.taxonomy.text import from_csv
from sfumato.release.verify import verify_bundle
from sfumato.study.file import icd9_taxonomy

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


def test_the_command_writes_a_file_that_a_study_can_name(tmp_path, run):
    said = run("taxonomy", "icd9", "--out", tmp_path / "icd9.csv", "--spelling", "unpadded")
    assert said.code == 0, said.err
    assert "codes like 8.45, 250.83, V57.3, E909.0" in said.out
    (tmp_path / "visits.csv").write_text(
        "diag_1,diag_2,back\n" + "250.83,V57,yes\n428,8,no\nE909,,no\n" * 40, encoding="utf-8"
    )
    (tmp_path / "study.yaml").write_text(
        "name: visits\nsource: visits.csv\nprivacy: {budget: 5}\nattributes:\n"
        "  diagnosis: {role: quasi_identifier, type: set, columns: [diag_1, diag_2], taxonomy: icd9.csv}\n"
        "  back: {role: class, values: ['no', 'yes']}\n"
        "releases:\n  dp: {method: diffgen, epsilon: 5, h: 2}\n",
        encoding="utf-8",
    )
    study = sf.Study.load(tmp_path / "study.yaml")
    assert all(report.fits for report in study.check())
    done = study.release("dp", out=tmp_path / "out", report=False)
    assert verify_bundle(done.bundle).ok
    assert done.open().query("diagnosis contains '250.*'").count >= 0


def test_the_command_prints_csv_or_json(run):
    said = run("taxonomy", "icd9")
    assert from_csv(said.out) == icd9_taxonomy()
    told = run("taxonomy", "icd9", "--spelling", "plain", "--json").json
    assert "001*" in told["Any"]["001-139 Infectious and parasitic diseases"]["001-009 Intestinal infectious diseases"]


def test_the_command_refuses_what_it_cannot_write(tmp_path, run):
    assert run("taxonomy", "icd9", "--out", tmp_path / "icd9.doc").code == 2
    assert run("taxonomy", "icd9", "--spelling", "roman").code == 3
    (tmp_path / "icd9.csv").write_text("mine", encoding="utf-8")
    assert run("taxonomy", "icd9", "--out", tmp_path / "icd9.csv").code == 7
    assert (tmp_path / "icd9.csv").read_text(encoding="utf-8") == "mine"
