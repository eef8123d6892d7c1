"""The README of the bootstrap: its blocks are run as printed, against commands that write down how they were called."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from functools import cache
from itertools import pairwise
from pathlib import Path

import botocore.session
import pytest
import yaml
from botocore import xform_name
from builders import FSX, SPECS, example, files, plan_of, spec

from compiler.emit.marker import marked
from compiler.manifest import Manifest
from compiler.output.formats import written
from compiler.plan import Plan
from compiler.subjects.cluster.plan import Bootstrap, Cluster
from compiler.subjects.delivery.plan import GitSource, Stage
from compiler.subjects.jobs.plan import TrainJob
from compiler.subjects.pools.plan import NodeClass
from compiler.targets import lower
from compiler.verify import verify

BLOCK = {
    "capacity": {
        "block": {
            "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
            "starts": "2026-12-01T11:30:00Z",
            "ends": "2026-12-08T11:30:00Z",
        }
    },
    "nodes": 4,
}
VPC = {
    "vpc": "vpc-0a1b2c3d",
    "subnets": [
        {"id": "subnet-0a1b2c3d", "zone": "us-west-2a"},
        {"id": "subnet-0a1b2c3e", "zone": "us-west-2b"},
    ],
}
DISK = [{"name": "data", "fsxLustre": {"existing": FSX}}]
MOUNT = {"mounts": [{"storage": "data", "path": "/data"}]}
MADE = [
    {"name": "raw", "s3": {"create": {}}},
    {
        "name": "data",
        "fsxLustre": {"create": {"size": "4800Gi", "throughputPerTiB": 250}},
    },
]
DIGEST = "sha256:" + "0a" * 32
OPEN = {"public": ["203.0.113.0/24"]}
CASES = {
    "private": spec(),
    "public": spec(platform={"eks": {"apiServer": OPEN}}),
    "imported, private": spec(network={"existing": VPC}, storage=DISK, job=MOUNT),
    "imported, public": spec(
        network={"existing": VPC}, platform={"eks": {"apiServer": OPEN}}
    ),
    "block": spec(pool=BLOCK),
    "spot": spec(pool={"capacity": {"spot": {}}}),
    "reserved": spec(
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
    "file system": spec(storage=DISK, job=MOUNT),
    "made storage": spec(storage=MADE, job=MOUNT),
    "made storage, imported": spec(network={"existing": VPC}, storage=MADE, job=MOUNT),
    "ssh": spec(flux={"url": "ssh://git@github.com/org/fleet", "branch": "prod"}),
    "https": spec(flux={"url": "https://github.com/org/fleet", "source": "fleet"}),
    "https with a token": spec(
        flux={"url": "https://github.com/org/fleet", "secret": "fleet"}
    ),
    "a source of others": spec(flux={"source": "fleet"}),
    "a path of our own": spec(flux={"path": "clusters/lab"}),
    "ecr": spec(
        job={"image": f"444455556666.dkr.ecr.eu-west-1.amazonaws.com/a/b@{DIGEST}"}
    ),
    "admins": spec(
        platform={"eks": {"admins": ["arn:aws:iam::111122223333:role/ops"]}},
        namespaces=[
            {
                "name": "training",
                "principals": ["arn:aws:iam::111122223333:role/ml"],
            },
        ],
    ),
    "secrets": spec(job={"secrets": [{"env": "T", "secret": "hf", "key": "t"}]}),
    "no jobs": spec(jobs=None),
}
ALL = [*CASES, *SPECS]


@cache
def plan(name: str) -> Plan:
    return example(name)[1] if name in SPECS else plan_of(CASES[name])


def pages(name: str) -> dict[str, str]:
    """The README, then the pages of pools and storage."""
    found = files(plan(name))
    return {path: str(text) for path, text in found.items() if path.endswith(".md")}


def readme(name: str) -> str:
    return pages(name)["bootstrap/README.md"]


def blocks(name: str) -> list[str]:
    """The shell of all pages."""
    text = "\n".join(pages(name).values())
    return re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def tree(name: str) -> dict[str, str]:
    """The cluster's folder as it is on the disk."""
    return {
        each.path: marked(each.path, written(each)).decode()
        for each in lower(plan(name))
    }


