"""What is wrong with a spec is found at the same key, whatever it runs on: every platform, launcher of pools and kind
of job, against TrainJobs on nodes of Karpenter, over the examples of the rules' pages.

What is found on one side alone, or at another key, is in the tables with its reason; what is in them without need
fails, too. And no help names a key that the platform refuses.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import pytest
from drawn import at_least, drawn, reasons_of
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.kinds import kinds_of_eks
from trainyard.judge.policy.config import Config
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.source.libyaml import DUMPER, LOADER, yaml
from trainyard.run.examples.pages import DAY
from trainyard.run.examples.rehearse import (
    UnusableExampleError,
    base_spec,
    config_for,
    from_spec,
    merged,
)
from trainyard.run.language.by_platform import keys_by_platform
from trainyard.run.language.reference import all_keys
from trainyard.run.passes import traced
from trainyard.run.platforms import PLATFORMS
from trainyard.verify.formats import objects

from tests.policy.harness import builtin_rules
from tests.policy.test_every_kind import about_jobs

pytestmark = pytest.mark.slow

SUBNETS = [
    {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2b", "cidr": "10.0.0.0/18"},
    {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2a", "cidr": "10.0.64.0/18"},
]
NETWORK = {"existing": {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": SUBNETS}}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    **{name: {"platform": {name: {}}} for name in PLATFORMS if name != "eks"},
    "hyperPod": {
        "platform": {"hyperPod": {}},
        "nodePools": [{"name": "gpu", "nodes": 4}],
        "queues": [{"name": "research", "namespaces": ["hyperpod-ns-team-a"]}],
    },
    "autoMode": {"platform": {"eks": {"autoMode": {}}}},
    "managedNodeGroup": {"nodePools": [{"name": "gpu", "nodes": 4, "managedNodeGroup": {}}]},
}
"""What is laid over the base, whose jobs and pools have the examples' names."""
KINDS: Mapping[str, Mapping[str, Any]] = {
    "PyTorchJob": {},
    "JobSet": {},
    "Job": {"command": ["python", "train.py"]},
    "MPIJob": {"launcher": {"mpi": {}}, "command": ["mpirun", "python", "train.py"]},
    "RayJob": {"command": ["python", "train.py"]},
}
"""The other kinds of job that a spec can write, and how each starts its program."""

