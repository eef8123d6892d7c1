"""Formats, colours, pipes, signals: how findings leave the command."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import pytest
from forks import forks
from running import EXAMPLE, ROOT, SPECS, Command, environment, spawn

pytestmark = pytest.mark.slow

BAD = Path(__file__).parent.parent / "bad_input" / "cases" / "unknown-type.yaml"
COMMAND = [sys.executable, "-m", "trainyard"]


def test_several_formats_in_one_run(trainyard: Command, tmp_path: Path) -> None:
    """One to standard output, the others into files; every one has the same finding at the same place."""
    files = {
        "json": "out/a.json",
        "sarif": "b.sarif",
        "github": "c.txt",
        "junit": "d.xml",
        "markdown": "e.md",
    }
    asked = [word for name, file in files.items() for word in ("--format", f"{name}={file}")]
    done = trainyard("check", BAD, "--format", "text", *asked, cwd=tmp_path)
    assert done.code == 1
    assert f"--> {BAD}:8:36" in done.out
    (found,) = json.loads((tmp_path / "out/a.json").read_text())["diagnostics"]
    assert (found["code"], found["place"]["line"], found["place"]["column"]) == ("RES005", 8, 36)
    (run,) = json.loads((tmp_path / "b.sarif").read_text())["runs"]
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert (run["results"][0]["ruleId"], region["startLine"], region["startColumn"]) == (
        "RES005",
        8,
        36,
    )
    assert f"::error file={BAD},line=8," in (tmp_path / "c.txt").read_text()
    suite = ElementTree.fromstring((tmp_path / "d.xml").read_text())
    assert [case.get("classname") for case in suite.iter("testcase")] == ["RES005"]
    assert f"`{BAD}:8:36`" in (tmp_path / "e.md").read_text()


@pytest.mark.parametrize("name", ["text", "json", "sarif", "github", "junit", "markdown"])
def test_a_clean_run_in_every_format(name: str, trainyard: Command) -> None:
    """Programs get a whole document even without findings."""
    done = trainyard("check", SPECS / "starter.yaml", "--format", name)
    assert done.code == 0
    assert (done.out == "") == (name in ("text", "github"))
    if name in ("json", "sarif"):
        json.loads(done.out)
    if name == "junit":
        ElementTree.fromstring(done.out)


@pytest.mark.parametrize("before", ["", "the report of yesterday"])
def test_a_report_that_has_no_room_is_whole_or_not_there(
    before: str, trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there before stays. A limit of this process stands for a full disk, on which no bytecode is kept: Python
    3.11 would leave half of it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "reports"
    folder.mkdir()
    report = folder / "report.json"
    if before:
        report.write_text(before)
    pods = "\n---\n".join(POD.format(number) for number in range(200))
    (tmp_path / "pods.yaml").write_text(pods)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limits[1]))
    try:
        done = trainyard("lint", "--format", f"json={report}", "pods.yaml", cwd=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (done.code, "cannot write" in done.err) == (2, True)
    assert [path.name for path in folder.iterdir()] == ([report.name] if before else [])
    assert not before or report.read_text() == before


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a{0}, namespace: x}}
spec: {{containers: [{{name: a, image: a}}]}}
"""


