"""Names of the owner's tables: what is published of them, wherever a recipe names one."""

import pytest

from sfumato.release.bundle.source_names import public_table_names


@pytest.mark.parametrize("field", ["privacy", "promise"])  # the second in studies of version 0.1
@pytest.mark.parametrize("wrap", [dict, lambda models: [models], lambda models: (models,)])
def test_no_path_and_no_password_is_published_whatever_the_field_is_called(field, wrap):
    models = {"delta-presence": {"maximum": "0.5", "population": "https://ada:secret@host/data/people.csv?token=1"}}
    shown = public_table_names({"k": 5, field: wrap(models)})
    assert "secret" not in str(shown) and "token" not in str(shown) and "host" not in str(shown)
    assert "people.csv" in str(shown) and shown["k"] == 5
