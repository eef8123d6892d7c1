"""One set of rules judges all platforms: a rule that reads pods either judges jobs of Slurm too, or says why not."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from trainyard.extensions.lint.linter import lint
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Rule
from trainyard.run.outcome import Options

from tests.platforms.parallelcluster.clusters import spec
from tests.platforms.passes import compiled
from tests.policy.harness import builtin_rules

CLUSTER = """\
Region: us-west-2
Image: {Os: ubuntu2204}
HeadNode:
  InstanceType: m5.xlarge
  Networking: {SubnetId: subnet-0a1b2c3d4e5f60718}
Scheduling:
  Scheduler: slurm
  SlurmQueues:
    - Name: gpu
      Networking: {SubnetIds: [subnet-0a1b2c3d4e5f60718]}
      ComputeSettings: {LocalStorage: {EphemeralVolume: {MountDir: /local}}}
      ComputeResources:
        - Name: p5
          InstanceType: p5.48xlarge
          MinCount: 0
          MaxCount: 4
          Efa: {Enabled: true}
          Networking: {PlacementGroup: {Enabled: true}}
SharedStorage:
  - Name: fsx
    MountDir: /fsx
    StorageType: FsxLustre
    FsxLustreSettings: {FileSystemId: fs-0a1b2c3d4e5f60718}
