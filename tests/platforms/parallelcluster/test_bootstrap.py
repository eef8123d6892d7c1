"""The way up and down: the scripts against a stand-in of the account, stopped and run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from answering import run, serving
from running import stand_ins

from tests.platforms.parallelcluster.account import Account
from tests.platforms.parallelcluster.clusters import ACCOUNTING, files, spec
from tests.platforms.parallelcluster.test_configuration import example
from tests.platforms.passes import compiled

pytestmark = pytest.mark.slow


class Place:
    """A cluster's folder, and an account."""

    def __init__(self, folder: Path, written: dict[str, str]) -> None:
        self.folder = folder
        self.account = Account(folder)
        for path, text in written.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def run(self, script: str, *words: str) -> subprocess.CompletedProcess[str]:
        with serving(self.account) as port:
            done = run(self.account, port, self.folder / "bootstrap" / script, *words)
        assert not self.account.faults, (self.account.faults, done.stderr)
        return done

    def calls(self, *words: str) -> list[list[str]]:
        """The calls that begin with these words."""
        return [call for call in self.account.calls if call[: len(words)] == list(words)]

    def made(self) -> tuple[list[str], str]:
        return sorted(self.account.stacks), self.account.status


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "cluster", files(example()))


def test_everything_is_made_in_order_and_once(place: Place) -> None:
    run = place.run("up.sh")
    assert run.returncode == 0, run.stdout + run.stderr
    stacks, cluster = place.made()
    assert cluster == "CREATE_COMPLETE"
    assert len(stacks) == 10, "the nodes', the budget's, and one of each storage"
    again = place.run("up.sh")
    assert again.returncode == 0, again.stderr
    assert place.made() == (stacks, cluster), "nothing is made twice"
    creations = [
        call
        for call in place.calls("pcluster")
        if call[1].endswith("-cluster") and "--dryrun" not in call
    ]
    assert [call[1] for call in creations if call[1] != "describe-cluster"] == ["create-cluster"]


def test_a_cluster_is_made_without_its_budget(place: Place) -> None:
    place.account.deny = "-budget "
    run = place.run("up.sh")
    assert run.returncode == 0, run.stderr
    assert "there is no budget" in run.stderr
    assert place.made()[1] == "CREATE_COMPLETE"


def test_a_dry_run_changes_nothing(place: Place) -> None:
    run = place.run("up.sh", "--dry-run")
    assert run.returncode == 0, run.stderr
    assert place.made() == ([], "")


@pytest.mark.parametrize(
    "killed",
    [
        "deploy --stack-name trainyard-jakarta-slurm-nodes",
        "storage-data",
        "pcluster create-cluster",
        "ssm send-command",
    ],
)
def test_what_was_stopped_is_finished(killed: str, place: Place) -> None:
    place.account.kill = lambda call: killed in " ".join(call)
    assert place.run("up.sh").returncode == -9
    place.account.kill = lambda call: False
    assert place.run("up.sh").returncode == 0
    stacks, cluster = place.made()
    assert (len(stacks), cluster) in ((10, "CREATE_COMPLETE"), (10, "UPDATE_COMPLETE"))


def test_another_account_is_refused(place: Place) -> None:
    text = (place.folder / "bootstrap" / "up.sh").read_text()
    (place.folder / "bootstrap" / "up.sh").write_text(
        text.replace("account=111122223333", "account=999922223333")
    )
    run = place.run("up.sh")
    assert run.returncode == 1
    assert "credentials are those of account 111122223333" in run.stderr


def test_a_step_that_there_is_not(place: Place) -> None:
    run = place.run("up.sh", "--from", "nothing")
    assert run.returncode == 2
    assert "storage" in run.stderr


def test_down_asks_what_becomes_of_the_data_and_leaves_nothing(place: Place) -> None:
    assert place.run("up.sh").returncode == 0
    refused = place.run("down.sh")
    assert refused.returncode == 1
    assert "--keep-data" in refused.stderr
    assert place.made()[1] == "CREATE_COMPLETE"
    run = place.run("down.sh", "--keep-data")
    assert run.returncode == 0, run.stdout + run.stderr
    assert place.made() == ([], "")
    assert "is left" in run.stdout
    assert not place.calls("aws", "fsx", "delete-file-system")
    assert place.run("down.sh", "--keep-data").returncode == 0, "again there is nothing to do"


