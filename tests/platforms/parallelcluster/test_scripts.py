"""The grammar of batch scripts of others: what bash and `sbatch` take, and people write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trainyard.core.pods.plan import GPU
from trainyard.extensions.lint.linter import lint
from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.output import Artifact
from trainyard.run.outcome import Options
from trainyard.verify.formats import lifted

HARD = """\
#!/bin/bash -l
#SBATCH -J "my job" -N4 --ntasks-per-node 1 # of eight GPUs
##SBATCH --nodes=9
#SBATCH --gpus-per-node=h100:8
#SBATCH --array=0-9%2
#SBATCH --err=logs/%x.err
#SBATCH hetjob
#SBATCH --nodes=1

set -ex
: "${IMAGE:=/fsx/train.sqsh}"
: "${MOUNTS:=/fsx:/fsx}"
GPUS=8 # of each node
declare -a ARGS=(
    --container-image $IMAGE # by enroot
    --container-mounts $MOUNTS
)
declare -a TORCHRUN_ARGS=(
    --nproc_per_node=$GPUS
    --nnodes=$SLURM_JOB_NUM_NODES
    --rdzv_endpoint=$(hostname)
)
if [ -d /opt/sagemaker_cluster ]; then
    AUTO_RESUME="--auto-resume=1"
    export FI_PROVIDER=tcp
fi
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
launch() {
    srun -l "${ARGS[@]}" torchrun "${TORCHRUN_ARGS[@]}" \\
        train.py --name "a b" # the program
}
cat <<'END' > /fsx/config.yaml
srun never
#SBATCH --nodes=7
END
read -r first <<< "$SLURM_JOB_NODELIST"
srun --ntasks=1 nvidia-smi
launch
"""


def job_of(script: str) -> BatchJob:
    plan = lifted([Artifact(path="job.sbatch", format="sbatch", text=script)], closed=False)
    (job,) = plan.of(BatchJob)
    return job


def test_a_script_with_everything() -> None:
    job = job_of(HARD)
    assert job.name == "my job"
    assert (job.nodes, "nodes" in job.unread) == (4, True)  # of several parts
    assert job.requests[GPU].value == 8
    assert job.image == "/fsx/train.sqsh"
    assert [(mount.source, mount.path) for mount in job.mounts] == [("/fsx", "/fsx")]
    assert job.command == (
        *("torchrun", "--nproc_per_node=8", "--nnodes=$(SLURM_JOB_NUM_NODES)"),
        *("--rdzv_endpoint=$(hostname)", "train.py", "--name", "a b"),
    )
    assert "FI_PROVIDER" not in {each.name for each in job.env}  # it may not be set
    assert dict(job.rendezvous).keys() == {"MASTER_ADDR"}


def test_it_has_no_fault(tmp_path: Path) -> None:
    (tmp_path / "job.sbatch").write_text(HARD)
    assert [(fact.code, fact.message) for fact in lint([tmp_path], Options()).all()] == []


HEAD = "#!/bin/bash\n#SBATCH --nodes=2\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("srun -N 2 -n16 python t.py", ("python", "t.py")),
        ("srun --label --mpi=pmix --cpu-bind none python t.py", ("python", "t.py")),
        ("time srun python t.py 2>&1 | tee log", ("python", "t.py")),
        ("NCCL_DEBUG=INFO srun python t.py &\nwait", ("python", "t.py")),
        ("for node in a b; do srun -w $node python t.py; done", ("python", "t.py")),
        ("CMD=train.py\nsrun python $CMD", ("python", "train.py")),
        ("srun python ${CMD:-train.py}", ("python", "train.py")),
        ("CMD=a.py\nCMD=b.py\nsrun python $CMD", ("python", "$(CMD)")),
        ("srun bash -c '\n  cd /fsx\n  torchrun t.py'", ("bash", "-c", "\n  cd /fsx\n  torchrun t.py")),
        ("srun bash -c \"echo $HOME; python t.py\"", ("bash", "-c", "echo $(HOME); python t.py")),
        ("# srun python a.py\nsrun python b.py", ("python", "b.py")),
        ("srun $OPTIONS python t.py", ("python", "t.py")),
        ("srun 'python", ()),
    ],
)  # fmt: skip
def test_what_srun_starts(lines: str, expected: tuple[str, ...]) -> None:
    assert job_of(f"{HEAD}{lines}\n").command == expected


@pytest.mark.parametrize(
    ("options", "gpus", "unread"),
    [
        ("--gpus=16", 8, False),
        ("--gres=gpu:h100:4", 4, False),
        ("--gpus-per-task=1 --ntasks-per-node=8", 8, False),
        ("--gpus-per-task=1", None, True),
        ("--gres=gpu:$GPUS", None, True),
    ],
)
def test_gpus(options: str, gpus: int | None, unread: bool) -> None:
    job = job_of(f"{HEAD}#SBATCH {options}\nsrun python t.py\n")
    asked = job.requests.get(GPU)
    assert (asked.value if asked else None) == gpus
    assert ("requests" in job.unread) is unread


def test_tasks_without_nodes_say_no_number_of_nodes() -> None:
    assert job_of("#!/bin/bash\n#SBATCH -n 16\nsrun python t.py\n").nodes is None
    assert job_of("#!/bin/bash\n#SBATCH -c 4\nsrun python t.py\n").nodes == 1


def found(script: str, folder: Path) -> list[tuple[str, int]]:
    (folder / "job.sh").write_text(script)
    facts: list[Any] = lint([folder], Options()).all()
    return [(fact.code, fact.span.line) for fact in facts]


def test_a_script_that_writes_another(tmp_path: Path) -> None:
    written = "cat <<END > job.sbatch\n#!/bin/bash\n#SBATCH --nodes=eight\nEND\nsbatch job.sbatch\n"
    assert found(written, tmp_path) == []


@pytest.mark.parametrize("value", ["{NODES}", "<nodes>", "$NODES", "{{ the nodes }}", "<it's 4>"])
def test_values_that_something_else_fills_in(value: str, tmp_path: Path) -> None:
    assert found(f"#!/bin/bash\n#SBATCH --nodes={value}\nsrun python t.py\n", tmp_path) == []


def test_an_ambiguous_beginning_is_no_option(tmp_path: Path) -> None:
    script = "#!/bin/bash\n#SBATCH --mem-p=1\nsrun python t.py\n"
    assert found(script, tmp_path) == [("SCH001", 2)]


@pytest.mark.parametrize(
    ("directive", "words"),
    [
        ("--job-name my first job", "`first` is neither"),
        ("--nodes= 2", "`2` is neither"),
        ("-J train - more", "`-` is neither"),
        ("gpu", "`gpu` is neither"),
        ("--nice 100", "`100` is neither"),  # its value follows `=`
        ("--exclusive user", "`user` is neither"),
        ("--comment=it's -N 2", "a quote in `--comment=it's -N 2` is not closed"),
    ],
)
def test_words_that_are_no_options(directive: str, words: str, tmp_path: Path) -> None:
    script = f"#!/bin/bash\n#SBATCH --time=60\n#SBATCH {directive}\nsrun python t.py\n"
    (tmp_path / "job.sbatch").write_text(script)
    (fact,) = lint([tmp_path], Options()).all()
    assert fact.span is not None
    assert (fact.code, fact.span.line) == ("SCH011", 3)
    assert words in fact.message


@pytest.mark.parametrize(
    "directive",
    [
        *("-Q -v", "-B 2:8:1", "--kill-on-invalid-dep yes", "--nice=100", "-N 2 -J 'my job'"),
        *("# --nodes=eight", "--nodes=2 # eight"),
    ],
)
def test_options_that_sbatch_takes(directive: str, tmp_path: Path) -> None:
    script = f"#!/bin/bash\n#SBATCH --time=60\n#SBATCH {directive}\nsrun python t.py\n"
    assert found(script, tmp_path) == []


def test_variables_that_are_handed_on() -> None:
    """By the script's own option and by that of `srun`, whose values are known or are not."""
    head = f"{HEAD}#SBATCH --export=ALL,NCCL_DEBUG=INFO,RUN=$RUN,1=2\n"
    job = job_of(f"{head}srun --export=ALL,FI_PROVIDER=tcp python t.py\n")
    assert [(each.name, each.value) for each in job.env] == [
        *(("NCCL_DEBUG", "INFO"), ("RUN", None), ("FI_PROVIDER", "tcp"))
    ]
    lines = {name: place[-1] for name, place in job.origins.items() if name.startswith("env.")}
    assert lines == {"env.NCCL_DEBUG": 2, "env.RUN": 2, "env.FI_PROVIDER": 3}


