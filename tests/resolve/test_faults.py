"""Why there is no plan: each fault has its code, its place and what to write instead."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import (
    FSX,
    OLD_TRAINER,
    PAIR,
    POOL,
    RELEASE,
    components,
    document,
    faults_of,
    loaded,
    plan_of,
    resolved,
    spec,
)
from trainyard.catalog import load_catalog
from trainyard.catalog.catalog import DATA
from trainyard.core.pools.plan import NodeShare
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.nodes.plan import NodeClass, NodePool
from trainyard.language.diagnostics import Severity
from trainyard.language.units import Quantity
from trainyard.plan.scheduling import INSTANCE_TYPE
from trainyard.run.driver import check
from trainyard.run.language.load import load
from trainyard.run.outcome import Options
from trainyard.run.resolve import resolve

QUOTA = [{"pool": "gpu", "nodes": 4}]
VPC: dict[str, Any] = {
    "vpc": "vpc-0a1b2c3d",
    "subnets": [
        {"id": "subnet-0a1b2c3d", "zone": "us-west-2a"},
        {"id": "subnet-1a1b2c3d", "zone": "us-west-2b"},
    ],
}


def queue(name: str = "q", **more: Any) -> dict[str, Any]:
    return {"name": name, "namespaces": ["a"], "quota": QUOTA, **more}


def pools(*names: str) -> list[dict[str, Any]]:
    return [{**POOL, "name": name} for name in names]


def lustre(**more: Any) -> list[dict[str, Any]]:
    return [{"name": "data", "fsxLustre": {"existing": {**FSX, **more}}}]


# A spec with one fault; code; route; words of the message; words of the help.
CASES: list[tuple[dict[str, Any], str, str, str, str]] = [
    (
        spec(release=f"{RELEASE.name}0"),
        "RES001",
        "spec.release",
        f"release `{RELEASE.name}0` is unknown",
        f'did you mean `"{RELEASE.name}"`?',
    ),
    (
        spec(components=components(kueue="0.10.1")),
        "RES002",
        "spec.components.kueue.version",
        f"not supported by release {RELEASE.name}",
        f"`{RELEASE.components['kueue'].supported[-1]}.x`",
    ),
    (
        spec(components=components(keue="0.19.2")),
        "RES080",
        "spec.components.keue",
        "has no component `keue`",
        "did you mean `kueue`?",
    ),
    (
        spec(components=components(flux=RELEASE.version("flux"))),
        "RES081",
        "spec.components.flux.version",
        "the version of `flux` cannot be set by itself",
        "take another `release`",
    ),
    (
        spec(platform={"eks": {"version": "1.20"}}),
        "RES002",
        "spec.platform.eks.version",
        "not supported",
        'write one of `"1.33"`, `"1.34"`, `"1.35"`, `"1.36"`,',
    ),
    (
        spec(platform={"eks": {"version": "1.37"}}),
        "RES002",
        "spec.platform.eks.version",
        "Karpenter 1.14 lists no 1.37",
        'write one of `"1.33"`, `"1.34"`, `"1.35"`, `"1.36"`,',
    ),
    (
        spec(platform={"eks": {"version": "1.36"}}, components=components(karpenter="1.11.1")),
        "RES235",
        "spec.components.karpenter.version",
        "karpenter `1.11.1` does not support Kubernetes 1.36, which needs 1.13",
        "write `1.13.0` or later",
    ),
    (
        spec(region="us-wset-2", pool={"zones": None}),
        "RES003",
        "spec.region",
        "`us-wset-2` is unknown",
        "did you mean `us-west-2`?",
    ),
    (
        spec(region="us-est-2", pool={"zones": ["us-east-2a"]}),
        "RES003",
        "spec.region",
        "`us-est-2` is unknown",
        "did you mean `us-east-2`?",
    ),
    (
        spec(
            region="us-est-2",
            pool={"zones": None},
            network={"create": {"zones": ["us-east-2a", "us-east-2b"]}},
        ),
        "RES003",
        "spec.region",
        "`us-est-2` is unknown",
        "did you mean `us-east-2`?",
    ),
    (
        spec(region="us-gov-west-1", pool={"zones": ["us-west-2a"]}),
        "RES004",
        "spec.nodePools[0].zones[0]",
        "`us-west-2a` is not in region `us-gov-west-1`",
        "like `us-gov-west-1a`",
    ),
    (
        spec(pool={"zones": ["eu-west-1a"]}),
        "RES004",
        "spec.nodePools[0].zones[0]",
        "`eu-west-1a` is not in region `us-west-2`",
        "us-west-2 has `us-west-2a`",
    ),
    (
        spec(network={"create": {"zones": ["us-west-2b", "eu-west-1a"]}}),
        "RES004",
        "spec.network.create.zones[1]",
        "`eu-west-1a`",
        "`us-west-2a`",
    ),
    (
        spec(
            network={
                "existing": {
                    **VPC,
                    "subnets": [
                        *VPC["subnets"],
                        {"id": "subnet-2a1b2c3d", "zone": "us-east-1a", "public": True},
                    ],
                }
            }
        ),
        "RES004",
        "spec.network.existing.subnets[2].zone",
        "`us-east-1a`",
        "us-west-2 has",
    ),
    (
        spec(storage=lustre(zone="eu-west-1a")),
        "RES004",
        "spec.storage[0].fsxLustre.existing.zone",
        "`eu-west-1a`",
        "us-west-2 has",
    ),
    (
        spec(pool={"instanceTypes": ["p4d.24xlrge"]}),
        "RES005",
        "spec.nodePools[0].instanceTypes[0]",
        "`p4d.24xlrge` is unknown",
        "did you mean `p4d.24xlarge`?",
    ),
    (
        spec(pool={"instanceTypes": ["zz9.huge"]}),
        "RES005",
        "spec.nodePools[0].instanceTypes[0]",
        "`zz9.huge`",
        "trainyard catalog",
    ),
    (
        spec(platform={"eks": {"systemNodes": {"instanceType": "m7i.2xlrge"}}}),
        "RES005",
        "spec.platform.eks.systemNodes.instanceType",
        "`m7i.2xlrge`",
        "`m7i.2xlarge`",
    ),
    (
        spec(pool={"zones": None, "instanceTypes": ["g6e.48xlarge"]}),
        "RES006",
        "spec.nodePools[0]",
        "`gpu` names no zone",
        "add `zones:` with one of `us-west-2a`",
    ),
    (
        spec(pool={"instanceTypes": ["g5g.metal"], "zones": ["us-west-2a"], "efa": True}),
        "RES007",
        "spec.nodePools[0].efa",
        "`g5g.metal` has no EFA",
        "remove it",
    ),
    (
        spec(pool={"zones": None, "instanceTypes": ["p5e.48xlarge"]}),
        "RES006",
        "spec.nodePools[0]",
        "`gpu` names no zone",
        "add `zones:`; `p5e.48xlarge` is offered in `usw2-az3`",
    ),
    (
        spec(network={"zoneIds": {"us-west-2b": "use1-az1"}}),
        "RES004",
        "spec.network.zoneIds.us-west-2b",
        "zone `use1-az1` is not in region `us-west-2`",
        "us-west-2 has `usw2-az1`",
    ),
    (
        spec(
            network={"zoneIds": {"us-west-2b": "usw2-az1"}},
            pool={"instanceTypes": ["p5e.48xlarge"]},
        ),
        "RES008",
        "spec.nodePools[0].zones[0]",
        "not offered in `us-west-2b` (usw2-az1)",
        "it is offered in `usw2-az3`",
    ),
    (
        spec(
            network={"zoneIds": {"us-west-2b": "usw2-az1", "us-west-2a": "usw2-az3"}},
            pool={"instanceTypes": ["p5e.48xlarge"]},
        ),
        "RES008",
        "spec.nodePools[0].zones[0]",
        "not offered in `us-west-2b`",
        "it is offered in `us-west-2a`",
    ),
    (
        spec(
            region="eu-north-1", pool={"instanceTypes": ["p5e.48xlarge"], "zones": ["eu-north-1b"]}
        ),
        "RES008",
        "spec.nodePools[0].zones[0]",
        "not offered in `eu-north-1b`",
        "it is offered in `eu-north-1a`",
    ),
    (
        spec(
            region="us-east-1",
            pool={"zones": ["us-east-1a"]},
            network={
                "create": {"zones": ["us-east-1a", "us-east-1b"]},
                "zoneIds": {"us-east-1b": "use1-az3"},
            },
        ),
        "RES050",
        "spec.network.create.zones[1]",
        "`us-east-1b` is zone `use1-az3`",
        "take another zone of us-east-1",
    ),
    (
        spec(network={"existing": {**VPC, "subnets": VPC["subnets"][1:]}}),
        "RES347",
        "spec.network.existing.subnets",
        "private subnets in fewer than two zones",
        "add a private subnet of another zone",
    ),
    (
        spec(pool={"nodes": {"min": 2, "max": 4}}),
        "RES348",
        "spec.nodePools[0].nodes.min",
        "has 2 to 4 nodes, and Karpenter keeps a fixed number",
        "`min: 0`",
    ),
    (
        spec(region="af-south-1", pool={"zones": ["af-south-1a"]}),
        "RES008",
        "spec.nodePools[0].instanceTypes[0]",
        "`p4d.24xlarge` is not offered in af-south-1",
        "us-west-2",
    ),
    (
        spec(nodePools=pools("gpu", "gpu")),
        "RES009",
        "spec.nodePools[1].name",
        "pool `gpu` is declared twice",
        "`spec.nodePools[0]` has it",
    ),
    (
        spec(jobs=[{"name": "a", "image": "a:1", "command": ["x"]}] * 2),
        "RES009",
        "spec.jobs[1].name",
        "job `a`",
        "rename",
    ),
    (
        spec(queues=[queue(), queue()]),
        "RES009",
        "spec.queues[1].name",
        "queue `q` is declared twice",
        "rename",
    ),
    (
        spec(queues=[queue(quota=QUOTA * 2)]),
        "RES009",
        "spec.queues[0].quota[1].pool",
        "quota of queue `q` in pool `gpu`",
        "remove one",
    ),
    (
        spec(priorities=[{"name": "p", "value": 1}] * 2),
        "RES009",
        "spec.priorities[1].name",
        "priority `p`",
        "rename",
    ),
    (spec(storage=lustre() * 2), "RES009", "spec.storage[1].name", "storage `data`", "rename"),
    (
        spec(namespaces=[{"name": "a"}] * 2, queues=[queue()]),
        "RES009",
        "spec.namespaces[1].name",
        "namespace `a`",
        "rename",
    ),
    (spec(cohorts=[{"name": "c"}] * 2), "RES009", "spec.cohorts[1].name", "cohort `c`", "rename"),
    (
        spec(network={"create": {"zones": ["us-west-2a", "us-west-2c"]}}),
        "RES010",
        "spec.nodePools[0].zones[0]",
        "the network has no subnet in `us-west-2b`",
        "the network is in `us-west-2a`, `us-west-2c`",
    ),
    (
        spec(job={"pool": "gpuu"}),
        "RES011",
        "spec.jobs[0].pool",
        "pool `gpuu` is not declared",
        "did you mean `gpu`?",
    ),
    (
        spec(queues=[queue(quota=[*QUOTA, {"pool": "gqu", "nodes": 1}])]),
        "RES011",
        "spec.queues[0].quota[1].pool",
        "pool `gqu` is not declared",
        "write one of `gpu`",
    ),
    (
        spec(storage=lustre(), job={"mounts": [{"storage": "dta", "path": "/d"}]}),
        "RES012",
        "spec.jobs[0].mounts[0].storage",
        "storage `dta` is not declared",
        "did you mean `data`?",
    ),
    (
        spec(job={"mounts": [{"storage": "dta", "path": "/d"}]}),
        "RES012",
        "spec.jobs[0].mounts[0].storage",
        "`dta`",
        "declare it under `storage:`",
    ),
    (
        spec(queues=[queue()], job={"namespace": "b"}),
        "RES013",
        "spec.jobs[0].namespace",
        "queue `q` takes no jobs from namespace `b`",
        "write one of `a`",
    ),
    (
        spec(namespaces=[{"name": "team-a"}], queues=[queue(namespaces=["team-b"])]),
        "RES013",
        "spec.queues[0].namespaces[0]",
        "namespace `team-b` is not declared",
        "did you mean `team-a`?",
    ),
    (
        spec(cohorts=[{"name": "all"}], queues=[queue(cohort="al")]),
        "RES014",
        "spec.queues[0].cohort",
        "cohort `al` is not declared",
        "did you mean `all`?",
    ),
    (
        spec(platform={"eks": {"addons": {"aws-fsx-csi-driver": {}}}}),
        "RES070",
        "spec.platform.eks.addons.aws-fsx-csi-driver",
        "add-on `aws-fsx-csi-driver` would be installed twice",
        "remove it",
    ),
    (
        spec(cohorts=[{"name": "all", "parentName": "top"}]),
        "RES014",
        "spec.cohorts[0].parentName",
        "cohort `top`",
        "write one of",
    ),
    (
        spec(priorities=[{"name": "high", "value": 1}], job={"priority": "hihg"}),
        "RES015",
        "spec.jobs[0].priority",
        "priority `hihg` is not declared",
        "did you mean `high`?",
    ),
    (
        spec(queues=[queue("research")], job={"queue": "reserch"}),
        "RES016",
        "spec.jobs[0].queue",
        "queue `reserch` is not declared",
        "did you mean `research`?",
    ),
    (
        spec(queues=[queue("a"), queue("b")]),
        "RES017",
        "spec.jobs[0]",
        "names no queue, and there are 2",
        "add `queue:` with one of `a`, `b`",
    ),
    (
        spec(nodePools=pools("a", "b")),
        "RES017",
        "spec.jobs[0]",
        "names no pool, and there are 2",
        "one of `a`, `b`",
    ),
    (
        spec(queues=[queue(namespaces=["a", "b"])]),
        "RES017",
        "spec.jobs[0]",
        "names no namespace",
        "one of `a`, `b`",
    ),
    (
        spec(platform={"eks": {"systemNodes": {"instanceType": "p4d.24xlarge"}}}),
        "RES018",
        "spec.platform.eks.systemNodes.instanceType",
        "have 8 accelerators",
        "`m7i.2xlarge`",
    ),
    (
        spec(pool={"instanceTypes": ["p6e-gb200.36xlarge"]}),
        "RES175",
        "spec.nodePools[0].instanceTypes[0]",
        "is a node of an UltraServer",
        "`p6-b200.48xlarge`",
    ),
    (
        spec(pool={"taints": [{"key": "nvidia.com/gpu", "value": "true"}]}),
        "RES020",
        "spec.nodePools[0].taints[0]",
        "`nvidia.com/gpu:NoSchedule` is set twice",
        "by themselves",
    ),
    (
        spec(pool={"taints": [{"key": "a"}, {"key": "a", "value": "b"}]}),
        "RES020",
        "spec.nodePools[0].taints[1]",
        "`a:NoSchedule` is set twice",
        "remove one",
    ),
    (
        spec(queues=[queue(namespaces=["kube-system"])]),
        "RES021",
        "spec.queues[0].namespaces",
        "namespace `kube-system` belongs to the system",
        "of the team's own",
    ),
    (
        spec(namespaces=[{"name": "kueue-system"}]),
        "RES021",
        "spec.namespaces[0]",
        "`kueue-system`",
        "the team's own",
    ),
    (
        spec(storage=lustre(size="1300Gi")),
        "RES022",
        "spec.storage[0].fsxLustre.existing.size",
        "no PERSISTENT_2 file system has a size of `1300Gi`",
        "`1200Gi` or `2400Gi`",
    ),
    (
        spec(storage=lustre(size="1200G")),
        "RES022",
        "spec.storage[0].fsxLustre.existing.size",
        "has a size of",
        "`1200Gi`",
    ),
    (
        spec(storage=lustre(deployment="SCRATCH_1", size="4800Gi", mountName="fsx")),
        "RES022",
        "spec.storage[0].fsxLustre.existing.size",
        "no SCRATCH_1",
        "`3600Gi` or `7200Gi`",
    ),
    (
        spec(storage=lustre(deployment="PERSISTENT_1", throughputPerTiB=12, size="1200Gi")),
        "RES022",
        "spec.storage[0].fsxLustre.existing.size",
        "no PERSISTENT_1",
        "`6000Gi`",
    ),
    (
        spec(storage=lustre(throughputPerTiB=100)),
        "RES023",
        "spec.storage[0].fsxLustre.existing.throughputPerTiB",
        "a throughput of 100 MB/s",
        "write one of `125`, `250`, `500`, `1000`",
    ),
    (
        spec(storage=lustre(deployment="SCRATCH_2", throughputPerTiB=200)),
        "RES023",
        "spec.storage[0].fsxLustre.existing.throughputPerTiB",
        "no SCRATCH_2",
        "remove it",
    ),
    (
        spec(job={"nodes": 1, "model": {"parameters": 70e9}}),
        "RES024",
        "spec.jobs[0].model.parameters",
        "alone take 130.4 GiB of each accelerator, which has 40.0 GiB",
        "write `sharding: full`",
    ),
    (
        spec(
            pool={"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]},
            job={"resources": {"accelerators": 1}},
        ),
        "RES025",
        "spec.jobs[0].resources.accelerators",
        "`m7i.16xlarge` has none",
        "remove it",
    ),
    (
        spec(network={"create": {"cidr": "10.0.0.0/24"}}, pool={"nodes": {"max": 16}}),
        "RES026",
        "spec.network.create.cidr",
        "is a /27 with 27 addresses; 16 nodes and their pods need 32 at least",
        "`10.0.0.0/16`",
    ),
    (
        spec(job={"timeout": "2h", "checkpoint": {"path": "/tmp/c", "every": "2h"}}),
        "RES029",
        "spec.jobs[0].checkpoint.every",
        "is ended after 2h, before it saves",
        "more often than every 2h",
    ),
    (
        spec(storage=lustre(), job={"mounts": [{"storage": "data", "path": "/dev/shm/"}]}),
        "RES031",
        "spec.jobs[0].mounts[0].path",
        "`data` at `/dev/shm/`, where the shared memory of its programs",
        "another path",
    ),
    (
        spec(
            storage=lustre(),
            job={"mounts": [{"storage": "data", "path": "/a"}, {"storage": "data", "path": "/a/"}]},
        ),
        "RES031",
        "spec.jobs[0].mounts[1].path",
        "where another mount is",
        "another path",
    ),
    (
        spec(pool={"instanceTypes": ["g6f.2xlarge"]}),
        "RES032",
        "spec.nodePools[0].instanceTypes[0]",
        "has 0.25 of a GPU",
        "`g6.xlarge`",
    ),
    (
        spec(
            storage=lustre(),
            job={
                "checkpoint": {"path": "/a/b/c"},
                "mounts": [
                    {"storage": "data", "path": "/a"},
                    {"storage": "data", "path": "/a/b", "readOnly": True},
                ],
            },
        ),
        "RES035",
        "spec.jobs[0].checkpoint.path",
        "saves to `/a/b/c`, which is mounted read-only",
        "the mount at `/a/b`",
    ),
    (
        spec(region="us-gov-west-1", pool={"zones": ["us-gov-west-1a"]}),
        "RES038",
        "spec.region",
        "of `us-gov-west-1` only `us-gov-west-1a` is known",
        "`network: {create: {zones: [us-gov-west-1a, …]}}`",
    ),
    (
        spec(job={"resources": {"cpu": "95200m"}}),
        "RES037",
        "spec.jobs[0].resources.cpu",
        "asks for 95200m of `cpu` a node, and the DaemonSets that may come leave 95130m of `p4d.24xlarge`",
        "ask for at most 95130m",
    ),
    (
        spec(job={"resources": {"memory": "1061000Mi"}}),
        "RES037",
        "spec.jobs[0].resources.memory",
        "asks for 1061000Mi of `memory` a node, and the DaemonSets that may come leave 1060214Mi of `p4d.24xlarge`",
        "ask for at most 1035Gi",
    ),
    (
        spec(components=components(trainer=OLD_TRAINER, kueue=RELEASE.version("kueue"))),
        "RES034",
        "spec.components.kueue.version",
        f"kueue `{RELEASE.version('kueue')}` does not work with trainer `{OLD_TRAINER}`",
        f"take kueue `{PAIR.version}` with trainer {PAIR.minor}",
    ),
    (
        spec(components=components(kueue=PAIR.version)),
        "RES034",
        "spec.components.kueue.version",
        f"kueue `{PAIR.version}` does not work with trainer `{RELEASE.version('trainer')}`",
        "left out, kueue follows",
    ),
    (
        spec(pool={"instanceTypes": ["c7g.medium"]}),
        "RES033",
        "spec.nodePools[0].instanceTypes[0]",
        "leaves no whole CPU",
        "a larger size of c7g",
    ),
    (
        spec(pool={"instanceTypes": ["t3.nano"], "zones": ["us-west-2a"]}),
        "RES033",
        "spec.nodePools[0].instanceTypes[0]",
        "or no GiB",
        "a larger size of t3",
    ),
    (
        spec(job={"env": {"A": "x"}, "secretEnv": [{"env": "A", "secret": "s", "key": "k"}]}),
        "RES009",
        "spec.jobs[0].secretEnv[0].env",
        "variable `A` of job `train` is declared twice",
        "rename",
    ),
    (
        spec(components=components(trainer=OLD_TRAINER), job={"timeout": "1h"}),
        "RES028",
        "spec.jobs[0].timeout",
        "job `train` has a timeout, and Trainer `" + OLD_TRAINER + "` knows none",
        "remove it",
    ),
]


@pytest.mark.parametrize(("data", "code", "at", "message", "help"), CASES)
def test_each_fault_is_told_at_its_place(
    data: dict[str, Any], code: str, at: str, message: str, help: str
) -> None:
    plan, found = resolved(data)
    assert plan is None
    assert [(each.code, str(each.at)) for each in found] == [(code, at)]
    assert message in found[0].message
    assert help in found[0].help
    assert not found[0].message.endswith(".")


TEXT = """\
apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: lab}
spec:
  account: "111122223333"
  region: us-west-2
  nodePools:
    - name: gpu
      instanceTypes: [p5e.48xlarge]
      zones: [us-west-2a]
      nodes: {max: 4}
  queues:
    - name: one
      namespaces: [a, b]
      quota:
        - {pool: gpv, nodes: 4}
  jobs:
    - name: train
      image: a:1
      command: [x]
      priority: high
