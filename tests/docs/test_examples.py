"""Every code block of the README and the docs runs, in order, in a folder with the packaged census study.

`tests/pages` says which languages there are and how a page shows what comes out. What a page needs beside the census
study is made here, and nowhere hidden in the page.
"""

import shutil
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt

from tests.census import census_study, thin_demo
from tests.pages.blocks import blocks, split_info
from tests.pages.engines import ENGINES_NEEDED, reach_engines
from tests.pages.running import NO_CODE, RUNNERS, run_page, run_sfumato, same

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
ELSEWHERE = {
    "CONTRIBUTING.md": "tests/docs/test_contributing.py",  # its examples register parts, in a process of their own
    "docs/reference/bundle.md": "tests/release/test_docs.py",  # its examples open a bundle that is written by hand
}
WHOLE = ("docs/how-to/", "docs/tutorials/")  # what they show comes out of all records
EACH = {"docs/reference/cli.md": 20}  # of the records each so manieth; of other pages each tenth
LONG = {"docs/reference/frontier.md"}  # run with the slow tests; the page of the command line has the same command
NO_RUN_AT_MOST = 20


def runnable(name):
    return [block for block in blocks(PAGES[name]) if not block.reason and block.language not in NO_CODE]


RUN_HERE = [name for name in PAGES if name not in ELSEWHERE and runnable(name)]


@pytest.fixture(params=["quick", pytest.param("whole", marks=pytest.mark.slow)])
def thoroughly(request):
    """Whether all records are taken and all noise is real; if not, draws come from a seed."""
    if request.param == "quick":
        request.getfixturevalue("seeded")
    return request.param == "whole"


@pytest.mark.error_rate(0, reason="that a block runs holds for every draw, and drawn numbers are not compared")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in RUN_HERE]
)
def test_the_blocks_of_a_page_run_and_show_what_comes_out(name, thoroughly, request, tmp_path, monkeypatch):
    every = 1 if thoroughly or name.startswith(WHOLE) else EACH.get(name, 10)
    if every > 1:
        monkeypatch.setattr("sfumato.workflow.report.MOST_ROWS", 0)  # its long part has tests of its own
        thin_demo(monkeypatch, tmp_path / "packaged", every=every)
    folder = census_study(tmp_path / "census", every=every)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    PREPARED.get(name, lambda folder, patch: None)(folder, monkeypatch)
    if Path(name).name in ENGINES_NEEDED:
        reach_engines(request, monkeypatch)
    ran, told = run_page(PAGES[name])
    assert ran == len(runnable(name))
    assert told == sum(bool(block.reason) for block in blocks(PAGES[name]))


def prepare_readme(folder, patch):
    """The reader's table, and an editor that declares what the page says."""
    (folder / "study.yaml").unlink()
    table = pq.read_table(folder / "adult.parquet", columns=["age", "occupation", "income"]).slice(0, 1500)
    pyarrow.csv.write_csv(table.rename_columns(["age", "job", "income"]), folder / "visits.csv")
    jobs = ", ".join(f'"{job}"' for job in sorted(set(table["occupation"].to_pylist()) - {None}))
    (folder / "declared.yaml").write_text(README_STUDY.replace("JOBS", jobs), encoding="utf-8")
    patch.setenv("EDITOR", f"cp {folder}/declared.yaml")


README_STUDY = """\
name: census
source: visits.csv
privacy: {unit: record, budget: 8}
attributes:
  age:    {role: quasi_identifier, type: integer, bounds: [0, 120], step: 1}
  job:    {role: quasi_identifier, values: [JOBS], missing: keep}
  income: {role: class, values: ["<=50K", ">50K"]}
releases:
  dp: {method: staged, epsilon: 1}
sweeps:
  few: {method: mondrian, k: [5, 20]}
"""


def prepare_cli(folder, patch):
    """Two releases to attack, tables of other tools, a study with a sensitive attribute, a list of values."""
    prepare_foreign(folder, patch)
    study = folder / "study.yaml"
    text = study.read_text(encoding="utf-8")
    k10 = "\nreleases:\n  k10: {method: mondrian, purpose: survey, k: 10}\n"
    study.write_text(text.replace("\nreleases:\n", k10), encoding="utf-8")
    run_sfumato("sfumato release study.yaml k10 --no-report")
    run_sfumato("sfumato release study.yaml k10 --no-report")
    study.write_text(text, encoding="utf-8")
    races = [line.split(";")[0] for line in (folder / "race.csv").read_text(encoding="utf-8").splitlines()]
    (folder / "races.txt").write_text("\n".join(races), encoding="utf-8")
    ills = ["flu", "asthma", "diabetes", "flu", "flu"]
    rows = "".join(f"{20 + n % 60},{ills[n % 7 % 5]}\n" for n in range(600))
    (folder / "hospital.csv").write_text(f"age,diagnosis\n{rows}", encoding="utf-8")
    (folder / "hospital.yaml").write_text(HOSPITAL_STUDY, encoding="utf-8")


