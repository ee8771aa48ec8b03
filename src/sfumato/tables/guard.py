"""The guard: an engine's error never reaches the user as it is, because it may quote records.

Only the kind of failure goes on, and a line number where the engine gives one. The engine's own error is not kept as
the cause or context of ours either: a log that prints chains of exceptions would print the record again.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import duckdb
import pyarrow as pa
from ibis.common.exceptions import IbisError

from sfumato.errors import SfumatoError, SourceError

T = TypeVar("T")

ENGINE_ERRORS = (duckdb.Error, IbisError, pa.ArrowException, OSError, EOFError, UnicodeError)

_LINE = re.compile(r"CSV Error on Line: (\d+)")
# What Spark writes before it quotes anything: only this much of an error without a condition is looked at.
_CALL = r"(?:An error occurred while calling [\w.]+\.\n: )?"
_JOB = r"(?:(?:org\.apache\.spark\.SparkException: )?Job aborted due to stage failure: )?"
_TASK = (
    r"(?:Task \d+ in stage [\d.]+ failed \d+ times, most recent failure: "
    r"Lost task [\d.]+ in stage [\d.]+ \(TID \d+\) \([^()\n]*\): )?"
)
_WAITED = r"(?:[\w.$]+: Exception thrown in awaitResult: (?:\n\t[^\n]*)+\nCaused by: )?"  # lines of code stand between
_KINDS = (
    r"Total size of serialized results of \d+ tasks \([^()\n]*\) is bigger than spark\.driver\.maxResultSize",
    r"java\.lang\.IllegalStateException: Cannot call methods on a stopped SparkContext",
    r"org\.apache\.spark\.[\w.]*Exception: \[[A-Z0-9_.]+\]",
    r"java\.lang\.OutOfMemoryError: Java heap space",
    r"java\.io\.IOException: No space left on device",
    r"(?:org\.apache\.hadoop\.security\.AccessControlException|java\.io\.\w+): Permission denied",
    r"[\w.$:\s]*All masters are unresponsive",
    r"Java gateway process exited",
    r"<_\w+ of RPC that terminated with:\s+status = StatusCode\.UNAVAILABLE\s+details = \"failed to connect to all a",
)
_SPARK_WROTE = re.compile(f"{_CALL}{_JOB}{_TASK}{_WAITED}(?:{'|'.join(_KINDS)})")

# What an engine says, in lower case -> what we say, and what to do. The first that fits wins.
_SIGNS: tuple[tuple[tuple[str, ...], SourceError], ...] = (
    (
        ("java_gateway_exited", "java gateway process exited"),
        SourceError(
            "Spark does not start: it needs Java 17 or newer, and enough memory for it",
            "install a JDK (on Debian: openjdk-17-jre-headless), or name its folder in JAVA_HOME",
            code="SF-SOURCE-379",
        ),
    ),
    (
        ("failed to connect to all a", "masters are unresponsive", "retries_exceeded", "stopped sparkcontext"),
        SourceError(
            "Spark cannot be reached, or does not let this user in",
            "check host and port, that Spark runs there, and that its version is the one of pyspark",
            code="SF-SOURCE-380",
        ),
    ),
    (
        ("data_source_not_found",),
        SourceError(
            "Spark has no reader for this format",
            "start Spark with the package of the format, or use Parquet",
            code="SF-SOURCE-381",
        ),
    ),
    (
        ("invalid_schema_or_relation_name",),
        SourceError(
            "Spark's catalog takes no table or database of this name",
            "use letters, digits and underscores",
            code="SF-SOURCE-762",
        ),
    ),
    (
        ("maxresultsize",),
        SourceError(
            "the counts are larger than Spark hands over",
            "raise spark.driver.maxResultSize, or release fewer or coarser attributes",
            code="SF-SOURCE-382",
        ),
    ),
    (
        ("illegal parquet type", "parquet_type_illegal"),
        SourceError(
            "Spark cannot read a type in the Parquet file",
            "write times in microseconds: Spark has none in nanoseconds",
            code="SF-SOURCE-383",
        ),
    ),
    (
        ("no space left", "max_temp_directory_size", "disk quota", "disk full"),
        SourceError(
            "the disk is full", "free some space, also where temporary files go (TMPDIR)", code="SF-SOURCE-017"
        ),
    ),
    (
        ("could not set lock", "conflicting lock"),
        SourceError(
            "another process has the file open", "close the other program, or copy the file", code="SF-SOURCE-018"
        ),
    ),
    (
        ("disabled by configuration", "disabled through configuration"),
        SourceError(
            "it reads other files, which a source may not",
            "name those files as the source, or make a table of what the view shows",
            code="SF-SOURCE-019",
        ),
    ),
    (
        ("permission denied", "read-only file system"),
        SourceError("access is not permitted", "check the permissions of the path", code="SF-SOURCE-020"),
    ),
    (
        (
            "no such file",
            "no files found",
            "cannot open file",
            "does not exist",
            "path_not_found",
            "table_or_view_not_found",
            "schema_not_found",
        ),
        SourceError("a file or table does not exist", "check the path and the table's name", code="SF-SOURCE-021"),
    ),
    (
        ("expected number of columns",),
        SourceError(
            "a record has more or fewer fields than the first line has names",
            "give all records as many fields, and quote those with a delimiter; or set `delimiter`, `quote` under "
            "`source`",
            code="SF-SOURCE-022",
        ),
    ),
    (
        ("unterminated quote", "quote should be followed", "unquoted value"),
        SourceError(
            "a quoted field is never closed, or goes on after its closing quote",
            "close every quote, and write a quote inside a quoted field twice, or set `quote` under `source`",
            code="SF-SOURCE-023",
        ),
    ),
    (
        ("maximum line size", "line size"),
        SourceError(
            "a record is longer than the reader's limit",
            "look for a quote that is never closed; else convert the file to Parquet",
            code="SF-SOURCE-024",
        ),
    ),
    (
        ("unicode", "utf-8", "utf8"),
        SourceError(
            "some text is not valid UTF-8",
            "save the file as UTF-8, or set `encoding` under `source`",
            code="SF-SOURCE-025",
        ),
    ),
    (
        (
            "csv error",
            "magic bytes",
            "parquet",
            "not a valid duckdb",
            "thrift",
            "snappy",
            "gzip",
            "corrupt",
            "failed_read_file",
            "cannot_read_file_footer",
            "unable_to_infer_schema",
        ),
        SourceError(
            "the file is damaged, or is not in the format its name says",
            "write it again from where it came, or give it the right ending",
            code="SF-SOURCE-026",
        ),
    ),
    (
        ("mismatch", "schema"),
        SourceError(
            "the files do not have the same columns and types",
            "make them alike, or read one of them",
            code="SF-SOURCE-027",
        ),
    ),
)


def classify(error: BaseException) -> SourceError:
    """The kind of an engine's failure; nothing of its text but a line number is kept.

    >>> classify(PermissionError(13, "Permission denied", "x.csv")).problem
    'access is not permitted'
    """
    said = _said(error)
    text = said.lower()
    line = _LINE.search(said)
    for words, kind in _SIGNS:
        if any(word in text for word in words):
            where = f" (line {line.group(1)})" if line else ""
            return SourceError(f"{kind.problem}{where}", kind.fix, code=kind.code)
    if isinstance(error, (duckdb.OutOfMemoryException, pa.ArrowMemoryError)) or "java heap space" in text:
        return SourceError(
            "the memory allowed is not enough", "raise the memory limit, or use fewer threads", code="SF-SOURCE-028"
        )
    return SourceError(
        f"the engine failed ({type(error).__name__}; its message is withheld because it may quote records)",
        "check that the table can be read with another tool; if it can, this is our bug: please report it",
        code="SF-SOURCE-029",
    )


def _said(error: BaseException) -> str:
    """What an error is recognised by: of Spark's its condition, or, where it has none, a beginning that Spark wrote.

    The rest of Spark's text has plans and values in it, and a value must not choose the kind of failure.
    """
    condition = getattr(error, "getCondition", None)
    named = condition() if callable(condition) else None
    if named:
        return str(named)
    if type(error).__module__.partition(".")[0] not in {"pyspark", "py4j"}:
        return str(error)
    begun = _SPARK_WROTE.match(str(error))
    return begun.group() if begun else ""


def run_guarded(
    run: Callable[[], T],
    *,
    doing: str,
    error: type[SfumatoError] = SourceError,
    also: tuple[type[Exception], ...] = (),
) -> T:
    """Run an engine call; turn its failure into ours. ``also`` are errors of an engine that is not built in."""
    try:
        return run()
    except duckdb.InterruptException:
        failure = None
    except (*ENGINE_ERRORS, *also) as found:
        failure = classify(found)
    # Outside the except block: here the engine's error is no longer the context of what is raised.
    if failure is None:
        raise KeyboardInterrupt
    raise error(f"{doing} failed: {failure.problem}", failure.fix, code=failure.code)
