"""The shape of a spec: good values are taken, bad ones are refused with code, place, fact and help."""

from __future__ import annotations

from typing import Any

import pytest
from builders import FSX, OLD_TRAINER, RELEASE, document, loaded, shape_faults, spec
from trainyard.language.places import Route
from trainyard.run.language.load import load

HEX64 = "0123456789abcdef" * 4
VPC: dict[str, Any] = {
    "vpc": "vpc-0a1b2c3d",
    "subnets": [
        {"id": "subnet-0a1b2c3d", "zone": "us-west-2a"},
        {"id": "subnet-1a1b2c3d", "zone": "us-west-2b"},
    ],
}


def queue(**more: Any) -> list[dict[str, Any]]:
    return [{"name": "q", "namespaces": ["a"], "quota": [{"pool": "gpu", "nodes": 4}], **more}]


GOOD: list[dict[str, Any]] = [
    spec(),
    spec(jobs=None),
    spec(region="us-gov-west-1", pool={"zones": ["us-gov-west-1a"]}),
    spec(pool={"zones": ["us-west-2a", "us-west-2b"]}),
    spec(pool={"nodes": 4}),
    spec(pool={"capacity": {"spot": {}}}),
    spec(pool={"capacity": {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}}}),
    spec(
        pool={
            "capacity": {
                "reserved": {
                    "reservations": [
                        {"id": "cr-0a100000", "nodes": 3},
                        {"id": "cr-0a200000", "nodes": 1},
                    ]
                }
            }
        }
    ),
    spec(pool={"rootVolume": {"size": "500Gi", "iops": 4000, "throughput": 1000}}),
    spec(
        pool={
            "labels": {"team.example.com/cost": "a_1"},
            "taints": [{"key": "team", "effect": "NoExecute"}],
        }
    ),
    spec(pool={"consolidateAfter": "0s"}),
    spec(pool={"placement": {"group": "research a100"}}),
    spec(network={"create": {"cidr": "10.0.0.0/24", "zones": ["us-west-2a", "us-west-2b"]}}),
    spec(network={}, platform={"eks": {"apiServer": {}}}),
    spec(platform={"eks": {"apiServer": {"public": ["203.0.113.0/24", "198.51.100.7/32"]}}}),
    spec(
        namespaces=[
            {"name": "a", "group": "Research:a", "principals": ["arn:aws:iam::111122223333:role/a"]}
        ]
    ),
    spec(job={"image": f"registry.test:5000/a/b@sha256:{HEX64}"}),
    spec(job={"image": f"a/b:latest@sha256:{HEX64}"}),
    spec(job={"env": {"A.b-c": ""}, "args": [], "labels": {"team": ""}}),
    spec(job={"timeout": "1h30m", "checkpoint": {"path": "/data/c", "every": "30m"}}),
    spec(
        job={
            "resources": {
                "cpu": "1500m",
                "memory": "1Ti",
                "accelerators": 0,
                "efa": 0,
                "hugePages": "5Gi",
                "ephemeralStorage": "100Gi",
            },
            "sharedMemory": "64Gi",
        }
    ),
    spec(job={"model": {"parameters": 8000, "precision": "fp32", "optimizerBytes": 0}}),
    spec(job={"secretEnv": [{"env": "TOKEN", "secret": "hf", "key": "token"}]}),
    spec(
        job={
            "secretEnv": [{"env": "TOKEN", "secret": "hf.token", "key": "t.txt"}],
            "serviceAccount": "team.loader",
        }
    ),
    spec(
        storage=[
            {"name": "a", "fsxLustre": {"existing": FSX}},
            {"name": "b", "s3": {"existing": {"bucket": "my.bucket-1"}, "prefix": "x/"}},
        ]
    ),
    spec(storage=[{"name": "a", "fsxLustre": {"existing": {**FSX, "mountName": "A_b-9"}}}]),
    spec(
        queues=queue(
            cohort="all", queueingStrategy="StrictFIFO", preemption={"withinClusterQueue": "Never"}
        )
    ),
    spec(priorities=[{"name": "low", "value": -1}]),
    spec(
        namespaces=[
            {
                "name": "a",
                "group": "team",
                "quota": {"cpu": 0, "memory": "1Ti", "accelerators": 8, "pods": 10},
            }
        ]
    ),
    spec(
        flux={
            "url": "ssh://git@github.com/org/fleet",
            "path": "./clusters/lab/",
            "branch": "release/1.0",
        }
    ),
    spec(
        platform={"eks": {"version": RELEASE.version("kubernetes"), "ami": RELEASE.version("ami")}},
        components={
            "trainer": {"version": OLD_TRAINER},
            "vpc-cni": {"version": "v1.23.0-eksbuild.2"},
            "kueue": {"values": {"controllerManager": {"replicas": 3}}},
        },
    ),
    spec(
        tags={"cost center": "42 + more"},
        labels={"org": "research"},
        platform={"eks": {"admins": ["arn:aws:iam::111122223333:role/a/b"]}},
    ),
]


@pytest.mark.parametrize(
    ("key", "help"),
    [
        ("labels", "remove it: the objects of a cluster take theirs from `spec`"),
        ("owner", "`metadata` has: `name`"),
    ],
)
def test_metadata_is_a_name(key: str, help: str) -> None:
    data = spec()
    data["metadata"][key] = {"team": "ml"}
    (found,) = load(document(data))[1]
    assert (found.code, found.help) == ("SPC002", help)


@pytest.mark.parametrize("data", GOOD)
def test_a_good_spec_is_taken(data: dict[str, Any]) -> None:
    assert load(document(data))[1] == []


