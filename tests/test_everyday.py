"""A day with the repository: the recipes of the README, the hook of git, and what CI answers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from forks import forks
from running import CACHE_VARIABLE, EXAMPLE, ROOT, Command, copied, environment, stand_ins

pytestmark = pytest.mark.slow

ACTION = re.compile(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40}$")
README = (ROOT / "README.md").read_text(encoding="utf-8")
DAY_TWO = (ROOT / "docs" / "day-two.md").read_text(encoding="utf-8")
RECIPES = dict(
    re.findall(
        r"^## ([^\n]+)\n(?:(?!^## ).)*?^```sh\n(.*?)^```$", DAY_TWO, re.MULTILINE | re.DOTALL
    )
)
UNUSED = ("hyperpod-lora*", "jakarta-slurm*", "llama3-8b*", "workshop*")
"""The example specs of which no recipe and no test here says anything."""
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with the specs that are edited here, what they compile to, and `trainyard` in .venv/bin. Beside
    it is the cache of its user, so that a command judges the clusters that a recipe edits, as it does for a person.

    The output is made by `trainyard` as a process of its own; each later run is a fork."""
    folder = tmp_path_factory.mktemp("committed") / "repository"
    unused = shutil.ignore_patterns(*UNUSED)
    shutil.copytree(EXAMPLE, folder, ignore=unused)
    shutil.copytree(ROOT / ".githooks", folder / ".githooks")
    command = folder / ".venv" / "bin" / "trainyard"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trainyard "$@"\n')
    command.chmod(0o755)
    (folder / ".gitignore").write_text(".venv/\n")
    start = "git init --quiet --initial-branch=main; trainyard compile; git add --all; git commit -qm start"
    done = shell(folder, f"{start}; git gc --quiet; trainyard compile")
    assert done.returncode == 0, done.stderr
    command.write_text(forks().program())
    return folder.rename(folder.with_name("committed"))


@pytest.fixture
def repository(committed: Path) -> Iterator[Path]:
    """A copy of it, always at the same path, by which the cache knows it."""
    folder = copied(committed, committed.with_name("repository"))
    yield folder
    shutil.rmtree(folder)


