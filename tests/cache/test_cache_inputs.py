"""Whatever a run read, listed, looked for or was given: where it differs, the specs are judged again."""

from __future__ import annotations

import datetime
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import STARTER, Asker
from running import ROOT, SPECS

pytestmark = pytest.mark.slow

BASE = """apiVersion: trainyard.dev/v1alpha1
kind: TrainingClusterBase
metadata: {name: base}
spec:
  account: "111122223333"
"""
SPEC = STARTER.replace(
    "metadata: {name: starter}", "metadata: {name: starter}\nextends: ../base.yaml"
).replace("spec:\n", "spec:\n  include: [../extra]\n")
EXTRA = """apiVersion: v1
kind: ConfigMap
metadata: {name: extra, namespace: default}
data: {key: value}
"""
LEVELS = "levels: {RUN124: error}\n"
EXCEPTION = """- code: RUN124
  object: "*"
  reason: looked at
  until: 2999-12-31
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spec with a base, an included folder and policies, compiled."""
    asker = Asker(tmp_path_factory.mktemp("full"))
    (asker.folder / ".git").mkdir()
    asker.write("base.yaml", BASE)
    asker.write("extra/map.yaml", EXTRA)
    asker.write("specs/starter.yaml", SPEC)
    asker.write("policies/policy.yaml", LEVELS)
    asker.write("policies/exceptions.yaml", "[]\n")
    done = asker.ask("compile", "specs")
    assert done.code == 0, done.err + done.out
    return asker.folder


@pytest.fixture
def full(compiled: Path, tmp_path: Path) -> Asker:
    """A copy of it, of which nothing is known."""
    asker = Asker(tmp_path)
    shutil.copytree(compiled, asker.folder, dirs_exist_ok=True)
    return asker


def _append(path: str, text: str = "# edited\n") -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text() if file.exists() else ""
        file.write_text(before + text)

    return change