def test_a_file_that_cannot_be_written(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    done = trainyard("check", BAD, "--format", "json=taken/out.json", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("trainyard: cannot write `taken/out.json`: ")


def _at_a_terminal(*arguments: str, **env: str) -> str:
    """What the command writes to a terminal of its own."""
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    with open(os.devnull, "r+") as nothing:
        streams = (nothing.fileno(), follower, nothing.fileno())
        code = forks().ask(["check", BAD, *arguments], EXAMPLE, environment(**env), streams)
    assert code == 1
    os.close(follower)
    text = b""
    try:
        while data := os.read(leader, 65536):
            text += data
    except OSError:  # Linux reports the end of a terminal as EIO
        pass
    os.close(leader)
    return text.decode()


def test_colour_at_a_terminal_only(trainyard: Command) -> None:
    """At a terminal, unless `--no-color` or NO_COLOR say otherwise; never into a pipe or a file."""
    assert "\x1b[1;31merror[RES005]\x1b[0m" in _at_a_terminal()
    assert "\x1b" not in _at_a_terminal("--no-color")
    assert "\x1b" not in _at_a_terminal(NO_COLOR="1")
    assert "\x1b" not in trainyard("check", BAD).out


@pytest.mark.parametrize(
    "arguments", ["catalog", "schema", f"check {BAD}", "--help"], ids=lambda each: each.split()[0]
)
def test_a_reader_that_has_gone(arguments: str) -> None:
    """`| head -1`, or a reader that reads nothing: no traceback, and the exit code of a program ended by SIGPIPE."""
    child = subprocess.Popen(
        [*COMMAND, *arguments.split()],
        cwd=EXAMPLE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    stderr = child.stderr.read().decode()
    child.stderr.close()
    assert child.wait(60) == 141
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr
    assert "INT000" not in stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams(closed: str, tmp_path: Path, trainyard: Command) -> None:
    """What nobody wants to hear changes neither the exit code nor what is written."""
    shell = f"'{sys.executable}' -m trainyard \"$@\" {closed}"

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", shell, "sh", *map(str, words)],
            cwd=EXAMPLE,
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )

    bad, good = (run("check", BAD), run("compile", SPECS / "starter.yaml", "-o", tmp_path / "out"))
    assert (bad.returncode, good.returncode) == (1, 0), bad.stderr + good.stderr
    assert "Traceback" not in bad.stderr + good.stderr
    written = trainyard(
        "compile", "--check", SPECS / "starter.yaml", "-o", tmp_path / "out", cwd=EXAMPLE
    )
    assert written.code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    "arguments",
    ["catalog", "schema", "explain YML001", f"check {BAD}"],
    ids=["catalog", "schema", "explain", "check"],
)
def test_a_full_disk(arguments: str, tmp_path: Path) -> None:
    """It is reported, and is no fault of ours; that standard error is full can be reported to nobody."""
    with open("/dev/full", "r+b", buffering=0) as full, open(tmp_path / "err", "wb") as err:
        streams = (full.fileno(), full.fileno(), err.fileno())
        code = forks().ask(arguments.split(), EXAMPLE, environment(), streams)
    said = (tmp_path / "err").read_text()
    assert (code, said) == (2, "trainyard: cannot write standard output: no space left on device\n")
    assert deaf() == 0


@cache
def deaf() -> int:
    """How a run ends whose standard error is full, as a process of its own."""
    command = [*COMMAND, "check", "specs/starter.yaml"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=EXAMPLE, stderr=full, env=environment(), check=False)
    return done.returncode


@pytest.mark.parametrize("name", ["text", "json", "sarif", "github", "junit", "markdown"])
def test_an_encoding_without_the_characters(name: str, tmp_path: Path) -> None:
    """Old locales know ASCII only; whatever they lack is escaped."""
    text = BAD.read_text().replace("kind:", "größe\u202e: 一\nkind:")
    (tmp_path / "größe.yaml").write_text(text, encoding="utf-8")
    done = spawn(
        "check",
        "größe.yaml",
        "--format",
        name,
        cwd=tmp_path,
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
        PYTHONIOENCODING="",
    )
    assert (done.code, done.err) == (1, "1 error\n")
    assert done.out.isascii()


def test_a_terminal_is_not_steered_by_errors(trainyard: Command) -> None:
    """Nor by what stands in words of the command line."""
    for words in (("check", "--x\x1b[31m"), ("explain", "x\x1b[31m"), ("catalog", "x\x1b[31m")):
        done = trainyard(*words, cwd=EXAMPLE)
        assert done.code == 2
        assert "x\ufffd[31m" in done.err


def test_sarif_has_the_pages_of_policies(trainyard: Command, tmp_path: Path) -> None:
    """Code scanning shows them beside an alert: those of the built-in rules and those of one's own."""
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "org001.yaml").write_text(
        "code: ORG001\nslug: no-owner\nmatch: {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob}\n"
        "schema: {properties: {metadata: {properties: {labels: {required: [owner]}}}}}\n"
        "message: no owner\nhelp: add one\n"
    )
    done = trainyard(
        "check",
        BAD.parent / "quota-above-capacity.yaml",
        "--policies",
        policies,
        "--format",
        "sarif",
    )
    rules = {
        each["id"]: each for each in json.loads(done.out)["runs"][0]["tool"]["driver"]["rules"]
    }
    assert {"QUE004", "ORG001"} <= rules.keys()
    assert "## Fails" in rules["QUE004"]["help"]["text"]
    assert all(each["name"] and each["fullDescription"]["text"] for each in rules.values())


