"""The report of all example specs as a page: it takes seconds, and most tests here only read it."""

from __future__ import annotations

import io
from contextlib import chdir, redirect_stdout

import pytest
from running import EXAMPLE


@pytest.fixture(scope="session")
def whole_page() -> str:
    """What `report specs --format html` prints in tests/example."""
    from trainyard.cli.main import main

    printed = io.StringIO()
    with chdir(EXAMPLE), redirect_stdout(printed):
        assert main(["report", "specs", "--format", "html"]) == 0
    return printed.getvalue()
