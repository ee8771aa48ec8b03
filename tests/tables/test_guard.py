import duckdb
import pyarrow as pa
import pytest

from sfumato.errors import PublishError, SourceError
from sfumato.tables.guard import classify, run_guarded
from tests.raising import raises_code


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (OSError(28, "No space left on device"), "the disk is full"),
        (duckdb.IOException("Could not set lock on file 'x': Conflicting lock is held"), "another process"),
        (PermissionError(13, "Permission denied"), "access is not permitted"),
        (duckdb.OutOfMemoryException("failed to allocate data of size 16.0 MiB"), "the memory allowed is not enough"),
        (duckdb.OutOfMemoryException("failed to offload: max_temp_directory_size reached"), "the disk is full"),
        (duckdb.ConversionException("Could not convert string 'Zaphod' to INT32"), "ConversionException"),
        (pa.ArrowInvalid("Could not convert 'Zaphod' with type str"), "ArrowInvalid"),
    ],
)
def test_only_the_kind_of_a_failure_is_told(error, problem):
    def fail():
        raise error

    with pytest.raises(SourceError) as caught:
        run_guarded(fail, doing="reading x")
    assert problem in caught.value.problem
    assert "Zaphod" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_the_line_is_told():
    assert classify(duckdb.InvalidInputException("CSV Error on Line: 7\nOriginal Line: Zaphod")).problem.endswith(
        "(line 7)"
    )


def test_writing_fails_with_its_own_error():
    def fail():
        raise OSError(28, "No space left on device")

    with raises_code(PublishError, "SF-SOURCE-017"):
        run_guarded(fail, doing="writing x", error=PublishError)


def test_an_interrupted_query_is_an_interrupt():
    def fail():
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

    with pytest.raises(KeyboardInterrupt):
        run_guarded(fail, doing="reading x")