STUB = """#!/bin/sh
line="${0##*/}$(printf '\\037%s' "$@")"
printf '%s\\n' "$line" >> "$LOG"   # at once: one of them runs in the background
case "$*" in
  *VpcEndpointId*) [ -n "$HAS" ] && echo vpce-1 ;;
  *"FileSystems[0].VpcId"*) echo vpc-2 ;;
  *describe-vpc-peering-connections*) [ -n "$HAS" ] && echo pcx-1 ;;
  *"Stacks[0].Outputs[].["*) printf 'Id\tid-9\nDnsName\tid-9.fsx\nMountName\tabcdefgh\n' ;;
  *"Stacks[0]."*) echo id-9 ;;
  *--filename=-*) cat ;;
  *describe-file-systems*id-9*) exit 254 ;;
  *describe-subnets*) echo subnet-1 ;;
  *describe-stacks*--stack-name*) [ -n "$HAS" ] || exit 254 ;;
  *describe-stacks*) echo "trainyard-lab-gone" ;;
  *describe-placement-groups*group-name*) [ -n "$HAS" ] && echo lab-gpu ;;
  *describe-placement-groups*) printf 'lab-gone\\tlab-gpu\\n' ;;
  *RouteTableId*) printf 'rtb-1\\trtb-2\\n' ;;
  *checkip*) echo 198.51.100.7 ;;
  *cluster.endpoint*) echo https://abc.eks.example ;;
  *Quota.Value*) echo 64.0 ;;
  *logs*) echo 'NET/OFI Selected provider is efa, fabric is efa' ;;
  *"-f -"*) cat > "$CONFIG" ;;
  *--output*) echo "id-1" ;;
esac
exit 0
"""


def ran(name: str, folder: Path, **more: str) -> list[list[str]]:
    """How each command was called when every block was run, one after the other, in one shell that stops at a fault."""
    for path, text in tree(name).items():
        target = folder / plan(name).one(Bootstrap).path / path  # type: ignore[union-attr]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (folder / "bin").mkdir(parents=True)
    for command in ("aws", "eksctl", "kubectl", "flux", "curl"):
        (folder / "bin" / command).write_text(STUB)
        (folder / "bin" / command).chmod(0o755)
    log = folder / "log"
    log.touch()
    given = {
        "OWNER": "org",
        "REPOSITORY": "fleet",
        "URL": "ssh://git@host/x",
        "KEY": "k",
        "GIT_TOKEN": "t",
        "HAS": "",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks(name)) + "\nwait\n"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "LOG": str(log),
            "CONFIG": str(folder / "config"),
            **given,
            **more,
        },
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    (folder / "said").write_text(done.stdout)
    return [line.split("\037") for line in log.read_text().splitlines()]


@pytest.mark.parametrize("name", ALL)
def test_every_block_runs_as_printed(name: str, tmp_path: Path) -> None:
    calls = ran(name, tmp_path)
    assert next(call[0] for call in calls if call[0] in ("eksctl", "flux")) == "eksctl"
    assert any(call[:2] == ["kubectl", "apply"] for call in calls)
    for call in calls:
        for folder in [
            value for key, value in pairwise(call) if key == "-f" and value != "-"
        ]:
            assert (tmp_path / folder).exists(), call


# --- what is called exists, with these options

# AWS CLI: options that are none of the API's, by command (AWS CLI reference, ec2 authorize-security-group-ingress,
# cloudformation deploy, eks update-kubeconfig).
OWN = {
    ("ec2", "authorize-security-group-ingress"): {"protocol", "port", "cidr"},
    ("cloudformation", "deploy"): {
        "stack-name",
        "template-file",
        "capabilities",
        "no-fail-on-empty-changeset",
        "tags",
        "parameter-overrides",
    },
    ("eks", "update-kubeconfig"): {"name"},
}
WAITERS = {
    ("ec2", "vpc-peering-connection-exists"): "DescribeVpcPeeringConnections",
    ("cloudformation", "stack-delete-complete"): "DescribeStacks",
}


def api_options(service: str, command: str) -> set[str]:
    """The options of an AWS CLI command: the members of the operation's input (botocore)."""
    if (service, command) in OWN and command != "authorize-security-group-ingress":
        return OWN[service, command]
    service = {"s3api": "s3"}.get(service, service)
    model = botocore.session.get_session().get_service_model(service)
    operations = {xform_name(each, "-"): each for each in model.operation_names}
    assert command in operations or command in WAITERS.values(), (service, command)
    shape = model.operation_model(operations.get(command, command)).input_shape
    return {xform_name(each, "-") for each in shape.members} | OWN.get(
        (service, command), set()
    )


@pytest.mark.parametrize("name", ALL)
def test_every_option_of_the_aws_cli_exists(name: str, tmp_path: Path) -> None:
    for call in (each for each in ran(name, tmp_path) if each[0] == "aws"):
        service, command = call[1], call[2]
        command = WAITERS[service, call[3]] if command == "wait" else command
        given = {each[2:] for each in call if each.startswith("--")} - {
            "region",
            "query",
            "output",
        }
        assert given <= api_options(service, command), call


