"""What every test would work out anew, and always alike, is worked out once a process.

Each of these gives the same for the same values, and what it gives is only read: the SQL of an expression, the nodes of
a YAML text, the commands of the command line, the programs that draw a plot on a page. Together they are a third of a
test that makes a release. What is raised is not kept.
"""

from functools import lru_cache, wraps

import typer.main
import vl_convert
from ruamel.yaml import YAML

from sfumato.tables.engine import SourceTable

MOST = 1_000  # of each kind, since the tables of hypothesis all differ


def keep(patch):
    """Until the patch is undone."""
    patch.setattr(SourceTable, "compile", _kept_sql(SourceTable.compile))
    patch.setattr(YAML, "compose", _kept_nodes(YAML.compose))
    patch.setattr(typer.main, "get_command", lru_cache(MOST)(typer.main.get_command))
    patch.setattr(vl_convert, "javascript_bundle", lru_cache(MOST)(vl_convert.javascript_bundle))


def _kept_sql(write):
    kept = {}

    @wraps(write)
    def compile_once(source, expression):
        key = source.session.dialect, expression.op()  # which is frozen and knows its hash
        return _from(kept, key, lambda: write(source, expression))

    return compile_once


def _kept_nodes(read):
    kept = {}

    @wraps(read)
    def compose_once(yaml, text):
        key = tuple(yaml.typ), yaml.pure, text
        return _from(kept, key, lambda: read(yaml, text)) if isinstance(text, str) else read(yaml, text)

    return compose_once


def _from(kept, key, make):
    if key not in kept:
        if len(kept) >= MOST:
            kept.clear()
        kept[key] = make()
    return kept[key]
