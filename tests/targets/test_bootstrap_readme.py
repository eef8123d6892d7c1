"""The pages of pools and storage: their blocks are run as printed, and what they call is written down."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from aws_cli import unknown_options
from builders import FSX, SPECS, example, files, plan_of, spec
from trainyard.eks.cluster.plan import Bootstrap
from trainyard.output.emit.marker import marked
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import written

pytestmark = pytest.mark.slow

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
    {"name": "data", "fsxLustre": {"create": {"size": "4800Gi", "throughputPerTiB": 250}}},
]
DIGEST = "sha256:" + "0a" * 32
OPEN = {"public": ["203.0.113.0/24"]}
CASES = {
    "private": spec(),
    "public": spec(platform={"eks": {"apiServer": OPEN}}),
    "imported, private": spec(network={"existing": VPC}, storage=DISK, job=MOUNT),
    "imported, public": spec(network={"existing": VPC}, platform={"eks": {"apiServer": OPEN}}),
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
    "https with a token": spec(flux={"url": "https://github.com/org/fleet", "secret": "fleet"}),
    "a source of others": spec(flux={"source": "fleet"}),
    "a path of our own": spec(flux={"path": "clusters/lab"}),
    "ecr": spec(job={"image": f"444455556666.dkr.ecr.eu-west-1.amazonaws.com/a/b@{DIGEST}"}),
    "admins": spec(
        platform={"eks": {"admins": ["arn:aws:iam::111122223333:role/ops"]}},
        namespaces=[{"name": "training", "principals": ["arn:aws:iam::111122223333:role/ml"]}],
    ),
    "secrets": spec(job={"secretEnv": [{"env": "T", "secret": "hf", "key": "t"}]}),
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
    found = pages(name)
    found.pop("bootstrap/README.md")  # what it shows is run in tests/bootstrap
    for path in [each for each in found if "/pools/" in each]:
        found[path] = re.sub(r"^bash .*/up\.sh.*$", "", found[path], flags=re.MULTILINE)
    text = "\n".join(found.values())
    return re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def tree(name: str) -> dict[str, str]:
    """The cluster's folder as it is on the disk."""
    return {each.path: marked(each.path, written(each)).decode() for each in lower(plan(name))}


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


# --- what is called exists, with these options


@pytest.mark.parametrize("name", ALL)
def test_every_option_of_the_aws_cli_exists(name: str, tmp_path: Path) -> None:
    for call in (each for each in ran(name, tmp_path) if each[0] == "aws"):
        assert not unknown_options(call), call


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
    more = {path: text for path, text in files(plan_of(made)).items() if path.endswith(".md")}
    assert {path: more[path] for path in one} == one
    assert set(more) - set(one) == {"bootstrap/pools/second.md", "bootstrap/storage/raw.md"}
