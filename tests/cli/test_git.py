"""A revision of a repository, as ``plan`` reads it by git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from merging import git
from trainyard.extensions.review.git import BaseError, Repository

pytestmark = pytest.mark.slow

SPEC = "specs/lab.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one commit of a spec, a link to it and a program."""
    root = tmp_path / "fleet"
    (root / "specs").mkdir(parents=True)
    (root / SPEC).write_text("kind: TrainingCluster\n")
    (root / "specs" / "alias.yaml").symlink_to("lab.yaml")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    return root


def commit_of(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD").strip()


def copied(folder: Path, into: Path) -> list[str]:
    """The files of the commit that are copied."""
    Repository(folder).copy(commit_of(folder), [folder], into)
    return sorted(
        path.relative_to(into).as_posix() for path in into.rglob("*") if not path.is_dir()
    )


def test_files_programs_and_links_are_copied(folder: Path, tmp_path: Path) -> None:
    into = tmp_path / "base"
    assert copied(folder, into) == ["run.sh", "specs/alias.yaml", SPEC]
    assert os.readlink(into / "specs" / "alias.yaml") == "lab.yaml"
    assert (into / "specs" / "alias.yaml").read_text() == "kind: TrainingCluster\n"


def test_a_file_that_no_pass_would_read_is_left_out(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "weights.bin").write_bytes(bytes(200))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "weights")
    monkeypatch.setattr("trainyard.extensions.review.git.MAX_BYTES", 199)
    assert copied(folder, tmp_path / "base") == ["run.sh", "specs/alias.yaml", SPEC]
    monkeypatch.setattr("trainyard.extensions.review.git.MAX_BYTES", 200)
    assert "weights.bin" in copied(folder, tmp_path / "whole")


def test_a_file_that_is_not_here_is_named(folder: Path, tmp_path: Path) -> None:
    """Git lists it, without a size."""
    blob = git(folder, "rev-parse", f"HEAD:{SPEC}").strip()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(BaseError) as refused:
        copied(folder, tmp_path / "base")
    found = refused.value.diagnostic
    assert found.code == "PLN005"
    assert found.message == f"`{SPEC}` of {commit_of(folder)[:12]} is not here"


def test_what_git_says_is_in_the_notes(folder: Path, tmp_path: Path) -> None:
    """A partial clone whose origin has gone; git has empty lines between its sentences."""
    git(folder, "config", "uploadpack.allowFilter", "true")
    words = ("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{folder}", "part")
    git(tmp_path, *words)
    folder.rename(tmp_path / "gone")
    with pytest.raises(BaseError) as refused:
        copied(tmp_path / "part", tmp_path / "base")
    found = refused.value.diagnostic
    assert found.code == "PLN005"
    assert found.notes
    assert all(note.removeprefix("git: ").strip() for note in found.notes)


PROMISOR = {
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "protocol.allow": "always",
}
RUN = 'sh -c "touch {ran}"'
DOORS: dict[str, dict[str, str]] = {
    "a helper of a remote": {
        **PROMISOR,
        "remote.origin.url": "ext::sh -c touch% {ran}",
        "protocol.ext.allow": "always",
    },
    "the program of a local remote": {
        **PROMISOR,
        "remote.origin.url": "{folder}",
        "remote.origin.uploadpack": f"{RUN};",
        "protocol.file.allow": "always",
    },
    "the command of ssh": {
        **PROMISOR,
        "remote.origin.url": "ssh://127.0.0.1/x",
        "core.sshCommand": f"{RUN};",
        "protocol.ssh.allow": "always",
    },
    "a proxy": {
        **PROMISOR,
        "remote.origin.url": "git://127.0.0.1/x",
        "core.gitProxy": "{program}",
        "protocol.git.allow": "always",
    },
    "a monitor of files": {"core.fsmonitor": "{program}"},
    "hooks": {"core.hooksPath": "{hooks}"},
    "a filter": {
        "core.attributesFile": "{attributes}",
        "filter.x.smudge": RUN,
        "filter.x.clean": RUN,
    },
    "a driver": {
        "core.attributesFile": "{attributes}",
        "diff.x.textconv": RUN,
        "diff.x.command": RUN,
    },
    "a pager": {"core.pager": RUN, "pager.ls-tree": RUN, "pager.cat-file": RUN},
    "another name": {"alias.ls-tree": f"!{RUN}", "alias.cat-file": f"!{RUN}"},
}


@pytest.mark.parametrize("door", DOORS)
def test_nothing_that_a_repository_names_is_run(folder: Path, tmp_path: Path, door: str) -> None:
    """A file is missing, so that git would ask the remote of a partial clone for it."""
    program = tmp_path / "program"
    ran = tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-checkout", "post-index-change", "pre-auto-gc"):
        (hooks / name).symlink_to(program)
    attributes = tmp_path / "attributes"
    attributes.write_text("* filter=x diff=x\n")
    places = {
        "ran": ran,
        "folder": folder,
        "program": program,
        "hooks": hooks,
        "attributes": attributes,
    }
    blob = git(folder, "rev-parse", f"HEAD:{SPEC}").strip()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in DOORS[door].items():
        git(folder, "config", name, value.format(**places))
    ran.unlink(missing_ok=True)
    with pytest.raises(BaseError) as refused:
        copied(folder, tmp_path / "base")
    assert refused.value.diagnostic.code == "PLN005"
    assert Repository(folder).base("HEAD").name
    assert not ran.exists()


def test_a_configuration_that_waits_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It includes a pipe that nobody writes to."""
    pipe = folder / ".git" / "pipe"
    os.mkfifo(pipe)
    git(folder, "config", "include.path", str(pipe))
    monkeypatch.setattr("trainyard.extensions.review.git._SECONDS", 0.5)
    with pytest.raises(BaseError) as refused:
        Repository(folder)
    assert refused.value.diagnostic.code == "PLN005"
    assert "does not answer in 0.5 seconds" in refused.value.diagnostic.message


def test_the_branch_that_is_merged_into_has_a_usual_name(folder: Path) -> None:
    """Where the remote does not say which one it is."""
    first = commit_of(folder)
    git(folder, "remote", "add", "origin", "https://git.test/fleet")
    git(folder, "update-ref", "refs/remotes/origin/master", first)
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "second")
    base = Repository(folder).base(None)
    assert (base.commit, base.name) == (first, "the merge base with origin/master")


def test_a_folder_outside_of_the_repository(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BaseError) as refused:
        Repository(folder).copy(commit_of(folder), [tmp_path], tmp_path / "base")
    assert refused.value.diagnostic.code == "PLN002"
    assert "is outside of the repository" in refused.value.diagnostic.message
