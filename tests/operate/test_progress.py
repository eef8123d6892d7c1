"""What is said on a terminal while a cluster is asked: after a second, and not where nobody looks."""

from __future__ import annotations

import argparse
import sys
import threading

import pytest
from trainyard.extensions.operate import asking as operate


@pytest.mark.parametrize(
    ("terminal", "quiet", "said"),
    [(True, False, ["asking …\n"]), (True, True, []), (False, False, []), (False, True, [])],
)
def test_it_is_said_on_a_terminal_that_is_not_to_be_quiet(
    terminal: bool, quiet: bool, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(operate, "put_err", written.append)
    monkeypatch.setattr(operate, "_SECOND", 0.0)
    with operate._Progress(argparse.Namespace(quiet=quiet), "asking"):
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join(10)
    assert written == said
