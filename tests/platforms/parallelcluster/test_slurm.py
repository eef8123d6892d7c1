"""Job scripts on a real Slurm: all are accepted by the compiled partitions, and one runs with a stand-in program."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from drawn import only_whole

from tests.platforms.parallelcluster import slurm as real
from tests.platforms.parallelcluster.clusters import NOTIFICATIONS, PAGER, TOPIC, files, spec
from tests.platforms.parallelcluster.test_configuration import example
from tests.platforms.passes import compiled

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(real.MISSING), reason=real.WHY)]

# pyxis is not in Debian: `srun` starts the program on the node itself.
SRUN = """#!/bin/bash
words=()
for word in "$@"; do
  case $word in --container-* | --no-container-*) ;; *) words+=("$word") ;; esac
done
exec /usr/bin/srun "${words[@]}"
"""
# What torchrun reads and writes: its options in PET_*, and a checkpoint. On two nodes rank 0 fails until there is one,
# after the other has ended: of one that srun kills then, the status of the kill would be that of both. Alone it fails.
TORCHRUN = """#!/bin/bash
[ "$PET_NNODES" != 1 ] || exit 3
echo "$SLURM_NODEID of $PET_NNODES, $PET_NPROC_PER_NODE processes, at $PET_RDZV_ENDPOINT: $*"
if [ "$SLURM_NODEID" = 1 ]; then
  touch ended
elif [ ! -e checkpoint ]; then
  until [ -e ended ]; do sleep 0.1; done
  sleep 1
  touch checkpoint
  exit 3
