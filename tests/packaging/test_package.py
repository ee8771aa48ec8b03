"""The package: the core alone releases and verifies, and what is built from the repository works where nothing else is.

What needs an interpreter or a package index that is not there is skipped, and says so.
"""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

ROOT = Path(__file__).parents[2]
OPTIONAL = ("altair", "vl_convert", "pandas", "polars", "psycopg", "pyspark", "starlette", "uvicorn", "IPython")
BLOCKED = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL!r}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
"""
WAY = """
import sfumato as sf
import pyarrow as pa

rows = {"age": [n % 90 for n in range(300)], "sick": [("no", "yes")[n % 3 == 0] for n in range(300)]}
domains = {"age": (0, 120), "sick": ["no", "yes"]}
made = sf.release(pa.table(rows), target="sick", epsilon=1, domains=domains)
assert made.report.exists()
assert sf.verify_bundle(made.bundle, sha256=made.sha256).ok
secret = {**domains, "sick": {"role": "sensitive", "values": ["no", "yes"]}}
study = sf.study_of(pa.table(rows), budget=1, domains=secret, name="other")
found = sf.frontier(study, sf.sweep(sf.Mondrian, k=[5, 20]), workers=1, folder="frontier")
assert len(found.points) == 2 and "<script" not in found._repr_html_()
try:
    found.plot()
except sf.SfumatoError as error:
    print(error.code, "the extra `plots`" in error.fix)
else:
    print("plotted")
"""


def python(executable, code, folder, **more):
    """Run code as a program would, with nothing but the given environment."""
    return subprocess.run(
        [str(executable), "-c", code], cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], **more},
    )  # fmt: skip


def test_the_core_releases_and_verifies_without_any_optional_part(tmp_path):
    ran = python(sys.executable, BLOCKED + WAY, tmp_path, PYTHONPATH=str(ROOT / "src"))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["SF-USAGE-744", "True"]


def test_optional_libraries_are_in_extras_alone():

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = " ".join(project["dependencies"]).lower()
    for name in ("altair", "vl-convert", "pandas", "psycopg", "pyspark", "starlette", "[duckdb]"):
        assert name not in core, name
    assert {"plots", "postgres", "spark", "web", "dev"} == set(project["optional-dependencies"])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the source distribution, built by the locked hatchling without a network."""
    pytest.importorskip("hatchling", reason="hatchling builds the package, and it is not installed")
    folder = tmp_path_factory.mktemp("dist")
    ran = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def environment(folder, *, borrowed):
    """A fresh environment; ``borrowed`` lets it see the libraries of this one, behind its own."""
    venv.create(folder, with_pip=True)
    bin_ = folder / ("Scripts" if os.name == "nt" else "bin")
    if borrowed:
        site = next(folder.glob("lib/python*/site-packages"))
        here = [path for path in sys.path if path.endswith("site-packages")]
        (site / "borrowed.pth").write_text("\n".join(here) + "\n", encoding="utf-8")
    return bin_


def installed(bin_, *arguments):
    command = [str(bin_ / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def shown_to_work(bin_, folder):
    """The program that an installation brings releases and verifies, from files of the package alone."""
    own = python(bin_ / "python", "import sfumato; print(sfumato.__file__)", folder).stdout.strip()
    assert Path(own).is_relative_to(bin_.parent), "not the repository's own"
    copied = python(
        bin_ / "python",
        "import shutil; from importlib.resources import as_file, files\n"
        "with as_file(files('sfumato') / 'data' / 'adult') as data: shutil.copytree(data, 'census')",
        folder,
    )
    assert copied.returncode == 0, copied.stderr
    for arguments in (
        ("--version",),
        ("release", "census/study.yaml", "dp", "--out", "made"),
        ("verify", "made"),
        ("query", "made", "age >= 40"),
        ("doctor", "census/study.yaml"),
    ):
        ran = subprocess.run(
            [str(bin_ / "sfumato"), *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{arguments}: {ran.stderr}{ran.stdout}"
    assert (folder / "made" / "owner" / "report.html").exists()


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    names = zipfile.ZipFile(built[0]).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"sfumato"}
    held = [str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "sfumato").rglob("*") if path.is_file()]
    tracked = {name for name in held if "__pycache__" not in name and ".sqlite" not in name and ".head" not in name}
    assert tracked <= set(names)
    assert "sfumato/py.typed" in names


@pytest.mark.slow
def test_the_source_distribution_holds_what_builds_it(built):
    with tarfile.open(built[1]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/sfumato/__init__.py"} <= names


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_what_is_built_works_in_a_fresh_environment_with_the_locked_libraries(built, tmp_path, kind):
    file = built[0] if kind == "wheel" else built[1]
    bin_ = environment(tmp_path / "fresh", borrowed=True)
    done = installed(bin_, "--no-deps", "--no-build-isolation", str(file))
    assert done.returncode == 0, done.stderr
    shown_to_work(bin_, tmp_path)


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(built, tmp_path):
    """With the libraries that its requirements name, as an index has them today; about 1 GB."""
    bin_ = environment(tmp_path / "empty", borrowed=False)
    done = installed(bin_, "--retries", "0", "--timeout", "5", str(built[0]))
    if done.returncode:
        pytest.skip("no package index can be reached, so the libraries cannot be installed into an empty environment")
    for name in OPTIONAL:
        assert python(bin_ / "python", f"import {name}", tmp_path).returncode != 0, f"the core brings {name}"
    ran = python(bin_ / "python", WAY, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["SF-USAGE-744", "True"]
    shown_to_work(bin_, tmp_path)
