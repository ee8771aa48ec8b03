"""The query behind an Ibis table that somebody hands over, with the tables in memory that it refers to."""

from functools import partial

import ibis.expr.types as ir
from ibis.expr import operations

from sfumato.tables.engine import Session
from sfumato.tables.guard import run_guarded


def compile_query(table: ir.Table, session: Session, *, doing: str) -> str:
    """The table's query in the dialect of its own backend.

    Ibis only writes the query. Tables in memory are handed to the session here, and not by Ibis when it runs a query:
    its calls that run one do not work with every engine, and would use its own connection.
    """
    backend = table.get_backend()
    places = {
        op: operations.DatabaseTable(
            name=session.put(run_guarded(partial(op.data.to_pyarrow, op.schema), doing=doing)),
            schema=op.schema,
            source=backend,
        )
        for op in table.op().find(operations.InMemoryTable)
    }
    return run_guarded(lambda: str(backend.compile(table.op().replace(places).to_expr())), doing=doing)