# eksctl v0.230.0 pkg/ctl; flux2 v2.9.4 cmd/flux; kubectl 1.35.
OPTIONS = {
    ("eksctl", "create"): {"install-nvidia-plugin", "install-neuron-plugin"},
    ("eksctl", "delete"): {"wait", "disable-nodegroup-eviction"},
    ("eksctl", "utils"): {
        "cluster",
        "region",
        "public-access",
        "private-access",
        "public-access-cidrs",
        "approve",
    },
    ("eksctl", "upgrade"): {"cluster", "region", "name", "release-version"},
    ("flux", "install"): {"version"},
    ("flux", "bootstrap"): {
        "version",
        "owner",
        "repository",
        "branch",
        "path",
        "url",
        "private-key-file",
    },
    ("flux", "create"): {"url", "username", "password", "branch", "secret-ref"},
    ("flux", "get"): {"watch"},
    ("flux", "suspend"): {"all", "namespace"},
    ("kubectl", "apply"): {"server-side", "field-manager", "filename"},
    ("kubectl", "create"): {"namespace", "dry-run", "output", "from-literal"},
    ("kubectl", "label"): {"local", "filename", "dry-run", "output"},
    ("kubectl", "config"): {"server", "tls-server-name"},
    ("kubectl", "get"): {
        "all-namespaces",
        "namespace",
        "selector",
        "sort-by",
        "output",
    },
    ("kubectl", "wait"): {"all", "namespace", "for", "timeout"},
    ("kubectl", "logs"): {"namespace", "selector", "tail", "max-log-requests"},
    ("kubectl", "delete"): {"all", "all-namespaces"},
}


@pytest.mark.parametrize("name", ALL)
def test_every_option_of_the_other_commands_exists(name: str, tmp_path: Path) -> None:
    for call in (
        each
        for each in ran(name, tmp_path)
        if (each[0], each[1]) in OPTIONS or each[0] != "aws"
    ):
        if call[0] == "curl":
            continue
        given = {each[2:].partition("=")[0] for each in call if each.startswith("--")}
        assert given <= OPTIONS[call[0], call[1]], call


# --- every value is the spec's


@pytest.mark.parametrize("name", ALL)
def test_what_the_commands_name_is_of_the_spec(name: str, tmp_path: Path) -> None:
    made = plan(name)
    boot = made.one(Bootstrap)
    assert boot is not None
    calls = ran(name, tmp_path)
    text = "\n".join(" ".join(each) for each in calls)
    images = [
        re.match(r"(\d+)\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws", each.image or "")
        for each in made.of(TrainJob)
    ]
    regions = {each[2] for each in images if each} | {boot.region}
    accounts = {each[1] for each in images if each} | {boot.account}
    assert set(re.findall(r"--region[ =](\S+)", text)) <= regions
    assert set(re.findall(r"\b\d{12}\b", text)) <= accounts
    reservations = {
        term.id for each in made.of(NodeClass) for term in each.reservations
    }
    assert set(re.findall(r"\bcr-[0-9a-z]+", text)) == reservations
    assert set(re.findall(r"\bfs-[0-9a-f]+\b", text)) == {
        each.file_system for each in boot.needs.storage if each.file_system
    }
    shown = re.findall(r"\.status\.allocatable\.([^,\s]+)", text)
    assert {each.replace("\\", "") for each in shown} >= {
        name for each in boot.needs.pools for name, _ in each.devices
    }
    named = {
        name
        for call in calls
        if call[:2] in (["aws", "eks"], ["eksctl", "utils"])
        for key, name in re.findall(r"--(name|cluster)[ =](\S+)", " ".join(call))
    }
    assert named == {made.one(Cluster).name}  # type: ignore[union-attr]
    assert not any("None" in page for page in pages(name).values())


def quotas(name: str, folder: Path) -> dict[str, int]:
    """What the check of quotas prints as needed, by code, and that it asks the account for just these."""
    calls = ran(name, folder)
    asked = [
        call[call.index("--quota-code") + 1] for call in calls if "--quota-code" in call
    ]
    said = re.findall(
        r"^\w+ (L-\w+): this cluster needs (\d+), the account has 64\.0$",
        (folder / "said").read_text(),
        re.MULTILINE,
    )
    assert sorted(asked) == sorted(code for code, _ in said)
    return {code: int(needed) for code, needed in said}


