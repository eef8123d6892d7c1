"""One job, one edit, one verdict: EKS, HyperPod and Slurm say the same of it, at the same key, or a table says why not.

And one command, one program: the batch script, run by bash as far as ``srun``, starts the words and hands on the
variables that the container of a pod has.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from builders import document
from drawn import Walk, drawn
from running import environment, stand_ins
from trainyard.judge.policy import Policies, load_policies
from trainyard.run.driver import check_document
from trainyard.run.examples.rehearse import merged
from trainyard.run.outcome import Compilation, Options
from trainyard.run.platforms import PLATFORMS
from trainyard.verify.formats import objects, written

pytestmark = pytest.mark.slow

OPTIONS = Options(hold=False, today=date(2026, 11, 29))
SUBNETS = [
    {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2b", "cidr": "10.0.0.0/18"},
    {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2a", "cidr": "10.0.64.0/18"},
]
LUSTRE = {
    "id": "fs-0a1b2c3d4e5f60718",
    "mountName": "abcdefgh",
    "size": "4800Gi",
    "version": "2.15",
    "throughputPerTiB": 250,
    "zone": "us-west-2b",
}
BASE: dict[str, Any] = {
    "account": "111122223333",
    "region": "us-west-2",
    "network": {"existing": {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": SUBNETS}},
    "nodePools": [
        {"name": "a100", "instanceTypes": ["p4d.24xlarge"], "zones": ["us-west-2b"], "nodes": 4}
    ],
    "storage": [{"name": "work", "fsxLustre": {"existing": LUSTRE}}],
    "queues": [
        {
            "name": "research",
            "namespaces": ["hyperpod-ns-research"],
            "quota": [{"pool": "a100", "nodes": 4}],
        }
    ],
    "jobs": [
        {
            "name": "train",
            "pool": "a100",
            "queue": "research",
            "nodes": 4,
            "image": f"registry.test/train@sha256:{'a' * 64}",
            "command": ["torchrun", "train.py"],
            "mounts": [{"storage": "work", "path": "/work"}],
            "checkpoint": {"path": "/work/train", "every": "30m"},
            "terminationGracePeriod": "30s",
            "timeout": "72h",
            "retries": 2,
        }
    ],
}
"""What every platform takes."""

PROGRAMS = (
    "python train.py",
    "accelerate launch train.py",
    "deepspeed train.py",
    "mpirun python train.py",
    "python3 -m torch.distributed.run train.py",
    "torchrun --nnodes=2 train.py",
    "torchrun --nproc-per-node=4 train.py",
    "torchrun --standalone train.py",
    "torchrun --node-rank=0 train.py",
    "torchrun --max-restarts=3 train.py",
    "torchrun train.sh",
    "torchrun",
    "sleep infinity",
    "srun torchrun train.py",
    "ssh node0 torchrun train.py",
    "torchrun train.py --output-dir /other/out",
    "torchrun train.py --output-dir /tmp/out",
    "torchrun train.py --token hf_abcdefghijklmnopqrstuvwxyzabcdefgh",
    "torchrun train.py $(NO)",
    "torchrun train.py $NODES",
    "torchrun /work/train.py",
)
TEXTS = (
    "torchrun --nnodes=2 train.py",
    "rm -rf /work/train; torchrun train.py",
    "pip install x && torchrun train.py",
    "torchrun train.py &",
    "torchrun train.py || true",
    "torchrun train.py | tee /work/log",
    "srun torchrun train.py",
    "export NCCL_P2P_DISABLE=1; torchrun train.py",
    "mpirun python train.py",
)
VARIABLES = (
    "CUDA_LAUNCH_BLOCKING=1",
    "CUDA_VISIBLE_DEVICES=0",
    "FI_PROVIDER=tcp",
    "HF_HOME=/root/.cache",
    "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyzabcdefgh",
    "MASTER_ADDR=node0",
    "MASTER_PORT=29500",
    "NCCL_IB_DISABLE=1",
    "NCCL_NET=Socket",
    "NCCL_NET_PLUGIN=none",
    "NCCL_P2P_DISABLE=1",
    "NCCL_SOCKET_IFNAME=eth0",
    "OMP_NUM_THREADS=1000",
    "PATH=/x",
    "PET_NNODES=2",
    "RANK=0",
    "WORLD_SIZE=4",
    "1A=x",
    "A-B=x",
)
IMAGES = (
    "train",
    "train:latest",
    "registry.test/train",
    "REGISTRY/Train:1",
    "registry.test/train@sha256:abc",
    "111122223333.dkr.ecr.us-east-1.amazonaws.com/train:1.0",
    "nvcr.io/nvidia/pytorch:20.06-py3",
    "a b",
)
RESERVED = {"reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 2}]}
BLOCK = {**RESERVED, "starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
OF_A_JOB: Mapping[str, tuple[Any, ...]] = {
    "nodes": (0, 1, 3, 5, -1, "two", 1.5),
    "retries": (0, 5, 1000, -1),
    "processesPerNode": (1, 4, 9, 0),
    "rerun": (1, -1),
    "timeout": ("0s", "1s", "10m", "30d", "400d", "forever", 5, None),
    "expected": ("24h", "400d"),
    "terminationGracePeriod": ("0s", "1s", "10m", "24h"),
    "checkpoint.every": ("0s", "1s", "12h", "100h"),
    "checkpoint.path": ("/work", "/other/train", "train", "/tmp/x", "/", "s3://b/x", ""),
    "checkpoint.keep": (0, 1),
    "checkpoint.async": (True,),
    "checkpoint.signalFile": ("/work/stop",),
    "checkpoint": (None,),
    "command": (
        *(text.split() for text in PROGRAMS),
        *(["bash", "-c", text] for text in TEXTS),
        [],
    ),
    "args": (["--a"], ["$(NO)"]),
    "env": tuple(dict([text.split("=", 1)]) for text in VARIABLES),
    "image": IMAGES,
    "resources.accelerators": (0, 1, 4, 9),
    "resources.cpu": (1, 1000),
    "resources.memory": ("1Gi", "4000Gi", "many"),
    "resources.efa": (1, 9),
    "queue": ("none", None),
    "pool": ("none", None),
    "priority": ("none",),
    "torchVersion": ("2.12", "1.0"),
    "sharedMemory": ("4000Gi",),
    "kind": ("Unknown",),
    "workingDir": ("work", "/work"),
    "namespace": ("other",),
    "completed": (True,),
    "comand": (["x"],),
    "files": ({"/etc/a.conf": "x"}, {"a.conf": "x"}, {"/work/a.conf": "x"}),
    "flightRecorder.path": ("/work/fr", "/x"),
    "secretEnv": ([{"env": "HF_TOKEN", "secret": "none", "key": "token"}],),
    "mounts": (
        None,
        [{"storage": "none", "path": "/x"}],
        [{"storage": "work", "path": "x"}],
        [{"storage": "work", "path": "/usr"}],
        [{"storage": "work", "path": "/work", "readOnly": True}],
    ),
    "model": (
        {"parameters": 7e9},
        {"parameters": 70e9, "sharding": "none"},
        {"parameters": 7e9, "parallel": {"tensor": 3}},
        {"parameters": 7e9, "parallel": {"pipeline": 5}},
        {"parameters": 7e9, "precision": "fp8"},
        {"parameters": 7e9, "batch": {"sequenceLength": 4096, "globalBatchSize": 33}},
    ),
}
OF_A_POOL: Mapping[str, tuple[Any, ...]] = {
    "nodes": (0, 1, 100, -1, {"min": 0, "max": 4}, {"min": 5, "max": 4}),
    "instanceTypes": (
        ["p4d.24xlarge", "p4de.24xlarge"],
        ["p4d.24xlarge", "p4d.24xlarge"],
        ["g5.48xlarge"],
        ["trn1.32xlarge"],
        ["t3.small"],
        ["p9.48xlarge"],
        ["p4d"],
        ["g5g.16xlarge"],
        [],
    ),
    "zones": (["us-west-2a"], ["us-west-2a", "us-west-2b"], ["us-west-2z"], ["us-east-1a"], []),
    "capacity": ({"spot": {}}, [{"spot": {}}, {"onDemand": {}}], {"reserved": RESERVED}, {"block": BLOCK}),
    "placement": ("cluster", "spread"),
    "efa": (False,),
    "rootVolume.size": ("20Gi", "100Ti"),
    "spareNodes": (1,),
    "meanTimeBetweenFailures": ("1h",),
    "labels": ({"a": "b"},),
}  # fmt: skip
OF_A_STORAGE: Mapping[str, tuple[Any, ...]] = {
    "id": ("fs-1", "vol-0a1b2c3d4e5f60718"),
    "mountName": ("", "a b"),
    "size": ("1Gi", "5000Gi"),
    "version": ("2.10", "9"),
    "zone": ("us-west-2a", "us-east-1a"),
    "throughputPerTiB": (1,),
    "deployment": ("SCRATCH_2", "x"),
}
CREATED = {"size": "4800Gi", "throughputPerTiB": 250, "zone": "us-west-2b", "version": "2.15"}
OF_A_CREATED: Mapping[str, tuple[Any, ...]] = {
    "size": ("4800Gi", "5000Gi"),
    "throughputPerTiB": (100,),
    "deployment": ("SCRATCH_2",),
    "zone": ("us-west-2a",),
    "version": ("2.10",),
    "kmsKey": ("arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",),
    "metadata": ({"mode": "USER_PROVISIONED", "iops": 1},),
    "backups": ({"days": 0},),
}
OTHER_STORAGE: tuple[dict[str, Any], ...] = (
    {"fsxLustre": None, "s3": {"existing": {"bucket": "data-111122223333"}}},
    {"fsxLustre": None, "s3": {"existing": {"bucket": "Data_1"}}},
    {"s3": {"create": {}}},
    {"fsxLustre": None},
)
VOLUME = {"id": "vol-0a1b2c3d4e5f60718", "zone": "us-west-2b", "size": "500Gi"}
OF_A_QUEUE: Mapping[str, tuple[Any, ...]] = {
    "quota": (
        *([{"pool": "a100", "nodes": nodes}] for nodes in (0, 1, 5, -1)),
        [{"pool": "none", "nodes": 1}],
        [],
        [{"pool": "a100", "nodes": 2}, {"pool": "a100", "nodes": 2}],
        [{"pool": "a100", "nodes": 4, "borrowingLimit": 1}],
    ),
    "namespaces": (["hyperpod-ns-A"], []),
    "cohort": ("all", "All"),
}
TOPIC = "arn:aws:sns:us-west-2:111122223333:gpu"
OF_THE_CLUSTER: Mapping[str, tuple[Any, ...]] = {
    "account": ("1", 111122223333),
    "region": ("us-west-9", "eu-central-1"),
    "tags": ({"team": "a"}, {"aws:x": "a"}),
    "network": ({"existing": {"subnets": [SUBNETS[0], {**SUBNETS[1], "zone": "us-east-1a"}]}},),
    "priorities": (
        [{"name": "urgent", "value": 1}],
        [{"name": "urgent", "value": 1}, {"name": "urgent", "value": 2}],
        [{"name": "urgent", "value": 3000000000}],
    ),
    "jobs": (None, [{**BASE["jobs"][0], "name": "other"}]),
    "storage": (None,),
    "queues": (None,),
    "nodePools": (None,),
    "jbos": ([],),
    "notifications": (
        {"receivers": [{"name": "mail", "sns": {"topicArn": TOPIC}}], "default": "pager"},
    ),
}


def edits() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each edit with its name: one key of the base gets one value."""
    lists = (
        ("jobs", "train", OF_A_JOB),
        ("nodePools", "a100", OF_A_POOL),
        ("queues", "research", OF_A_QUEUE),
    )
    for section, name, keys in lists:
        for key, value in _each(keys):
            yield f"{section} {key}: {value}", {section: [{"name": name, **_below(key, value)}]}
    for key, value in _each(OF_A_STORAGE):
        laid = _below(f"fsxLustre.existing.{key}", value)
        yield f"storage {key}: {value}", {"storage": [{"name": "work", **laid}]}
    for key, value in _each(OF_A_CREATED):
        made = {"existing": None, "create": {**CREATED, key: value}}
        yield f"created {key}: {value}", {"storage": [{"name": "work", "fsxLustre": made}]}
    for other in OTHER_STORAGE:
        yield f"storage {other}", {"storage": [{"name": "work", **other}]}
    for zone in ("us-west-2b", "us-west-2a"):
        disk = {"fsxLustre": None, "ebs": {"existing": {**VOLUME, "zone": zone}}}
        yield f"volume in {zone}", {"storage": [{"name": "work", **disk}]}
    for key, value in _each(OF_THE_CLUSTER):
        yield f"{key}: {value}", {key: value}