# What is wrong; code; route; words of the message; words of the help.
BAD: list[tuple[dict[str, Any], str, str, str, str]] = [
    # Names
    (spec(name="x"), "SPC005", "metadata.name", "`x` is not a cluster's name", "`seoul-llm`"),
    (spec(name="a" * 41), "SPC005", "metadata.name", "has 41 characters", "shorten it"),
    (
        spec(pool={"name": "A100"}),
        "SPC005",
        "spec.nodePools[0].name",
        "`A100` is not a name",
        "write `a100`",
    ),
    (
        spec(job={"name": "8b"}),
        "SPC005",
        "spec.jobs[0].name",
        "`8b` is not a job's name",
        "like `llama3-8b`",
    ),
    (
        spec(job={"priority": ""}),
        "SPC005",
        "spec.jobs[0].priority",
        "is text, not empty",
        "write it as text",
    ),
    # Places
    (
        spec(region="us-west-2a"),
        "SPC005",
        "spec.region",
        "is an Availability Zone, not a Region",
        "write `us-west-2`",
    ),
    (
        spec(region="oregon"),
        "SPC005",
        "spec.region",
        "`oregon` is not an AWS Region",
        "like `us-west-2`",
    ),
    (
        spec(pool={"placement": "clustered"}),
        "SPC005",
        "spec.nodePools[0].placement",
        "`placement` is `clustered`",
        "write one of `cluster`, `partition`, `spread`, `none`, or `{group: NAME}`",
    ),
    (
        spec(pool={"zones": ["us-west-2"]}),
        "SPC005",
        "spec.nodePools[0].zones[0]",
        "is a Region, not an Availability Zone",
        "like `us-west-2a`",
    ),
    (
        spec(pool={"zones": ["usw2-az1"]}),
        "SPC005",
        "spec.nodePools[0].zones[0]",
        "is the id of a zone, not its name",
        "the name in your account",
    ),
    (
        spec(pool={"zones": ["US_West-2A"]}),
        "SPC005",
        "spec.nodePools[0].zones[0]",
        "not an Availability Zone",
        "write `us-west-2a`",
    ),
    (
        spec(pool={"zones": [2]}),
        "SPC005",
        "spec.nodePools[0].zones[0]",
        "text, not the number `2`",
        "like `us-west-2a`",
    ),
    (
        spec(pool={"instanceTypes": ["p5 .48xlarge"]}),
        "SPC005",
        "spec.nodePools[0].instanceTypes[0]",
        "not an instance type",
        "write `p5.48xlarge`",
    ),
    (
        spec(pool={"zones": ["west"]}),
        "SPC005",
        "spec.nodePools[0].zones[0]",
        "`west` is not an Availability Zone",
        "us-west-2a",
    ),
    (
        spec(pool={"zones": ["us-west-2a", "us-west-2a"]}),
        "SPC005",
        "spec.nodePools[0].zones",
        "`us-west-2a` is listed twice",
        "remove one",
    ),
    (
        spec(network={"create": {"zones": ["us-west-2a"]}}),
        "SPC005",
        "spec.network",
        "EKS needs subnets in at least two",
        "add a second zone",
    ),
    # Network
    (
        spec(network={"create": {"cidr": "10.0.0.1/16"}}),
        "SPC005",
        "spec.network.create.cidr",
        "host bits set",
        "write `10.0.0.0/16`",
    ),
    (
        spec(network={"create": {"cidr": "10.0.0.0"}}),
        "SPC005",
        "spec.network.create.cidr",
        "`10.0.0.0` is not a CIDR block: it has no prefix length",
        "write `10.0.0.0/16`",
    ),
    *(
        (
            spec(network={"create": {"cidr": cidr}}),
            "SPC005",
            "spec.network.create.cidr",
            f"no host can have an address of `{cidr}`",
            "write a private block",
        )
        for cidr in ("0.1.0.0/16", "127.0.0.0/16", "169.254.0.0/16", "224.0.0.0/16", "240.0.0.0/16")
    ),
    (
        spec(job={"resources": {"memory": "1500m"}}),
        "SPC005",
        "spec.jobs[0].resources.memory",
        "`1500m` is 2 bytes",
        "give the unit, like `64Gi`",
    ),
    (
        spec(job={"resources": {"memory": 0}}),
        "SPC005",
        "spec.jobs[0].resources.memory",
        "`0` is 0 bytes",
        "give the unit, like `64Gi`",
    ),
    (
        spec(job={"timeout": "100ms"}),
        "SPC005",
        "spec.jobs[0].timeout",
        "`100ms` is not a duration",
        "write it like `20m` or `1h30m`",
    ),
    *(
        (
            spec(job={"image": image}),
            "SPC005",
            "spec.jobs[0].image",
            "is not an image reference",
            "write it like `registry/name:tag`",
        )
        for image in ("a//b:1", "a..b:1", "a___b:1", "-a.io/b:1", "a/b:1/c")
    ),
    (
        spec(job={"image": f"reg.io/{'a' * 250}:1"}),
        "SPC005",
        "spec.jobs[0].image",
        "has 257 characters, and may have 255",
        "shorten it",
    ),
    *(
        (
            spec(platform={"eks": {"apiServer": {"public": [block]}}}),
            "SPC005",
            "spec.platform.eks.apiServer.public[0]",
            fact,
            help,
        )
        for block, fact, help in (
            ("2001:db8::/32", "is not an IPv4 block", "like `203.0.113.0/24`"),
            ("198.51.100.0", "it has no prefix length", "write `198.51.100.0/24`"),
            ("198.51.100.7", "it has no prefix length", "write `198.51.100.7/32`"),
            ("198.51.100.7/24", "has host bits set", "write `198.51.100.0/24`"),
            ("office", "it has no prefix length", "write it like `203.0.113.0/24`"),
            ("office/24", "is not a CIDR block", "write it like `203.0.113.0/24`"),
            (7, "a CIDR is text, not the number `7`", "like `203.0.113.0/24`"),
        )
    ),
    (
        spec(network={"create": {"cidr": "ten"}}),
        "SPC005",
        "spec.network.create.cidr",
        "`ten` is not a CIDR block",
        "like `10.0.0.0/16`",
    ),
    (
        spec(network={"create": {"cidr": "10.0.0.0/8"}}),
        "SPC005",
        "spec.network.create.cidr",
        "a block of /8",
        "`10.0.0.0/16`",
    ),
    *(
        (
            spec(
                network={
                    "existing": {
                        **VPC,
                        "subnets": [{**VPC["subnets"][0], "cidr": cidr}, VPC["subnets"][1]],
                    }
                }
            ),
            "SPC005",
            "spec.network.existing.subnets[0].cidr",
            f"`{cidr}` is a block of /{cidr[-2:]}; a subnet has /16 to /28",
            "aws ec2 describe-subnets",
        )
        for cidr in ("10.0.0.0/15", "10.0.0.0/29")
    ),
    (
        spec(network={"create": {"cidr": "10.0.0.0/16"}, "existing": VPC}),
        "SPC005",
        "spec.network.existing",
        "both `create` and `existing` are given",
        "write one of them",
    ),
    (
        spec(network={"existing": {**VPC, "vpc": "vpc-1"}}),
        "SPC005",
        "spec.network.existing.vpc",
        "`vpc-1` is not a VPC id",
        "vpc-0a1",
    ),
    (
        spec(network={"existing": {**VPC, "subnets": []}}),
        "SPC004",
        "spec.network.existing.subnets",
        "has 0 items, below the minimum of 1",
        "at least 1",
    ),
    (
        spec(
            network={
                "existing": {
                    **VPC,
                    "subnets": [{**subnet, "public": True} for subnet in VPC["subnets"]],
                }
            }
        ),
        "SPC005",
        "spec.network.existing.subnets",
        "no subnet is private",
        "add a private subnet",
    ),
    (
        spec(platform={"eks": {"apiServer": {"public": ["2001:db8::/32"]}}}),
        "SPC005",
        "spec.platform.eks.apiServer.public[0]",
        "`2001:db8::/32` is not an IPv4 block",
        "an IPv4 block",
    ),
    (
        spec(storage=[{"name": "d", "fsxLustre": {"existing": {**FSX, "address": "10.0.1"}}}]),
        "SPC005",
        "spec.storage[0].fsxLustre.existing.address",
        "`10.0.1` is not an IPv4 address",
        "like `10.0.1.20`",
    ),
    (
        spec(namespaces=[{"name": "a", "group": "system:masters"}]),
        "SPC005",
        "spec.namespaces[0].group",
        "starts with `system:`",
        "list administrators under `platform.eks.admins`",
    ),
    (
        spec(
            namespaces=[
                {"name": "a", "principals": ["arn:aws:sts::111122223333:assumed-role/a/me"]}
            ]
        ),
        "SPC005",
        "spec.namespaces[0].principals[0]",
        "is not the ARN",
        "write `arn:aws:iam::111122223333:role/a`",
    ),
    # Capacity
    (
        spec(pool={"capacity": {"reserved": {}}}),
        "SPC001",
        "spec.nodePools[0].capacity[0].reserved",
        "`reservations` is missing",
        "add `reservations:`, a list, each item with `id`",
    ),
    (
        spec(pool={"capacity": {}}),
        "SPC005",
        "spec.nodePools[0].capacity",
        "nothing is given",
        "exactly one of `onDemand`, `spot`, `reserved`, `block`",
    ),
    (
        spec(pool={"capacity": {"spot": {}, "onDemand": {}}}),
        "SPC005",
        "spec.nodePools[0].capacity",
        "both `onDemand` and `spot` are given",
        "exactly one of",
    ),
    (
        spec(pool={"capacity": [{"onDemand": {}}, {"spot": {}}]}),
        "SPC005",
        "spec.nodePools[0].capacity",
        "capacity in the order `onDemand`, `spot`",
        "as they are tried: `spot`, `onDemand`",
    ),
    (
        spec(
            pool={"capacity": [{"block": {"reservations": [{"id": "cr-00000001"}]}}, {"spot": {}}]}
        ),
        "SPC005",
        "spec.nodePools[0].capacity",
        "a Capacity Block together with other capacity",
        "a pool of its own",
    ),
    (
        spec(
            pool={
                "capacity": [
                    {
                        "reserved": {
                            "reservations": [
                                {"id": "cr-00000001", "nodes": 2},
                                {"id": "cr-00000002", "nodes": 2},
                            ]
                        }
                    },
                    {"onDemand": {}},
                ]
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity",
        "several reservations together with other capacity",
        "keep one reservation",
    ),
    (
        spec(pool={"capacity": {"spot": {"reservations": [{"id": "cr-00000001"}]}}}),
        "SPC002",
        "spec.nodePools[0].capacity[0].spot.reservations",
        "unknown key `reservations`",
        "",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "reserved": {"reservations": [{"id": "cr-00000001"}, {"id": "cr-00000002"}]}
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].reserved.reservations",
        "`cr-00000001` is one of 2, and its nodes are not given",
        "add `nodes:` to each",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "reserved": {"reservations": [{"id": "cr-00000001"}, {"id": "cr-00000001"}]}
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].reserved.reservations",
        "`cr-00000001` is listed twice",
        "remove one",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "reserved": {
                        "reservations": [
                            {"id": "cr-00000002", "nodes": 2},
                            {"id": "cr-00000002", "nodes": 2},
                        ]
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].reserved.reservations",
        "`cr-00000002` is listed twice",
        "remove one",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        "reservations": [
                            {"id": "cr-00000001", "nodes": 2},
                            {"id": "cr-00000002", "nodes": 1},
                        ]
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].nodes",
        "the reservations have 3 nodes, and the pool 4",
        "write `3` nodes",
    ),
    (
        spec(pool={"capacity": {"block": {"reservations": [{"id": "cr-00000001", "nodes": 0}]}}}),
        "SPC004",
        "spec.nodePools[0].capacity[0].block.reservations[0].nodes",
        "0",
        "1",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        "reservations": [{"id": "cr-00000001"}],
                        "starts": "2026-12-02T11:30:00Z",
                        "ends": "2026-12-01T11:30:00Z",
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "before it starts",
        "swap",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        "reservations": [{"id": "cr-00000001"}],
                        "ends": "2026-12-01T11:30:00",
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "has no time zone",
        "write `2026-12-01T11:30:00Z`",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {"reservations": [{"id": "cr-00000001"}], "ends": "2026-12-01"}
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "has no time zone",
        "write `2026-12-01T00:00:00Z`",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        "reservations": [{"id": "cr-00000001"}],
                        "ends": "1999-12-31T23:59:59Z",
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "not of this century",
        "2026",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        "reservations": [{"id": "cr-00000001"}],
                        "ends": "2100-01-01T00:00:00Z",
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "not of this century",
        "2026",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        "reservations": [{"id": "cr-00000001"}],
                        "ends": "0001-01-01T00:00:00+09:00",
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "not of this century",
        "2026",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        "reservations": [{"id": "cr-00000001"}],
                        "ends": "2026-12-01_11:30:00Z",
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "`2026-12-01_11:30:00Z` is not a time",
        "write `2026-12-01T11:30:00Z`",
    ),
    (
        spec(
            pool={"capacity": {"block": {"reservations": [{"id": "cr-00000001"}], "ends": "soon"}}}
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "`soon` is not a time",
        "2026-12-01T11:30:00Z",
    ),
    (
        spec(pool={"capacity": {"onDemnd": {}}}),
        "SPC002",
        "spec.nodePools[0].capacity[0].onDemnd",
        "unknown key `onDemnd`",
        "did you mean `onDemand`?",
    ),
    # Node counts
    (
        spec(pool={"nodes": {"min": 5, "max": 4}}),
        "SPC005",
        "spec.nodePools[0].nodes.min",
        "`min` 5 is above `max` 4",
        "min: 4",
    ),
    (
        spec(pool={"capacity": ["on-demand"]}),
        "SPC003",
        "spec.nodePools[0].capacity[0]",
        "is the text `on-demand`, not a mapping",
        "write `{onDemand: {}}`",
    ),
    (
        spec(pool={"capacity": ["reserved"]}),
        "SPC003",
        "spec.nodePools[0].capacity[0]",
        "is the text `reserved`, not a mapping",
        "write `{reserved: …}`",
    ),
    (
        spec(pool={"capacity": ["cheap"]}),
        "SPC003",
        "spec.nodePools[0].capacity[0]",
        "is the text `cheap`, not a mapping",
        "write a mapping with `onDemand`, `spot`, `reserved`, `block`",
    ),
    (
        spec(monitoring=True),
        "SPC003",
        "spec.monitoring",
        "is the boolean `true`, not a mapping",
        "write `{}`",
    ),
    (
        spec(platform={"slurm": {}}),
        "SPC002",
        "spec.platform.slurm",
        "unknown key `slurm`",
        "`platform` has: `eks`, `hyperPod`, `parallelCluster`",
    ),
    (
        spec(pool={"nodes": {"max": 0}}),
        "SPC004",
        "spec.nodePools[0].nodes.max",
        "is 0, below the minimum of 1",
        "1 or more",
    ),
    (
        spec(pool={"nodes": 0}),
        "SPC005",
        "spec.nodePools[0].nodes",
        "`nodes` is 0, not between 1 and 5000",
        "`{max: 8}`",
    ),
    (
        spec(pool={"nodes": "4"}),
        "SPC005",
        "spec.nodePools[0].nodes",
        "`nodes` is text",
        "write `4` without quotes",
    ),
    (
        spec(pool={"instanceTypes": ["p5"]}),
        "SPC005",
        "spec.nodePools[0].instanceTypes[0]",
        "`p5` is not an instance type",
        "`p5.48xlarge`",
    ),
    (
        spec(pool={"rootVolume": {"size": "500Gi", "iops": 100}}),
        "SPC004",
        "spec.nodePools[0].rootVolume.iops",
        "below the minimum of 3000",
        "3000 or more",
    ),
    (
        spec(pool={"taints": [{"key": "a", "effect": "NoSchedul"}]}),
        "SPC004",
        "spec.nodePools[0].taints[0].effect",
        "`NoSchedul`",
        "did you mean `NoSchedule`?",
    ),
    (
        spec(pool={"labels": {"a b": "x"}}),
        "SPC005",
        "spec.nodePools[0].labels",
        "`a b` is not a label key",
        "`a-b`",
    ),
    (
        spec(pool={"labels": {"a": "x y"}}),
        "SPC005",
        "spec.nodePools[0].labels.a",
        "`x y` is not a label value",
        "`x-y`",
    ),
    (
        spec(pool={"labels": {"karpenter.sh/nodepool": "x"}}),
        "SPC005",
        "spec.nodePools[0].labels",
        "is set on nodes by Karpenter",
        "a key of your own",
    ),
    # Quantities, sizes, durations
    (
        spec(job={"resources": {"hugePages": "3Mi"}}),
        "SPC005",
        "spec.jobs[0].resources.hugePages",
        "not a whole number of 2 MiB pages",
        "write `4Mi`",
    ),
    (
        spec(pool={"rootVolume": {"size": 500}}),
        "SPC005",
        "spec.nodePools[0].rootVolume.size",
        "`500` is 500 bytes",
        "like `500Gi`",
    ),
    (
        spec(job={"resources": {"memory": "64gb"}}),
        "SPC005",
        "spec.jobs[0].resources.memory",
        "`64gb` is not a Kubernetes quantity",
        "write `64Gi`",
    ),
    (
        spec(job={"resources": {"memory": "lots"}}),
        "SPC005",
        "spec.jobs[0].resources.memory",
        "`lots`",
        "like `64Gi`",
    ),
    (
        spec(job={"resources": {"memory": "-1Gi"}}),
        "SPC005",
        "spec.jobs[0].resources.memory",
        "is negative",
        "0 or more",
    ),
    (
        spec(job={"resources": {"cpu": 1.5}}),
        "SPC005",
        "spec.jobs[0].resources.cpu",
        "the number `1.5`",
        'quote it: `"1.5"`',
    ),
    (
        spec(job={"resources": {"cpu": True}}),
        "SPC005",
        "spec.jobs[0].resources.cpu",
        "the boolean `true`",
        "`64Gi`",
    ),
    (
        spec(job={"resources": {"cpu": 0}}),
        "SPC005",
        "spec.jobs[0].resources.cpu",
        "`0` is nothing",
        "have it derived",
    ),
    (
        spec(job={"resources": {"accelerators": -1}}),
        "SPC004",
        "spec.jobs[0].resources.accelerators",
        "below the minimum of 0",
        "0 or more",
    ),
    (
        spec(job={"timeout": "2d"}),
        "SPC005",
        "spec.jobs[0].timeout",
        "`2d` is not a duration",
        "write `48h`",
    ),
    (
        spec(job={"timeout": 20}),
        "SPC005",
        "spec.jobs[0].timeout",
        "a number with a unit, not the number `20`",
        "`20m`",
    ),
    (
        spec(job={"timeout": "1.5h"}),
        "SPC005",
        "spec.jobs[0].timeout",
        "`1.5h` is not a duration",
        "write `1h30m`",
    ),
    (
        spec(job={"timeout": "90 minutes"}),
        "SPC005",
        "spec.jobs[0].timeout",
        "is not a duration",
        "write `1h30m`",
    ),
    (
        spec(job={"timeout": "0.0001s"}),
        "SPC005",
        "spec.jobs[0].timeout",
        "is not a duration",
        "like `20m`",
    ),
    (
        spec(job={"timeout": "0s"}),
        "SPC005",
        "spec.jobs[0].timeout",
        "`0s` is no time at all",
        "above 0",
    ),
    (
        spec(job={"timeout": "999999h"}),
        "SPC005",
        "spec.jobs[0].timeout",
        "more than ten years",
        "shorter",
    ),
    (
        spec(kueue={"waitForPodsReady": {"timeout": "x"}}),
        "SPC005",
        "spec.kueue.waitForPodsReady.timeout",
        "`x` is not a duration",
        "`20m`",
    ),
    # Slips that tell what was meant
    (
        spec(job={"name": "My_Job"}),
        "SPC005",
        "spec.jobs[0].name",
        "`My_Job` is not a job's name",
        "write `my-job`",
    ),
    (
        spec(pool={"instanceTypes": ["ml.p5.48xlarge"]}),
        "SPC005",
        "spec.nodePools[0].instanceTypes[0]",
        "`ml.p5.48xlarge`",
        "write `p5.48xlarge`",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "reserved": {
                        "reservations": [
                            {"id": "arn:aws:ec2:us-west-2:1:capacity-reservation/cr-0a1b0000"}
                        ]
                    }
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].reserved.reservations[0].id",
        "is not a capacity reservation id",
        "write `cr-0a1b0000`",
    ),
    (
        spec(platform={"eks": {"admins": ["arn:aws:sts::111122223333:assumed-role/Admin/me"]}}),
        "SPC005",
        "spec.platform.eks.admins[0]",
        "is not the ARN of an IAM role",
        "write `arn:aws:iam::111122223333:role/Admin`",
    ),
    (
        spec(components={"trainer": {"version": "v2.1"}}),
        "SPC005",
        "spec.components.trainer.version",
        "`v2.1` is not a whole version",
        "`2.3.0`",
    ),
    (
        spec(storage=[{"name": "s", "s3": {"existing": {"bucket": "s3://data/c4"}}}]),
        "SPC005",
        "spec.storage[0].s3.existing.bucket",
        "is not an S3 bucket name",
        "write `data`",
    ),
    (
        spec(job={"image": "https://registry.test/train:1"}),
        "SPC005",
        "spec.jobs[0].image",
        "is not an image reference",
        "write `registry.test/train:1`",
    ),
    (
        spec(job={"accelerators": 8}),
        "SPC002",
        "spec.jobs[0].accelerators",
        "unknown key `accelerators`",
        "write it under `resources`",
    ),
    (
        spec(pool={"capacity": "spot"}),
        "SPC003",
        "spec.nodePools[0].capacity",
        "`spot`, not a list",
        "write a list: `[{spot: {}}]`",
    ),
    (
        spec(monitoring={"openCost": True}),
        "SPC003",
        "spec.monitoring.openCost",
        "the boolean `true`, not a mapping",
        "write `{}`: it has no keys",
    ),
    (
        spec(monitoring={"openCost": {"ui": False}}),
        "SPC002",
        "spec.monitoring.openCost.ui",
        "unknown key `ui`",
        "`openCost` has no keys: write `{}`",
    ),
    (
        spec(job={"env": [{"name": "A", "value": "b"}]}),
        "SPC003",
        "spec.jobs[0].env",
        "is a list, not a mapping",
        "each entry as `NAME: value`",
    ),
    (
        spec(job={"mounts": {"fsx": "/data"}}),
        "SPC003",
        "spec.jobs[0].mounts",
        "is a mapping, not a list",
        "each item with `storage`, `path`",
    ),
    (
        spec(job={"mounts": ["fsx"]}),
        "SPC003",
        "spec.jobs[0].mounts[0]",
        "the text `fsx`, not a mapping",
        "a mapping with `storage`, `path`",
    ),
    (
        spec(job={"nodes": 2.0}),
        "SPC003",
        "spec.jobs[0].nodes",
        "the number `2.0`, not a whole",
        "write `2`",
    ),
    (
        spec(pool={"localStorage": "RAID0"}),
        "SPC004",
        "spec.nodePools[0].localStorage",
        "is `RAID0`, not one of",
        "did you mean `raid0`?",
    ),
    (
        spec(pool={"nodes": None}),
        "SPC001",
        "spec.nodePools[0]",
        "`nodes` is missing",
        "a mapping with `max`",
    ),
    (
        spec(job={"image": None}),
        "SPC001",
        "spec.jobs[0]",
        "`image` is missing",
        "the container image, with a tag",
    ),
    (
        spec(nodePools=None),
        "SPC001",
        "spec",
        "`nodePools` is missing",
        "a list, each item with `name`, `instanceTypes`",
    ),
    (
        spec(
            pool={
                "capacity": {
                    "block": {"reservations": [{"id": "cr-00000001"}], "ends": "2026-12-15 11:30"}
                }
            }
        ),
        "SPC005",
        "spec.nodePools[0].capacity[0].block.ends",
        "has no time zone",
        "write `2026-12-15T11:30:00Z`",
    ),
    # Images
    (
        spec(job={"image": "org/train"}),
        "SPC005",
        "spec.jobs[0].image",
        "neither tag nor digest",
        "pin it",
    ),
    (
        spec(job={"image": "train:latest"}),
        "SPC005",
        "spec.jobs[0].image",
        "the newest one",
        "a digest",
    ),
    (
        spec(job={"image": "train@sha256:12"}),
        "SPC005",
        "spec.jobs[0].image",
        "not 64 lowercase hex digits",
        "64 digits",
    ),
    (
        spec(job={"image": f"train@sha256:{'A' * 64}"}),
        "SPC005",
        "spec.jobs[0].image",
        "not 64 lowercase hex digits",
        "`0-9a-f`",
    ),
    (
        spec(job={"image": "Train Me:1"}),
        "SPC005",
        "spec.jobs[0].image",
        "is not an image reference",
        "registry/name:tag",
    ),
    # Jobs
    (
        spec(job={"command": []}),
        "SPC004",
        "spec.jobs[0].command",
        "has 0 items, below the minimum of 1",
        "at least 1",
    ),
    (
        spec(job={"command": ["a", 1]}),
        "SPC003",
        "spec.jobs[0].command[1]",
        "item 2 of `command` is the number `1`",
        'quote it: `"1"`',
    ),
    (
        spec(job={"command": "torchrun t.py"}),
        "SPC003",
        "spec.jobs[0].command",
        "the text `torchrun t.py`, not a list",
        "write a list: `[torchrun, t.py]`",
    ),
    (
        spec(job={"env": {"A": True}}),
        "SPC003",
        "spec.jobs[0].env.A",
        "the boolean `true`, not text",
        'quote it: `"true"`',
    ),
    (
        spec(job={"env": {"1 A": "x"}}),
        "SPC005",
        "spec.jobs[0].env",
        "not an environment variable's name",
        "`NCCL_DEBUG`",
    ),
    (
        spec(job={"env": {"MY VAR": "x"}}),
        "SPC005",
        "spec.jobs[0].env",
        "not an environment variable's name",
        "write `MY_VAR`",
    ),
    (
        spec(job={"nodes": "4"}),
        "SPC003",
        "spec.jobs[0].nodes",
        "the text `4`, not a whole number",
        "`4` without quotes",
    ),
    (
        spec(job={"nodes": 2.5}),
        "SPC003",
        "spec.jobs[0].nodes",
        "the number `2.5`, not a whole number",
        "a whole number",
    ),
    (spec(job={"nodes": 0}), "SPC004", "spec.jobs[0].nodes", "below the minimum of 1", "1 or more"),
    (
        spec(job={"retries": 1001}),
        "SPC004",
        "spec.jobs[0].retries",
        "above the maximum of 1000",
        "or less",
    ),
    (
        spec(job={"mounts": [{"storage": "a", "path": "data"}]}),
        "SPC005",
        "spec.jobs[0].mounts[0].path",
        "`data` is not an absolute path",
        "`/data/fsx`",
    ),
    (
        spec(job={"labels": {"kueue.x-k8s.io/queue-name": "q"}}),
        "SPC005",
        "spec.jobs[0].labels",
        "set by the compiler or a controller",
        "remove it",
    ),
    (
        spec(job={"labels": {"app.kubernetes.io/managed-by": "me"}}),
        "SPC005",
        "spec.jobs[0].labels",
        "managed-by",
        "remove",
    ),
    (
        spec(job={"model": {"parameters": "8b"}}),
        "SPC005",
        "spec.jobs[0].model.parameters",
        "not the text `8b`",
        "`8e9`",
    ),
    *(
        (
            spec(job={"model": {"parameters": given}}),
            "SPC005",
            "spec.jobs[0].model.parameters",
            f"a number of parameters is a number, not {kind}",
            f"write `{meant}`",
        )
        for given, kind, meant in (
            ("1.5 T", "the text `1.5 T`", "1.5e12"),
            ("8000000000", "the text `8000000000`", "8000000000"),
            ("many", "the text `many`", "8.03e9"),
            ([8], "a list", "8.03e9"),
        )
    ),
    (
        spec(job={"model": {"config": ""}}),
        "SPC004",
        "spec.jobs[0].model.config",
        "`config` has 0 characters, below the minimum of 1",
        "write at least 1",
    ),
    (
        spec(job={"command": f"torchrun train.py {'--debug ' * 5}"}),
        "SPC003",
        "spec.jobs[0].command",
        "`command` is the text `torchrun train.py --debug",
        "write a list, each item after `- `",
    ),
    *(
        (spec(job={"command": said}), "SPC003", "spec.jobs[0].command", "not a list", help)
        for said, help in (
            ("t.py --lr 0.1 --x yes", 'write a list: `[t.py, --lr, "0.1", --x, "yes"]`'),
            ("bash -c 'python t.py'", "write a list: `[bash, -c, python t.py]`"),
            ("echo 'one", 'write a list: `[echo, "\'one"]`'),
            ("train.py --gpus 0,1", 'write a list: `[train.py, --gpus, "0,1"]`'),
            (f"t.py --{'x' * 45}", f"write a list: `[t.py, --{'x' * 45}]`"),
            (f"t.py --{'x' * 55}", "write a list, each item after `- `"),
            ("", "write a list, each item after `- `"),
            (True, "write a list, each item after `- `"),
            ({"a": 1}, "write a list, each item after `- `"),
            (7, "write a list: `[7]`"),
        )
    ),
    *(
        (spec(pool={"zones": said}), "SPC003", "spec.nodePools[0].zones", "not a list", help)
        for said, help in (
            ("us-west-2a, us-west-2b", "write a list: `[us-west-2a, us-west-2b]`"),
            ("us-west-2a,us-west-2b,", "write a list: `[us-west-2a, us-west-2b]`"),
        )
    ),
    (
        spec(monitoring=False),
        "SPC003",
        "spec.monitoring",
        "is the boolean `false`",
        "remove the key, or write a mapping with `retention`, ",
    ),
    (
        spec(job={"command": [f"torchrun train.py {'--debug ' * 5}"]}),
        "SPC005",
        "spec.jobs[0].command",
        "`torchrun train.py --debug --debug --debug --debu…`, spaces and all",
        "write `[torchrun, train.py, --debug, --debug, --debug, --debug, …]`",
    ),
    (
        spec(images=[{"name": "train", "base": "a.io/b:1.0", "build": {"codeBuild": {}}}]),
        "SPC005",
        "spec.images[0].base",
        "image `a.io/b:1.0` has no digest",
        "`docker buildx imagetools inspect a.io/b:1.0`",
    ),
    (
        spec(job={"model": {"parameters": 0}}),
        "SPC005",
        "spec.jobs[0].model.parameters",
        "a model of `0`",
        "`8.03e9`",
    ),
    (
        spec(job={"model": {"parameters": 1e9, "precision": "bf61"}}),
        "SPC004",
        "spec.jobs[0].model.precision",
        "`bf61`, not one of `fp32`, `bf16`",
        "did you mean `bf16`?",
    ),
    (
        spec(job={"secretEnv": [{"env": "A", "secret": "s", "key": "a b"}]}),
        "SPC005",
        "spec.jobs[0].secretEnv[0].key",
        "`a b` is not a key of a Secret",
        "`a-b`",
    ),
    (
        spec(job={"sharedMemory": "١Gi"}),
        "SPC005",
        "spec.jobs[0].sharedMemory",
        "`١Gi` is not a Kubernetes quantity",
        "like `64Gi`",
    ),
    (
        spec(job={"terminationGracePeriod": 0}),
        "SPC005",
        "spec.jobs[0].terminationGracePeriod",
        "a number with a unit, not the number `0`",
        "write it like `20m`",
    ),
    (
        spec(job={"checkpoint": {}}),
        "SPC001",
        "spec.jobs[0].checkpoint",
        "`path` is missing",
        "add `path:`",
    ),
    (
        spec(job={"resources": ""}),
        "SPC003",
        "spec.jobs[0].resources",
        "is empty, not a mapping",
        "a mapping with `cpu`",
    ),
    # Storage and queues
    (
        spec(storage=[{"name": "a"}]),
        "SPC005",
        "spec.storage[0]",
        "not exactly one kind",
        "one of `fsxLustre:`, `s3:` and `ebs:`",
    ),
    (
        spec(storage=[{"name": "a", "s3": {"existing": {"bucket": "A"}}}]),
        "SPC005",
        "spec.storage[0].s3.existing.bucket",
        "not an S3 bucket",
        "-1",
    ),
    (
        spec(storage=[{"name": "a", "fsxLustre": {"existing": {**FSX, "id": "fsx-1"}}}]),
        "SPC005",
        "spec.storage[0].fsxLustre.existing.id",
        "`fsx-1` is not an FSx file system id",
        "`fs-0a1b",
    ),
    (
        spec(storage=[{"name": "a", "fsxLustre": {"existing": {**FSX, "mountName": "nine-long"}}}]),
        "SPC005",
        "spec.storage[0].fsxLustre.existing.mountName",
        "`nine-long` is not the MountName",
        "`abcdefgh`",
    ),
    (
        spec(queues=queue(namespaces=[])),
        "SPC004",
        "spec.queues[0].namespaces",
        "has 0 items",
        "at least 1",
    ),
    (
        spec(queues=queue(namespaces=["a", "a"])),
        "SPC005",
        "spec.queues[0].namespaces",
        "`a` is listed twice",
        "remove",
    ),
    (
        spec(priorities=[{"name": "p", "value": 2_000_000_000}]),
        "SPC004",
        "spec.priorities[0].value",
        "is 2000000000, above the maximum of 1000000000",
        "1000000000 or less",
    ),
    (
        spec(queues=queue(cohort="c", quota=[{"pool": "gpu", "nodes": 2, "lendingLimit": 3}])),
        "SPC005",
        "spec.queues[0].quota[0].lendingLimit",
        "a quota of 2 nodes that lends 3",
        "`lendingLimit: 2` or less",
    ),
    (
        spec(
            queues=queue(
                cohort="c",
                preemption={
                    "reclaimWithinCohort": "Never",
                    "borrowWithinCohort": {"policy": "LowerPriority"},
                },
            )
        ),
        "SPC005",
        "spec.queues[0].preemption.borrowWithinCohort",
        "`reclaimWithinCohort` is `Never`",
        "`reclaimWithinCohort: LowerPriority`",
    ),
    (
        spec(queues=queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}})),
        "SPC005",
        "spec.queues[0].preemption",
        "stops jobs to borrow, and is in no cohort",
        "add `cohort:`",
    ),
    (
        spec(queues=queue(preemption={"borrowWithinCohort": {}})),
        "SPC001",
        "spec.queues[0].preemption.borrowWithinCohort",
        "`policy` is missing",
        "LowerPriority",
    ),
    (
        spec(queues=queue(fairSharing={"weight": 2})),
        "SPC005",
        "spec.queues[0].fairSharing",
        "has a weight, and is in no cohort",
        "add `cohort:`",
    ),
    (
        spec(queues=queue(cohort="c", fairSharing={"weight": -1})),
        "SPC005",
        "spec.queues[0].fairSharing.weight",
        "`-1` is negative",
        "0 or more",
    ),
    (
        spec(queues=queue(cohort="c", fairSharing={"weight": 1.5})),
        "SPC005",
        "spec.queues[0].fairSharing.weight",
        "not the number `1.5`",
        '`"1.5"`',
    ),
    (
        spec(queues=queue(flavorFungibility={"whenCanBorrow": "Borrow"})),
        "SPC004",
        "spec.queues[0].flavorFungibility.whenCanBorrow",
        "is `Borrow`",
        "`TryNextFlavor`",
    ),
    (
        spec(queues=queue(stopPolicy="Drain")),
        "SPC004",
        "spec.queues[0].stopPolicy",
        "is `Drain`",
        "`HoldAndDrain`",
    ),
    (
        spec(cohorts=[{"name": "c", "fairSharing": {"weight": 2}}]),
        "SPC005",
        "spec.cohorts[0].fairSharing",
        "has a weight, and no parent",
        "add `parentName:`",
    ),
    (
        spec(
            kueue={
                "fairSharing": {
                    "preemptionStrategies": ["LessThanInitialShare", "LessThanOrEqualToFinalShare"]
                }
            }
        ),
        "SPC005",
        "spec.kueue.fairSharing.preemptionStrategies",
        "is no list that Kueue starts with",
        "`[LessThanOrEqualToFinalShare, LessThanInitialShare]`",
    ),
    (
        spec(queues=queue(quota=[{"pool": "gpu", "nodes": 2, "borrowingLimit": 1}])),
        "SPC005",
        "spec.queues[0]",
        "borrows or lends, and is in no cohort",
        "add `cohort:`",
    ),
    (
        spec(platform={"eks": {"addons": {"Vpc CNI": {}}}}),
        "SPC005",
        'spec.platform.eks.addons["Vpc CNI"]',
        "`Vpc CNI` is not the name of an EKS add-on",
        "`vpc-cni`",
    ),
    (
        spec(platform={"eks": {"addons": {"coredns": {"version": "latest"}}}}),
        "SPC005",
        "spec.platform.eks.addons.coredns.version",
        "`latest` is not a build of an EKS add-on",
        "`v1.63.1-eksbuild.1`",
    ),
    (
        spec(platform={"eks": {"addons": {"coredns": {"verison": "v1.1.1"}}}}),
        "SPC002",
        "spec.platform.eks.addons.coredns.verison",
        "unknown key `verison`",
        "did you mean `version`?",
    ),
    # The rest of a cluster
    (
        spec(account=111122223333),
        "SPC005",
        "spec.account",
        "text, not the number `111122223333`",
        'quote it: `"111122223333"`',
    ),
    (spec(account="١" * 12), "SPC005", "spec.account", "is not an AWS account id", "12"),
    (
        {**spec(), "spec": None},
        "SPC003",
        "spec",
        "`spec` is empty, not a mapping",
        "write a mapping with `account`, `region`, `nodePools`",
    ),
    *(
        (
            spec(platform={"eks": {"admins": [f"arn:aws:iam::111122223333:{rest}"]}}),
            "SPC005",
            "spec.platform.eks.admins[0]",
            "is not the ARN of an IAM role",
            "write ",
        )
        for rest in ("role/", "role/a b", "role/path/", "root", f"role/{'a' * 65}")
    ),
    (
        spec(platform={"eks": {"admins": [111122223333]}}),
        "SPC005",
        "spec.platform.eks.admins[0]",
        "text, not the number",
        "write it as text, like `arn:",
    ),
    (
        spec(platform={"eks": {"admins": ["arn:aws:iam::111122223333:role/Two Words"]}}),
        "SPC005",
        "spec.platform.eks.admins[0]",
        "is not the ARN",
        "write it like",
    ),
    (
        spec(platform={"eks": {"admins": ["ARN:aws:iam::111122223333:role/Ops"]}}),
        "SPC005",
        "spec.platform.eks.admins[0]",
        "is not the ARN",
        "write `arn:aws:iam::111122223333:role/Ops`",
    ),
    (
        spec(platform={"eks": {"admins": ["arn:aws:s3:::x"]}}),
        "SPC005",
        "spec.platform.eks.admins[0]",
        "the ARN of an IAM role or user",
        "arn:aws:iam::",
    ),
    (
        spec(tags={"aws:x": "v"}),
        "SPC005",
        "spec.tags",
        "no tag that you may set",
        "a key of your own",
    ),
    (
        spec(tags={"karpenter.sh/discovery": "v"}),
        "SPC005",
        "spec.tags",
        "no tag that you may set",
        "your own",
    ),
    (
        spec(tags={"a": 1}),
        "SPC005",
        "spec.tags.a",
        "a tag's value is text, not the number `1`",
        'quote it: `"1"`',
    ),
    (
        spec(platform={"eks": {"systemNodes": {"nodes": 1}}}),
        "SPC004",
        "spec.platform.eks.systemNodes.nodes",
        "below the minimum of 2",
        "2 or more",
    ),
    (
        spec(release=2026.11),
        "SPC003",
        "spec.release",
        "the number `2026.11`, not text",
        'quote it: `"2026.11"`',
    ),
    (
        spec(components={"trainer": {"version": "2.1"}}),
        "SPC005",
        "spec.components.trainer.version",
        "`2.1` is not a whole version",
        "`2.3.0`",
    ),
    (
        spec(flux={"url": "git@github.com:org/fleet"}),
        "SPC005",
        "spec.flux.url",
        "is not the `https://` or `ssh://` URL",
        "write `ssh://git@github.com/org/fleet`",
    ),
    (
        spec(flux={"path": "../x"}),
        "SPC005",
        "spec.flux.path",
        "not a folder inside the repository",
        "`clusters/seoul`",
    ),
    (
        spec(platform="hyperpod"),
        "SPC003",
        "spec.platform",
        "`platform` is the text `hyperpod`, not a mapping",
        "write one of `{eks: {}}`, `{hyperPod: {}}`, `{parallelCluster: {}}`",
    ),
    (
        spec(platform={"hyperpod": {}}),
        "SPC002",
        "spec.platform.hyperpod",
        "unknown key `hyperpod`",
        "did you mean `hyperPod`?",
    ),
    (
        spec(platform={"eks": {"apiServer": "public"}}),
        "SPC005",
        "spec.platform.eks.apiServer",
        "`apiServer` is `public`",
        "write `private`",
    ),
    (
        spec(nodePools=[]),
        "SPC004",
        "spec.nodePools",
        "has 0 items, below the minimum of 1",
        "at least 1",
    ),
    (
        spec(namespaces="team-a"),
        "SPC003",
        "spec.namespaces",
        "the text `team-a`, not a list",
        "`[{name: team-a}]`",
    ),
    # Keys
    (
        spec(nodePool=[]),
        "SPC002",
        "spec.nodePool",
        "unknown key `nodePool`",
        "did you mean `nodePools`?",
    ),
    (
        spec(job={"worker_nodes": 2}),
        "SPC002",
        "spec.jobs[0].worker_nodes",
        "unknown key `worker_nodes`",
        "`trainyard explain --spec jobs` lists the keys",
    ),
    (
        spec(job={"shared_memory": "1Gi"}),
        "SPC002",
        "spec.jobs[0].shared_memory",
        "`shared_memory`",
        "`sharedMemory`?",
    ),
    (spec(region=None), "SPC001", "spec", "`region` is missing", "add `region:`"),
    (
        spec(network={"existing": {"vpc": "vpc-0a1b2c3d"}}),
        "SPC001",
        "spec.network.existing",
        "`subnets` is missing",
        "a list, each item with `id`, `zone`",
    ),
]