"""


def test_all_faults_are_told_at_once_each_on_its_line() -> None:
    source = document(TEXT)
    model, faults = load(source)
    assert model is not None, faults
    found = [each.locate(source) for each in resolve(model, load_catalog())[1]]
    assert sorted((each.code, each.span.line, each.span.column) for each in found if each.span) == [
        ("RES008", 10, 15),
        ("RES011", 16, 18),
        ("RES015", 21, 17),
        ("RES017", 18, 7),
    ]


def test_a_pool_that_has_a_fault_of_its_own_makes_no_second_one() -> None:
    data = spec(
        pool={"instanceTypes": ["p4d.24xlrge"]}, queues=[queue()], job={"pool": "gpu", "queue": "q"}
    )
    assert [each.code for each in faults_of(data)] == ["RES005"]


# --- the model against the memory


def test_a_type_that_a_region_lacks_is_told_once_for_all_zones() -> None:
    data = spec(region="af-south-1", pool={"zones": ["af-south-1a", "af-south-1b"]})
    assert [each.code for each in faults_of(data)] == ["RES008"]


def test_a_region_that_nobody_knows_is_told_without_its_zones() -> None:
    assert [each.code for each in faults_of(spec(region="us-wst-2"))] == ["RES003"]


# --- file systems and subnets


@pytest.mark.parametrize(
    ("deployment", "sizes"),
    [
        ("SCRATCH_1", (1200, 2400, 3600, 7200)),
        ("SCRATCH_2", (1200, 2400, 4800, 38400)),
        ("PERSISTENT_1", (1200, 2400, 1800, 6000)),
        ("PERSISTENT_2", (1200, 2400, 14400, 38400)),
    ],
)
def test_sizes_that_a_file_system_can_have(deployment: str, sizes: tuple[int, ...]) -> None:
    for size in sizes:
        mount = "fsx" if deployment == "SCRATCH_1" else "abcdefgh"
        assert (
            faults_of(
                spec(storage=lustre(deployment=deployment, size=f"{size}Gi", mountName=mount))
            )
            == []
        )


@pytest.mark.parametrize(
    ("deployment", "throughput", "size"),
    [
        ("PERSISTENT_1", 12, 6000),
        ("PERSISTENT_1", 40, 1800),
        ("PERSISTENT_1", 200, 1200),
        ("PERSISTENT_2", 1000, 2400),
    ],
)
def test_throughputs_that_a_file_system_can_have(
    deployment: str, throughput: int, size: int
) -> None:
    storage = lustre(deployment=deployment, throughputPerTiB=throughput, size=f"{size}Gi")
    assert faults_of(spec(storage=storage)) == []


@pytest.mark.parametrize(
    ("cidr", "nodes", "fits"),
    [
        ("10.0.0.0/24", 13, True),
        ("10.0.0.0/24", 14, False),
        ("10.0.0.0/16", 4000, True),
        (None, 5000, False),
    ],
)
def test_a_new_subnet_has_an_address_for_each_node_and_its_pod(
    cidr: str | None, nodes: int, fits: bool
) -> None:
    network = {"create": {"cidr": cidr}} if cidr else {}
    found = faults_of(spec(network=network, pool={"nodes": {"max": nodes}}, job={"nodes": 4}))
    errors = [each.code for each in found if each.severity is Severity.ERROR]
    assert errors == ([] if fits else ["RES026"])


def test_an_imported_network_is_not_measured() -> None:
    plan = plan_of(spec(network={"existing": VPC}, pool={"nodes": {"max": 5000}}))
    assert [each.id for each in plan.of(NodeClass)[0].subnets] == ["subnet-1a1b2c3d"]
    assert plan.of(NodePool)[0].limits == {"nvidia.com/gpu": Quantity.of(40_000)}


def test_an_imported_network_with_blocks_is_measured() -> None:
    subnets = [
        {**subnet, "cidr": f"10.0.{index}.0/24"} for index, subnet in enumerate(VPC["subnets"])
    ]
    existing = {**VPC, "subnets": subnets}
    (found,) = faults_of(spec(network={"existing": existing}, pool={"nodes": {"max": 126}}))
    assert found.code == "RES026"
    assert str(found.at) == "spec.network.existing.subnets[1].cidr"
    assert "`us-west-2b` have 251 addresses; 126 nodes" in found.message
    (found,) = faults_of(spec(network={"existing": existing}, pool={"nodes": {"max": 125}}))
    assert (found.code, found.severity) == ("RES151", Severity.WARNING)


def test_several_types_make_one_pool_without_efa() -> None:
    several = {
        "instanceTypes": ["m7i.16xlarge", "m7i.24xlarge"],
        "zones": ["us-west-2a"],
        "capacity": [{"spot": {}}, {"onDemand": {}}],
    }
    plan = plan_of(spec(pool=several, job={"nodes": 1}))
    (pool,) = plan.of(NodePool)
    assert pool.values(INSTANCE_TYPE) == ("m7i.16xlarge", "m7i.24xlarge")
    assert pool.capacity_types == ("spot", "on-demand")
    assert not plan.of(NodeClass)[0].interfaces
    shares = [
        plan_of(spec(pool={**several, "instanceTypes": [name]}, job={"nodes": 1}))
        .of(NodeShare)[0]
        .resources
        for name in several["instanceTypes"]
    ]
    (share,) = plan.of(NodeShare)
    assert share.resources["memory"] == min(one["memory"] for one in shares)


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ({"instanceTypes": ["g6e.12xlarge", "g6e.48xlarge"]}, "4 and 8 accelerators"),
        ({"instanceTypes": ["g6e.12xlarge", "g6.12xlarge"]}, "accelerators `L40S` and `L4`"),
        ({"instanceTypes": ["g5g.metal", "g5.48xlarge"]}, "architectures `arm64` and `amd64`"),
        (
            {"instanceTypes": ["g6.8xlarge", "g6.16xlarge"], "efa": True},
            "has EFA, and nodes of several types",
        ),
    ],
)
def test_nodes_that_cannot_stand_for_each_other(pool: dict[str, Any], message: str) -> None:
    found = faults_of(spec(pool={"zones": ["us-west-2a"], **pool}, job={"nodes": 1}))
    assert [fault.code for fault in found] == ["RES051"]
    assert message in found[0].message


def test_facts_that_a_refresh_brought_lift_the_fault_of_unknown_cards() -> None:
    data = spec(pool={"instanceTypes": ["p6e-gb200.36xlarge"]})
    assert loaded(data)
    known = load_catalog().instance("p6e-gb200.36xlarge")
    assert known is not None
    assert {"network_cards", "efa_interfaces"} <= known.unknown


def test_cards_that_no_source_states_are_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only type of the catalog without them is refused for more than that."""
    monkeypatch.setattr("trainyard.core.pools.pools.ULTRASERVERS", ())
    (fault,) = faults_of(spec(pool={"instanceTypes": ["p6e-gb200.36xlarge"]}))
    assert fault.code == "RES019"
    assert "the EFA interfaces and network cards of `p6e-gb200.36xlarge`" in fault.message
    assert "trainyard catalog refresh" in fault.help


