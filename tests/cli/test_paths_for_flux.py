"""Each path that Flux is told exists from the root of the repository, wherever the command is run and whatever ``-o``
says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from running import SPECS, Command

pytestmark = pytest.mark.slow

FLUX = "kustomize.toolkit.fluxcd.io"
WHERE = [
    (".", "specs/one.yaml", None),
    (".", "specs/one.yaml", "clusters/all"),
    (".", "specs/one.yaml", "."),
    ("specs", "one.yaml", None),
    ("specs", "one.yaml", "."),
    ("specs", "one.yaml", "../out"),
    ("specs", ".", "../specs/deep/../out"),
    ("other", "../specs", None),
    ("other", "../specs", "ABSOLUTE"),
]
"""The working directory in the repository, what is compiled, and `-o`; ABSOLUTE is a path from the root of the disk."""


def told(folder: Path) -> list[str]:
    """The paths of all Kustomizations of Flux in files below a folder."""
    files = sorted(folder.rglob("*.yaml"))
    documents = [each for file in files for each in yaml.safe_load_all(file.read_text())]
    return [
        each["spec"]["path"]
        for each in documents
        if isinstance(each, dict) and FLUX in str(each.get("apiVersion"))
    ]


@pytest.mark.parametrize(("cwd", "what", "output"), WHERE)
def test_flux_finds_each_path(
    cwd: str, what: str, output: str | None, tmp_path: Path, trainyard: Command
) -> None:
    """In a repository, or in a worktree of one, whose `.git` is a file."""
    root = tmp_path / "repository"
    for name in ("specs", "other"):
        (root / name).mkdir(parents=True)
    if cwd == "other":
        (root / ".git").write_text("gitdir: ../elsewhere\n")
    else:
        (root / ".git").mkdir()
    shutil.copy(SPECS / "starter.yaml", root / "specs" / "one.yaml")
    words = [] if output is None else ["-o", output.replace("ABSOLUTE", str(root / "abs" / "out"))]
    done = trainyard("compile", what, *words, cwd=root / cwd)
    assert done.code == 0, done
    paths = told(root)
    assert len(paths) > 5
    assert [path for path in paths if not (root / path).is_dir()] == []
    assert all(not path.startswith("/") and ".." not in path for path in paths)
