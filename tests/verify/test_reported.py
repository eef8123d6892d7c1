"""How faults of objects read, and whether they stand at a key or at its value."""

from __future__ import annotations

from verify.reported import FILE, said


def test_faults_of_objects_read_so() -> None:
    """After an edit that is meant: `python -m tests.verify.reported`."""
    assert said() == FILE.read_text(encoding="utf-8").splitlines()