def test_a_zone_of_which_nobody_knows_where_it_is_gets_a_warning() -> None:
    """Names of us-west-2 differ by account: the catalog's are those of the account that its answers are from."""
    plan, found = resolved(spec(pool={"instanceTypes": ["p5e.48xlarge"]}))
    assert plan is not None
    (doubt,) = found
    assert (doubt.code, doubt.severity, str(doubt.at)) == (
        "RES008",
        Severity.WARNING,
        "spec.nodePools[0].zones[0]",
    )
    assert doubt.message == (
        "`p5e.48xlarge` may not be offered in `us-west-2b`: us-west-2 has it in `usw2-az3`, "
        "and names of zones differ by account"
    )
    assert "network: {zoneIds: {us-west-2b: usw2-az1}}" in doubt.help
    assert "trainyard catalog refresh --region us-west-2" in doubt.help


@pytest.mark.parametrize("zone_id", ["usw2-az3", "usw2-az9"])
def test_a_zone_with_its_id_is_taken_for_what_it_is(zone_id: str) -> None:
    """One that has the type in the catalog, and one that the catalog does not know."""
    plan, found = resolved(
        spec(pool={"instanceTypes": ["p5e.48xlarge"]}, network={"zoneIds": {"us-west-2b": zone_id}})
    )
    assert plan is not None
    assert found == []


