"""A numerical target in declared classes: read, counted, published, predicted and measured, by every kind of method."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.domains.number_classes import NumberClasses
from sfumato.errors import StudyError
from sfumato.study.file import load_study
from sfumato.study.file.dump import dump_study
from tests.raising import raises_code

PAY = {"role": "class", "type": "integer", "bounds": [0, 1000], "classes": [100, 500]}
LABELS = ("[0, 100)", "[100, 500)", "[500, 1000]")


def study(pay=None, rows=400, **more):
    rng = np.random.default_rng(2)
    age = rng.integers(0, 100, rows)
    table = pa.table({"age": age, "pay": age * 10 + rng.integers(0, 10, rows)})
    return sf.Study.from_mapping(
        {
            "name": "pay",
            "source": table,
            "privacy": {"budget": 10},
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
                "pay": {**PAY, **(pay or {})},
            },
            **more,
        }
    )


@pytest.mark.error_rate(1e-9, reason="a class of 160 of 400 records at ε = 8: noise of scale below 1 does not hide it")
@pytest.mark.parametrize("method", [sf.Staged(epsilon=8), sf.DiffGen(epsilon=8, h=2), sf.Mondrian(k=5)], ids=str)
def test_it_is_published_as_classes_and_measured(tmp_path, method):
    opened = study()
    done = opened.release(method, out=tmp_path / "out", report=False)
    assert sf.verify_bundle(done.bundle).ok
    release = done.open()
    _, y, _ = release.to_training()
    assert set(y) <= set(LABELS) and len(set(y)) > 1
    assert opened.measure(done, only=["classification-loss"])["classification-loss"].value >= 0
    assert "1000, " not in (done.bundle / "manifest.json").read_text(encoding="utf-8")


@given(
    values=st.lists(
        st.one_of(st.integers(-50, 1100), st.none(), st.sampled_from(["7", "x", "", "499.5"])), min_size=1, max_size=8
    ),
    keep=st.booleans(),
    outside=st.sampled_from(["keep", "suppress"]),
)
def test_the_engine_and_python_read_the_same_class(values, keep, outside):
    """Python knows no policy for values outside; where they are suppressed the engine drops them."""
    texts = [None if value is None else str(value) for value in values]
    pay = {"missing": "keep" if keep else "suppress", "outside": outside}
    declared = study(pay).declared
    domain = declared.attributes["pay"].domain
    assert isinstance(domain, NumberClasses)
    codes = domain.encode(texts)
    numbers = [float("nan") if text in (None, "x", "") else float(text) for text in texts]
    strays = np.array([number < 0 or number > 1000 for number in numbers], dtype=bool)
    if outside == "suppress":
        codes = np.where(strays, -1, codes)
    table = pa.table({"age": pa.array([1] * len(texts), pa.int64()), "pay": pa.array(texts, pa.string())})
    counted = sf.Study.from_mapping(
        {
            "name": "n",
            "source": table,
            "privacy": {"budget": 1},
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99]},
                "pay": {**PAY, **pay},
            },
        }
    )
    from sfumato.tables import CodedTable, open_source

    with open_source(table) as source:
        cells = CodedTable(source, [counted.declared.attributes["pay"]]).full_cells()
    expected = np.bincount(codes[codes >= 0], minlength=domain.size)
    found = np.zeros(domain.size, dtype=np.int64)
    found[cells.codes[:, 0]] = cells.counts
    assert found.tolist() == expected.tolist()


def test_a_study_with_classes_is_written_and_read_back(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "name: s\nsource: t.csv\nattributes:\n"
        "  day: {role: class, type: date, bounds: [2000-01-01, 2009-12-31], classes: [2005-01-01], missing: keep}\n",
        encoding="utf-8",
    )
    first = load_study(tmp_path / "s.yaml")
    assert first.attributes["day"].domain.taxonomy.leaves == (
        "[2000-01-01, 2005-01-01)", "[2005-01-01, 2009-12-31]", "(missing)",
    )  # fmt: skip
    (tmp_path / "again.yaml").write_text(dump_study(first), encoding="utf-8")
    assert load_study(tmp_path / "again.yaml").attributes == first.attributes


@pytest.mark.parametrize("classes", [[], [0], [500, 100], [1001], [-5, 10], [100, 2000]])
def test_classes_that_do_not_divide_the_bounds_are_refused(classes):
    with raises_code(StudyError, "SF-STUDY-392"):
        study({"classes": classes})


def test_classes_are_for_the_target():
    with raises_code(StudyError, "SF-STUDY-391"):
        study({"role": "insensitive"})
