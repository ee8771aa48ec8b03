"""The ledger states the guarantee that the manifest states, also where a method names a file of public statistics."""

import pyarrow as pa
import pytest

import sfumato as sf

ATTRIBUTES = {
    "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
    "ill": {"role": "sensitive", "values": ["no", "yes"]},
}
SHARES = "attribute,value,share\nsex,f,0.5\nsex,m,0.5\nill,no,0.7\nill,yes,0.3\n"


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_models_by_public_statistics_are_in_the_ledger(tmp_path):
    (tmp_path / "shares.csv").write_text(SHARES, encoding="utf-8")
    records = {"sex": ["f", "m"] * 60, "ill": ["no", "no", "yes"] * 40}
    study = sf.Study.from_mapping({"name": "clinic", "source": pa.table(records), "attributes": ATTRIBUTES})
    cap = sf.ConfidenceCap(population=str(tmp_path / "shares.csv"))
    done = study.release(cap, out=tmp_path / "out", report=False)
    models = done.open().manifest["privacy"]["models"]
    assert len(models) == 2, "by the shares that the release shows, and by those of the file"
    [entry] = study.ledger.entries("clinic")
    assert entry.guarantee == " ".join(model["sentence"] for model in models)