def _remove(pattern: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = min(folder.glob(pattern))
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    return change


def _same_size(folder: Path) -> None:
    """An edit that leaves size and time as they were."""
    file = folder / "specs" / "starter.yaml"
    state = file.stat()
    file.write_text(file.read_text().replace("g6e.48xlarge", "g6e.49xlarge"))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def _edit_output(folder: Path) -> None:
    file = min((folder / "generated").rglob("*.yaml"))
    file.write_text(file.read_text() + "# by hand\n")


CHANGES: dict[str, Callable[[Path], None]] = {
    "spec": _append("specs/starter.yaml"),
    "spec of the same size and time": _same_size,
    "base": _append("base.yaml"),
    "included file": _append("extra/map.yaml"),
    "file in an included folder": _append("extra/more.yaml", EXTRA.replace("extra", "more")),
    "policy": _append("policies/policy.yaml"),
    "exceptions": _append("policies/exceptions.yaml"),
    "rule": _append("policies/own/rule.py", "# no rule\n"),
    "no policies any more": _remove("policies"),
    "new spec": _append("specs/new.yaml", STARTER.replace("name: starter", "name: new")),
    "output edited": _edit_output,
    "output deleted": _remove("generated/starter/.manifest.json"),
    "output added": _append("generated/starter/own.txt", "mine\n"),
    "folder of output deleted": _remove("generated/starter"),
    "left by a killed run": _append("generated/.starter.trainyard-new/x", "x"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_is_judged_anew(full: Asker, name: str) -> None:
    full.ask("compile", "--check", "specs")
    assert full.ask("compile", "--check", "specs").repeated
    CHANGES[name](full.folder)
    done = full.ask("compile", "--check", "specs")
    assert not done.repeated
    assert done == full.anew("compile", "--check", "specs")


ABSENT = {
    "policies": ("policies/policy.yaml", LEVELS),
    "a document of its own": (
        "specs/job.yaml",
        "apiVersion: trainyard.dev/v1alpha1\nkind: Nothing\n",
    ),
    "output": ("generated/starter/x.txt", "x"),
    "a repository nearer by": ("specs/.git/HEAD", "ref: refs/heads/main\n"),
}


@pytest.mark.parametrize("name", ABSENT)
def test_what_was_not_there_may_come(asker: Asker, name: str) -> None:
    asker.write("extra/map.yaml", EXTRA)
    asker.write("specs/starter.yaml", STARTER.replace("spec:\n", "spec:\n  include: [../extra]\n"))
    asker.ask("compile", "--check", "specs")
    assert asker.ask("compile", "--check", "specs").repeated
    asker.write(*ABSENT[name])
    done = asker.ask("compile", "--check", "specs")
    assert not done.repeated
    assert done == asker.anew("compile", "--check", "specs")


def test_a_link_to_another_file(asker: Asker) -> None:
    file = asker.folder / "specs" / "starter.yaml"
    for name in ("one", "two"):
        asker.write(f"{name}.yaml", STARTER.replace("2 ", f"{name} "))
    asker.write("two.yaml", STARTER.replace("region:", "regionn:"))
    file.unlink()
    file.symlink_to("../one.yaml")
    asker.ask("check", "specs")
    assert asker.ask("check", "specs").repeated
    file.unlink()
    file.symlink_to("../two.yaml")
    done = asker.ask("check", "specs")
    assert (done.repeated, done.code) == (False, 1)


def test_a_facts_file(asker: Asker) -> None:
    asker.write("facts.json", "{}")
    words = ("check", "specs", "--catalog", "facts.json")
    first = asker.ask(*words)
    asker.write("facts.json", "[]")
    done = asker.ask(*words)
    assert not done.repeated
    assert done == asker.anew(*words)
    assert first.code in (0, 2)


WEST, EAST = "<-12>12", "<+14>-14"
"""Where it is never the same day."""


def test_a_day_is_over(asker: Asker) -> None:
    asker.ask("check", "specs", TZ=WEST)
    assert asker.ask("check", "specs", TZ=WEST).repeated
    assert not asker.ask("check", "specs", TZ=EAST).repeated
    assert asker.ask("check", "specs", TZ=EAST).repeated


def test_an_exception_ends(asker: Asker) -> None:
    now = datetime.datetime.now(datetime.UTC)
    last = (now - datetime.timedelta(hours=12)).date()
    spec = STARTER.replace("command:", 'env: {CUDA_LAUNCH_BLOCKING: "1"}, command:')
    asker.write("specs/starter.yaml", spec)
    asker.write("policies/exceptions.yaml", EXCEPTION.replace("2999-12-31", str(last)))
    excused = asker.ask("check", "specs", TZ=WEST)
    assert "1 exception" in excused.err
    assert asker.ask("check", "specs", TZ=WEST).repeated
    ended = asker.ask("check", "specs", TZ=EAST)
    assert "POL002" in ended.out


def test_another_compiler(asker: Asker, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for name in ("compiler", "policies"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    env = {"PYTHONPATH": str(copy / "compiler")}
    asker.ask_from_the_start("check", "specs", **env)
    assert asker.ask_from_the_start("check", "specs", **env).repeated
    page = copy / "policies" / "efa" / "efa_missing.py"
    page.write_text(page.read_text() + "# edited\n")
    assert not asker.ask_from_the_start("check", "specs", **env).repeated


def test_standard_input_is_read_once(asker: Asker) -> None:
    code = [sys.executable, "-m", "trainyard", "check", "-"]
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "compiler"),
        "TRAINYARD_CACHE_DIR": str(asker.cache),
    }
    for text, code_wanted in ((STARTER, 0), (STARTER.replace("region:", "regionn:"), 1)):
        done = subprocess.run(
            code, input=text.encode(), cwd=asker.folder, env=env, capture_output=True
        )
        assert done.returncode == code_wanted


OWN_RULE = '''"""A rule of the team."""

{imports}from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("ORG001")
def marked(work: Work) -> Iterator[Finding]:
    """A job has no mark.

    ## Fails

        jobs: [{{name: a}}]

    ## Passes

        jobs: []
    """
    {body}
    yield from ()
'''


@pytest.mark.parametrize(
    ("imports", "body", "repeated"),
    [
        ("", "assert work", True),
        ("import time\n", "time.time()", False),
        ("", "open('mark')", False),
        ("from pathlib import Path\n", "Path('mark').exists()", False),
    ],
)
def test_a_rule_that_may_read_what_nobody_notes(
    asker: Asker, imports: str, body: str, repeated: bool
) -> None:
    asker.write("policies/team/marked.py", OWN_RULE.format(imports=imports, body=body))
    first = asker.ask("check", "specs")
    again = asker.ask("check", "specs")
    assert again.repeated is repeated
    assert first == again


def test_the_example_repository_reads_nothing_that_is_not_noted(tmp_path: Path) -> None:
    """An audit hook of the interpreter hears of every file that is opened and every folder that is listed."""
    asker = Asker(tmp_path)
    shutil.rmtree(asker.folder)
    shutil.copytree(SPECS.parent, asker.folder)
    (asker.folder / ".git").mkdir()
    (asker.folder / "extra").mkdir()
    asker.write("extra/map.yaml", EXTRA)
    asker.write("base.yaml", BASE)
    asker.write("specs/more.yaml", SPEC.replace("name: starter", "name: more"))
    asker.write("policies/team/marked.py", OWN_RULE.format(imports="", body="assert work"))
    asker.ask("compile", "specs")
    for words in (("check", "specs"), ("compile", "specs"), ("lint", "generated")):
        (asker.folder / "seen").unlink(missing_ok=True)
        done = asker.ask_from_the_start(*words)
        assert not done.repeated
        noted = _noted(asker)
        below = {os.path.join(asker.folder, name) for name in noted}
        opened = {os.path.join(asker.folder, name) for name in done.opened if name}
        ours = {path for path in opened if Path(path).parent.is_relative_to(asker.folder)}
        ours.discard(os.path.join(asker.folder, "."))  # where Python looks for packages
        assert len(ours) > 10, words
        assert {path for path in ours if "__pycache__" not in path} - below == set(), words


def _noted(asker: Asker) -> set[str]:
    """The paths of the newest entry."""
    import json

    newest = max(asker.entries(), key=lambda path: path.stat().st_mtime_ns)
    _, _, text = newest.read_bytes().partition(b"\n")
    return {path for _, path, _, _ in json.loads(text)["seen"]}