def shell(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a person would who has the command on the path."""
    keys = [f"GIT_{role}_{part}" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")]
    identity = dict.fromkeys(keys, "a@example.test")
    path = f"{folder}/.venv/bin:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(
            PATH=path,
            GIT_CONFIG_GLOBAL=os.devnull,
            GIT_CONFIG_NOSYSTEM="1",
            **identity,
            **{CACHE_VARIABLE: str(folder.with_name("cache"))},
        ),
    )


def recipe(title: str) -> str:
    """The shell block that follows a heading in bold in the README."""
    found = re.search(rf"^\*\*{title}\*\*.*?^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def test_the_recipe_to_add_a_job(repository: Path) -> None:
    """One file, one command, one commit: green."""
    done = shell(repository, recipe("Add a job"))
    assert done.returncode == 0, done.stderr
    changed = shell(repository, "git show --name-status --format= HEAD").stdout
    assert "A\tspecs/jakarta/jobs/flores.yaml" in changed
    assert re.search(
        r"^A\tgenerated/jakarta/jobs/models\.trainjob-flores-\w{5}\.yaml$", changed, re.MULTILINE
    )
    assert shell(repository, "trainyard compile --check").returncode == 0
    assert shell(repository, "git status --porcelain").stdout == ""


@pytest.mark.parametrize("title", RECIPES)
def test_the_recipes_of_day_two(title: str, repository: Path) -> None:
    """Each from a fresh repository, by the book: it ends green, with nothing left to commit."""
    kubectl = repository / ".venv" / "bin" / "kubectl"
    kubectl.write_text('#!/bin/sh\ncase "$*" in *"-f -") cat >/dev/null ;; esac\n')
    kubectl.chmod(0o755)
    done = shell(repository, RECIPES[title])
    assert done.returncode == 0, done.stdout + done.stderr
    checked = shell(repository, "trainyard compile --check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert shell(repository, "git status --porcelain -- specs generated").stdout == ""


def test_day_two_has_its_recipes() -> None:
    assert len(RECIPES) >= 9


def test_the_hook_compiles_before_a_commit(repository: Path) -> None:
    shell(repository, "git config core.hooksPath .githooks")
    job = recipe("Add a job").partition("trainyard compile")[0]
    done = shell(repository, f"{job}\ngit add specs && git commit -qm job")
    assert done.returncode == 0, done.stderr
    assert (
        "generated/jakarta/jobs" in shell(repository, "git show --name-only --format= HEAD").stdout
    )
    assert shell(repository, "trainyard compile --check").returncode == 0


def test_the_hook_refuses_what_is_not_staged(repository: Path) -> None:
    shell(repository, "git config core.hooksPath .githooks")
    edits = "echo '# a' >> specs/t5-large.yaml; git add specs; echo '# b' >> specs/starter.yaml"
    done = shell(repository, f"{edits}; git commit -m a")
    assert done.returncode == 1
    assert "hold changes that are not staged" in done.stderr


def test_the_hook_leaves_other_commits_alone(repository: Path) -> None:
    shell(repository, "git config core.hooksPath .githooks")
    done = shell(
        repository,
        "rm .venv/bin/trainyard; echo a > notes.txt; git add notes.txt; git commit -qm a",
    )
    assert done.returncode == 0, done.stderr


def test_a_bad_spec_cannot_be_committed(repository: Path) -> None:
    shell(repository, "git config core.hooksPath .githooks")
    done = shell(
        repository, "sed -i 's/g6e.48xlarge/g6e.49xlarge/' specs/starter.yaml; git commit -qam a"
    )
    assert done.returncode == 1
    assert "error[RES005]" in done.stdout + done.stderr


def test_check_says_what_compile_would(repository: Path, trainyard: Command) -> None:
    """Of a job that was submitted, with the field and its values; and how to go on."""
    job = repository / "specs" / "jakarta" / "jobs" / "timor.yaml"
    job.write_text(job.read_text().replace("nodes: 14", "nodes: 13"))
    checked = trainyard("check", "specs", cwd=repository)
    compiled = trainyard("compile", "specs", cwd=repository)
    assert (checked.code, checked.out) == (compiled.code, compiled.out)
    assert "--> specs/jakarta/jobs/timor.yaml:7:10" in checked.out
    assert "= note: `spec.trainer.numNodes`: `14` → `13`" in checked.out
    assert trainyard("check", "--replace", "timor", "specs", cwd=repository).code == 0
    (repository / "elsewhere").mkdir()
    assert trainyard("check", "specs", "--against", "elsewhere", cwd=repository).code == 0


@pytest.mark.parametrize("path", ["specs/jakarta/jobs/atlas.yaml", "specs/jakarta/jobs"])
def test_a_job_is_checked_within_its_cluster(
    path: str, repository: Path, trainyard: Command
) -> None:
    done = trainyard("check", path, cwd=repository)
    assert (done.code, done.err) == (0, "clean: jakarta\n")


def test_a_job_without_a_cluster(trainyard: Command, tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "specs" / "jakarta" / "jobs" / "atlas.yaml", tmp_path)
    (tmp_path / ".git").mkdir()
    done = trainyard("check", "atlas.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "error[YML041]" in done.out


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_pin_their_actions_and_rights(path: Path) -> None:
    """By digest, with the version beside it; and no right by default but to read."""
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    actions = [step["uses"] for step in steps if "uses" in step]
    assert actions
    for action in actions:
        assert ACTION.match(action), action
        assert re.search(rf"{re.escape(action)} # v\d", text), action
    for step in steps:
        assert "${{" not in step.get("run", "").replace("${{ matrix", ""), (
            "an expression in a script is code"
        )


def test_an_adopters_edit_runs_no_tests_of_trainyard() -> None:
    """Those run where a file of Trainyard changes; what docs/newer.md says is the team's is left out."""
    folder = ROOT / ".github" / "workflows"
    judging = (folder / "ci.yaml").read_text()
    assert "make test-specs" in judging
    assert not re.search(r"make test$|pytest|\.ci/run", judging, re.MULTILINE)
    own = yaml.safe_load((folder / "trainyard.yaml").read_text())
    triggers = own[True]  # `on`, which YAML 1.1 reads so
    theirs = {"specs", "generated", "policies/org"}
    theirs |= {"policies/policy.yaml", "policies/exceptions.yaml"}
    for trigger in ("push", "pull_request"):
        first, *others = triggers[trigger]["paths"]
        assert first == "**"
        assert {each.removeprefix("!").removesuffix("/**") for each in others} == theirs
    page = (ROOT / "docs" / "newer.md").read_text()
    for path in theirs:
        assert path in page


def test_the_comment_of_ci_is_shortened_by_report() -> None:
    """No shell cuts it; a base branch that has no generated/ yet is no wrong usage."""
    text = (ROOT / ".github" / "workflows" / "ci.yaml").read_text()
    assert "head --bytes" not in text
    assert '--limit 65000 --link "$RUN"' in text
    assert text.index("mkdir -p .base/generated") < text.index("--against")


def test_a_repository_of_the_template_gets_a_newer_trainyard(tmp_path: Path) -> None:
    """By the commands of docs/newer.md: what is the team's stays, what is Trainyard's is replaced and removed."""
    page = (ROOT / "docs" / "newer.md").read_text()
    block = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    listed = block.partition("-- \\\n")[2].partition("':!")[0]
    named = listed.replace("\\", " ").split()
    paths = [path for path in named if (ROOT / path).exists()]
    assert paths == named
    newer, team = tmp_path / "newer", tmp_path / "team"
    for folder in (newer, team):
        for path in paths:
            target = folder / path
            if (ROOT / path).is_dir():
                target /= "file"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(f"{path} of {folder.name}\n")
    (newer / "compiler" / "added.py").write_text("added\n")
    (team / "compiler" / "gone.py").write_text("gone\n")
    mine = ("specs/a.yaml", "train.py", "policies/org/mine.py", "policies/policy.yaml")
    for path in mine:
        (team / path).parent.mkdir(exist_ok=True)
        (team / path).write_text("mine\n")
    (newer / "policies" / "policy.yaml").write_text("theirs\n")
    (team / "policies" / "exceptions.yaml").write_text("mine\n")
    (team / "policies" / "org").mkdir(exist_ok=True)
    for folder in (newer, team):
        shell(folder, "git init --quiet --initial-branch=main; git add --all; git commit -qm start")
    commands = block.replace("make compile\n", "")
    done = shell(team, f"export TRAINYARD={newer}\n{commands}")
    assert done.returncode == 0, done.stderr
    for path in paths:
        target = team / path
        if target.is_dir():
            target /= "file"
        assert target.read_text() == f"{path} of newer\n"
    assert (team / "compiler" / "added.py").exists()
    assert not (team / "compiler" / "gone.py").exists()
    for path in mine:
        assert (team / path).read_text() == "mine\n"


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        ("true", 0),
        ("echo >> generated/starter/flux/kustomization-trainyard-jobs.yaml", 3),
        ("sed -i 's/g6e.48xlarge/g6e.49xlarge/' specs/starter.yaml", 1),
        ("rm -r specs", 2),
    ],
)
def test_ci_keeps_the_exit_code(edit: str, code: int, repository: Path) -> None:
    """`.ci/run` with a `make` that does nothing, and no packages to install: what is left is the compiler's word."""
    shutil.copytree(ROOT / ".ci", repository / ".ci")
    stand_ins(
        repository / ".venv" / "bin", {"make": "#!/bin/sh\n", "apt-get": "#!/bin/sh\nexit 1\n"}
    )
    done = shell(repository, f"{edit}; set +e; .ci/run")
    assert done.returncode == code, done.stdout + done.stderr
    if code == 3:
        assert "generated/starter: not current: 1 changed" in done.stderr
        assert "run `trainyard compile`, and commit `generated`" in done.stderr