"""
HEAD = "#!/bin/bash\n#SBATCH --job-name=train\n#SBATCH --partition=gpu\n"
TWO = f"{HEAD}#SBATCH --nodes=2\n#SBATCH --exclusive\n"
IN_CONTAINER = "srun --container-mounts=/fsx:/fsx --container-image="
SCRIPTS: dict[str, tuple[str, int]] = {
    "EFA010": (f"{TWO}export FI_PROVIDER=tcp\nsrun torchrun train.py\n", 6),
    "EFA020": (f"{TWO}export NCCL_SOCKET_IFNAME=ib0\nsrun torchrun train.py\n", 6),
    "LIM001": (f"{HEAD}#SBATCH --nodes=2\n#SBATCH --gres=gpu:16\nsrun torchrun train.py\n", 5),
    "LIM003": (f"{HEAD}#SBATCH --nodes=8\n#SBATCH --gres=gpu:8\nsrun torchrun train.py\n", 4),
    "LIM008": (f"{HEAD}#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\nsrun torchrun train.py\n", 5),
    "LIM015": (f"{HEAD}#SBATCH --gres=gpu:8\n#SBATCH --mem=4G\nsrun torchrun train.py\n", 5),
    "SLM001": (f"{TWO.replace('partition=gpu', 'partition=gpus')}srun torchrun train.py\n", 3),
    "SLM005": (f"{TWO}torchrun --nnodes=2 train.py\n", 6),
    "RUN009": (f"{TWO}srun torchrun --nnodes=2 --rdzv_backend=c10d train.py\n", 6),
    "RUN010": (f'{TWO}ARGS=(--nnodes=4)\nsrun torchrun "${{ARGS[@]}}" train.py\n', 7),
    "RUN011": (f"{TWO}GPUS=4\nsrun torchrun --nproc_per_node=$GPUS train.py\n", 7),
    "RUN013": (f"{TWO}{IN_CONTAINER}nvcr.io#nvidia/pytorch torchrun train.py\n", 6),
    "RUN020": (f"{TWO}{IN_CONTAINER}a.test#b:1 \\\n  torchrun train.py --save-path=/out\n", 7),
    "RUN024": (f"{TWO}export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz\nsrun torchrun train.py\n", 6),
    "RUN026": (f"{TWO}srun deepspeed train.py\n", 6),
    "RUN031": (
        f"{TWO}#SBATCH --time=1-00:00:00\n#SBATCH --signal=TERM@600\nsrun torchrun train.py\n",
        7,
    ),
    "RUN036": (f"{TWO}srun torchrun --node_rank=0 train.py\n", 6),
    "RUN038": (f"{TWO}{IN_CONTAINER}1234.dkr.ecr.us-west-2.amazonaws.com#train:1 python t.py\n", 6),
    "RUN041": (
        f"{TWO}#SBATCH --time=3-00:00:00\nsrun --container-image=a.test#b:1 torchrun t.py\n",
        6,
    ),
    "RUN076": (f"{TWO}{IN_CONTAINER}nvcr.io#nvidia/pytorch:21.10-py3 torchrun t.py\n", 6),
    "RUN130": (f"{TWO}srun python train.py {'x' * 140_000}\n", 6),
    "RUN190": (
        f"{TWO}srun bash -c 'torchrun --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500 t.py'\n",
        6,
    ),
    "RUN151": (
        f"{TWO}{IN_CONTAINER}111122223333.dkr.ecr.eu-west-1.amazonaws.com#train:1 python t.py\n",
        6,
    ),
    "RUN153": (
        f"{TWO}rm -rf /fsx/run\nsrun torchrun train.py --checkpoint-dir=/fsx/run/steps\n",
        6,
    ),
}
"""A batch script that each rule finds fault with, beside the cluster above, and the line."""
SPECS: dict[str, tuple[dict[str, Any], str]] = {
    "LIM016": (
        {"job": {"nodes": 1, "resources": {"accelerators": 1}, "command": ["python", "t.py"]}},
        "spec.jobs[0].resources.accelerators",
    ),
    "RUN020": (
        {"job": {"command": ["torchrun", "t.py", "--save-path=/out"], "checkpoint": None}},
        "spec.jobs[0].command[2]",
    ),
    "RUN024": (
        {"job": {"env": {"HF_TOKEN": "hf_abcdefghijklmnopqrstuvwxyz"}}},
        "spec.jobs[0].env.HF_TOKEN",
    ),
    "RUN031": (
        {"job": {"timeout": "24h", "terminationGracePeriod": "5m"}},
        "spec.jobs[0].terminationGracePeriod",
    ),
    "RUN035": (
        {"job": {"command": ["torchrun", "t.py", "--data=$DATA"]}},
        "spec.jobs[0].command[2]",
    ),
    "RUN042": ({"job": {"env": {"PATH": "/opt/bin:$PATH"}}}, "spec.jobs[0].env.PATH"),
    "RUN041": (
        {"job": {"timeout": "72h", "mounts": [], "checkpoint": None}},
        "spec.jobs[0].timeout",
    ),
    "RUN175": (
        {"job": {"expected": "700h", "retries": 10}, "pool": {"meanTimeBetweenFailures": "200h"}},
        "spec.jobs[0].retries",
    ),
}
"""Parts of a spec that each rule finds fault with, and the place."""

ON_WORK = [rule for rule in builtin_rules() if rule.subject is Work]
_OF_PODS = re.compile(
    r"\bwork\.(pod|main|runtime|patches|others|claims|tolerations|shared_memory|boundless_memory)\b"
)
_PLATFORM = re.compile(r"^from trainyard\.(eks|extensions)\.", re.MULTILINE)


def reads_one_platform(rule: Rule) -> bool:
    """Whether a rule asks for what only one platform has."""
    source = Path(rule.file).read_text(encoding="utf-8").replace(rule.doc, "")
    return bool(_OF_PODS.search(source) or _PLATFORM.search(source))


def test_a_rule_that_reads_one_platform_says_why() -> None:
    assert len(ON_WORK) > 100
    silent = [rule for rule in ON_WORK if reads_one_platform(rule) and not rule.kubernetes]
    shown = {*SCRIPTS, *SPECS}
    assert [rule.slug for rule in silent if rule.code not in shown] == []
    marked = {rule.code for rule in ON_WORK if rule.kubernetes}
    assert marked.isdisjoint(shown)


def test_the_guard_sees_such_a_rule() -> None:
    by_code = {rule.code: rule for rule in ON_WORK}
    assert reads_one_platform(by_code["LIM006"])
    assert reads_one_platform(by_code["RUN005"])
    assert not reads_one_platform(by_code["EFA003"])


def reasons() -> Iterator[tuple[str, str]]:
    for rule in builtin_rules():
        if rule.kubernetes:
            assert rule.subject is Work, rule.code
            yield rule.code, rule.kubernetes


def test_reasons_are_sentences() -> None:
    for code, reason in reasons():
        assert len(reason.split()) > 3, code
        assert not reason.endswith("."), code


def linted(script: str, folder: Path) -> set[tuple[str, int]]:
    (folder / "cluster.yaml").write_text(CLUSTER)
    (folder / "job.sbatch").write_text(script)
    found = lint([folder], Options(today=date(2026, 11, 25))).all()
    spans = [(fact.code, fact.span) for fact in found]
    return {
        (code, span.line) for code, span in spans if span and span.file.name.endswith("job.sbatch")
    }


@pytest.mark.slow
@pytest.mark.parametrize("code", SCRIPTS)
def test_a_script_of_others(code: str, tmp_path: Path) -> None:
    script, line = SCRIPTS[code]
    assert (code, line) in linted(script, tmp_path)


@pytest.mark.parametrize("code", SPECS)
def test_a_job_of_a_spec(code: str, tmp_path: Path) -> None:
    parts, place = SPECS[code]
    found = compiled(spec(**parts), tmp_path).diagnostics
    assert (code, place) in {(fact.code, str(fact.at)) for fact in found}


def test_rules_of_kubernetes_alone_see_no_job_of_slurm(tmp_path: Path) -> None:
    marked = {code for code, _ in reasons()}
    script = (
        f"{TWO}export PATH=/opt/bin:$PATH\n"
        "srun --container-image=a.test#b:1 --container-mounts=/:/opt sudo python train.py\n"
    )
    assert marked.isdisjoint({code for code, _ in linted(script, tmp_path)})


@pytest.mark.parametrize(
    ("path", "lost"), [("/fsx/run", False), ("/tmp/run", True), ("/local/run", True)]
)
def test_checkpoints_on_disks_of_a_node(path: str, lost: bool, tmp_path: Path) -> None:
    """Without a container a program sees its node: what all nodes share is kept, `MountDir` of the node's disks not."""
    script = f"{TWO}srun torchrun train.py --checkpoint-dir={path}\n"
    assert (("RUN020", 6) in linted(script, tmp_path)) is lost


def test_a_mount_of_disks_of_a_node(tmp_path: Path) -> None:
    script = f"{TWO}srun --container-image=a.test#b:1 --container-mounts=/local:/out torchrun t.py --save=/out\n"
    assert ("RUN020", 6) in linted(script, tmp_path)


def test_the_page_of_a_rule_says_it() -> None:
    assert "kubernetes" in inspect.signature(Rule).parameters


@pytest.mark.parametrize("code", ["RUN009", "RUN026", "RUN036", "RUN121"])
def test_what_a_script_is_to_write_is_of_slurm(code: str, tmp_path: Path) -> None:
    """No script of Slurm gets variables of Trainer, and none has pods."""
    scripts = {**SCRIPTS, "RUN121": (_ACCELERATE, 6)}
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "job.sbatch").write_text(scripts[code][0])
    found = lint([tmp_path], Options(today=date(2026, 11, 25))).all()
    helps = [fact.help for fact in found if fact.code == code]
    assert helps
    for text in helps:
        assert not re.search(r"Trainer|PET_|\bpods?\b|runtime", text), text


_ACCELERATE = (
    f"{TWO}srun accelerate launch --num_machines=2 --num_processes=16 --main_process_ip=$HEAD "
    "--machine_rank=0 train.py\n"
)
