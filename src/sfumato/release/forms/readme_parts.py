"""What the READMEs of several forms say alike."""

from collections.abc import Mapping
from typing import Any

from sfumato.wording import markdown_text

HEAD = """\
# {release} of {study}

**Guarantee:** {guarantee}
{odds}
Published on {date}. The guarantee with its unit, budget breakdown and parameters is in `manifest.json`; the SHA-256 of
every file is there too, and `sfumato verify` with this folder checks them all.
"""

MEASURED_TABLES = """\
**Measured tables** are what was counted, with noise. All else in this release is computed from them. Each file is there
as Parquet and as CSV.

| file | counts | cells | standard deviation of the noise on a count |
|---|---|---|---|
{tables}
"""

INTERVALS = """\
How to read it:

- **An interval** `[18, 40)` holds numbers from 18 up to, and not including, 40; `]` includes the end. What
  happened to values outside the declared domain is said below. A word is a node of the column's taxonomy and stands for
  all values below it; the taxonomies are in `manifest.json`.
"""


def head_fields(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What `HEAD` is filled with."""
    odds = manifest["privacy"]["odds"]
    return {
        "study": markdown_text(manifest["study"]),
        "release": markdown_text(manifest["release"]),
        "date": manifest["date"],
        "guarantee": markdown_text(manifest["guarantee"]),
        "odds": f"\n{odds}\n" if odds else "",
    }
