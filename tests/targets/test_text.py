"""Templates are compiled once, and a run that may keep nothing renders the same."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from trainyard.output.lowering import text
from trainyard.output.lowering.text import rendered


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    templates = tmp_path / "pages_of_a_test" / "templates"
    templates.mkdir(parents=True)
    (templates.parent / "__init__.py").touch()
    (templates / "page.j2").write_text("{{ place }} is first\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield "pages_of_a_test"
    text._environment.cache_clear()
    sys.modules.pop("pages_of_a_test", None)


def page(package: str) -> str:
    """The page as a process of its own renders it."""
    text._environment.cache_clear()
    return rendered(package, "page.j2", place="it")


def kept(tmp_path: Path) -> list[Path]:
    return sorted(tmp_path.glob("pages_of_a_test/templates/__pycache__/*"))


def test_the_code_of_a_template_is_kept(package: str, tmp_path: Path) -> None:
    assert page(package) == "it is first\n"
    (file,) = kept(tmp_path)
    written = file.stat().st_mtime_ns
    assert page(package) == "it is first\n"
    assert file.stat().st_mtime_ns == written


def test_a_changed_template_is_compiled_anew(package: str, tmp_path: Path) -> None:
    page(package)
    template = tmp_path / "pages_of_a_test" / "templates" / "page.j2"
    template.write_text("{{ place }} is again\n")
    assert page(package) == "it is again\n"
    assert page(package) == "it is again\n"


def test_broken_code_is_compiled_anew(package: str, tmp_path: Path) -> None:
    page(package)
    (file,) = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:10])
    assert page(package) == "it is first\n"


def test_where_nothing_may_be_kept_nothing_is(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert page(package) == "it is first\n"
    assert kept(tmp_path) == []


def test_a_full_disk_costs_what_is_kept_alone(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    assert page(package) == "it is first\n"
    assert kept(tmp_path) == []