fi
"""


# A program that is told to stop: it notes each time, and ends as its argument says.
STOPPED = """#!/bin/bash
trap 'echo told >> "$HOME/$SLURM_JOB_NAME"; [ "$1" = never ] || exit "$1"' TERM
echo began >> "$HOME/$SLURM_JOB_NAME"
for second in $(seq 100); do sleep 1; done
"""


# It writes a line, nothing for some seconds, a line again, and fails.
QUIET = """#!/bin/bash
echo begins
until grep -q hangs "$HOME/told" 2>/dev/null; do sleep 0.2; done
for second in $(seq 20); do echo again; sleep 0.5; done
exit 3
"""
AWS = """#!/bin/bash
echo "$*" >> "$HOME/told"
[ "$4" != arn:aws:sns:us-east-1:111122223333:pager ]
"""


def queues(written: dict[str, str]) -> list[dict[str, Any]]:
    cluster = yaml.safe_load(written["bootstrap/cluster.yaml"])
    found: list[dict[str, Any]] = cluster["Scheduling"]["SlurmQueues"]
    return found


def test_every_script_of_the_example_is_accepted(tmp_path: Path) -> None:
    written = files(example())
    with real.slurm(queues(written), daemons=False) as slurm:
        scripts = {path: text for path, text in written.items() if path.endswith(".sbatch")}
        assert len(scripts) == 7
        for path, text in scripts.items():
            script = tmp_path / Path(path).name
            script.write_text(text)
            job = slurm.submit(script)
            assert slurm.state(job) in ("PENDING", "CONFIGURING", "RUNNING")
        # One node more than a partition has is refused, so that what was accepted means something.
        too_large = tmp_path / "too-large.sbatch"
        too_large.write_text(
            scripts["jobs/models/timor.sbatch"].replace("--nodes=14", "--nodes=15")
        )
        assert slurm.ask("sbatch", str(too_large)).returncode != 0


def test_jobs_run_fail_are_put_back_and_end(tmp_path: Path) -> None:
    """One whose second try goes on from a checkpoint, and, while that waits for its start, one that has no second."""
    base = spec()["spec"]["jobs"][0]
    train = {
        "nodes": 2,
        "command": ["torchrun", "t.py", "--note", "it's $HOME"],
        "args": ["$(CHECKPOINT_DIR)"],
        "files": {"/etc/job.json": '{"a": 1}'},
        "retries": 2,
        "timeout": "1h",
    }
    jobs = [base | train, base | {"name": "once", "nodes": 1, "retries": 0}]
    written = files(compiled(spec(jobs=jobs, pool={"nodes": 3}), tmp_path))
    with real.slurm(queues(written), daemons=True) as slurm:
        folder = slurm.folder
        for name, body in {"srun": SRUN, "torchrun": TORCHRUN}.items():
            program = folder / "bin" / name
            program.write_text(body)
            program.chmod(0o755)
        output = folder / "home" / "out"
        output.mkdir()
        for name in ("train", "once"):
            text = written[f"jobs/training/{name}.sbatch"]
            (tmp_path / name).write_text(text.replace("/fsx/work/logs", str(output)))
        job_id = slurm.submit(tmp_path / "train")
        slurm.put_forward(job_id)
        assert slurm.wait(slurm.submit(tmp_path / "once"), "FAILED", "COMPLETED") == "FAILED"
        slurm.wait(job_id, "COMPLETED")
        (log,) = output.glob("train-*")
        said = log.read_text()
        assert "status 3, try 0 of 2: back to the queue" in said
        lines = [line for line in said.splitlines() if "processes, at" in line]
        assert len(lines) == 4, "two nodes, twice"
        for line in lines:
            assert "of 2, 8 processes, at a100-st-p4d-24xlarge-1:2" in line
            assert line.rstrip().endswith("t.py --note it's $HOME /work/train")
        assert (folder / "home" / ".trainyard" / job_id / "file-0").read_text() == '{"a": 1}\n'


@only_whole("Slurm counts minutes")
def test_a_job_whose_time_is_over_is_not_put_back(tmp_path: Path) -> None:
    """Neither one that saves and says so, nor one that dies of the signal; and one that is cancelled is told once."""
    base = spec()["spec"]["jobs"][0] | {"nodes": 1, "retries": 3, "checkpoint": None}
    ends = {"saves": "0", "dies": "143", "cancelled": "1"}
    jobs = [
        base
        | {"name": name, "timeout": "90s", "terminationGracePeriod": "30s"}
        | {"command": ["stopped", status]}
        for name, status in ends.items()
    ]
    jobs[2]["timeout"] = "1h"
    written = files(compiled(spec(jobs=jobs), tmp_path))
    with real.slurm(queues(written), daemons=True) as slurm:
        home = slurm.folder / "home"
        for name, body in {"srun": SRUN, "stopped": STOPPED}.items():
            program = slurm.folder / "bin" / name
            program.write_text(body)
            program.chmod(0o755)
        ids = {}
        for name in ends:
            text = written[f"jobs/training/{name}.sbatch"]
            (tmp_path / name).write_text(text.replace("/fsx/work/logs", str(home)))
            ids[name] = slurm.submit(tmp_path / name)
        slurm.wait(ids["cancelled"], "RUNNING")
        while len(list(home.glob("cancelled-*"))) < 2:
            time.sleep(0.2)
        assert slurm.ask("scancel", ids["cancelled"]).returncode == 0
        slurm.wait(ids["cancelled"], "CANCELLED")
        for name in ("saves", "dies"):
            assert slurm.wait(ids[name], "FAILED", "COMPLETED", seconds=150) == "FAILED"
            job = slurm.ask("scontrol", "show", "job", ids[name], "--oneliner").stdout
            assert "ExitCode=124:0" in job
            assert "Restarts=0" in job
            (log,) = home.glob(f"{name}-*.out")
            assert "the time of the job is over" in log.read_text()
        for name in ends:
            (told,) = [file for file in home.glob(f"{name}-*") if file.suffix != ".out"]
            assert told.read_text() == "began\ntold\n", name


@only_whole("it waits for half a minute")
def test_accept_waits_for_nodes_and_names_those_that_do_not_work(tmp_path: Path) -> None:
    written = files(compiled(spec(), tmp_path))
    script = tmp_path / "accept.sh"
    script.write_text(written["bootstrap/nodes/accept.sh"])
    with real.slurm(queues(written), daemons=True) as slurm:
        slurm.environment["POLL_SECONDS"] = "0.1"
        assert slurm.ask("bash", str(script)).returncode == 0
        node = "a100-st-p4d-24xlarge-2"
        down = ("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=broken")
        assert slurm.ask(*down).returncode == 0
        said = slurm.ask("bash", str(script))
        assert said.returncode == 1
        assert f"nodes do not work:\n{node} down" in said.stderr
        assert slurm.ask("scontrol", "update", f"NodeName={node}", "State=RESUME").returncode == 0
        slurm.environment["POLL_SECONDS"] = "1"
        assert slurm.ask("bash", str(script)).returncode == 0
        slurm.environment["SLURM_CONF"] = str(tmp_path / "none")  # sinfo says nothing
        assert slurm.ask("bash", str(script)).returncode != 0


def test_people_are_told_that_a_job_hangs_goes_on_and_has_failed(tmp_path: Path) -> None:
    """Once each, on every topic, and though one of them takes nothing."""
    base = spec()["spec"]["jobs"][0] | {"nodes": 1, "retries": 0, "command": ["quiet"]}
    written = files(compiled(spec(jobs=[base], notifications=NOTIFICATIONS), tmp_path))
    text = written["jobs/training/train.sbatch"]
    assert "local quiet=3600 " in text, "twice the time between checkpoints"
    with real.slurm(queues(written), daemons=True) as slurm:
        home = slurm.folder / "home"
        for name, body in {"srun": SRUN, "quiet": QUIET, "aws": AWS}.items():
            program = slurm.folder / "bin" / name
            program.write_text(body)
            program.chmod(0o755)
        saved = home / "train"
        saved.mkdir()
        for before, after in {
            "/fsx/work/logs": str(home),
            "/fsx/work/train": str(saved),
            "quiet=3600": "quiet=3",
            "sleep 300": "sleep 1",
        }.items():
            assert before in text
            text = text.replace(before, after)
        (tmp_path / "train").write_text(text)
        job_id = slurm.submit(tmp_path / "train")
        assert slurm.wait(job_id, "FAILED", "COMPLETED") == "FAILED"
        told = (home / "told").read_text().splitlines()
        (log,) = home.glob("train-*.out")
        said = log.read_text()
    assert [line.split(" --")[1:4] for line in told] == [
        [f"topic-arn {topic}", f"region {topic.split(':')[3]}", f"subject {name} {what}"]
        for what in ("hangs", "goes on", "has failed")
        for topic in (TOPIC, PAGER)
        for name in (log.name.rpartition("-")[0],)
    ]
    assert all("lab/training/train in" in line for line in told)
    assert said.count(f"{PAGER} was not told") == 3
