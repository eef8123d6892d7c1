"""``python -m trainyard``: the command ``trainyard``."""

from trainyard.cli.entry import entry

entry()
