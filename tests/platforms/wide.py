"""Clusters that have between them every section of the language, for any platform: each without what it refuses.

A platform has a small cluster, in ``clusters.py`` of its folder here; those of this file are laid over it.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from trainyard.catalog import load_catalog
from trainyard.plan.features import Platform

from tests.platforms.small import own_parts, small

ZONE = "us-west-2b"
KEY = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
NAMESPACE = "hyperpod-ns-research"
IMAGE = "registry.test/train:1.0"
BASE = (
    "public.ecr.aws/deep-learning-containers/pytorch-training@sha256:"
    "f861e28dd9b8ecc86722bd37306b2f7b7e74336bc9c98dba37223cf031d04a7a"
)
NETWORK = {
    "existing": {
        "vpc": "vpc-0a1b2c3d4e5f60718",
        "subnets": [
            {"id": "subnet-0a1b2c3d4e5f60718", "zone": ZONE, "cidr": "10.0.0.0/18"},
            {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2c", "cidr": "10.0.64.0/18"},
            {"id": "subnet-0a1b2c3d4e5f60720", "zone": "us-west-2c", "public": True},
        ],
        "securityGroups": ["sg-0a1b2c3d4e5f60718"],
    }
}
POOL = {
    "name": "a100",
    "instanceTypes": ["p4d.24xlarge"],
    "zones": [ZONE],
    "nodes": 8,
    "rootVolume": {"size": "500Gi", "iops": 6000, "throughput": 500},
}
CREATED_LUSTRE = {
    "size": "4800Gi",
    "deployment": "PERSISTENT_2",
    "throughputPerTiB": 250,
    "version": "2.15",
    "zone": ZONE,
    "compression": "LZ4",
    "metadata": {"mode": "USER_PROVISIONED", "iops": 12000},
    "kmsKey": KEY,
    "maintenance": "7:04:00",
}
STORAGE = [
    {
        "name": "work",
        "fsxLustre": {
            "existing": {
                "id": "fs-0a1b2c3d4e5f60718",
                "mountName": "abcdefgh",
                "size": "4800Gi",
                "version": "2.15",
                "deployment": "PERSISTENT_2",
                "throughputPerTiB": 250,
            }
        },
    },
    {"name": "datasets", "s3": {"existing": {"bucket": "datasets-111122223333"}, "prefix": "a/"}},
]
QUEUE = {"name": "research", "namespaces": [NAMESPACE], "quota": [{"pool": "a100", "nodes": 4}]}
OTHER_QUEUE = {
    "name": "other",
    "namespaces": ["hyperpod-ns-other"],
    "quota": [{"pool": "a100", "nodes": 4}],
}
SECRET = {
    "name": "hf",
    "namespaces": [NAMESPACE],
    "secretsManager": {
        "existing": {"name": "team/hf", "kmsKey": KEY},
        "keys": {"token": "hf_token", "other": "hf_other"},
    },
}
MODEL = {
    "parameters": 8.03e9,
    "shape": {
        "layers": 32,
        "hidden": 4096,
        "heads": 32,
        "kvHeads": 8,
        "headSize": 128,
        "ffn": 14336,
        "vocabulary": 128256,
    },
    "batch": {"sequenceLength": 8192, "microBatchSize": 1, "globalBatchSize": 512, "tokens": 15e12},
    "sharding": "full",
}
JOB = {
    "name": "train",
    "queue": "research",
    "nodes": 4,
    "image": IMAGE,
    "command": ["torchrun", "t.py"],
    "mounts": [{"storage": "work", "path": "/work"}],
    "secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}],
    "checkpoint": {"path": "/work/train", "every": "30m"},
    "timeout": "72h",
    "retries": 2,
}
BLOCK = {
    "reservations": [
        {"id": "cr-0a1b2c3d4e5f60718", "nodes": 4},
        {"id": "cr-0a1b2c3d4e5f60719", "nodes": 4},
    ],
    "starts": "2026-12-01T11:30:00Z",
    "ends": "2026-12-15T11:30:00Z",
}
WHOLE = {
    "network": NETWORK,
    "nodePools": [POOL],
    "storage": STORAGE,
    "namespaces": [{"name": NAMESPACE}, {"name": "hyperpod-ns-other"}],
    "queues": [QUEUE, OTHER_QUEUE],
    "priorities": [{"name": "urgent", "value": 1000}, {"name": "later", "value": 100}],
    "secrets": [SECRET],
    "jobs": [JOB],
}


def _job(**keys: Any) -> dict[str, Any]:
    return {"jobs": [JOB | keys]}


def _pool(**keys: Any) -> dict[str, Any]:
    return {"nodePools": [POOL | keys]}


def _storage(**keys: Any) -> dict[str, Any]:
    return {"storage": [*STORAGE, keys]}


def _imported(repository: dict[str, str]) -> dict[str, Any]:
    """A file system that is made, with a data repository."""
    create = {"size": "4800Gi", "throughputPerTiB": 250, "dataRepositories": [repository]}
    return _storage(name="made", fsxLustre={"create": create})


def _mounting(mounts: list[dict[str, Any]], **keys: Any) -> dict[str, Any]:
    return _job(mounts=[*JOB["mounts"], *mounts], **keys)


PARTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "cohorts": {
        "cohorts": [{"name": "training", "parentName": "company"}, {"name": "company"}],
        "queues": [QUEUE | {"cohort": "training"}, OTHER_QUEUE | {"cohort": "training"}],
        "kueue": {"fairSharing": {}, "waitForPodsReady": {"timeout": "40m"}},
    },
    "a model": _job(model=MODEL),
    "a zone of some types": _pool(instanceTypes=["trn1.32xlarge"]),
    "a block": _pool(capacity={"block": BLOCK}),
    "reservations": _pool(capacity={"reserved": {"reservations": BLOCK["reservations"]}}),
    "a managed node group": _pool(
        managedNodeGroup={
            "nodeRepairConfig": {
                "nodeRepairConfigOverrides": [
                    {
                        "nodeMonitoringCondition": "AcceleratedHardwareReady",
                        "nodeUnhealthyReason": "NvidiaXID79Error",
                        "minRepairWaitTimeMins": 5,
                        "repairAction": "Reboot",
                    }
                ]
            }
        }
    ),
    "MIG": _pool(gpuSharing={"mig": {"profile": "1g.5gb"}}, efa=False)
    | _job(nodes=1, resources={"accelerators": 1}, command=["python", "t.py"]),
    "time slicing": _pool(gpuSharing={"timeSlicing": {"replicas": 4}}, efa=False)
    | _job(nodes=1, resources={"accelerators": 1}, command=["python", "t.py"]),
    "a pool that grows": _pool(nodes={"max": 8}),
    "a pool of one size": _pool(nodes={"min": 8, "max": 8}),
    "a topology": _pool(topology="network") | _job(topology={"required": "network-node-layer-2"}),
    "made Lustre": _storage(name="made", fsxLustre={"create": CREATED_LUSTRE})
    | _mounting([{"storage": "made", "path": "/made"}]),
    "made Lustre of disks": _storage(
        name="made",
        fsxLustre={
            "create": {
                "size": "6000Gi",
                "deployment": "PERSISTENT_1",
                "throughputPerTiB": 12,
                "driveCache": "READ",
                "backups": {"days": 14, "at": "14:30"},
            }
        },
    ),
    "data repositories": _imported({"path": "/d", "storage": "datasets"}),
    "data repositories by path": _imported(
        {"path": "/d", "s3": "s3://datasets-111122223333/tokens/"}
    ),
    "a made bucket": _storage(
        name="bucket",
        s3={
            "create": {
                "lifecycle": {"transitions": [{"days": 30, "to": "INTELLIGENT_TIERING"}]},
                "upload": [{"folder": "programs", "to": "code"}],
            },
            "prefix": "runs/",
        },
    ),
    "a mounted bucket": {
        "storage": [
            STORAGE[0],
            {
                "name": "datasets",
                "s3": {"existing": {"bucket": "datasets-111122223333"}, "cache": {"size": "1Ti"}},
            },
        ],
        **_mounting([{"storage": "datasets", "path": "/datasets", "readOnly": True}]),
    },
    "a disk of each pod": _storage(name="disk", ebs={"create": {"each": "pod", "size": "500Gi"}})
    | _mounting([{"storage": "disk", "path": "/disk"}]),
    "a disk of each namespace": _storage(
        name="disk",
        ebs={
            "create": {
                "each": "namespace",
                "size": "500Gi",
                "zone": ZONE,
                "snapshots": {"everyHours": 12, "keep": 14},
            }
        },
    )
    | _mounting([{"storage": "disk", "path": "/disk"}], nodes=1),
    "a disk": _storage(
        name="disk",
        ebs={"existing": {"id": "vol-0a1b2c3d4e5f60718", "zone": ZONE, "size": "200Gi"}},
    )
    | _mounting([{"storage": "disk", "path": "/disk"}], nodes=1),
    "volumes": _job(
        volumes=[
            {"name": "claim", "path": "/v/1", "persistentVolumeClaim": {"claimName": "a"}},
            {"name": "map", "path": "/v/2", "configMap": {"name": "a"}},
            {"name": "secret", "path": "/v/3", "secret": {"secretName": "a"}},
            {"name": "empty", "path": "/v/4", "emptyDir": {"sizeLimit": "1Gi"}},
            {
                "name": "memory",
                "path": "/v/5",
                "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"},
            },
            {"name": "host", "path": "/v/6", "hostPath": {"path": "/opt/a"}},
        ],
        initContainers=[{"name": "first", "command": ["python", "p.py"]}],
    )
    | {
        "namespaces": [
            {"name": NAMESPACE, "podSecurity": "privileged"},
            {"name": "hyperpod-ns-other"},
        ]
    },
    "a volume on the node": _job(
        volumes=[{"name": "local", "path": "/v/7", "nodeLocal": {"size": "1Ti"}}]
    ),
    "a flight recorder": _job(
        flightRecorder={"path": "/work/traces", "entries": 20000}, torchVersion="2.12"
    ),
    "DeepSpeed": _job(
        deepspeed={
            "path": "/etc/deepspeed/config.json",
            "trainBatchSize": 512,
            "microBatchSize": 4,
        },
        command=["torchrun", "t.py", "--deepspeed", "/etc/deepspeed/config.json"],
    ),
    "parallel training": _job(
        model={
            "batch": MODEL["batch"],
            "sharding": "none",
            "shape": {**MODEL["shape"], "experts": 8, "expertsPerToken": 2},
            "parallel": {
                "tensor": 2,
                "pipeline": 2,
                "context": 1,
                "expert": 2,
                "virtualStages": 2,
                "data": 8,
            },
        }
    ),
    "a preferred topology": _pool(topology="network")
    | _job(topology={"preferred": "network-node-layer-2"}),
    "torchtune": _job(
        kind="TrainJob",
        launcher={"torchtune": {"runtime": "torchtune-llama3.2-1b"}},
        nodes=1,
        image=None,
        command=None,
        checkpoint=None,
        secretEnv=None,
        retries=1,
    ),
    "an optimizer": _job(model={"parameters": 8.03e9, "optimizerBytes": 12}),
    "a model by its file": _job(model={"config": "model.json"}),
    "roles": _job(
        kind="JobSet",
        timeout=None,
        roles=[{"name": "rollout", "nodes": 2, "command": ["python", "r.py"], "args": ["a"]}],
    ),
    "a least number of nodes": _job(
        kind="Job",
        command=["python", "t.py"],
        minNodes=2,
        launcher=None,
        checkpoint=None,
        retries=1,
    ),
    "an initializer": _storage(name="made", fsxLustre={"create": CREATED_LUSTRE})
    | _mounting(
        [{"storage": "made", "path": "/made"}],
        kind="TrainJob",
        initializer={
            "dataset": {"storageUri": "hf://a/b", "secret": "hf", "env": {"A": "1"}},
            "model": {"storageUri": "hf://a/c", "secret": "hf"},
            "storage": "work",
        },
    ),
    "mpirun": _job(
        kind="TrainJob",
        launcher={"mpi": {"sshPort": 2222, "sshd": "/usr/sbin/sshd"}},
        command=["mpirun", "python", "t.py"],
    ),
    "JAX": _job(kind="TrainJob", launcher={"jax": {}}, command=["python", "t.py"]),
    "an NCCL test": _job(
        kind="TrainJob",
        launcher={"ncclTest": {"busBandwidth": 480, "share": 0.8}},
        command=None,
        checkpoint=None,
    ),
    "a namespace": {
        "namespaces": [
            {
                "name": NAMESPACE,
                "principals": ["arn:aws:iam::111122223333:role/team-a"],
                "quota": {"cpu": 768, "memory": "8Ti", "accelerators": 64, "pods": 100},
            },
            {"name": "hyperpod-ns-other"},
        ]
    },
    "images by CodeBuild": {
        "images": [
            {
                "name": "train",
                "base": BASE,
                "arch": "amd64",
                "requirements": "requirements.txt",
                "sources": [{"from": "src", "to": "/workspace/src"}],
                "contents": {"nccl": "2.27.3"},
                "efaInstaller": {"version": "1.43.2", "sha256": "3b0c" * 16},
                "repository": {"keep": 100},
                "build": {"codeBuild": {"compute": "BUILD_GENERAL1_LARGE"}},
            }
        ],
        "imageCaches": [
            {"registry": "public.ecr.aws"},
            {
                "registry": "docker.io",
                "secret": "arn:aws:secretsmanager:us-west-2:111122223333:secret:"
                "ecr-pullthroughcache/docker-AbCdEf",
            },
        ],
        "flux": {"url": "https://github.com/example/clusters"},
        **_job(image="train"),
    },
    "images by GitHub": {
        "images": [
            {
                "name": "train",
                "base": BASE,
                "requirements": "requirements.txt",
                "contents": {"cuda": "13.0", "torch": "2.8.0", "awsOfiNccl": "1.17.0"},
                "build": {"githubActions": {"minutes": 200}},
            }
        ],
        "flux": {"url": "https://github.com/example/clusters"},
        **_job(image="train"),
    },
    "delivery": {
        "flux": {"url": "ssh://git@github.com/example/clusters", "secret": "clusters-read"},
        "components": {
            "trainer": {"verify": {"provider": "cosign", "secretRef": {"name": "chart-keys"}}}
        },
        "patches": [
            {
                "target": {"kind": "ClusterQueue", "name": "research"},
                "patch": {"metadata": {"labels": {"team": "speech"}}},
            },
            {
                "target": {"kind": "ClusterQueue", "name": "other"},
                "patch": [{"op": "add", "path": "/metadata/labels/team", "value": "a"}],
            },
        ],
        "bootstrap": {"tool": "terraform", "state": {"bucket": "terraform-state-111122223333"}},
        "sops": {"existing": {"kmsKey": KEY}},
        "include": ["more/"],
        "labels": {"team": "research"},
        "tags": {"team": "research"},
    },
    "watched": {
        "network": {"create": {"cidr": "10.0.0.0/16", "zones": [ZONE, "us-west-2c"]}},
        "health": {"nodeRepair": True},
        "monitoring": {"interval": "30s", "retention": "360h", "openCost": {}},
        "logs": {"loki": {}},
        "notifications": {
            "receivers": [
                {
                    "name": "chat",
                    "slack": {"channel": "#gpu", "apiUrl": {"secret": "alerts", "key": "token"}},
                },
                {
                    "name": "pager",
                    "pagerDuty": {"routingKey": {"secret": "alerts", "key": "token"}},
                },
                {
                    "name": "topic",
                    "sns": {"topicArn": "arn:aws:sns:us-west-2:111122223333:gpu", "kmsKey": KEY},
                },
                {"name": "hook", "webhook": {"url": {"secret": "alerts", "key": "token"}}},
            ],
            "default": "chat",
            "critical": "pager",
            "watchdog": "hook",
            "teams": {"hyperpod-ns-other": "topic"},
        },
        "secrets": [
            SECRET,
            {
                "name": "alerts",
                "namespaces": ["monitoring"],
                "secretsManager": {"existing": {"name": "alerts"}, "keys": {"token": "token"}},
            },
        ],
        "nodePools": [
            POOL
            | {
                "burnIn": {
                    "image": "registry.example/nccl-tests:2.17.8",
                    "diagnostics": {"level": 3, "image": "registry.example/dcgm:4.6.0"},
                }
            }
        ],
    },
    "watched by AWS": {
        "network": {"create": {"cidr": "10.0.0.0/16", "zones": [ZONE, "us-west-2c"]}},
        "monitoring": {"managed": {"grafana": {"authenticationProviders": ["AWS_SSO"]}}},
        "logs": {"cloudWatch": {"retentionInDays": 90}},
    },
}


def wide(platform: Platform) -> dict[str, dict[str, Any]]:
    """The clusters of a platform by what they show: its small one, those of its own folder, and those of all."""
    base = small(platform)
    parts = {"small": {}, **own_parts(platform)}
    parts |= {name: {**WHOLE, **overlay} for name, overlay in PARTS.items()}
    return {name: _laid(base, overlay, platform) for name, overlay in parts.items()}


def _laid(base: dict[str, Any], parts: dict[str, Any], platform: Platform) -> dict[str, Any]:
    """A cluster with other sections, without what its platform refuses."""
    data = copy.deepcopy(base)
    data["spec"] |= copy.deepcopy(parts)
    for path in platform.instead:
        _remove(data["spec"], path.split("."))
    if "network" in parts:
        data["spec"].setdefault("network", copy.deepcopy(NETWORK))
    data["spec"] = _without_none(data["spec"])
    return data


def _remove(data: Any, keys: list[str]) -> None:
    """Remove a key by its path, of each item of lists."""
    first, *later = keys
    if isinstance(data, list):
        for item in data:
            _remove(item, keys)
    elif isinstance(data, dict) and first in data:
        if later:
            _remove(data[first], later)
            if not data[first]:
                del data[first]
        else:
            del data[first]


def _without_none(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_none(value) for key, value in data.items() if value is not None}
    if isinstance(data, list):
        items = (_without_none(item) for item in data)
        return [item for item in items if item != {} and not _is_left_alone(item)]
    return data


def _is_left_alone(item: Any) -> bool:
    """Whether nothing but a storage's name is left of it."""
    return isinstance(item, dict) and item.keys() == {"name"} and item["name"] == "disk"


