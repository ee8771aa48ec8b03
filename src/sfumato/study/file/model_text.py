"""Privacy models as they are typed on the command line (`--model`), or in a file of their own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import StudyError, UsageError
from sfumato.study.file.yaml_lines import parse

_AS = "write it as `k-anonymity=5`, as `t-closeness={t: 0.2, distance: js}`, or name a YAML file"

_AS_IN_A_STUDY = {"privacy", "promise"}  # the second in studies of version 0.1


def read_models(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Models with their parameters, from texts such as ``k-anonymity=5`` and from YAML files.

    A file holds what a study has below `privacy:`, with or without that word. Numbers stay as they are typed.

    >>> read_models(["k-anonymity=5", "t-closeness={t: 0.2, distance: js}"])
    [{'k-anonymity': '5'}, {'t-closeness': {'t': '0.2', 'distance': 'js'}}]
    """
    found: list[dict[str, Any]] = []
    for text in texts:
        if text.lower().endswith((".yaml", ".yml")):
            found += _from_file(Path(text))
            continue
        name, given, value = text.partition("=")
        if not given or not name.strip() or not value.strip():
            raise UsageError(f"'{text[:60]}' is no privacy model", _AS, code="SF-USAGE-072")
        try:
            tree, _ = parse(f"given: {value}", "the privacy model")
        except StudyError as error:
            raise UsageError(f"'{text[:60]}' is no privacy model ({error.problem})", _AS, code="SF-USAGE-073") from None
        assert isinstance(tree, Mapping), "it has one field"
        found.append({name.strip(): tree["given"]})
    return found


def _from_file(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"the file of privacy models '{path}' cannot be opened ({error.strerror})",
            "check the path",
            code="SF-USAGE-074",
        ) from None
    except UnicodeDecodeError:
        raise UsageError(
            f"the file of privacy models '{path}' is not UTF-8 text", "save it as UTF-8", code="SF-USAGE-075"
        ) from None
    tree, _ = parse(text, path.name)
    if isinstance(tree, Mapping) and len(tree) == 1 and set(tree) <= _AS_IN_A_STUDY:
        [tree] = tree.values()
    if isinstance(tree, Mapping):
        return [{str(name): value} for name, value in tree.items()]
    if isinstance(tree, list) and all(isinstance(part, Mapping) for part in tree):
        return [dict(part) for part in tree]
    raise UsageError(
        f"'{path}' holds no privacy model",
        "write models with their parameters, such as `k-anonymity: 5`",
        code="SF-USAGE-076",
    )
