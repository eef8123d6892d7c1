"""``up.sh`` and ``down.sh`` from start to end with real programs: the AWS CLI against moto, kubectl against an API
server in which Flux, Kueue and Trainer run.

Each cluster takes minutes: `--every-case` tries one that needs no control plane, `TRAINYARD_EVERY_SCRIPT=1` the others
too.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from control_plane import OF_FLUX, control_plane, lacking, with_kubectl
from drawn import only_whole
from moto_world import LINKS, MotoAccount, MotoWorld, aws_cli
from test_refusals_of_scripts import GO_ON, written
from test_up_and_down import TOKENS, uploaded
from world import ACCOUNT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("ignore:Tried to parse"),
    pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed"),
]
PARTS = "core,crds,kwok,storage,kueue,jobset,trainer,flux"
WITH_NODES = pytest.mark.skipif(
    lacking(*OF_FLUX) != "" or not os.environ.get("TRAINYARD_EVERY_SCRIPT"),
    reason=f"TRAINYARD_EVERY_SCRIPT is not set, or no real API server: {lacking(*OF_FLUX)}",
)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an account of AWS without anything in it."""
    monkeypatch.setenv("MOTO_ACCOUNT_ID", ACCOUNT)
    server = import_module("moto.server").ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()
    LINKS.clear()
    server.stop()


def folder_of(name: str, root: Path) -> tuple[Path, str, str]:
    """A cluster's folder in a repository of its own, with its name and Region."""
    found = re.search(
        r"^cluster=(\S+) region=(\S+)", written(name)["bootstrap/up.sh"].decode(), re.MULTILINE
    )
    assert found is not None
    folder = root / "repository" / "generated" / found[1]
    for path, data in written(name).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    uploaded(root / "repository", written(name))
    return folder, found[1], found[2]


class Place:
    """The scripts of a cluster, and the programs that they run."""

    def __init__(self, world: MotoWorld, home: Path) -> None:
        self.world, self.home = world, home

    def run(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        env = {
            "AWS_ENDPOINT_URL": self.world.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": self.world.region,
            "AWS_DEFAULT_REGION": self.world.region,
            "AWS_PAGER": "",
            "KUBECONFIG": str(self.world.own),
        }
        script = self.world.root / "bootstrap" / name
        with aws_cli(env) as self.world.cli:
            own = {"POLL_SECONDS": "0.5", **TOKENS, **self.secrets()}
            done = with_kubectl(self.world, script, *words, config=self.world.own, **own)
        (self.home / f"{script.stem}.log").write_text(done.stdout + done.stderr)
        return done

    def secrets(self) -> dict[str, str]:
        return {"GIT_TOKEN": "t", "TRAINYARD_SECRETS": str(self.home / "values")}

    def until_done(self, script: str, *words: str) -> subprocess.CompletedProcess[str]:
        """As a person does: gives the Secrets that are asked for, and goes on."""
        done = self.run(script, *words)
        again = GO_ON.search(done.stderr)
        if again is not None:
            for name in re.findall(r"\$TRAINYARD_SECRETS/(\S+)$", done.stderr, re.MULTILINE):
                file = self.home / "values" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("{}")
            done = self.run(script, *words, "--from", again[1])
        return done

    def left(self) -> dict[str, Any]:
        """What is paid for."""
        client = self.world.client
        stacks = client("cloudformation").describe_stacks()["Stacks"]
        running = {"Name": "instance-state-name", "Values": ["running", "pending"]}
        return {
            "stacks": [each["StackName"] for each in stacks],
            "buckets": [each["Name"] for each in client("s3").list_buckets()["Buckets"]],
            "file systems": client("fsx").describe_file_systems()["FileSystems"],
            "links": [*LINKS],
            "instances": client("ec2").describe_instances(Filters=[running])["Reservations"],
            "clusters": client("eks").list_clusters()["clusters"],
            "logs": client("logs").describe_log_groups()["logGroups"],
        }


def with_network(world: MotoWorld, vpc: str) -> None:
    """The VPC that the spec names, with the file systems that it names."""
    ec2 = world.client("ec2")
    made = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=made, CidrBlock="10.0.0.0/20")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="lustre", Description="lustre", VpcId=made)
    pages = "\n".join(each.read_text() for each in world.root.glob("bootstrap/storage/*.md"))
    for name in re.findall(r"^file-system (fs-\S+)", pages, re.MULTILINE):
        interface = ec2.create_network_interface(SubnetId=subnet, Groups=[group["GroupId"]])
        found = interface["NetworkInterface"]["NetworkInterfaceId"]
        world.others[name] = {"VpcId": vpc, "NetworkInterfaceIds": [found]}
    backend = world.backend("ec2")
    backend.vpcs[vpc] = backend.vpcs.pop(made)
    backend.vpcs[vpc].id = vpc
    for table in backend.route_tables.values():
        table.vpc_id = vpc if table.vpc_id == made else table.vpc_id


def goes_up_and_down(place: Place) -> dict[str, Any]:
    """Up, up again, which makes nothing, and down, after which nothing is left; what was made."""
    up = place.until_done("up.sh")
    assert up.returncode == 0, up.stdout + up.stderr
    if not isinstance(place.world, MotoAccount):
        assert up.stdout.endswith(f"cluster {place.world.cluster} is up\n")
    made = place.left()
    again = place.run("up.sh")
    assert again.returncode == 0, again.stdout + again.stderr
    assert place.left() == made
    down = place.run("down.sh", "--delete-data")
    assert down.returncode == 0, down.stdout + down.stderr
    assert not any(place.left().values()), place.left()
    return made


@only_whole("it takes a minute of CPU")
def test_slurm_goes_up_and_down(url: str, tmp_path: Path) -> None:
    folder, name, region = folder_of("jakarta-slurm", tmp_path)
    world = MotoAccount(folder, name, region, url)
    with_network(world, "vpc-0a1b2c3d4e5f60718")
    made = goes_up_and_down(Place(world, tmp_path))
    assert len(made["stacks"]) == 10, "the nodes', the cluster's, and one of each storage"
    assert made["file systems"]
    assert made["links"]


@WITH_NODES
@pytest.mark.parametrize("name", ["jakarta", "hyperpod-lora"])
def test_it_goes_up_and_down(name: str, url: str, tmp_path: Path) -> None:
    folder, cluster, region = folder_of(name, tmp_path)
    with control_plane(tmp_path / "cp", PARTS) as kubeconfig:
        world = MotoWorld(folder, cluster, region, url, kubeconfig)
        with_network(world, "vpc-0a1b2c3d4e5f60718")
        try:
            made = goes_up_and_down(Place(world, tmp_path))
        finally:
            if world.flux_child is not None:
                os.killpg(world.flux_child.pid, signal.SIGKILL)
                world.flux_child.wait()
    assert made["clusters"] == [cluster]