HOSPITAL_STUDY = """\
name: hospital
source: hospital.csv
attributes:
  age:       {role: quasi_identifier, type: integer, bounds: [0, 120]}
  diagnosis: {role: sensitive, values: [flu, asthma, diabetes]}
"""


def prepare_foreign(folder, patch):
    """Tables of other tools: one with occupations replaced by their parents, as ARX writes it, and rows drawn anew."""
    table = pq.read_table(folder / "adult.parquet")
    hierarchy = (folder / "occupation.csv").read_text(encoding="utf-8")
    parents = {line.split(";")[0]: line.split(";")[1] for line in hierarchy.splitlines()}
    coarse = [parents.get(job, "*") for job in table["occupation"].to_pylist()]
    place = table.column_names.index("occupation")
    for name in ("arx.csv", "arx-k5.csv"):
        pyarrow.csv.write_csv(table.set_column(place, "occupation", [coarse]), folder / name)
    shutil.copy(folder / "occupation.csv", folder / "arx-occupation.csv")
    pq.write_table(table.take(list(range(table.num_rows - 1, -1, -2))), folder / "drawn.parquet")


def prepare_codes(folder, patch):
    """The taxonomy that the page's studies name."""
    run_sfumato("sfumato taxonomy icd9 --out icd9.csv")


PREPARED = {
    "README.md": prepare_readme,
    "docs/reference/cli.md": prepare_cli,
    "docs/reference/frontier.md": prepare_foreign,
    "docs/reference/study.md": prepare_codes,
    "docs/reference/taxonomies.md": prepare_codes,
}


@pytest.mark.parametrize("name", PAGES)
def test_no_block_of_a_page_is_skipped_silently(name):
    """Another parser of Markdown finds the same blocks, and each has a language that is run."""
    text = PAGES[name].read_text(encoding="utf-8")
    tokens = MarkdownIt().enable("table").parse(text.split("\n---\n", 1)[1] if text.startswith("---\n") else text)
    assert not [token.map for token in tokens if token.type == "code_block"], "indented code has no language"
    fences = [token for token in tokens if token.type == "fence"]
    assert [split_info(token.info)[0] for token in fences] == [block.language for block in blocks(PAGES[name])]
    assert {block.language for block in blocks(PAGES[name])} <= set(RUNNERS)


@pytest.mark.parametrize("name", PAGES)
def test_no_command_is_passed_off_as_text(name):
    for block in blocks(PAGES[name]):
        if block.language in NO_CODE:
            first = [line.split(" ")[0] for line in block.text.splitlines()]
            assert not {"sfumato", "$", ">>>", "import", "pip", "make"}.intersection(first), f"line {block.line}"


SAID = "Noise is drawn anew in each run, so your numbers differ from those shown here."


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_that_drawn_numbers_differ(name):
    drawn = any(block.drawn for block in blocks(PAGES[name]))
    assert drawn == (SAID in " ".join(PAGES[name].read_text(encoding="utf-8").split()))


def test_only_drawn_numbers_may_differ():
    shown = "published 9 rows in a-1/bundle\nspent 0.5\n"
    assert same(shown, "published 1,234.5 rows in a-1/bundle\nspent 0.5\n", ("published",))
    assert not same(shown, "published 9 rows in a-1/bundle\nspent 0.6\n", ("published",))
    assert not same(shown, "published 9 groups in a-1/bundle\nspent 0.5\n", ("published",))
    assert not same(shown, "published 8 rows in a-1/bundle\nspent 0.5\n")


def test_how_many_blocks_run(record_property):
    """Nearly all; the few others say why, to the reader."""
    run = {name: len(runnable(name)) for name in PAGES}
    reasons = [block.reason for name in PAGES for block in blocks(PAGES[name]) if block.reason]
    record_property("blocks that run", sum(run.values()))
    record_property("blocks that do not run", reasons)
    pages = sum(map(bool, run.values()))
    counted = f"{sum(run.values())} blocks on {pages} pages run, {len(reasons)} say why they do not"
    stated = " ".join(PAGES["CONTRIBUTING.md"].read_text(encoding="utf-8").split())
    assert counted in stated, f"CONTRIBUTING.md has to say: {counted}"
    assert len(reasons) <= NO_RUN_AT_MOST, reasons
    assert all(len(reason.split()) > 2 for reason in reasons)
    assert len(run) == len(PAGES)


def test_pages_that_run_elsewhere_do():
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")
        assert runnable(page)