def test_quotas_are_summed_over_the_cluster_and_its_pools(tmp_path: Path) -> None:
    found = quotas("jakarta", tmp_path / "jakarta")
    assert found["L-417A185B"] == 80 * 192
    assert found["L-1216C47A"] == 3 * 8
    assert found["L-0263D0A3"] == 2
    assert found["L-DF5E4CA3"] == 80 * 33 + 3
    assert found["L-7A658B76"] == 9  # 80 × 100 GiB and 3 × 100 GiB, in TiB
    spot = quotas("spot", tmp_path / "spot")
    assert spot["L-7212CCBC"] == 4 * 96
    assert "L-417A185B" not in spot
    assert "L-F678F1CE" not in quotas("imported, public", tmp_path / "imported")


@pytest.mark.parametrize(
    ("name", "has"),
    [
        (
            "jakarta",
            {
                "enable-region",
                "describe-capacity-reservations",
                "describe-capacity-block-offerings",
                "ecr",
            },
        ),
        ("starter", set()),
        (
            "block",
            {"describe-capacity-reservations", "describe-capacity-block-offerings"},
        ),
        ("reserved", {"describe-capacity-reservations"}),
        ("file system", {"fsx"}),
        ("ecr", {"ecr"}),
    ],
)
def test_only_what_applies_is_there(name: str, has: set[str], tmp_path: Path) -> None:
    words = {word for call in ran(name, tmp_path) for word in call[1:3]}
    every = {
        "enable-region",
        "describe-capacity-reservations",
        "describe-capacity-block-offerings",
        "ecr",
        "fsx",
    }
    assert words & every == has


# --- the API server


def test_a_private_api_is_open_to_one_address_while_eksctl_works_and_then_closed(
    tmp_path: Path,
) -> None:
    calls = ran("private", tmp_path)
    config = yaml.safe_load((tmp_path / "config").read_text())
    assert verify([Manifest(config)]) == []
    assert config["vpc"].pop("publicAccessCIDRs") == ["198.51.100.7/32"]
    assert config["vpc"]["clusterEndpoints"] == {
        "publicAccess": True,
        "privateAccess": True,
    }
    config["vpc"]["clusterEndpoints"]["publicAccess"] = False
    assert config == yaml.safe_load(tree("private")["bootstrap/eksctl.yaml"])
    after = calls[
        next(
            index
            for index, call in enumerate(calls)
            if call[:2] == ["eksctl", "create"]
        )
        + 1
    ]
    assert after[:3] == ["eksctl", "utils", "update-cluster-vpc-config"]
    assert {"--public-access=false", "--private-access=true", "--approve"} <= set(after)
    assert any("start-session" in call for call in calls)


def test_a_public_api_needs_no_detour(tmp_path: Path) -> None:
    calls = ran("public", tmp_path)
    assert not any(
        "start-session" in call or "--public-access=true" in call for call in calls
    )
    assert "203.0.113.0/24" in readme("public")


# --- Flux: after each way, the GitRepository that the Kustomizations read exists


@pytest.mark.parametrize("name", ALL)
def test_flux_gets_the_repository_that_the_kustomizations_read(
    name: str, tmp_path: Path
) -> None:
    calls, made = (
        [each for each in ran(name, tmp_path) if each[0] == "flux"],
        plan(name),
    )
    given = {each.name for each in made.of(GitSource)}
    if any(call[1] == "bootstrap" for call in calls):
        given.add(
            "flux-system"
        )  # flux2 v2.9.4, pkg/manifestgen/sync: the name of the namespace
    given |= {call[4] for call in calls if call[1:4] == ["create", "source", "git"]}
    assert {each.source for each in made.of(Stage)} == given
    secrets = {call[4] for call in calls if call[1:4] == ["create", "secret", "git"]}
    assert {each.secret for each in made.of(GitSource) if each.secret} <= secrets


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (None, "clusters/lab"),
        ("clusters/lab", "flux/lab"),
        ("clusters/lab/out", "flux/lab"),
        ("clusters", "flux/lab"),
        ("clusters/lab2", "clusters/lab"),
    ],
)
def test_flux_writes_where_it_neither_finds_nor_touches_what_is_generated(
    path: str | None, folder: str
) -> None:
    made = plan_of(spec(flux={"path": path} if path else {}))
    assert made.one(Bootstrap) is not None
    assert made.one(Bootstrap).flux_folder == folder
    text = str(files(made)["bootstrap/README.md"])
    assert f"--path={folder}" in shlex.split(" ".join(re.findall(r"--path=\S+", text)))


# --- the end


