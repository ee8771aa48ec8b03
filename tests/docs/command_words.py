"""The words that call each command of the program."""

import typer.main


def commands_of(app, words=("sfumato",), command=None):
    """The program first, then its commands in the order of its help."""
    command = command or typer.main.get_command(app)
    yield words
    for name, sub in getattr(command, "commands", {}).items():
        yield from commands_of(app, (*words, name), sub)
