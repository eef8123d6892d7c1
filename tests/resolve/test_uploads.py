"""Folders of the repository that `up.sh` uploads are there before somebody pays for a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import spec

from tests.platforms.passes import codes

PLACE = "spec.storage[0].s3.create.upload[0].folder"


def _with(folder: str) -> dict[str, Any]:
    upload = {"folder": folder, "to": "code"}
    return spec(storage=[{"name": "data", "s3": {"create": {"upload": [upload]}}}])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "code" / "deep").mkdir(parents=True)
    (tmp_path / "file").touch()
    return tmp_path


@pytest.mark.parametrize("folder", ["code", "code/deep"])
def test_a_folder_that_is_there(folder: str, repository: Path) -> None:
    assert ("RES504", PLACE) not in codes(_with(folder), repository)


@pytest.mark.parametrize("folder", ["cod", "code/dep", "file", "deep"])
def test_a_folder_that_is_not_there(folder: str, repository: Path) -> None:
    assert ("RES504", PLACE) in codes(_with(folder), repository)


def test_outside_of_a_repository_nobody_knows(tmp_path: Path) -> None:
    assert ("RES504", PLACE) not in codes(_with("code"), tmp_path)
