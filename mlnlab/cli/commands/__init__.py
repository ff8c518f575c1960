"""Hold one file per command; see ``mlnlab.cli.registry`` for the functions of a file."""