def test_interrupted(trainyard: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C: silence, and the exit code that a shell expects."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trainyard.run.driver.assemble", interrupt)
    done = trainyard("check", BAD)
    assert (done.code, done.out, done.err) == (130, "", "")


def test_interrupted_for_real() -> None:
    """A process that waits for its input and gets SIGINT, which it must not ignore as jobs behind `&` do."""
    child = subprocess.Popen(
        [*COMMAND, "check", "-"],
        cwd=EXAMPLE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert child.stdin is not None
    child.stdin.write(
        b"#\n" * 500_000
    )  # more than a pipe holds: returns when the command has begun to read
    child.send_signal(signal.SIGINT)
    # This closes its input: a signal that arrives just before a `read` is only seen when that `read` returns.
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, b"", b"")


def test_no_plugin_of_pydantic_has_a_say(tmp_path: Path) -> None:
    """One that is installed beside Trainyard, and fails as soon as it is loaded."""
    (tmp_path / "meddler.py").write_text("raise SystemExit('loaded')\n")
    (tmp_path / "meddler-1.dist-info").mkdir()
    (tmp_path / "meddler-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: meddler\nVersion: 1\n"
    )
    (tmp_path / "meddler-1.dist-info" / "entry_points.txt").write_text(
        "[pydantic]\nmeddler = meddler\n"
    )
    path = f"{ROOT}{os.pathsep}{tmp_path}"
    assert spawn("schema", PYTHONPATH=path).code == 0
    build = "from trainyard.run.language.whole import language; language().model_rebuild()"
    bare = subprocess.run(
        [sys.executable, "-c", build],
        cwd=EXAMPLE,
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert bare.stderr == "loaded\n"


def test_our_own_fault(trainyard: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug is reported in two lines, with exit code 4; `--verbose` says where it is."""

    def broken(*_: object) -> None:
        raise ValueError("a fault\nof ours")

    monkeypatch.setattr("trainyard.run.passes.lower", broken)
    done = trainyard("compile", SPECS / "starter.yaml")
    assert (done.code, done.out) == (4, "")
    assert done.err.splitlines() == [
        "error[INT000]: ValueError: a fault of ours",
        "  = help: this is a fault of Trainyard: please report it with the spec; `--verbose` says where it arose",
    ]
    assert "(test_output.py:" in trainyard("compile", "-v", SPECS / "starter.yaml").err


def test_a_target_that_cdk8s_changes(
    trainyard: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What cdk8s made is held against what was judged; a difference is never written."""
    monkeypatch.setattr(
        "trainyard.output.synthesis.Synthesis._equal", set()
    )  # it is asked for each object
    monkeypatch.setattr(
        "trainyard.output.synthesis.Synthesis.differing", lambda self: self._asked[0][:1]
    )
    done = trainyard("compile", SPECS / "starter.yaml", "-o", tmp_path / "generated")
    assert done.code == 4
    assert "error[INT001]: cdk8s made another object of `" in done.out
    assert not (tmp_path / "generated").exists()


def test_a_built_in_rule_that_fails(trainyard: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """It hides nothing that other rules find, and the run reports it with exit code 4."""
    from dataclasses import replace

    from trainyard.judge.policy import load

    def broken(*_: object) -> None:
        raise KeyError("zone")

    rules, faults = load.load_rules(None)
    assert not faults
    broken_rules = tuple(
        replace(each, check=broken) if each.code == "EFA001" else each for each in rules
    )
    monkeypatch.setattr("trainyard.judge.policy.judge.load_rules", lambda *_: (broken_rules, []))
    done = trainyard("check", BAD.parent / "quota-above-capacity.yaml")
    assert done.code == 4
    assert "error[INT002]: rule `EFA001` failed: KeyError: 'zone'" in done.out
    assert "error[QUE004]" in done.out


def test_one_summary_line(trainyard: Command) -> None:
    """Findings on standard output, the summary on standard error."""
    done = trainyard("check", BAD, cwd=EXAMPLE)
    assert done.err == "1 error\n"
    assert "1 error" not in done.out
