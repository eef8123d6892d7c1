"""A check does not load what it does not use; whoever asks for it gets it."""

import subprocess
import sys

from builders import ROOT

CHECK = """
import os, sys
from compiler.cli import entry
left = []
os._exit = left.append
sys.argv = ["trainyard", "check", "specs/starter.yaml", "-q"]
entry.entry()
assert left == [0], left
assert "email.message" not in sys.modules
"""
USE = """
from compiler.cli.deferred import defer_search
defer_search()
import importlib.metadata
from importlib.metadata import entry_points, version
import importlib.metadata._meta
assert version("pydantic")
assert entry_points(group="console_scripts")
assert importlib.metadata.version is version
assert sys.modules["importlib.metadata"].version is version
"""


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"], cwd=ROOT, capture_output=True, text=True
    )
    return done.stderr


def test_a_check_searches_for_no_installed_package() -> None:
    assert _run(CHECK) == ""


def test_whoever_asks_gets_the_module() -> None:
    assert _run(USE) == ""
