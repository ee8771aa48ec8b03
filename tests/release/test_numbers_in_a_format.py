"""A number whose raw values have a format of their own is published as every number is, and reads back."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.release.verify import verify_bundle

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

PAID = [1000 + 37.25 * (n % 120) for n in range(240)]


def study():
    table = pa.table(
        {
            "paid": [f"{number:,.2f} $".replace(",", "'") for number in PAID[:-5]] + ["nan", "inf", "1'00 $", "7", ""],
            "sex": ["f", "m"] * 120,
            "ill": ["no", "no", "yes"] * 80,
        }
    )
    paid = {"role": "quasi_identifier", "type": "number", "bounds": [0, 10_000], "step": 1, "missing": "keep"}
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": table,
            "privacy": {"budget": 50},
            "attributes": {
                "paid": {**paid, "format": {"thousands": "'", "suffix": "$"}},
                "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
                "ill": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )


def test_what_no_format_fits_is_missing():
    [paid, *_] = study().check()
    assert (paid.missing, paid.outside) == (5, 0)
    assert set(paid.values) == {"nan", "inf", "1'00 $", "7"}


@pytest.mark.parametrize("method", [sf.Mondrian(k=5), sf.DiffGen(epsilon=50, h=6)], ids=str)
def test_it_is_released_and_its_encoder_takes_raw_records(tmp_path, method):
    """Receivers ask in plain numbers; raw records go into the encoder as the source has them, as dates do."""
    done = study().release(method, out=tmp_path / "out")
    assert verify_bundle(done.bundle).ok
    release = done.open()
    if isinstance(method, sf.Mondrian):
        true = sum(paid >= 3000 for paid in PAID[:-5])
        assert abs(release.query("paid >= 3000").count - true) < 10
    encoder = release.encoder()
    raw, plain = ({"paid": [paid], "sex": ["f"]} for paid in ("4'000.00 $", 4000.0))
    assert (encoder.transform(pa.table(raw).to_pandas()) == encoder.transform(pa.table(plain).to_pandas())).all()