def test_the_end_is_in_an_order_that_leaves_nothing_behind(tmp_path: Path) -> None:
    calls = [" ".join(each) for each in ran("jakarta", tmp_path, HAS="1")]
    steps = [
        "flux suspend",
        "kubectl delete trainjobs",
        "kubectl delete nodepools",
        "kubectl wait nodeclaims",
        "kubectl delete ec2nodeclasses",
        "aws ec2 delete-vpc-endpoints",
        "aws ec2 delete-vpc-peering-connection",
        "eksctl delete cluster",
        "aws cloudformation delete-stack",
    ]
    places = [
        max(index for index, call in enumerate(calls) if call.startswith(step))
        for step in steps
    ]
    assert places == sorted(places)
    assert not any("create-vpc-endpoint" in call for call in calls)  # there was one
    left = (tmp_path / "said").read_text()
    assert "the Capacity Block cr-0a1b2c3d4e5f60713, paid to the end" in left


def test_what_has_left_the_spec_is_listed_and_nothing_is_deleted(
    tmp_path: Path,
) -> None:
    calls = [" ".join(each) for each in ran("private", tmp_path)]
    assert (
        "aws cloudformation delete-stack --region us-west-2 --stack-name trainyard-lab-gone"
        in (tmp_path / "said").read_text()
    )
    assert (
        "aws ec2 delete-placement-group --region us-west-2 --group-name lab-gone"
        in (tmp_path / "said").read_text()
    )
    assert "--group-name lab-gpu" not in (tmp_path / "said").read_text()
    for what in ("delete-stack", "delete-placement-group"):
        deleted = next(index for index, call in enumerate(calls) if what in call)
        assert any(call.startswith("eksctl delete cluster") for call in calls[:deleted])


@pytest.mark.parametrize(("has", "made"), [("", 1), ("1", 0)])
def test_a_placement_group_is_made_once_and_before_the_cluster(
    has: str, made: int, tmp_path: Path
) -> None:
    calls = [" ".join(each) for each in ran("private", tmp_path, HAS=has)]
    found = [
        index
        for index, call in enumerate(calls)
        if call.startswith("aws ec2 create-placement-group")
    ]
    assert len(found) == made
    assert all(
        "--group-name lab-gpu --strategy cluster" in calls[index] for index in found
    )


@pytest.mark.parametrize(
    ("has", "gone"), [("", ["arn:aws:iam::111122223333:role/ops"]), ("1", [])]
)
def test_the_entry_of_whoever_made_the_cluster_gives_way_to_the_stack(
    has: str, gone: list[str], tmp_path: Path
) -> None:
    calls = ran("admins", tmp_path, HAS=has)
    deleted = [
        call[call.index("--principal-arn") + 1]
        for call in calls
        if call[1:3] == ["eks", "delete-access-entry"]
    ]
    assert deleted == gone
    stacks = [
        call[call.index("--stack-name") + 1]
        for call in calls
        if call[1:3] == ["cloudformation", "deploy"]
    ]
    assert (
        len([each for each in stacks if each.startswith("trainyard-lab-principal-")])
        == 2
    )


def test_images_and_secrets_are_found_in_the_files_of_jobs(tmp_path: Path) -> None:
    calls = [" ".join(each) for each in ran("ecr", tmp_path / "ecr")]
    (call,) = [each for each in calls if each.startswith("aws ecr")]
    assert "--region eu-west-1 --registry-id 444455556666 --repository-name a/b" in call
    assert f"--image-ids imageDigest={DIGEST}" in call
    ran("secrets", tmp_path / "secrets")
    assert (
        "Secret hf in namespace training" in (tmp_path / "secrets" / "said").read_text()
    )


def test_data_is_deleted_on_purpose_alone(tmp_path: Path) -> None:
    """What every block does, run as printed, deletes no data; the storage that is named loses its own."""
    deleting = {"delete-bucket", "delete-objects", "delete-file-system"}
    for chosen, service in (("", None), ("raw", "s3api"), ("data", "fsx")):
        calls = ran("made storage", tmp_path / f"_{chosen}", DELETE=chosen, HAS="1")
        services = {call[1] for call in calls if deleting & set(call[:3])}
        assert services == ({service} if service else set())


def test_pages_belong_to_one_pool_or_storage() -> None:
    """Another pool or storage changes no page but its own, and not the README."""
    one = pages("file system")
    made = spec(
        storage=[*DISK, {"name": "raw", "s3": {"existing": {"bucket": "raw-1"}}}],
        job={**MOUNT, "pool": "gpu"},
    )
    made["spec"]["nodePools"].append({**made["spec"]["nodePools"][0], "name": "second"})
    more = {
        path: text
        for path, text in files(plan_of(made)).items()
        if path.endswith(".md")
    }
    assert {path: more[path] for path in one} == one
    assert set(more) - set(one) == {
        "bootstrap/pools/second.md",
        "bootstrap/storage/raw.md",
    }
