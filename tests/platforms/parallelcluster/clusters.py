"""A small cluster of ParallelCluster, and what the compiler makes of it."""

from __future__ import annotations

import copy
from typing import Any

from trainyard.run.outcome import Compilation
from trainyard.verify.formats import written

SUBNETS = [
    {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2b", "cidr": "10.0.0.0/18"},
    {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2c", "cidr": "10.0.64.0/18"},
]
NETWORK = {"existing": {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": SUBNETS}}
FSX = {"id": "fs-0a1b2c3d4e5f60718", "mountName": "abcdefgh", "size": "4800Gi", "version": "2.15"}
ACCOUNTING = {
    "uri": "db.example.com:3306",
    "userName": "slurm",
    "passwordSecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
}
BASE: dict[str, Any] = {
    "account": "111122223333",
    "region": "us-west-2",
    "network": NETWORK,
    "platform": {"parallelCluster": {}},
    "nodePools": [
        {"name": "a100", "instanceTypes": ["p4d.24xlarge"], "zones": ["us-west-2b"], "nodes": 4}
    ],
    "storage": [{"name": "work", "fsxLustre": {"existing": FSX}}],
    "jobs": [
        {
            "name": "train",
            "nodes": 4,
            "image": "registry.test/train:1.0",
            "command": ["torchrun", "t.py"],
            "mounts": [{"storage": "work", "path": "/work"}],
            "checkpoint": {"path": "/work/train", "every": "30m"},
        }
    ],
}
OWN_SCRIPT = {"script": "s3://scripts-jakarta/setup.sh", "args": ["--metrics"]}
LIKE_A_REAL_FILE: dict[str, Any] = {
    "headNode": {
        "rootVolume": {"size": "100Gi", "iops": 10000, "throughput": 500},
        "securityGroups": ["sg-0a1b2c3d4e5f60791", "sg-0a1b2c3d4e5f60792"],
        "customActions": {"onNodeStart": [OWN_SCRIPT], "onNodeConfigured": [OWN_SCRIPT]},
    },
    "computeNodes": {
        "customActions": {
            "onNodeStart": [{"script": "https://example.com/early.sh"}, OWN_SCRIPT],
            "onNodeConfigured": [OWN_SCRIPT],
        }
    },
    "loginNodes": {"count": 1, "customActions": {"onNodeConfigured": [OWN_SCRIPT]}},
    "policies": [
        "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy",
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    ],
    "mountDirs": {"work": "/fsx1"},
    "timeouts": {"headNodeBootstrap": "1h", "computeNodeBootstrap": "45m"},
}
"""What cluster files say that people write by hand."""
TOPIC = "arn:aws:sns:us-west-2:111122223333:gpu"
PAGER = "arn:aws:sns:us-east-1:111122223333:pager"
NOTIFICATIONS: dict[str, Any] = {
    "receivers": [
        {"name": "mail", "sns": {"topicArn": TOPIC}},
        {"name": "pager", "sns": {"topicArn": PAGER}},
    ],
    "default": "mail",
    "critical": "pager",
}
WATCHED: dict[str, Any] = {
    "monitoring": {},
    "notifications": {
        "receivers": [
            {"name": "mail", "sns": {"topicArn": TOPIC}},
            {"name": "pager", "sns": {"topicArn": f"{TOPIC}-pager"}},
        ],
        "default": "mail",
        "critical": "pager",
    },
}
"""GPUs that are measured, and alarms that a topic hears."""
_SCRIPTS = [{"script": "s3://scripts/setup.sh", "args": ["a"]}]
PARTS: dict[str, dict[str, Any]] = {
    "metrics and alarms": WATCHED,
    "scripts of one's own": {
        "platform": {
            "parallelCluster": {
                "computeNodes": {
                    "customActions": {"onNodeStart": _SCRIPTS, "onNodeConfigured": _SCRIPTS}
                }
            }
        }
    },
    "accounting": {
        "platform": {
            "parallelCluster": {
                "accounting": ACCOUNTING,
                "headNode": {"instanceType": "m7i.2xlarge", "subnet": SUBNETS[0]["id"]},
                "loginNodes": {"count": 1},
                "ssh": {"keyName": "research", "allowedCidr": "203.0.113.0/24"},
                "budget": {"monthly": 500000, "emails": ["platform@example.com"]},
            }
        },
        "priorities": [{"name": "urgent", "value": 1000}, {"name": "later", "value": 100}],
        "queues": [
            {
                "name": name,
                "namespaces": [f"team-{name}"],
                "cohort": "all",
                "quota": [{"pool": "a100", "nodes": 2, "borrowingLimit": 1}],
            }
            for name in ("a", "b")
        ],
        "jobs": [{**BASE["jobs"][0], "nodes": 2, "queue": "a", "priority": "later"}],
    },
}
"""Sections that only this platform has, and what goes with them."""


def spec(**parts: Any) -> dict[str, Any]:
    """The small cluster with other parts; ``None`` leaves one out, and ``job`` and ``pool`` change its one of each."""
    body = copy.deepcopy(BASE)
    body["jobs"][0] |= parts.pop("job", {})
    body["nodePools"][0] |= parts.pop("pool", {})
    body["platform"]["parallelCluster"] |= parts.pop("own", {})
    body |= parts
    return {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": "lab"},
        "spec": {key: value for key, value in body.items() if value is not None},
    }


def files(done: Compilation) -> dict[str, str]:
    """The text of each file, by its path in the cluster's folder."""
    return {artifact.path: written(artifact).decode() for artifact in done.artifacts}
