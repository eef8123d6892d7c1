"""The command line: parses, calls the driver, prints, and turns the outcome into an exit code."""

from compiler.cli.main import main

__all__ = ["main"]