@pytest.mark.parametrize(
    ("lines", "image", "unread"),
    [
        ("srun --container-image a#b:1 python t.py", "a/b:1", set()),
        ("srun --container-image $IMAGE python t.py", None, {"image"}),
        ("ARGS=(--container-image a:1)\nsrun ${ARGS[@]} python t.py", "a:1", set()),
        (
            "if true; then\n  ARGS=(--container-image a:1)\nfi\nsrun ${ARGS[@]} python t.py",
            "a:1",
            {"image", "mounts"},
        ),
    ],
)
def test_what_is_known_of_the_image(lines: str, image: str | None, unread: set[str]) -> None:
    job = job_of(f"{HEAD}{lines}\n")
    assert (job.image, job.unread) == (image, unread)
    assert job.command == ("python", "t.py")


def test_an_srun_without_a_program_starts_none() -> None:
    assert job_of(f"{HEAD}srun --version\n").command == ()


@pytest.mark.parametrize(
    ("lines", "files"),
    [
        ("cat <<END > /a.json\n{}\nEND\n", {"/a.json": "{}\n"}),
        ("cat <<END > /a.json\nEND\n", {"/a.json": ""}),
        ("cat <<END > /a.json\n{}\n", {}),  # nothing ends it
    ],
)
def test_files_that_a_script_writes(lines: str, files: dict[str, str]) -> None:
    assert job_of(f"{HEAD}{lines}").files == files


def test_a_shift_begins_no_document() -> None:
    job = job_of(f"{HEAD}SIZE=$((1<<BITS))\nexport NCCL_DEBUG=INFO\nsrun python t.py\n")
    assert [each.name for each in job.env] == ["NCCL_DEBUG"]
    assert job.command == ("python", "t.py")
