"""Rules are code: those of what is read, beside it or above it, are never run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import EXAMPLE, Command

RULE = """\
from pathlib import Path

Path({marker!r}).write_text("ran")
"""


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A repository with a hostile rule at every level, and a folder of ours beside it."""
    theirs = tmp_path / "theirs"
    shutil.copytree(EXAMPLE / "specs", theirs / "a" / "b" / "specs")
    for folder in (theirs, theirs / "a", theirs / "a" / "b", theirs / "a" / "b" / "specs"):
        policies = folder / "policies"
        policies.mkdir()
        rule = RULE.format(marker=str(tmp_path / "marker"))
        (policies / "x.py").write_text(rule)
        (policies / "policy.yaml").write_text("levels: {RUN013: off}\n")
    (tmp_path / "ours").mkdir()
    return theirs / "a" / "b" / "specs"


@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["compile"],
        ["lint"],
        ["report"],
        ["explain", "RUN013", "--in"],
        ["explain", "cluster", "--in"],
    ],
    ids=" ".join,
)
def test_a_rule_beside_what_is_read_is_not_run(
    command: list[str], theirs: Path, tmp_path: Path, trainyard: Command
) -> None:
    done = trainyard(*command, f"{theirs}/starter.yaml", cwd=tmp_path / "ours")
    assert done.code in (0, 1, 2)
    assert not (tmp_path / "marker").exists()


@pytest.mark.slow
def test_it_is_said_where_it_could_be_expected(
    theirs: Path, tmp_path: Path, trainyard: Command
) -> None:
    done = trainyard("check", str(theirs), cwd=tmp_path / "ours")
    assert "note[POL017]" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["init", "--name", "lab", "--account", "111122223333", "--region", "us-west-2"],
        ["completion", "bash"],
        ["test"],
        ["schema"],
    ],
    ids=" ".join,
)
def test_commands_that_read_no_spec_run_none_of_theirs(
    command: list[str], theirs: Path, tmp_path: Path, trainyard: Command
) -> None:
    done = trainyard(*command, cwd=tmp_path / "ours")
    assert done.code in (0, 1, 2)
    assert not (tmp_path / "marker").exists()


def test_an_exception_beside_what_is_read_excuses_nothing(
    theirs: Path, tmp_path: Path, trainyard: Command
) -> None:
    spec = theirs / "starter.yaml"
    spec.write_text(spec.read_text().replace("torchrun", "srun, torchrun", 1))
    excuse = "- {code: RUN140, reason: theirs, until: 2099-01-01}\n"
    (theirs / "policies" / "exceptions.yaml").write_text(excuse)
    (theirs.parent / "policies" / "exceptions.yaml").write_text(excuse)
    done = trainyard("check", str(spec), cwd=tmp_path / "ours")
    assert "RUN140" in done.out


def test_a_rule_of_the_working_directory_is_run(
    theirs: Path, tmp_path: Path, trainyard: Command
) -> None:
    done = trainyard("check", "specs/starter.yaml", cwd=theirs.parent)
    assert (tmp_path / "marker").exists()
    assert "POL017" not in done.err


def test_a_named_folder_is_run(theirs: Path, tmp_path: Path, trainyard: Command) -> None:
    trainyard(
        "check",
        str(theirs / "starter.yaml"),
        "--policies",
        str(theirs / "policies"),
        cwd=tmp_path / "ours",
    )
    assert (tmp_path / "marker").exists()


def test_no_workflow_runs_a_fork_with_rights() -> None:
    for workflow in Path(".github/workflows").glob("*.yaml"):
        assert "pull_request_target" not in workflow.read_text()
