"""Who may talk to the workbench, and for how long: address, port, token, Host, Origin, connections, private files."""
