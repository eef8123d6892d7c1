"""Each pair of features in some cluster: it compiles and is judged, or is refused in words; nothing else happens.

Fifteen dimensions, from the platform to the partition of AWS, have hundreds of thousands of combinations and a few
hundred pairs, which some sixty clusters have between them (a covering array, made greedily with a fixed seed). What is
looked at in each: AWS's partition, the endpoints of what is called where no NAT leads out, and that a refusal has a
place and says what to write.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.verify.formats import written

pytestmark = pytest.mark.slow

REGIONS = {
    "us-west-2": ("us-west-2b", "us-west-2c", "aws"),
    "us-gov-west-1": ("us-gov-west-1a", "us-gov-west-1b", "aws-us-gov"),
    "cn-north-1": ("cn-north-1a", "cn-north-1b", "aws-cn"),
}
TYPES = {
    "A100": "p4d.24xlarge",
    "T4": "g4dn.12xlarge",
    "Trainium": "trn1.32xlarge",
    "CPU": "m7i.8xlarge",
}
CAPACITY: dict[str, Any] = {
    "on demand": {"onDemand": {}},
    "spot": {"spot": {}},
    "reserved": {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 2}]}},
    "block": {
        "block": {
            "reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 2}],
            "starts": "2026-12-01T11:30:00Z",
            "ends": "2026-12-08T11:30:00Z",
        }
    },
}
CUT = {"mig": {"profile": "3g.20gb"}}
SHARED = {"timeSlicing": {"replicas": 4}}
FEATURES: dict[str, tuple[Any, ...]] = {
    "platform": ("eks", "hyperPod", "parallelCluster"),
    "nodes": ("karpenter", "managed", "auto"),
    "region": tuple(REGIONS),
    "network": ("created", "without NAT", "existing"),
    "type": tuple(TYPES),
    "capacity": tuple(CAPACITY),
    "sharing": (None, CUT, SHARED),
    "kind": ("TrainJob", "PyTorchJob", "JobSet", "Job", "MPIJob", "RayJob"),
    "launcher": ("torchrun", "accelerate", "deepspeed", "mpirun", "python"),
    "storage": ("none", "Lustre", "made Lustre", "bucket", "made bucket", "volume"),
    "placement": (None, "cluster"),
    "topology": (None, "network"),
    "watching": ("nothing", "metrics", "logs", "both"),
    "job nodes": (1, 2),
    "secret": (False, True),
}
ARN = re.compile(r"\barn:(aws[a-z-]*):[a-z]")


def pairs_of(choice: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    """The pairs of features that a cluster has."""
    items = [(name, repr(value)) for name, value in choice.items()]
    return {(*one, *other) for one, other in combinations(items, 2)}


@cache
def clusters() -> tuple[dict[str, Any], ...]:
    """Clusters that have every pair of features between them."""
    drawn = random.Random(20261129)
    names = list(FEATURES)
    missing = {
        (one, repr(a), other, repr(b))
        for one, other in combinations(names, 2)
        for a in FEATURES[one]
        for b in FEATURES[other]
    }
    chosen = []
    while missing:
        tried = [
            {name: drawn.choice(values) for name, values in FEATURES.items()} for _ in range(60)
        ]
        best = max(tried, key=lambda choice: len(pairs_of(choice) & missing))
        one, a, other, b = min(missing)
        best |= dict(_values(one, a, other, b))
        chosen.append(best)
        missing -= pairs_of(best)
    return tuple(chosen)


def _values(one: str, a: str, other: str, b: str) -> Iterator[tuple[str, Any]]:
    for name, text in ((one, a), (other, b)):
        yield name, next(value for value in FEATURES[name] if repr(value) == text)


REFUSED: dict[str, dict[str, tuple[Any, ...]]] = {
    "eks": {},
    "hyperPod": {
        "network": ("created", "without NAT"),
        "nodes": ("managed", "auto"),
        "placement": ("cluster",),
        "capacity": ("block", "reserved"),
        "sharing": (CUT, SHARED),
    },
    "parallelCluster": {
        "network": ("created", "without NAT"),
        "nodes": ("managed", "auto"),
        "topology": ("network",),
        "watching": ("metrics", "logs", "both"),
        "sharing": (CUT, SHARED),
    },
}
"""What platforms have no key for, and refuse by SPC006 (``tests/platforms/test_taken.py``)."""
INSTEAD = {
    "network": "existing",
    "nodes": "karpenter",
    "placement": None,
    "capacity": "on demand",
    "topology": None,
    "sharing": None,
    "watching": "nothing",
}


def spec_of(choice: dict[str, Any]) -> dict[str, Any]:
    """A cluster with some features, as far as its platform has them."""
    refused = REFUSED[choice["platform"]]
    if choice["type"] not in ("A100", "T4"):
        refused = {**refused, "sharing": (CUT, SHARED)}
    choice = {
        name: INSTEAD[name] if value in refused.get(name, ()) else value
        for name, value in choice.items()
    }
    region = choice["region"]
    zone, second, partition = REGIONS[region]
    platform = choice["platform"]
    pool = {
        "name": "gpu",
        "instanceTypes": [TYPES[choice["type"]]],
        "zones": [zone],
        "nodes": 2,
        "capacity": CAPACITY[choice["capacity"]],
        "placement": choice["placement"],
        "topology": choice["topology"],
        "gpuSharing": choice["sharing"],
        "managedNodeGroup": {} if choice["nodes"] == "managed" else None,
    }
    existing = {
        "vpc": "vpc-0a1b2c3d4e5f60718",
        "subnets": [
            {"id": "subnet-0a1b2c3d4e5f60718", "zone": zone, "cidr": "10.0.0.0/18"},
            {"id": "subnet-0a1b2c3d4e5f60719", "zone": second, "cidr": "10.0.64.0/18"},
        ],
    }
    created: dict[str, Any] = {"cidr": "10.0.0.0/16", "zones": [zone, second]}
    if choice["network"] == "without NAT":
        created["nat"] = "none"
    network = {"existing": existing} if choice["network"] == "existing" else {"create": created}
    namespace = "hyperpod-ns-research" if platform == "hyperPod" else "research"
    command: list[str] = [choice["launcher"], "train.py"]
    if choice["launcher"] == "accelerate":
        command = ["accelerate", "launch", "train.py"]
    if choice["launcher"] == "mpirun":
        command = ["mpirun", "python", "train.py"]
    registry = f"111122223333.dkr.ecr.{region}.amazonaws.com" + ".cn" * (partition == "aws-cn")
    job: dict[str, Any] = {
        "name": "train",
        "pool": "gpu",
        "nodes": choice["job nodes"] if choice["sharing"] is None else 1,
        "kind": choice["kind"] if platform != "parallelCluster" else None,
        "image": f"{registry}/train@sha256:{'a' * 64}",
        "command": command,
        "timeout": "12h" if choice["kind"] not in ("JobSet", "RayJob") else None,
    }
    stored = STORAGE[choice["storage"]](zone) if choice["storage"] != "none" else None
    if stored is not None:
        job["mounts"] = [{"storage": "work", "path": "/work"}]
    spec: dict[str, Any] = {
        "account": "111122223333",
        "region": region,
        "platform": {platform: {"autoMode": {}} if choice["nodes"] == "auto" else {}},
        "network": network,
        "nodePools": [_said(pool)],
        "storage": [{"name": "work", **stored}] if stored is not None else None,
        "jobs": [_said(job)],
    }
    if platform != "parallelCluster":
        spec["queues"] = [
            {"name": "research", "namespaces": [namespace], "quota": [{"pool": "gpu", "nodes": 2}]}
        ]
        job["queue"] = "research"
        spec["jobs"] = [_said(job)]
    if choice["watching"] in ("metrics", "both"):
        spec["monitoring"] = {}
    if choice["watching"] in ("logs", "both"):
        spec["logs"] = {"cloudWatch": {}}
    if choice["secret"]:
        spec["secrets"] = [
            {
                "name": "hf",
                "namespaces": [namespace],
                "secretsManager": {"existing": {"name": "team/hf"}, "keys": {"token": "hf_token"}},
            }
        ]
    return {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": "pairs"},
        "spec": _said(spec),
    }


STORAGE: dict[str, Callable[[str], dict[str, Any]]] = {
    "Lustre": lambda zone: {
        "fsxLustre": {
            "existing": {
                "id": "fs-0a1b2c3d4e5f60718",
                "mountName": "abcdefgh",
                "size": "4800Gi",
                "version": "2.15",
                "zone": zone,
            }
        }
    },
    "made Lustre": lambda zone: {
        "fsxLustre": {"create": {"size": "4800Gi", "throughputPerTiB": 250, "zone": zone}}
    },
    "bucket": lambda zone: {"s3": {"existing": {"bucket": "data-111122223333"}}},
    "made bucket": lambda zone: {"s3": {"create": {}}},
    "volume": lambda zone: {
        "ebs": {"existing": {"id": "vol-0a1b2c3d4e5f60718", "zone": zone, "size": "500Gi"}}
    },
}


def _said(keys: dict[str, Any]) -> dict[str, Any]:
    """Keys with a value."""
    return {key: value for key, value in keys.items() if value is not None}


def outcome_of(choice: dict[str, Any], folder: Path) -> tuple[list[Diagnostic], Compilation | None]:
    file = folder / "spec.yaml"
    file.write_text(yaml.safe_dump(spec_of(choice), sort_keys=False))
    outcome = check([file], Options(hold=False))
    compilation = outcome.compilations[0] if outcome.compilations else None
    found = [*outcome.diagnostics, *(compilation.diagnostics if compilation else ())]
    return found, compilation


NAMES = [f"{each['platform']}-{each['kind']}-{number}" for number, each in enumerate(clusters())]


@pytest.mark.parametrize("choice", clusters(), ids=NAMES)
def test_it_compiles_or_says_why_not(choice: dict[str, Any], tmp_path: Path) -> None:
    found, compilation = outcome_of(choice, tmp_path)
    assert_compiles_or_says_why_not(choice, found, compilation)


def assert_compiles_or_says_why_not(
    choice: dict[str, Any], found: list[Diagnostic], compilation: Compilation | None
) -> None:
    errors = [each for each in found if each.severity is Severity.ERROR]
    assert [each for each in errors if each.code.startswith("INT")] == []
    assert [each.message for each in errors if not each.at] == []
    assert [each.message for each in errors if not each.help] == []
    if errors or compilation is None or compilation.plan is None:
        assert errors
        return
    partition = REGIONS[choice["region"]][2]
    texts = {file.path: written(file).decode() for file in compilation.artifacts}
    for path, text in texts.items():
        others = {each for each in ARN.findall(text) if each != partition}
        assert not others, (path, [line for line in text.splitlines() if ARN.search(line)][:3])
    if choice["platform"] == "eks" and choice["network"] == "without NAT":
        whole = "\n".join(texts.values())
        assert called(whole) - NOT_CALLED.keys() - endpoints(whole) == set()


NOT_CALLED = {
    "iam": "has one address for the world, and instance profiles are made before there is a network",
    "pricing": "`isolatedVPC` keeps Karpenter from asking (karpenter-provider-aws, settings)",
    "arc-zonal-shift": "EKS asks it, not a node",
    "quotas": "a key of LimitRanges",
    "order": "a key of pages",
}
"""What looks like a service whose actions are allowed and has no endpoint, and why."""
ENDPOINTS = {"ecr": "ecr.api", "elasticfilesystem": "elasticfilesystem", "cloudwatch": "monitoring"}
"""Services whose endpoint is called otherwise than their actions."""


def called(text: str) -> set[str]:
    """The services whose actions somebody is allowed."""
    services = re.findall(r"""["' -]([a-z][a-z0-9-]+):[A-Z*][A-Za-z*]+["'\n,]""", text)
    return {ENDPOINTS.get(service, service) for service in services}


def endpoints(text: str) -> set[str]:
    """The services that the network has an endpoint of."""
    return set(re.findall(r"com\.amazonaws\.[a-z0-9-]+\.([a-z0-9.-]+)", text))


EVERYTHING: dict[str, Any] = {
    name: values[0] for name, values in FEATURES.items() if name != "network"
} | {"network": "without NAT", "watching": "both", "secret": True, "job nodes": 2}


@pytest.mark.parametrize("storage", FEATURES["storage"])
@pytest.mark.parametrize("nodes", FEATURES["nodes"])
def test_without_nat_all_that_is_called_has_an_endpoint(
    storage: str, nodes: str, tmp_path: Path
) -> None:
    choice = EVERYTHING | {"storage": storage, "nodes": nodes}
    if storage == "volume":
        choice["job nodes"] = 1
    found, compilation = outcome_of(choice, tmp_path)
    if nodes != "auto":  # which refuses tags of volumes
        assert [each.message for each in found if each.severity is Severity.ERROR] == []
    assert_compiles_or_says_why_not(choice, found, compilation)
