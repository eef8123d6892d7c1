"""Which key of the spec a field of a configuration, and a line of a batch script, come from."""

from __future__ import annotations

import re
from pathlib import Path

from trainyard.output.artifact import Artifact

from tests.platforms.parallelcluster.clusters import ACCOUNTING, SUBNETS, files, spec
from tests.platforms.passes import compiled

OWN = {
    "accounting": ACCOUNTING,
    "customSlurmSettings": {"MaxArraySize": 10001},
    "loginNodes": {"count": 2, "allowedCidr": "203.0.113.0/24", "subnet": SUBNETS[1]["id"]},
}
CLUSTER = "spec.platform.parallelCluster"
LOGIN = f"{CLUSTER}.loginNodes"
POOL = "spec.nodePools[0]"


def origins(folder: Path) -> dict[str, str]:
    """The place behind each field of the configuration."""
    done = compiled(spec(own=OWN), folder)
    (found,) = [each for each in done.artifacts if each.path == "bootstrap/cluster.yaml"]
    assert isinstance(found, Artifact)
    return {".".join(map(str, keys)): str(place) for keys, place in found.origins.items()}


def test_fields_of_the_configuration(tmp_path: Path) -> None:
    queue, storage = "Scheduling.SlurmQueues.0", "SharedStorage.0"
    resource = f"{queue}.ComputeResources.0"
    assert origins(tmp_path) == {
        "Region": "spec.region",
        "Image.Os": f"{CLUSTER}.os",
        "HeadNode.InstanceType": f"{CLUSTER}.headNode.instanceType",
        "HeadNode.Networking": f"{CLUSTER}.headNode.subnet",
        "HeadNode.Ssh": f"{CLUSTER}.ssh.allowedCidr",
        "HeadNode.LocalStorage": f"{CLUSTER}.headNode.rootVolume",
        "HeadNode.Networking.AdditionalSecurityGroups": f"{CLUSTER}.headNode.securityGroups",
        "HeadNode.CustomActions": f"{CLUSTER}.headNode.customActions",
        "DevSettings": f"{CLUSTER}.timeouts.headNodeBootstrap",
        "DevSettings.Timeouts.ComputeNodeBootstrapTimeout": f"{CLUSTER}.timeouts.computeNodeBootstrap",
        "HeadNode.Iam": f"{CLUSTER}.policies",
        "Scheduling.SlurmSettings": f"{CLUSTER}.customSlurmSettings",
        "Scheduling.SlurmSettings.CustomSlurmSettings.3": f"{CLUSTER}.customSlurmSettings.MaxArraySize",
        "Scheduling.SlurmSettings.ScaledownIdletime": f"{CLUSTER}.scaledownIdletime",
        "Scheduling.SlurmSettings.Database": f"{CLUSTER}.accounting",
        "Monitoring.DetailedMonitoring": f"{CLUSTER}.detailedMonitoring",
        "Monitoring.Logs": f"{CLUSTER}.logRetentionDays",
        "Tags": "spec.tags",
        "LoginNodes": LOGIN,
        "LoginNodes.Pools.0.Count": f"{LOGIN}.count",
        "LoginNodes.Pools.0.InstanceType": f"{LOGIN}.instanceType",
        "LoginNodes.Pools.0.Networking.SubnetIds": f"{LOGIN}.subnet",
        "LoginNodes.Pools.0.Ssh": f"{LOGIN}.allowedCidr",
        "LoginNodes.Pools.0.GracetimePeriod": f"{LOGIN}.gracetimePeriod",
        "LoginNodes.Pools.0.CustomActions": f"{LOGIN}.customActions",
        queue: POOL,
        f"{queue}.CapacityType": f"{POOL}.capacity",
        f"{queue}.ComputeSettings": f"{POOL}.rootVolume",
        f"{queue}.ComputeSettings.LocalStorage.RootVolume.Size": f"{POOL}.rootVolume.size",
        f"{queue}.Networking.SubnetIds": f"{POOL}.zones",
        f"{queue}.CustomActions": f"{CLUSTER}.computeNodes.customActions",
        f"{queue}.Iam": f"{CLUSTER}.policies",
        f"{resource}.InstanceType": f"{POOL}.instanceTypes",
        f"{resource}.Instances": f"{POOL}.instanceTypes",
        f"{resource}.MinCount": f"{POOL}.nodes",
        f"{resource}.MaxCount": f"{POOL}.nodes",
        f"{resource}.Efa": f"{POOL}.efa",
        f"{resource}.CapacityReservationTarget": f"{POOL}.capacity[0].onDemand",
        f"{resource}.Networking": f"{POOL}.placement",
        storage: "spec.storage[0]",
        f"{storage}.Name": "spec.storage[0].name",
        f"{storage}.MountDir": "spec.storage[0].name",
        f"{storage}.FsxLustreSettings.FileSystemId": "spec.storage[0].fsxLustre.existing.id",
    }


def test_lines_of_a_script(tmp_path: Path) -> None:
    job = {"env": {"A": "1"}, "files": {"/etc/a.json": "{}"}, "command": ["torchrun", "t.py"]}
    done = compiled(spec(job=job), tmp_path)
    path = "jobs/training/train.sbatch"
    (script,) = [each for each in done.artifacts if each.path == path]
    lines = files(done)[path].splitlines()
    behind: dict[str, set[str]] = {}
    for (number, *_), place in script.origins.items():
        assert isinstance(number, int)
        word = re.split(r"[= ]", lines[number].removeprefix("#SBATCH ").strip())[0]
        behind.setdefault(str(place).removeprefix("spec.jobs[0]."), set()).add(word)
    assert behind == {
        "name": {"--job-name", "--comment"},
        "pool": {"--partition"},
        "nodes": {"--nodes"},
        "processesPerNode": {"--ntasks-per-node", "PET_NPROC_PER_NODE"},
        "resources.cpu": {"--cpus-per-task"},
        "resources.memory": {"--mem"},
        "resources.accelerators": {"--gres"},
        "resources": {"--exclusive"},
        "retries": {
            *("--requeue", "tries", "retries", "[", "if", "echo", "scontrol"),
            *("sleep", "fi", "exit"),
        },
        "checkpoint": {"--output"},
        "checkpoint.path": {"export"},
        "checkpoint.every": {"export"},
        "maxRestarts": {"PET_MAX_RESTARTS"},
        "env.A": {"export"},
        "env": {
            *("export", "MASTER_ADDR", "MASTER_PORT", "PET_NNODES", "PET_RDZV_BACKEND"),
            *("PET_RDZV_CONF", "PET_RDZV_ENDPOINT", "PET_RDZV_ID"),
        },
        'files["/etc/a.json"]': {"cat", "{}", "END"},
        "image": {"--container-image"},
        "mounts": {"--container-mounts"},
        "command": {"torchrun", "t.py"},
        "command[0]": {"torchrun"},
        "command[1]": {"torchrun"},
    }