@pytest.mark.parametrize(
    ("account", "severity"),
    [("111122223333", Severity.ERROR), ("", Severity.ERROR), ("999988887777", Severity.WARNING)],
)
def test_names_of_a_refreshed_region_are_those_of_the_account_that_was_asked(
    account: str, severity: Severity, tmp_path: Path
) -> None:
    facts = json.loads((DATA / "instances.json").read_bytes())
    overlay = {
        "schema": facts["schema"],
        "sources": [],
        "account": account,
        "regions": {"us-west-2": "abcd"},
        "zone_ids": {"us-west-2": {"a": "usw2-az3", "b": "usw2-az1"}},
        "instances": {
            "p5e.48xlarge": {**facts["instances"]["p5e.48xlarge"], "zones": "us-west-2:a"}
        },
    }
    (tmp_path / "catalog.json").write_text(json.dumps(overlay))
    catalog = load_catalog(tmp_path / "catalog.json")
    assert catalog.faults == ()
    _, found = resolve(loaded(spec(pool={"instanceTypes": ["p5e.48xlarge"]})), catalog)
    assert [(each.code, each.severity) for each in found if each.code == "RES008"] == [
        ("RES008", severity)
    ]


def test_a_network_that_is_derived_leaves_zones_without_eks_out() -> None:
    """As far as their ids are known."""
    ids = {"us-east-1a": "use1-az3", "us-east-1b": "use1-az1", "us-east-1c": "use1-az2"}
    plan, found = resolved(
        spec(region="us-east-1", pool={"zones": ["us-east-1b"]}, network={"zoneIds": ids})
    )
    assert plan is not None, found
    assert plan.one(Cluster) is not None
    assert plan.one(Cluster).network.zones == ("us-east-1b", "us-east-1c")