KARPENTER = "it is of Karpenter, which is not there"
ALWAYS_THERE = "its nodes are always there"
NO_TIME = "without `ends` the objects of Auto Mode do not say that a reservation is a block"
ONE_SIDE: Mapping[str, Mapping[str, str]] = {
    "parallelCluster": {
        "EFA020": "its nodes have other interfaces",
        "LIM002": "no kubelet takes a share of a node",
        "PLC006": "SCH012 finds it",
        "PLC015": "a file system in another zone of the VPC can be mounted",
        "PLC035": "the rule is of flavors",
        "PLC083": "the order of jobs is Slurm's, which is not simulated",
        "PLC084": "the order of jobs is Slurm's, which is not simulated",
        "PLC085": "the order of jobs is Slurm's, which is not simulated",
        "QUE005": "the nodes of a queue are its partition: LIM003",
        "QUE022": "the blocks of a partition are in one zone, and a job may have nodes of both",
        "QUE023": "nodes of no queue are not made",
        "RUN031": "without `timeout` no signal comes before the end",
        "RUN032": "the signal comes by the job's own time, and not by a drain",
        "RUN033": "RES346 finds it before",
        "RUN121": "Lightning knows Slurm",
        "RUN133": "a folder that pyxis mounts has what the node has there",
    },
    "hyperPod": {
        "LIM042": KARPENTER,
        "QUE001": "no queue counts its huge pages",
        "QUE007": ALWAYS_THERE,
        "QUE010": ALWAYS_THERE,
        "RUN033": "which image its nodes boot is not known",
        "RUN135": KARPENTER,
    },
    "autoMode": {
        "LIM042": KARPENTER,
        "PLC006": NO_TIME,
        "PLC011": NO_TIME,
        "PLC016": NO_TIME,
        "RUN033": "its nodes boot Bottlerocket",
        "RUN135": KARPENTER,
    },
    "managedNodeGroup": {
        "HLT004": "the switch is that of Karpenter",
        "HLT057": "the release of its image has another form",
        "PLC003": "PLC021 finds it",
        "PLC006": "PLC022 finds it",
        "PLC035": "the rule is of reservations that Karpenter selects",
        "PLC085": "its rules take pools of Karpenter first, where Kueue takes them in the job's order",
        "QUE007": ALWAYS_THERE,
        "QUE010": ALWAYS_THERE,
        "RUN032": "EKS drains it by a time of its own",
    },
}
"""By variant and code, why one side alone finds something."""
SHARED = "jobs that share a runtime are reported once, at the first"
OTHER_KEY: Mapping[str, Mapping[str, str]] = {
    "parallelCluster": {
        "LIM011": "a script without GPUs has no line for them",
        "PLC016": "a partition has all reservations of its pool",
        "RUN041": SHARED,
        "RUN130": "its torchrun has other variables",
    },
    "hyperPod": {"RUN041": SHARED},
    "managedNodeGroup": {
        "PLC011": "a group is of one reservation",
        "PLC013": "a group is bought in one way",
        "PLC085": "another of two blocks stays empty",
    },
}
"""By variant and code, why it is found at other keys."""
NO_PEERS = "its pods do not know each other: no gang, and no traffic between them"
NO_TORCHRUN = "torchrun does not start it"
ALONE = "only torchrun starts processes again by itself"
PLACED_BY_RAY = "Ray starts a process for each device that a task asks for"
SILENT_KINDS: Mapping[str, Mapping[str, str]] = {
    "Job": {
        **dict.fromkeys(("EFA001", "EFA008", "EFA010", "EFA011", "EFA012", "EFA018"), NO_PEERS),
        **dict.fromkeys(("EFA020", "EFA035", "LIM008", "PLC003", "PLC013", "RUN026"), NO_PEERS),
        **dict.fromkeys(("RUN036", "RUN120", "RUN121", "RUN122"), NO_PEERS),
        **dict.fromkeys(("RUN011", "RUN031", "RUN134"), NO_TORCHRUN),
        "RUN146": ALONE,
        "RUN175": "each of its pods is started again by itself",
    },
    "MPIJob": {
        **dict.fromkeys(("RUN011", "RUN121", "RUN122", "RUN134"), NO_TORCHRUN),
        "RUN026": "its operator gives it the hosts",
        "RUN036": "mpirun gives each process its rank",
        "RUN129": "a worker that runs sshd is as it should be",
        "RUN146": ALONE,
    },
    "RayJob": {
        **dict.fromkeys(("RUN031", "RUN121", "RUN122", "RUN134"), NO_TORCHRUN),
        "RUN011": PLACED_BY_RAY,
        "RUN146": ALONE,
    },
}
"""By kind and code, why what is found in a TrainJob is not found in it."""
ENTRYPOINT = "its program is one text, the entrypoint"
OTHER_KEY_OF_KINDS: Mapping[str, Mapping[str, str]] = {
    "PyTorchJob": {"RUN041": SHARED},
    "JobSet": {"RUN041": SHARED, "RUN130": "the number of processes is a variable of it, too"},
    "Job": {"RUN041": SHARED},
    "MPIJob": {"RUN041": SHARED},
    "RayJob": {
        **dict.fromkeys(("RUN024", "RUN026", "RUN121", "RUN128", "RUN129", "RUN156"), ENTRYPOINT),
        "RUN041": SHARED,
    },
}
"""By kind and code, why it is found at other keys."""


def based(variant: str) -> dict[str, Any]:
    base = copy.deepcopy(base_spec())
    base["spec"]["network"] = NETWORK
    if variant in KINDS:
        return merged(
            base, {"spec": {"jobs": [{"name": "llama", "kind": variant, **KINDS[variant]}]}}
        )
    return merged(base, {"spec": VARIANTS[variant]}) if variant else base


compiled = lru_cache(maxsize=32)(from_spec)
"""Many examples are the same; all of them would be gigabytes."""


