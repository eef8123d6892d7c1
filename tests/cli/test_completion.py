"""Completion scripts: what a shell reads, it accepts, and what it offers, the command takes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from forks import forks
from running import SPECS, Command
from trainyard.cli.arguments import FORMATS
from trainyard.cli.grammar import parser
from trainyard.extensions.authoring.commands.completion import SHELLS
from trainyard.extensions.authoring.completion import script

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_parses_its_script(shell: str, trainyard: Command) -> None:
    done = trainyard("completion", shell)
    assert done.code == 0
    for word in (
        "compile",
        "check",
        "lint",
        "explain",
        "schema",
        "catalog",
        "completion",
        "fail-on",
    ):
        assert word in done.out
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    subprocess.run([shell, "-n"], input=done.out, encoding="utf-8", check=True)


@pytest.mark.parametrize(
    "load", ["fpath=({0} $fpath); autoload -Uz _trainyard", "source {0}/_trainyard"]
)
def test_zsh_completes_from_the_first_time_on(load: str, tmp_path: Path) -> None:
    """Found by its name in a folder of fpath, as packages install it, or read by a start file."""
    if shutil.which("zsh") is None:
        pytest.skip("no zsh on this machine")
    (tmp_path / "_trainyard").write_text(script("zsh", parser()))
    setup = "_describe() { print -l -- $commands }; compdef() { print -r -- $1 }; CURRENT=2; words=(trainyard '')\n"
    done = subprocess.run(
        ["zsh", "-f"],
        input=f"{setup}{load.format(tmp_path)}\n_trainyard\n",
        encoding="utf-8",
        capture_output=True,
        check=True,
    )
    assert "lint:Judge Kubernetes and eksctl YAML that others wrote" in done.stdout.splitlines()


def _offered(line: str, folder: Path = Path("/")) -> set[str]:
    """What bash offers at the end of a line, in a folder."""
    words = line.split(" ")
    program = (
        f"{script('bash', parser())}\nCOMP_WORDS=({' '.join(repr(word) for word in words)})\n"
        f"COMP_CWORD={len(words) - 1}\n_trainyard\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, encoding="utf-8", check=True, cwd=folder
    )
    return set(done.stdout.splitlines())


def test_bash_offers_commands_options_and_choices() -> None:
    assert _offered("trainyard c") == {"compile", "check", "catalog", "completion"}
    assert {"--format", "--fail-on", "--no-color"} <= _offered("trainyard check --")
    assert "--check" not in _offered("trainyard lint --")
    assert _offered("trainyard completion z") == {"zsh"}
    assert _offered("trainyard check --format ") == set(FORMATS)
    assert _offered("trainyard check specs --fail-on n") == {"note", "never"}
    assert "--replace" in _offered("trainyard compile specs --re")


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`trainyard` on the path, which the scripts ask; the folder that it is in."""
    command = tmp_path / "trainyard"
    command.write_text(forks().program())
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
def two_clusters(tmp_path: Path) -> Path:
    """A folder with specs, of which every object is offered: they are compiled for that."""
    shutil.copytree(SPECS / "jakarta", tmp_path / "specs" / "jakarta")
    shutil.copy(SPECS / "starter.yaml", tmp_path / "specs")
    return tmp_path


@pytest.mark.usefixtures("on_path")
def test_bash_offers_the_keys_of_the_language() -> None:
    """As the command on the path lists them."""
    assert _offered("trainyard explain --spec spec.queues.fairS") == {
        "spec.queues.fairSharing",
        "spec.queues.fairSharing.weight",
    }
    assert "spec.nodePools.nodes.max" in _offered("trainyard explain --spec spec.node")
    assert _offered("trainyard explain --interface Wor") == {
        "Work",
        "World",
        "Workload",
        "WorkloadPriority",
    }


@pytest.mark.usefixtures("on_path")
def test_bash_offers_codes_objects_and_types(two_clusters: Path) -> None:
    assert _offered("trainyard explain EFA00") >= {"EFA001", "EFA003"}
    assert "gang-exceeds-pool" in _offered("trainyard explain gang-")
    assert _offered("trainyard explain job/h", two_clusters) == {"job/hello"}
    assert "pool/l40s" in _offered("trainyard explain pool/", two_clusters)
    assert _offered("trainyard catalog p5e") == {"p5e.48xlarge", "p5en.48xlarge"}
    assert "H200" in _offered("trainyard catalog H")
    assert _offered("trainyard catalog ref") == {"refresh"}
    assert _offered("trainyard init --region ap-southeast-3") == {"ap-southeast-3"}
    assert _offered("trainyard init --type g6e.48") == {"g6e.48xlarge"}


def test_what_is_offered_the_command_takes(trainyard: Command, two_clusters: Path) -> None:
    for subject in ("codes", "objects"):
        listed = trainyard("completion", "--words", subject, cwd=two_clusters).out.split()
        assert len(listed) > 20
        for word in listed[:: len(listed) // 6]:
            done = trainyard("explain", word, cwd=two_clusters)
            assert done.code == 0 or "is derived: the spec sets all of them" in done.err


def test_words_without_specs_are_none(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("completion", "--words", "objects", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    nothing = trainyard("completion", cwd=tmp_path)
    assert nothing.code == 2
    assert "for which shell?" in nothing.err


def test_words_of_a_spec_in_error_are_those_that_have_a_name(
    trainyard: Command, tmp_path: Path
) -> None:
    """Who completes a command may still be writing the spec."""
    head = "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingCluster\nmetadata: {name: lab}\n"
    jobs = "jobs: [1, {nodes: 2}, {name: a}, {name: [b]}, [c]]"
    specs = tmp_path / "specs"
    specs.mkdir()
    for text, offered in ((f"spec: {{nodePools: {{}}, {jobs}}}\n", "job/a\n"), ("", "")):
        (specs / "lab.yaml").write_text(f"{head}{text}")
        done = trainyard("completion", "--words", "objects", cwd=tmp_path)
        assert (done.code, done.out, done.err) == (0, offered, "")


def test_bash_offers_files_whole(tmp_path: Path) -> None:
    """A space is no end of a name."""
    (tmp_path / "my specs").mkdir()
    assert _offered("trainyard check m", tmp_path) == {"my specs"}
