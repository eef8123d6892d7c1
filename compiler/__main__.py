"""``python -m compiler``: the command ``trainyard``."""

from compiler.cli.entry import entry

entry()