@pytest.mark.parametrize(
    ("output", "folder"),
    [
        ("deploy/clusters", "deploy/clusters"),
        ("./out/", "out"),
        ("../elsewhere", "generated"),
        ("generated", "generated"),
    ],
)
def test_the_output_folder_reaches_every_path(
    output: str, folder: str, trainyard: Command, tmp_path: Path
) -> None:
    """What Flux reads, and what the bootstrap's commands name."""
    (tmp_path / "here").mkdir()
    shutil.copy(EXAMPLE / "specs" / "starter.yaml", tmp_path / "here")
    assert trainyard("compile", "starter.yaml", "-o", output, cwd=tmp_path / "here").code == 0
    written = tmp_path / "here" / output / "starter"
    stages = [
        yaml.safe_load(path.read_text()) for path in (written / "flux").glob("kustomization-*.yaml")
    ]
    assert stages
    assert all(stage["spec"]["path"].startswith(f"./{folder}/starter/") for stage in stages)
    named = re.findall(
        r"[\w./-]*/starter/bootstrap", (written / "bootstrap" / "README.md").read_text()
    )
    assert named
    assert all(path.startswith(f"{folder}/starter/") for path in named)
    assert (
        trainyard("compile", "--check", "starter.yaml", "-o", output, cwd=tmp_path / "here").code
        == 0
    )


def test_against_another_branch(repository: Path, trainyard: Command) -> None:
    """What was compiled and committed here is still an edit of what is on main."""
    shutil.copytree(repository / "generated", repository / ".base" / "generated")
    (repository / "specs" / "jakarta" / "jobs" / "timor.yaml").unlink()
    assert trainyard("compile", "specs", cwd=repository).code == 0
    assert (
        "CHG003" in trainyard("check", "specs", "--against", ".base/generated", cwd=repository).out
    )
    report = trainyard(
        "report", "specs/jakarta", "--against", ".base/generated", cwd=repository
    ).out
    assert re.search(r"\d+ changed, \d+ removed against what is committed", report)