def _each(keys: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
    for key, values in keys.items():
        for value in values:
            yield key, value


def _below(path: str, value: Any) -> dict[str, Any]:
    for key in reversed(path.split(".")):
        value = {key: value}
    found: dict[str, Any] = value
    return found


@cache
def policies() -> Policies:
    loaded, faults = load_policies(None, today=OPTIONS.today)
    assert not faults
    return loaded


def compiled(platform: str, edit: Mapping[str, Any]) -> Compilation:
    spec = merged({**copy.deepcopy(BASE), "platform": {platform: {}}}, dict(edit))
    data = {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": "lab"},
        "spec": spec,
    }
    return check_document("lab", document(data), policies(), OPTIONS)


Verdict = frozenset[tuple[str, str]]
"""Codes, each with the key at which it is found."""


def verdict(platform: str, edit: Mapping[str, Any]) -> Verdict | None:
    """What a platform says of an edit; ``None`` where it has no such key, and says so."""
    found = compiled(platform, edit).diagnostics
    assert not [each for each in found if each.code.startswith("INT")]
    if any(each.code == "SPC006" for each in found):
        return None
    return frozenset((each.code, str(each.at)) for each in found)


SLURM = "parallelCluster"
PODS = "eks hyperPod"
DIFFERENT: Mapping[str, tuple[str, str]] = {
    "LIM003": (f"{PODS} {SLURM}", "a partition has the nodes of a quota: it is there in QUE005's place"),
    "LIM011": (f"{PODS} {SLURM}", "a script without GPUs has no line for them"),
    "PLC003": (PODS, "RES304 finds it before"),
    "PLC013": ("eks", "RES320 and RES303 find it before: they buy in one way"),
    "PLC015": (PODS, "RES319 finds it before"),
    "QUE004": (PODS, "RES305 finds it before"),
    "QUE005": (PODS, "LIM003 finds it: the nodes of a queue are its partition"),
    "QUE023": (PODS, "nodes of no queue are not made"),
    "RES033": (PODS, "no kubelet takes a share of a node"),
    "RES181": (PODS, "the head node exports a volume to all nodes"),
    "RES302": (SLURM, "who shares nodes is told by accounting alone"),
    "RES303": (SLURM, "a queue of ParallelCluster has one way of buying, and no group but `cluster`"),
    "RES304": (SLURM, "in PLC003's place"),
    "RES305": (SLURM, "in QUE004's place: the partitions of queues have nodes of their own"),
    "RES307": (SLURM, "its nodes mount no bucket"),
    "RES308": (SLURM, "priorities are known by accounting alone"),
    "RES309": (SLURM, "KillWait is the cluster's, where a pod has its own time"),
    "RES310": (SLURM, "others may make a Secret of Kubernetes"),
    "RES315": (SLURM, "its head node has the architecture of all nodes"),
    "RES319": (SLURM, "in PLC015's place"),
    "RES320": ("hyperPod", "an instance group has one type, one way of buying and one number"),
    "RES345": ("hyperPod", "the Regions of SageMaker"),
    "RES346": (SLURM, "which image others boot is told by RUN033"),
    "RES352": (PODS, "scripts of jobs tell by themselves"),
    "RES381": (SLURM, "bash exports no such name, and Kubernetes does"),
    "RES390": (SLURM, "its image has 45 GiB, and that of EKS 20"),
    "RUN010": (f"hyperPod {SLURM}", "Trainer's webhook refuses it: SCH011"),
    "RUN040": (PODS, "RES307 finds it before"),
    "SCH011": ("eks", "only Trainer's webhook refuses it"),
}  # fmt: skip
"""By code, the platforms that alone find it in some edit, and why."""


def test_the_base_has_no_fault() -> None:
    assert [verdict(platform, {}) for platform in PLATFORMS] == [frozenset()] * len(PLATFORMS)


def test_platforms_say_the_same_of_an_edit() -> None:
    different = defaultdict[str, set[str]](set)
    walked = drawn(edits(), 50)
    for _, edit in walked:
        said = {platform: verdict(platform, edit) for platform in PLATFORMS}
        verdicts = {platform: each for platform, each in said.items() if each is not None}
        if not verdicts:
            continue
        common = frozenset.intersection(*verdicts.values())
        for platform, each in verdicts.items():
            for code, _ in each - common:
                different[code].add(platform)
    expected = {code: {*where.split()} for code, (where, _) in DIFFERENT.items()}
    unexpected = {code: where - expected.get(code, set()) for code, where in different.items()}
    assert not any(unexpected.values()), unexpected
    if Walk.every:
        assert different == expected


WORDS: tuple[tuple[str, ...], ...] = (
    ("torchrun", "train.py", "--lr=1e-4", "-v"),
    ("bash", "-c", "torchrun train.py; echo 'done' \"$HOME\" `date` $(date)"),
    ("bash", "-c", "cd /work\nexec torchrun train.py # the program\n"),
    ("python", "train.py", "--name", "it's", "", " a  b ", "\t"),
    ("python", "train.py", "*", "?", "[a-z]", "~", "{a,b}", "a=b", "!x", "\\", "\\n"),
    ("python", "train.py", "&", "|", ";", ">", "<", "(", ")", "#x", "-", "--"),
    ("python", "train.py", "é", "日本", '"quoted"', "`id`", "%s"),
    ("python", "train.py", "$(A)", "$(B)/x", "x$(A)$(A)y", "$(NONE)", "$(A", "$()", "$( A)"),
    ("python", "train.py", "$$(A)", "$$$(A)", "$$$$", "$A", "${A}", "$", "a$b$"),
    ("python", "train.py", "$(hostname)", "$((1 + 1))", "$1", "$@", "$?", "$!"),
)
VALUES: tuple[Mapping[str, str], ...] = (
    {"A": "1", "B": "a b"},
    {"A": "it's", "B": "$(A)/x"},
    {"A": '$HOME `id` "x"', "B": "$$(A)"},
    {"A": "\\ * é", "B": "$(NONE) $(A)"},
    {"A": "two\nlines", "B": "$(B)"},
)
STUBS = {
    "srun": """#!/bin/bash
python3 - "$@" <<'END'
import json, os, sys
print(json.dumps([sys.argv[1:], dict(os.environ)]))
END
""",
    "scontrol": "#!/bin/bash\n[ \"$1\" = show ] && printf 'node-%d\\n' 1 2 3 4\nexit 0\n",
}
"""Programs of Slurm, of which `srun` says what it gets."""
OF_SLURM = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node-[1-4]", "SLURM_JOB_NUM_NODES": "4"}


def expanded(text: str, known: Mapping[str, str]) -> str:
    """`$(NAME)` as Kubernetes reads it: the value of a variable, of another name nothing but the text, and `$$` a `$`
    (kubernetes 1.36, third_party/forked/golang/expansion)."""
    made, position = "", 0
    while position < len(text):
        rest = text[position:]
        name = re.match(r"\$\(([^)]*)\)", rest)
        if rest.startswith("$$"):
            made, position = f"{made}$", position + 2
        elif name is not None:
            made += known.get(name[1], name[0])
            position += name.end()
        else:
            made, position = made + text[position], position + 1
    return made


def container(done: Compilation) -> tuple[list[str], dict[str, str]]:
    """The words that the container of a pod starts, and its variables."""
    kinds = ("TrainJob", "PyTorchJob")
    (body,) = (each.body for each in objects(done.artifacts) if each.body["kind"] in kinds)
    if body["kind"] == "TrainJob":
        given = body["spec"]["trainer"]
    else:
        roles = body["spec"]["pytorchReplicaSpecs"].values()
        given = next(iter(roles))["template"]["spec"]["containers"][0]
    known: dict[str, str] = {}
    for variable in given["env"]:
        if "value" in variable:
            known[variable["name"]] = expanded(variable["value"], known)
    words = [*given.get("command", ()), *given.get("args", ())]
    return [expanded(word, known) for word in words], known


def started(done: Compilation, folder: Path) -> tuple[list[str], dict[str, str]]:
    """The words that ``srun`` gets behind its options, and the variables that it hands on."""
    (script,) = (each for each in done.artifacts if each.format == "sbatch")
    file = folder / "job.sbatch"
    file.write_bytes(written(script))
    given = environment(PATH=stand_ins(folder / "bin", STUBS), HOME=str(folder), **OF_SLURM)
    ran = subprocess.run(["bash", file], capture_output=True, text=True, env=given, check=False)
    assert ran.returncode == 0, ran.stderr
    words, variables = json.loads(ran.stdout)
    options = len(
        [word for word in words if word.startswith(("--kill", "--label", "--container", "--no-"))]
    )
    return words[options:], variables


CASES = [(words, VALUES[0]) for words in WORDS] + [(WORDS[-3], values) for values in VALUES[1:]]


@pytest.mark.parametrize(("words", "values"), CASES)
def test_a_batch_script_starts_what_a_pod_does(
    words: tuple[str, ...], values: Mapping[str, str], tmp_path: Path
) -> None:
    job = {"name": "train", "command": [*words[:2]], "args": [*words[2:]], "env": dict(values)}
    edit = {"jobs": [job]}
    argv, variables = started(compiled("parallelCluster", edit), tmp_path)
    for platform in ("eks", "hyperPod"):
        expected, known = container(compiled(platform, edit))
        assert argv == expected
        assert {name: variables.get(name) for name in values} == {
            name: known[name] for name in values
        }