@pytest.mark.parametrize("status", ["CREATE_FAILED", "DELETE_FAILED"])
def test_a_cluster_that_was_not_made_is_deleted_and_made_again(status: str, place: Place) -> None:
    """pcluster updates none that is CREATE_FAILED."""
    place.account.creates_as = "CREATE_FAILED"
    failed = place.run("up.sh")
    assert failed.returncode == 1
    assert "the cluster is CREATE_FAILED" in failed.stderr
    place.account.creates_as, place.account.status = "CREATE_COMPLETE", status
    again = place.run("up.sh")
    assert again.returncode == 0, again.stdout + again.stderr
    assert place.calls("pcluster", "delete-cluster")
    assert not place.calls("pcluster", "update-cluster")
    assert place.account.status == "CREATE_COMPLETE"


@pytest.mark.parametrize("script", [("up.sh", "--from", "check"), ("down.sh", "--keep-data")])
def test_a_question_without_an_answer_is_no_answer(script: tuple[str, ...], place: Place) -> None:
    """Credentials that have run out say neither that there is no cluster nor that it is gone."""
    assert place.run("up.sh").returncode == 0
    place.account.unreachable = True
    run = place.run(*script)
    assert run.returncode == 1
    assert "Unable to locate credentials" in run.stderr
    assert place.account.status == "CREATE_COMPLETE"


def test_data_that_is_deleted_is_gone_before_down_ends(place: Place) -> None:
    assert place.run("up.sh").returncode == 0
    account = place.account
    account.file_systems = ["fs-0a1b2c3d4e5f60718", "fs-0a1b2c3d4e5f60719"]
    account.links, account.groups = ["dra-0a1b2c3d4e5f60718"], ["sg-0a1b2c3d4e5f60799"]
    run = place.run("down.sh", "--delete-data")
    assert run.returncode == 0, run.stdout + run.stderr
    assert (account.file_systems, account.links, account.groups) == ([], [], [])
    assert "no instance, volume, file system, link, security group and bucket" in run.stdout
    order = [call[2] for call in place.calls("aws") if call[2].startswith("delete-")]
    assert order.index("delete-data-repository-association") < order.index("delete-file-system")
    assert order.index("delete-file-system") < order.index("delete-security-group")


def test_what_is_kept_is_named(place: Place) -> None:
    assert place.run("up.sh").returncode == 0
    place.account.file_systems = ["fs-0a1b2c3d4e5f60718"]
    run = place.run("down.sh", "--keep-data")
    assert run.returncode == 0, run.stderr
    assert "kept and paid for: fs-0a1b2c3d4e5f60718" in run.stdout


@pytest.mark.skipif(shutil.which("dash") is None, reason="dash is not installed")
@pytest.mark.parametrize(("copies", "runs"), [(True, True), (True, False), (False, True)])
def test_what_the_head_node_is_told_fails_with_what_it_downloads(
    copies: bool, runs: bool, place: Place, tmp_path: Path
) -> None:
    """The agent of Systems Manager runs it by ``sh``, which has no pipefail on Ubuntu."""
    assert place.run("up.sh").returncode == 0
    sent = place.calls("aws", "ssm", "send-command")
    assert len(sent) == 2
    for call in sent:
        (command,) = json.loads(call[call.index("--parameters") + 1].removeprefix("commands="))
        copy = 'printf \'exit %s\' "$RUNS" > "$4"' if copies else "exit 1"
        sudo = 'while [ "$1" != bash ]; do shift; done; "$@"'
        path = stand_ins(
            tmp_path / "bin", {"aws": f"#!/bin/bash\n{copy}\n", "sudo": f"#!/bin/bash\n{sudo}\n"}
        )
        done = subprocess.run(
            ["dash", "-c", command],
            env={"PATH": path, "RUNS": str(int(not runs))},
            capture_output=True,
            check=False,
        )
        assert (done.returncode == 0) is (copies and runs), done.stderr


