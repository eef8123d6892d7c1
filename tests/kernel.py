"""Runs the kernel's own tests, in a copy without any extension: ``make test-kernel``. Words are handed on to pytest.

What is left of the tests says by itself what it needs: by what it imports, and by ``pytest.mark.needs``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]


def main() -> int:
    """The exit code of pytest."""
    with TemporaryDirectory(prefix="kernel-") as temporary:
        folder = Path(temporary)
        copy(folder)
        words = ["-m", "pytest", "-m", "not slow", "--dist=worksteal", *sys.argv[1:]]
        env = {**os.environ, "PYTHONPATH": os.fspath(folder / "compiler")}
        return subprocess.run([sys.executable, *words], cwd=folder, env=env, check=False).returncode


def copy(folder: Path) -> None:
    """Copy what git knows of the repository, without extensions."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    extensions = "compiler/trainyard/extensions/"
    for name in listed.stdout.split("\0"):
        is_of_extension = name.startswith(extensions) and "/" in name.removeprefix(extensions)
        if name and not is_of_extension and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)


if __name__ == "__main__":
    sys.exit(main())
