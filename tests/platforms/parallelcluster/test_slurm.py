"""Job scripts on a real Slurm: all are accepted by the compiled partitions, and one runs with a stand-in program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.platforms.parallelcluster import slurm as real
from tests.platforms.parallelcluster.clusters import files, spec
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


def queues(written: dict[str, str]) -> list[dict[str, Any]]:
    return [yaml.safe_load(text) for path, text in sorted(written.items()) if "/queues/" in path]


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