def test_a_name_that_the_account_may_not_have_gets_a_warning(tmp_path: Path) -> None:
    """In Tokyo each account has names of its own, for four zones; elsewhere an unknown one is an error."""
    tokyo = spec(region="ap-northeast-1", pool={"zones": ["ap-northeast-1b"]})
    _, found = resolved(tokyo)
    # RES008: nor is it known whether its type is offered there.
    assert [(each.code, each.severity) for each in found] == [
        ("RES004", Severity.WARNING),
        ("RES008", Severity.WARNING),
    ]
    assert all(each.help and "{ap-northeast-1b: apne1-az4}" in each.help for each in found)
    tokyo["spec"]["network"] = {"zoneIds": {"ap-northeast-1b": "apne1-az4"}}
    _, found = resolved(tokyo)
    assert found == []
    file = tmp_path / "tokyo.yaml"
    file.write_text(yaml.safe_dump(tokyo))
    done = check([file], Options(today=date(2026, 11, 23)))
    assert [each.message for each in done.all() if each.code != "RUN151"] == []
    for zone in ("ap-northeast-1e", "us-west-2e", "us-west-2z"):
        _, found = resolved(spec(region=zone[:-1], pool={"zones": [zone]}))
        assert [(each.code, each.severity) for each in found] == [("RES004", Severity.ERROR)]
    _, found = resolved(spec(region="us-east-2", pool={"zones": ["us-east-2z"]}))
    assert [(each.code, each.severity) for each in found] == [("RES004", Severity.ERROR)]
