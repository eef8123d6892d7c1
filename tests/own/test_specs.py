"""What this repository holds of its team: its specs, its policies, and what they compile to.

These tests are true of any specs and policies: `make test-specs` runs them alone. All other tests are Trainyard's own,
and use the specs of tests/example.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import EXAMPLE, ROOT, contents, spawn


@pytest.mark.slow
def test_generated_is_what_the_specs_compile_to() -> None:
    done = spawn("compile", "--check", "specs", cwd=ROOT)
    assert done.code == 0, f"\n{done.out}{done.err}"


def test_policies_find_what_their_examples_show() -> None:
    done = spawn("test", "policies", cwd=ROOT)
    assert done.code == 0, f"\n{done.out}{done.err}"


@pytest.mark.skipif(
    contents(ROOT / "specs") != contents(EXAMPLE / "specs"), reason="specs/ holds a team's own"
)
@pytest.mark.slow
def test_no_example_was_ever_submitted(tmp_path: Path) -> None:
    """So nothing is kept as it was. After a change that was meant: `make compile ARGS="--replace '*'"`, and look."""
    (tmp_path / ".git").mkdir()  # paths of what images are built of are from the root
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    assert spawn("compile", "specs", cwd=tmp_path).code == 0
    assert contents(tmp_path / "generated") == contents(ROOT / "generated")
