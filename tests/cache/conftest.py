"""A repository with a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import STARTER, Asker


@pytest.fixture
def asker(tmp_path: Path) -> Asker:
    """The starter's spec in a repository."""
    asker = Asker(tmp_path)
    (asker.folder / ".git").mkdir()
    asker.write("specs/starter.yaml", STARTER)
    return asker
