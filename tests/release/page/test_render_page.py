"""index.html and croissant.json without a browser: bytes, bounds, policy, snippets that run, and forgeries."""

import hashlib
import json
import re
import shutil
import subprocess
from base64 import b64decode
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.release.answer.estimate import Estimate
from sfumato.release.answer.marginal import MOST_BARS, Marginal, Part, marginal
from sfumato.release.answer.words import estimate_words
from sfumato.release.bundle.receiver_files import _same_page, page_of
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.page.bars import bars
from sfumato.release.page.bundle_words import BundleWords
from sfumato.release.page.render_page import made_by
from sfumato.release.release import Release
from sfumato.release.verify import verify_bundle
from tests.release.conftest import draft_of, publish, small_draft
from tests.release.page.pages import page, read
from tests.trust.forged import forge, write_sound

STORED = sorted(path for path in (Path(__file__).parents[2] / "stored").glob("manifest-*/*") if path.is_dir())
FORMS = ("counts", "generalised", "bucketized", "anatomy", "suppressed")
EACH = pytest.mark.parametrize("bundle", STORED, ids=lambda path: f"{path.parent.name}/{path.name}")


@EACH
def test_a_page_is_the_same_whichever_file_it_is_made_from(bundle):
    form, manifest, layout, content = read(bundle)
    made = page_of(form, manifest, layout, content)
    assert made == page_of(form, manifest, layout, form.read(bundle, manifest, layout, "csv"))
    if manifest["form"] in {"generalised", "bucketized", "anatomy"}:
        content = content.join()
        assert made == page_of(form, manifest, layout, RecordStore.of(content.unfold())), "folded or not"
        times = np.arange(len(content.times))[::-1]
        turned = type(content)(
            {name: column.take(times) for name, column in content.columns.items()}, content.quasi,
            content.times[times], content.suppressed, None if content.group is None else content.group[times],
            content.tallies,
        )  # fmt: skip
        assert made == page_of(form, manifest, layout, RecordStore.of(turned)), "a table of an engine has no order"
    assert manifest["guarantee"] in unescape(made.decode())


@pytest.mark.parametrize(
    ("scales", "said"),
    [([2.5], "scale 2.5"), ([2.5, 2.5], "scale 2.5"), ([1.792, 60.0, 30.0], "scale 1.79 to 60, by measured table")],
    ids=str,
)
def test_the_noise_is_stated_of_all_measured_tables_and_not_of_the_first(scales, said):
    privacy = {
        "kind": "differential privacy",
        "model": "ε-differential privacy",
        "epsilon": 1,
        "unit": "one record",
        "chosen": "fixed in advance",
    }
    manifest = {
        "form": "tables", "privacy": privacy, "method": {"name": "staged", "facts": {"noise_scale": scales[0]}},
        "tables": [{"noise_scale": scale} for scale in scales],
    }  # fmt: skip
    assert dict(BundleWords(manifest, (), ()).facts)["Noise on a count"] == said


@EACH
def test_questions_about_one_attribute_have_the_same_answers(bundle):
    """`about` counts rows together, and a page asks it of folded rows."""
    release = Release.open(bundle)
    form, manifest, layout, content = read(bundle)
    folded = form.summarise(bundle, manifest, layout, content)
    for name in release.declared_domains:
        for part in marginal(release, name).parts:
            expected = release.query(part.asked)
            for found in (part.estimate, folded.about(name)(part.asked)):
                assert (found.low, found.high, found.total) == (expected.low, expected.high, expected.total)
                assert found.undecided == expected.undecided
                assert found.count is None or found.count == pytest.approx(expected.count, rel=1e-9, abs=1e-9)


def test_a_noisy_number_is_never_called_exact():
    """An estimate far below 0 has an interval from 0 to 0: it is no less noisy for that."""
    empty = Estimate(count=0.0, low=0.0, high=0.0, confidence=0.95, share=0.0, total=100)
    certain = replace(empty, confidence=1.0)
    found = bars(Marginal("x", (Part("a", "x = a", empty), Part("b", "x = b", certain)), "values"))
    assert [(bar["exact"], bar["interval"]) for bar in found] == [(False, "0 to 0"), (True, "exact")]
    assert "95 % interval 0 to 0" in estimate_words(empty)
    assert estimate_words(certain) == "0 of 100 records, 0.00 %"


