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

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(real.MISSING), reason=real.WHY),
    pytest.mark.xdist_group("slurm"),
]

# pyxis is not in Debian: `srun` starts the program on the node itself.
SRUN = """#!/bin/bash
words=()
for word in "$@"; do
  case $word in --container-* | --no-container-*) ;; *) words+=("$word") ;; esac
done
exec /usr/bin/srun "${words[@]}"
"""
# What torchrun reads and writes: its options in PET_*, and a checkpoint. Rank 0 fails until there is one, after the
# other has ended: of one that srun kills then, the status of the kill would be that of both.
TORCHRUN = """#!/bin/bash
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


def test_a_job_runs_fails_is_put_back_and_ends(tmp_path: Path) -> None:
    job = {
        "nodes": 2,
        "command": ["torchrun", "t.py", "--note", "it's $HOME"],
        "args": ["$(CHECKPOINT_DIR)"],
        "files": {"/etc/job.json": '{"a": 1}'},
        "retries": 2,
        "timeout": "1h",
    }
    pool = {"nodes": 2}
    written = files(compiled(spec(job=job, pool=pool), tmp_path))
    text = written["jobs/training/train.sbatch"]
    with real.slurm(queues(written), daemons=True) as slurm:
        folder = slurm.folder
        for name, body in {"srun": SRUN, "torchrun": TORCHRUN}.items():
            program = folder / "bin" / name
            program.write_text(body)
            program.chmod(0o755)
        output = folder / "home" / "out"
        output.mkdir()
        script = tmp_path / "train.sbatch"
        script.write_text(text.replace("/fsx/work/logs", str(output)))
        job_id = slurm.submit(script)
        slurm.put_forward(job_id)
        slurm.wait(job_id, "COMPLETED")
        (log,) = output.iterdir()
        said = log.read_text()
        assert "status 3, try 0 of 2: back to the queue" in said
        lines = [line for line in said.splitlines() if "processes, at" in line]
        assert len(lines) == 4, "two nodes, twice"
        for line in lines:
            assert "of 2, 8 processes, at a100-st-p4d-24xlarge-1:2" in line
            assert line.rstrip().endswith("t.py --note it's $HOME /work/train")
        assert (folder / "home" / ".trainyard" / job_id / "file-0").read_text() == '{"a": 1}\n'


def test_no_try_is_left_after_the_last(tmp_path: Path) -> None:
    written = files(compiled(spec(job={"nodes": 1, "retries": 0}, pool={"nodes": 1}), tmp_path))
    with real.slurm(queues(written), daemons=True) as slurm:
        folder = slurm.folder
        for name, body in {"srun": SRUN, "torchrun": "#!/bin/bash\nexit 3\n"}.items():
            program = folder / "bin" / name
            program.write_text(body)
            program.chmod(0o755)
        script = tmp_path / "train.sbatch"
        text = written["jobs/training/train.sbatch"]
        script.write_text(text.replace("/fsx/work/logs", str(folder)))
        assert slurm.wait(slurm.submit(script), "FAILED", "COMPLETED") == "FAILED"