@pytest.mark.needs("hyperpod", "parallelcluster")
@pytest.mark.parametrize(("data", "code", "at", "message", "help"), BAD)
def test_a_bad_value_is_refused_at_its_place(
    data: Any, code: str, at: str, message: str, help: str
) -> None:
    (found,) = shape_faults(data)
    assert found.code == code
    assert str(found.at).startswith(at)
    assert message in found.message
    assert help in found.help


@pytest.mark.parametrize(("data", "code", "at", "message", "help"), BAD)
def test_messages_have_the_house_form(
    data: Any, code: str, at: str, message: str, help: str
) -> None:
    for found in shape_faults(data):
        assert not found.message.endswith(".")
        assert found.message[0].islower() or found.message[0] == "`"
        assert "pydantic" not in found.message + found.help
        assert found.help


def test_all_faults_of_a_document_are_told_at_once() -> None:
    data = spec(
        region="us-west-2a",
        account=1,
        job={"nodes": "4", "imge": "x", "image": None, "command": None},
        pool={"zones": ["us-west-2"]},
    )
    assert sorted((each.code, str(each.at)) for each in shape_faults(data)) == [
        ("SPC001", "spec.jobs[0]"),
        ("SPC002", "spec.jobs[0].imge"),
        ("SPC003", "spec.jobs[0].nodes"),
        ("SPC005", "spec.account"),
        ("SPC005", "spec.nodePools[0].zones[0]"),
        ("SPC005", "spec.region"),
    ]


