"""A run that is known says what it said: on both streams, in files, and by how it ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from asking import STARTER, Asker
from running import contents

pytestmark = pytest.mark.slow

FORMATS = ("text", "json", "sarif", "github", "junit", "markdown")
CLEAN = STARTER
WARNED = STARTER.replace("command:", 'env: {CUDA_LAUNCH_BLOCKING: "1"}, command:')
FAILING = STARTER.replace("region:", "regionn:")
OBJECT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "public.ecr.aws/nginx/nginx:1.29", privileged: true}]}
"""


@pytest.mark.parametrize("spec", [CLEAN, WARNED, FAILING], ids=["clean", "warned", "failing"])
@pytest.mark.parametrize("form", FORMATS)
def test_check_says_it_again(asker: Asker, spec: str, form: str) -> None:
    asker.write("specs/starter.yaml", spec)
    words = ("check", "specs", "--format", form)
    first, again = asker.ask(*words), asker.ask(*words)
    assert (first.repeated, again.repeated) == (False, True)
    assert first == again == asker.anew(*words)
    assert first.code == (1 if spec is FAILING else 0)
    if spec is not CLEAN and form != "text":
        assert first.out


@pytest.mark.parametrize("words", [("-q",), ("-v",), ("--fail-on", "warning"), ("--no-color",)])
def test_other_words_are_another_question(asker: Asker, words: tuple[str, ...]) -> None:
    asker.write("specs/starter.yaml", WARNED)
    asker.ask("check", "specs")
    first, again = asker.ask("check", "specs", *words), asker.ask("check", "specs", *words)
    assert (first.repeated, again.repeated) == (False, True)
    assert first == again == asker.anew("check", "specs", *words)


def test_reports_are_written_again(asker: Asker) -> None:
    asker.write("specs/starter.yaml", FAILING)
    words = ("check", "specs", "--format", "text", "--format", "sarif=out/all.sarif")
    asker.ask(*words)
    report = asker.folder / "out" / "all.sarif"
    said = report.read_bytes()
    report.unlink()
    assert asker.ask(*words).repeated
    assert report.read_bytes() == said
    report.write_text("something else")
    assert asker.ask(*words).repeated
    assert report.read_bytes() == said


def test_lint_says_it_again(asker: Asker) -> None:
    asker.write("deploy/web.yaml", OBJECT)
    first, again = asker.ask("lint", "deploy"), asker.ask("lint", "deploy")
    assert (first.repeated, again.repeated) == (False, True)
    assert first == again == asker.anew("lint", "deploy")
    assert first.code == 1


def test_compile_is_known_once_nothing_is_written(asker: Asker) -> None:
    written = asker.ask("compile", "specs")
    current, again = asker.ask("compile", "specs"), asker.ask("compile", "specs")
    assert "added" in written.err
    assert "current" in current.err
    assert (written.repeated, current.repeated, again.repeated) == (False, False, True)
    assert current == again == asker.anew("compile", "specs")


def test_what_is_not_current_is_said_again(asker: Asker) -> None:
    words = ("compile", "--check", "specs")
    first, again = asker.ask(*words), asker.ask(*words)
    assert (first.code, again.repeated) == (3, True)
    assert first == again
    assert not (asker.folder / "generated").exists()


def test_output_that_was_removed_is_written_again(asker: Asker) -> None:
    asker.ask("compile", "specs")
    assert not asker.ask("compile", "specs").repeated
    before = contents(asker.folder / "generated")
    for path in sorted((asker.folder / "generated").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    done = asker.ask("compile", "specs")
    assert "added" in done.err
    assert contents(asker.folder / "generated") == before


def test_a_repeated_run_changes_nothing_but_its_cache(asker: Asker) -> None:
    asker.ask("compile", "specs")
    asker.ask("compile", "specs")
    before = _times(asker.folder)
    assert asker.ask("compile", "specs").repeated
    assert _times(asker.folder) == before


def _times(folder: Path) -> dict[str, tuple[int, int]]:
    states = {str(path): os.lstat(path) for path in [folder, *folder.rglob("*")]}
    return {path: (state.st_mtime_ns, state.st_ino) for path, state in states.items()}


def test_a_repeated_run_loads_nearly_nothing(asker: Asker) -> None:
    asker.ask("check", "specs")
    again = asker.ask_from_the_start("check", "specs")
    ours = {name for name in again.modules if name.partition(".")[0] == "trainyard"}
    rooms = {
        "trainyard",
        "trainyard.disk",
        "trainyard.disk.cache",
        "trainyard.disk.inputs",
        "trainyard.cli",
    }
    edge = {f"trainyard.cli.{name}" for name in ("entry", "exits", "repeat", "streams")}
    assert ours == rooms | edge
    heavy = {"pydantic", "yaml", "jinja2", "argparse", "pathlib", "hashlib", "dataclasses"}
    assert not heavy & again.modules


@pytest.mark.parametrize("words", [("--help",), ("check", "-h"), ("check", "--nonsense")])
def test_what_argparse_says_is_not_kept(asker: Asker, words: tuple[str, ...]) -> None:
    first = asker.ask(*words, COLUMNS="60")
    assert first == asker.ask(*words, COLUMNS="60")
    assert not (asker.cache / "runs.1").exists() or len(asker.entries()) <= 1


def test_no_color_is_part_of_the_question(asker: Asker) -> None:
    asker.ask("check", "specs")
    assert asker.ask("check", "specs", NO_COLOR="1").repeated  # no terminal: plain either way


def test_another_folder_is_another_question(asker: Asker, tmp_path: Path) -> None:
    asker.ask("check", "specs")
    other = tmp_path / "moved"
    asker.folder.rename(other)
    asker.folder = other
    assert not asker.ask("check", "specs").repeated
