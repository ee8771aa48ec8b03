"""The names people import, and what importing them costs."""

import json
import os
import subprocess
import sys

import pytest

import sfumato

PUBLIC = {
    "AlphaKAnonymity",
    "Anatomy",
    "BasicBetaLikeness",
    "Bucketization",
    "CappedConfidence",
    "ConfidenceCap",
    "ContingencyTable",
    "DeltaDisclosure",
    "DeltaPresence",
    "DiffGen",
    "DiffPC45",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "ForeignTable",
    "FullDomain",
    "KAnonymity",
    "Marginals",
    "Mondrian",
    "ProbabilisticLDiversity",
    "RecursiveLDiversity",
    "Release",
    "SfumatoError",
    "Staged",
    "Study",
    "TCloseness",
    "Tds",
    "Template",
    "audit",
    "classification",
    "describe",
    "document_bundle",
    "frontier",
    "parse_models",
    "release",
    "study_of",
    "sweep",
    "verify_bundle",
    "verify_table",
}


def test_the_public_names_are_these():
    assert set(sfumato.__all__) == PUBLIC
    assert list(sfumato.__all__) == sorted(sfumato.__all__)
    assert set(dir(sfumato)) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there_and_documented(name):
    found = getattr(sfumato, name)
    assert callable(found)
    assert found.__doc__
    assert found.__module__.startswith("sfumato.")


def test_another_name_is_not_there():
    with pytest.raises(AttributeError, match="module 'sfumato' has no attribute 'anonymise'"):
        _ = sfumato.anonymise


def loaded_after(code):
    """The modules of a fresh interpreter after running some code."""
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"],
        check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    return set(json.loads(ran.stdout))


SLOW = {
    "ibis",
    "sklearn",
    "pandas",
    "opendp",
    "duckdb",
    "pyarrow",
    "numpy",
    "scipy",
    "pydantic",
    "sqlalchemy",
    "polars",
    "altair",
}


def test_importing_the_package_is_quick():
    assert loaded_after("import sfumato") & SLOW == set()


HELP = """
import sys
sys.argv = ["sfumato", "--help"]
from sfumato.cli import main
try:
    main()
except SystemExit:
    sys.stderr.write(",".join(sys.modules))
"""


def test_help_does_not_load_the_engine():
    ran = subprocess.run(
        [sys.executable, "-c", HELP],
        check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert "release" in ran.stdout
    assert set(ran.stderr.split(",")) & {"ibis", "sklearn", "pandas", "opendp", "duckdb", "sqlalchemy"} == set()


def test_a_method_can_be_made_without_the_engine():
    loaded = loaded_after("import sfumato\nsfumato.DiffGen(epsilon=1, h=3)")
    assert loaded & {"ibis", "sklearn", "pandas", "opendp", "duckdb"} == set()