TEXT = """\
apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: lab}
spec:
  account: "111122223333"
  region: us-west-2
  tags:
    cost: research
    "aws:cost": x
  nodePools:
    - name: gpu
      instanceTypes: [p5.48xlarge]
      nodes: {max: 4}
      noeds: 3
      labels:
  jobs:
    - name: train
      image: a:1
"""


def test_faults_stand_at_their_line_and_column() -> None:
    source = document(TEXT)
    found = [each.locate(source) for each in load(source)[1]]
    assert sorted((each.code, each.span.line, each.span.column) for each in found if each.span) == [
        ("SPC001", 17, 7),  # `command` is missing from the job that begins here
        ("SPC002", 14, 7),
        ("SPC003", 15, 7),
        ("SPC005", 9, 5),  # of the key, not of its value
    ]


@pytest.mark.parametrize("number", ["1.30", "1e3", "0x1F", "+1", "2."])
def test_a_number_for_a_text_is_told_as_it_is_written(number: str) -> None:
    """What it was read as, like 1.3, would be another text."""
    source = document(
        TEXT.replace("cost: research", f"cost: {number}") + f"      env: {{A: {number}}}\n"
    )
    found = [
        each
        for each in load(source)[1]
        if each.at in (Route(("spec", "tags", "cost")), Route(("spec", "jobs", 0, "env", "A")))
    ]
    assert [each.code for each in found] == ["SPC005", "SPC003"]
    for each in found:
        assert f"the number `{number}`" in each.message
        assert each.help == f'quote it: `"{number}"`'


