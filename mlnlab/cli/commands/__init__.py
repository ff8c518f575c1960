"""One file per command; see ``mlnlab.cli.registry`` for what a file offers."""