def test_accounts_are_made_before_jobs(tmp_path: Path) -> None:
    queues = [{"name": "one", "namespaces": ["t"], "quota": [{"pool": "a100", "nodes": 4}]}]
    priorities = [{"name": "urgent", "value": 10}]
    data = spec(queues=queues, priorities=priorities, own={"accounting": ACCOUNTING})
    place = Place(tmp_path / "cluster", files(compiled(data, tmp_path)))
    assert place.run("up.sh").returncode == 0
    scripts = [" ".join(call) for call in place.calls("aws", "ssm", "send-command")]
    order = [
        name
        for text in scripts
        for name in ("qos-urgent", "account-one", "accept", "jobs.sh")
        if name in text
    ]
    assert order == ["qos-urgent", "account-one", "accept", "jobs.sh"]


class HeadNode:
    """``jobs.sh`` on a head node, whose Slurm notes what it is told, and knows every job that was submitted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scripts, programs = folder / "bucket", folder / "bin"
        for each in (self.scripts, programs, folder / "home"):
            each.mkdir()
        written = files(compiled(spec(), folder))
        self.jobs = folder / "jobs.sh"
        text = written["bootstrap/nodes/jobs.sh"]
        self.jobs.write_text(text.replace("/opt/slurm/bin:", f"{programs}:"))
        log = folder / "log"
        log.touch()
        for name, body in {
            "aws": f'rm -rf "$4" && cp -r {self.scripts} "$4"',
            "sbatch": f'echo "sbatch $*" >> {log}; grep -c ^sbatch {log}',
            "squeue": f"grep -q . {log} && echo $3 || {{ echo Invalid job id >&2; exit 1; }}",
            "scancel": f'echo "scancel $*" >> {log}',
        }.items():
            (programs / name).write_text(f"#!/bin/bash\n{body}\n")
            (programs / name).chmod(0o755)

    def put(self, **job: object) -> None:
        """The script of the job in the bucket."""
        written = files(compiled(spec(job=job), self.folder))
        text = written["jobs/training/train.sbatch"]
        script = self.scripts / "train.sbatch"
        script.write_text(text.replace("/fsx/work", str(self.folder / "fsx")))

    def run(self) -> list[str]:
        """What Slurm is told."""
        log = self.folder / "log"
        known = len(log.read_text().splitlines())
        done = subprocess.run(
            ["bash", str(self.jobs)],
            env={"HOME": str(self.folder / "home"), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        lines = log.read_text().splitlines()[known:]
        return [line.replace(str(self.folder), "") for line in lines]


def test_a_job_is_submitted_once_by_its_name(tmp_path: Path) -> None:
    head = HeadNode(tmp_path)
    head.put()
    (first,) = head.run()
    assert first == "sbatch --parsable /home/.trainyard/scripts/train.sbatch"
    assert head.run() == []


def test_a_run_again_ends_the_earlier_one_and_waits_for_it(tmp_path: Path) -> None:
    """Both would write the same checkpoints."""
    head = HeadNode(tmp_path)
    head.put()
    head.run()
    head.put(rerun=1)
    cancelled, submitted = head.run()
    assert cancelled == "scancel 1"
    assert "--dependency=afterany:1 " in submitted
    assert head.run() == []


def test_a_job_that_left_is_cancelled_and_may_come_back(tmp_path: Path) -> None:
    head = HeadNode(tmp_path)
    head.put()
    head.run()
    (head.scripts / "train.sbatch").unlink()
    assert head.run() == ["scancel 1"]
    assert head.run() == []
    head.put()
    (back,) = head.run()
    assert "--dependency=afterany:1 " in back


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    queues = [{"name": "one", "namespaces": ["t"], "quota": [{"pool": "a100", "nodes": 4}]}]
    own = {"accounting": ACCOUNTING, "os": "ubuntu2404"}
    priorities = [{"name": "urgent", "value": 10}]
    written = files(compiled(spec(queues=queues, own=own, priorities=priorities), tmp_path))
    scripts = []
    for path, text in {**files(example()), **written}.items():
        if path.endswith((".sh", ".sbatch")):
            file = tmp_path / path.replace("/", "-")
            file.write_text(text)
            scripts.append(str(file))
    run = subprocess.run(
        ["shellcheck", "--shell=bash", "--severity=info", *scripts],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