@pytest.mark.parametrize("text", ["[1]", "just text", "7", "{}", "apiVersion: v1"])
def test_a_document_that_is_no_spec_is_told_so(text: str) -> None:
    model, found = load(document(text))
    assert model is None
    assert found
    assert {each.code for each in found} <= {"SPC001", "SPC003", "SPC004"}


def test_values_are_normal_forms() -> None:
    flux = loaded(spec(flux={"path": "./clusters//lab/"})).spec.flux
    assert flux.path == "clusters/lab"
    ends = "2026-12-01T20:30:00+09:00"
    block = {"reservations": [{"id": "cr-00000001"}], "ends": ends}
    pool = loaded(spec(pool={"capacity": {"block": block}})).spec.node_pools[0]
    assert pool.block.ends == "2026-12-01T11:30:00Z"
    assert (pool.nodes.min, pool.nodes.max) == (0, 4)
    fixed = loaded(spec(pool={"nodes": 4})).spec.node_pools[0]
    assert (fixed.nodes.min, fixed.nodes.max) == (4, 4)


def test_braces_in_a_value_stand_for_themselves() -> None:
    (found,) = shape_faults(spec(region="{fact}{0}{"))
    assert found.message == "`{fact}{0}{` is not an AWS Region"


def test_a_spec_cannot_be_changed_after_it_was_read() -> None:
    model = loaded(spec())
    with pytest.raises(ValueError, match="frozen"):
        model.spec.region = "eu-west-1"
