"""`python -m sfumato` is the command line."""

from sfumato.cli.program import program

if __name__ == "__main__":
    program()