@pytest.mark.parametrize(("found", "same"), [(b"2000000001", False), (b"2000000000.0000001", True)], ids=str)
def test_counts_of_a_page_are_compared_to_the_last_digit(found, same):
    expected = b"2000000000.0" if b"." in found else b"2000000000"
    assert _same_page(b'{"counts":[%b]}' % found, b'{"counts":[%b]}' % expected) is same


@EACH
def test_a_page_loads_nothing_and_its_policy_names_its_own_parts_alone(bundle):
    text = page(bundle).decode()
    assert not re.search(r"""(?:src|href|action|url\()\s*=?\s*["']?(?:https?:)?//""", text)
    assert "@import" not in text
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    parts = [re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]]
    parts += re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    allowed = [b64decode(hashed) for hashed in re.findall(r"'sha256-([^']*)'", policy)]
    assert sorted(hashlib.sha256(part.encode()).digest() for part in parts) == sorted(allowed)
    assert not re.search(r"\sstyle=|\son\w+=", text.split("<body", 1)[1].split("<script", 1)[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.error_rate(0, reason="holds for every draw of the buckets' numbers")
def test_a_sealed_page_that_says_something_else_does_not_verify(form, tmp_path):
    bundle = write_sound(form, tmp_path)
    assert verify_bundle(bundle).ok
    changed = (bundle / "index.html").read_bytes()
    number = re.search(rb'<td class="num">(\d+)</td>', changed)
    lie = changed.replace(number[0], number[0].replace(number[1], b"9" + number[1]), 1)
    (bundle / "index.html").write_bytes(lie)
    forge(bundle)
    assert failed(bundle) == {"page"}
    (bundle / "index.html").write_bytes(changed)
    (bundle / "croissant.json").write_bytes((bundle / "croissant.json").read_bytes().replace(b"sc:Text", b"sc:Date", 1))
    forge(bundle)
    assert failed(bundle) == {"croissant"}


def failed(bundle):
    return {check.name for check in verify_bundle(bundle).checks if not check.ok}


def test_a_page_of_another_version_is_told_apart(bundle):
    text = (bundle / "index.html").read_bytes().replace(made_by(), made_by().replace(b"page ", b"page 0"))
    (bundle / "index.html").write_bytes(text)
    forge(bundle)
    (check,) = [check for check in verify_bundle(bundle).checks if check.name == "page"]
    assert check.ok
    assert "what it says was not" in check.detail


def test_bundles_without_a_page_verify_and_a_page_that_is_not_listed_does_not(bundle):
    for name in ("index.html", "croissant.json"):
        (bundle / name).rename(bundle.parent / name)
    forge_without(bundle)
    assert verify_bundle(bundle).ok
    shutil.copy(bundle.parent / "index.html", bundle / "index.html")
    assert failed(bundle) == {"files"}


def forge_without(bundle):
    def leave_out(content):
        for name in ("index.html", "croissant.json"):
            content["files"].pop(name, None)

    content = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    leave_out(content)
    (bundle / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    forge(bundle, leave_out)


WIDE = Grid(lower=Fraction(0), upper=Fraction(10**12), step=Fraction(1), unit="integer")
MANY = Categories(taxonomy=Taxonomy.of(Node("All", tuple(Node(f"value {n}") for n in range(10_000)))))


def wide_draft(rows):
    """Groups over domains of a billion numbers and of ten thousand values."""
    rng = np.random.default_rng(1)
    table = np.stack([rng.integers(0, 10**12, rows), rng.integers(0, 10_000, rows), rng.integers(0, 2, rows)], axis=1)
    table = np.unique(table, axis=0)
    counts = rng.integers(1, 40, len(table))
    cuts = (Cut.finest("id", WIDE.size), Cut.finest("value", MANY.size))
    return draft_of({"id": WIDE, "value": MANY}, cuts, np.column_stack([table, counts]))


def test_a_page_does_not_grow_with_its_domains_or_rows(tmp_path):
    small = (publish(small_draft(), tmp_path / "small").path / "index.html").stat().st_size
    bundle = publish(wide_draft(21_000), tmp_path / "wide").path
    assert (bundle / "index.html").stat().st_size < small + 100_000
    text = unescape((bundle / "index.html").read_text(encoding="utf-8"))
    assert "are too many for a page" in text
    assert "sfumato query . 'income = " in text
    assert 'id="ask"' not in text
    unsure = "The largest noisy counts are more often too large"
    assert text.count(unsure) == 1, "of the one column whose values were chosen by their counts"
    assert unsure not in (tmp_path / "small/bundle/index.html").read_text(encoding="utf-8")
    assert "9,988 more" not in text.split('id="marginals"')[1], "the marginal counts the largest, and the rest"


def test_of_many_values_the_largest_are_counted_and_the_rest_together(tmp_path):
    release = Release.open(publish(wide_draft(3_000), tmp_path).path)
    found = marginal(release, "value")
    table = pd.read_csv(release.path / "data.csv")
    sums = table.groupby("value")["count"].sum().sort_values(ascending=False, kind="stable")
    assert len(found.parts) == MOST_BARS
    assert [part.estimate.count for part in found.parts[:-1]] == sums.to_list()[: MOST_BARS - 1]
    assert {part.label for part in found.parts[:5]} <= {name for name, n in sums.items() if n >= sums.iloc[4]}
    assert found.parts[-1].label == f"all other {10_000 - MOST_BARS + 1:,} values"
    assert found.parts[-1].estimate.count == sums.sum() - sums.iloc[: MOST_BARS - 1].sum()


def snippets(bundle):
    """The examples on a page, by language."""
    text = (bundle / "index.html").read_text(encoding="utf-8")
    found = re.findall(r"<h3>([^<]*)</h3><pre tabindex=\"0\" class=\"snippet\"><code>(.*?)</code>", text, re.DOTALL)
    return {name: unescape(code) for name, code in found}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.error_rate(0, reason="holds for every draw of the buckets' numbers")
def test_the_examples_in_python_and_sql_run_and_agree(form, tmp_path, monkeypatch):
    bundle = write_sound(form, tmp_path)
    monkeypatch.chdir(bundle)
    code = snippets(bundle)
    place = {}
    lines = code["Python"].splitlines()
    exec("\n".join([*lines[:-1], f"found = {lines[-1]}"]), place)
    rows = duckdb.sql(code["SQL (DuckDB)"].rstrip(";")).fetchall()
    assert {str(value): count for value, count in rows if value is not None} == {
        str(value): count for value, count in place["found"].items()
    }
    assert place["found"].sum() > 0


def test_the_example_in_r_runs(bundle, monkeypatch):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed: the R example was not run")
    monkeypatch.chdir(bundle)
    (bundle.parent / "t.R").write_text(snippets(bundle)["R"], encoding="utf-8")
    done = subprocess.run([program, str(bundle.parent / "t.R")], capture_output=True, text=True, check=True)
    counts = pd.read_csv(bundle / "data.csv").groupby("income")["count"].sum()
    assert all(str(count) in done.stdout for count in counts)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.error_rate(0, reason="holds for every draw of the buckets' numbers")
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_croissant_is_valid_and_reads_the_table(form, tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant")
    bundle = write_sound(form, tmp_path)
    found = mlcroissant.Dataset(jsonld=bundle / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    assert found.metadata.name == json.loads((bundle / "datapackage.json").read_text(encoding="utf-8"))["name"]
    (first, *_) = found.metadata.record_sets
    table = pd.read_csv(bundle / f"{first.id}.csv", keep_default_na=False)
    rows = list(found.records(first.id))
    assert len(rows) == len(table)
    assert [field.name for field in first.fields] == list(table.columns)
