"""The workbench: pages on this machine over the same functions as the command line. `sfumato serve` starts it."""
