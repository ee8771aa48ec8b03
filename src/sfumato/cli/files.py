"""Writing what a command was asked to write: never over something that is there."""

from pathlib import Path

from sfumato.errors import PublishError


def write_new(place: Path, text: str) -> None:
    """Write a text to a file that does not exist yet."""
    try:
        with place.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise PublishError(
            f"'{place}' exists already", "name another file, or move this one away", code="SF-PUBLISH-003"
        ) from None
    except OSError as error:
        raise PublishError(
            f"'{place}' cannot be written ({error.strerror})",
            "name a file in a folder you may write to",
            code="SF-PUBLISH-004",
        ) from None