WHERE: dict[str, str] = {
    "spec.storage[].s3.prefix": "data repositories",
    "spec.storage[].s3.cache": "a mounted bucket",
    "spec.storage[].s3.cache.size": "a mounted bucket",
    "spec.images[].contents.cuda": "images by CodeBuild",
    "spec.images[].contents.torch": "images by GitHub",
    "spec.network.existing.subnets[].freeAddresses": "everything",
    "spec.network.zoneIds": "a zone of some types",
    "spec.images[].contents.awsOfiNccl": "images by GitHub",
    "spec.priorities": "accounting",
    "spec.queues[].quota[].borrowingLimit": "cohorts",
    "spec.queues[].quota[].lendingLimit": "cohorts",
    "spec.queues[].preemption.withinClusterQueue": "cohorts",
    "spec.queues[].preemption.reclaimWithinCohort": "cohorts",
    "spec.queues[].preemption.borrowWithinCohort": "cohorts",
    "spec.queues[].preemption.borrowWithinCohort.policy": "cohorts",
    "spec.queues[].preemption.borrowWithinCohort.maxPriorityThreshold": "cohorts",
    "spec.queues[].fairSharing.weight": "cohorts",
    "spec.queues[].flavorFungibility.whenCanBorrow": "cohorts",
    "spec.queues[].flavorFungibility.whenCanPreempt": "cohorts",
    "spec.queues[].flavorFungibility.preference": "cohorts",
    "spec.cohorts[].fairSharing.weight": "cohorts",
    "spec.jobs[].checkpoint.async": "a model",
    "spec.jobs[].model.precision": "a model",
}
"""By key, the cluster in which it does something, where that is not the first which has its place."""
GIVEN: dict[str, list[Any]] = {
    "spec.region": ["us-east-2"],
    "spec.release": [sorted(load_catalog().releases)[-2]],
    "spec.network.existing.subnets[].zone": ["us-west-2c"],
    "spec.network.existing.subnets[].public": [True],
    "spec.network.existing.subnets[].cidr": ["10.0.0.0/28"],
    "spec.network.existing.subnets[].freeAddresses": [6],
    "spec.network.zoneIds": [{"us-west-2b": "usw2-az3"}],
    "spec.nodePools[].instanceTypes": [["p4de.24xlarge"]],
    "spec.nodePools[].zones": [["us-west-2c"]],
    "spec.nodePools[].capacity": [{"spot": {}}, {"onDemand": {}}],
    "spec.nodePools[].capacity[].block.starts": ["2026-12-02T11:30:00Z"],
    "spec.nodePools[].capacity[].block.ends": ["2026-12-16T11:30:00Z"],
    "spec.nodePools[].capacity[].reserved.reservations[].nodes": [5],
    "spec.nodePools[].capacity[].block.reservations[].nodes": [5],
    "spec.nodePools[].managedNodeGroup.nodeRepairConfig.enabled": [False],
    "spec.nodePools[].localStorage": ["none"],
    "spec.nodePools[].nodes.min": [8, 7],
    "spec.secrets[].name": ["other"],
    "spec.nodePools[].taints[].effect": ["NoExecute"],
    "spec.namespaces[].podSecurity": ["privileged"],
    "spec.storage[].fsxLustre.existing.mountName": ["hgfedcba"],
    "spec.storage[].fsxLustre.existing.throughputPerTiB": [500],
    "spec.storage[].fsxLustre.create.deployment": ["SCRATCH_2"],
    "spec.storage[].fsxLustre.create.version": ["2.12"],
    "spec.storage[].fsxLustre.create.zone": ["us-west-2c"],
    "spec.storage[].fsxLustre.create.throughputPerTiB": [500],
    "spec.storage[].fsxLustre.create.metadata.mode": ["AUTOMATIC"],
    "spec.storage[].ebs.create.zone": ["us-west-2c"],
    "spec.images[].arch": ["arm64"],
    "spec.images[].contents.efaInstaller": ["1.12.0", "1.99.0"],
    "spec.images[].contents.cuda": ["13.0"],
    "spec.images[].contents.torch": ["2.7.0"],
    "spec.images[].contents.nccl": ["2.10.3"],
    "spec.images[].contents.awsOfiNccl": ["1.1.0"],
    "spec.queues[].preemption.reclaimWithinCohort": ["Never"],
    "spec.queues[].preemption.withinClusterQueue": ["Never"],
    "spec.jobDefaults": [{"env": {"A": "1"}}],
    "spec.jobs[].queue": ["other"],
    "spec.jobs[].namespace": ["hyperpod-ns-other"],
    "spec.jobs[].kind": ["JobSet"],
    "spec.jobs[].secretEnv[].key": ["other"],
    "spec.jobs[].initializer.storage": ["made"],
    "spec.jobs[].processesPerNode": [4],
    "spec.jobs[].resources.accelerators": [4],
    "spec.jobs[].deepspeed.gradientAccumulationSteps": [2],
    "spec.jobs[].model.config": ["other.json"],
    "spec.jobs[].model.precision": ["fp32"],
    "spec.jobs[].model.parallel.data": [2],
    "spec.jobs[].model.parallel.context": [2],
    "spec.jobs[].priority": ["urgent", "later"],
    "spec.health.nodeMonitoringAgent": [False],
    "spec.health.nodeProblemDetector": [False],
    "spec.monitoring.managed.grafana.authenticationProviders": [["SAML"]],
    "spec.flux.branch": ["prod"],
    "spec.flux.source": ["other"],
    "spec.bootstrap.state.region": ["us-east-1"],
    "spec.platform.eks.version": ["1.34", "1.33"],
    "spec.platform.eks.systemNodes.instanceType": ["m7i.4xlarge"],
    "spec.platform.eks.addons.NAME.role.policies": [["arn:aws:iam::111122223333:policy/other"]],
    "spec.platform.hyperPod.nodeRecovery": ["None"],
    "spec.platform.parallelCluster.headNode.instanceType": ["m7i.4xlarge"],
    "spec.platform.parallelCluster.loginNodes.subnet": ["subnet-0a1b2c3d4e5f60719"],
    "spec.platform.parallelCluster.loginNodes.allowedCidr": ["198.51.100.0/24"],
    "spec.platform.parallelCluster.budget.emails": [["other@example.com"]],
}
"""By key, values that do something in these clusters, where the key's own examples do not."""
_LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
TEXTS: dict[str, str] = {
    "requirements.txt": f"torch==2.8.0 --hash=sha256:{'3b0c' * 16}\n",
    "src/a.py": "",
    "more/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
    "model.json": json.dumps({**_LLAMA, "num_hidden_layers": 32}),
    "other.json": json.dumps({**_LLAMA, "num_hidden_layers": 24}),
}
"""The files that the clusters name, beside their spec."""
_OF_ALL = {
    "spec.storage[].fsxLustre.existing.deployment": "is compared with the size and the throughput",
    "spec.jobs[].model.parallel.lossParallel": "narrows the range of the memory, in which these clusters have room",
}
_OF_PODS = {
    **_OF_ALL,
    "spec.completedRuns": "is of runs that are committed, and these clusters have none",
    "spec.jobs[].rerun": "asks for another run by the digest in its name, which is left out",
}
QUIET: dict[str, dict[str, str]] = {
    "eks": _OF_PODS,
    "hyperPod": _OF_PODS,
    "parallelCluster": {
        **_OF_ALL,
        "spec.release": "the last two have the same ParallelCluster",
        "spec.storage[].fsxLustre.existing.mountName": "ParallelCluster asks FSx for it",
        "spec.jobs[].launcher": "torchrun starts a job that names no launcher, and there is no other",
        "spec.jobs[].launcher.torchrun": "torchrun starts a job that names no launcher",
        "spec.secrets[].namespaces": "says whose jobs may name the secret (RES110)",
    },
}
"""By platform, the keys that write nothing and say nothing in these clusters, with the reason."""