def findings(rule: Rule, example: str, spec: Mapping[str, Any]) -> list[Diagnostic] | None:
    """What a rule finds in its example, laid over a spec, at its keys; ``None`` where both together are no spec."""
    try:
        parts = list(yaml.load_all(example, Loader=LOADER))
    except yaml.YAMLError:
        return None
    if not isinstance(parts[0], dict) or "kind" in parts[0]:
        return None
    text = yaml.dump(_in_the_vpc(merged(spec, {"spec": parts[0]})), Dumper=DUMPER)
    try:
        plan, artifacts = compiled(text)
    except UnusableExampleError:
        return None
    config = config_for(rule, example, Config(today=DAY))
    found = run(plan, load_catalog(), (rule,), config, objects(artifacts))
    at_keys = zip(found, traced(found, artifacts), strict=True)
    return [replace(finding, at=placed.at or finding.at) for finding, placed in at_keys]


def _in_the_vpc(data: dict[str, Any]) -> dict[str, Any]:
    """A spec whose file systems lie in its own VPC, as each platform mounts them: no address is said."""
    for storage in data["spec"].get("storage", ()):
        storage.get("fsxLustre", {}).get("existing", {}).pop("address", None)
    return data


RULES = {rule.code: rule for rule in builtin_rules()}


@cache
def keys(code: str, example: str, variant: str) -> frozenset[str] | None:
    """The keys at which a rule finds something; ``None`` where that is no spec of the variant."""
    found = findings(RULES[code], example, based(variant))
    return None if found is None else frozenset(str(finding.at) for finding in found)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_wrong_is_found_at_the_same_key(variant: str) -> None:
    one_side, other_key, compared = set(), set(), 0
    rules = drawn(builtin_rules(), 18, variant)
    for rule in rules:
        for example in (*rule.fails, *rule.passes):
            ours, theirs = keys(rule.code, example, ""), keys(rule.code, example, variant)
            if ours is None or theirs is None:
                continue
            compared += 1
            if bool(ours) != bool(theirs):
                one_side.add(rule.code)
            elif ours != theirs:
                other_key.add(rule.code)
    walked = {rule.code for rule in rules}
    assert compared >= at_least(180)
    assert one_side == reasons_of(ONE_SIDE.get(variant, {}), walked).keys()
    assert other_key == reasons_of(OTHER_KEY.get(variant, {}), walked).keys()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_with_a_job_is_found_in_every_kind(kind: str) -> None:
    silent, other_key, compared = set(), set(), 0
    rules = drawn(about_jobs(), 11, kind)
    for rule in rules:
        for example in rule.fails:
            ours, theirs = keys(rule.code, example, ""), keys(rule.code, example, kind)
            if not ours or theirs is None:
                continue
            compared += 1
            if not theirs:
                silent.add(rule.code)
            elif ours != theirs:
                other_key.add(rule.code)
    walked = {rule.code for rule in rules}
    assert compared >= at_least(140)
    assert silent == reasons_of(SILENT_KINDS.get(kind, {}), walked).keys()
    assert other_key == reasons_of(OTHER_KEY_OF_KINDS[kind], walked).keys()


def test_every_kind_that_a_spec_can_write_is_walked() -> None:
    assert {*KINDS, "TrainJob"} == kinds_of_eks().keys()


def refused(platform: str) -> set[str]:
    """Names of keys that a platform takes nowhere."""
    roots = {key.path for key in keys_by_platform() if platform in key.instead}
    taken, not_taken = set(), set()
    for key in all_keys():
        path = re.sub(r"\[\]|\.NAME", "", key.path).removeprefix("spec.")
        parts = path.split(".")
        above = {".".join(parts[: depth + 1]) for depth in range(len(parts))}
        (not_taken if above & roots else taken).add(key.name)
    return not_taken - taken


WORD = re.compile(r"(?<![\w/-])[A-Za-z]+(?![\w/(=-])")
"""A word that may be a key: no part of a path or of another name."""


@pytest.mark.parametrize("platform", [name for name in PLATFORMS if name != "eks"])
def test_a_help_names_keys_that_the_platform_takes(platform: str) -> None:
    none = refused(platform)
    assert "signalFile" in refused("parallelCluster")
    timed = {"spec": {"jobs": [{"name": "llama", "timeout": "24h"}]}}
    spec = merged(based(platform), timed)
    read = 0
    rules = drawn(builtin_rules(), 25, platform)
    for rule in rules:
        for example in rule.fails:
            for finding in findings(rule, example, spec) or []:
                quoted = " ".join(re.findall(r"`([^`]*)`", finding.help))
                words = set(WORD.findall(quoted))
                assert words.isdisjoint(none), (rule.code, finding.help, words & none)
                read += 1
    assert read >= at_least(100)
