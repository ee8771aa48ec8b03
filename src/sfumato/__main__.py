"""`python -m sfumato` is the command line."""

from sfumato.cli.main import main

if __name__ == "__main__":
    main()
