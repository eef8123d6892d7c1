"""Templates of CloudFormation by somebody else's judge: cfn-lint, of the development requirements."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_PROGRAM = "import sys; from cfnlint.runner import main; sys.exit(main())"


def findings(templates: Iterable[Path], *options: str) -> str:
    """What it prints about the templates; nothing where it finds nothing. ``options``: before ``--template``."""
    files = [str(template) for template in templates]
    assert files
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *options, "--template", *files],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    if done.returncode == 0:
        return done.stdout
    return f"{done.stdout}{done.stderr}exit {done.returncode}"
