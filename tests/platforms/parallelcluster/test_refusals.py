"""What ParallelCluster cannot do is an error at the line of the spec, and nothing is dropped in silence."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from builders import document
from pydantic import BaseModel
from trainyard.extensions.parallelcluster import PLATFORM as PARALLEL_CLUSTER
from trainyard.extensions.parallelcluster.batch.bounds import OF_THE_SCRIPT
from trainyard.extensions.parallelcluster.differences import INSTEAD
from trainyard.run.language.load import load
from trainyard.run.language.whole import language
from trainyard.run.platforms import EKS

from tests.platforms.parallelcluster.clusters import (
    ACCOUNTING,
    FSX,
    NETWORK,
    NOTIFICATIONS,
    SUBNETS,
    files,
    spec,
)
from tests.platforms.passes import codes, compiled, leads

BLOCK = {
    "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
    "starts": "2026-12-01T11:30:00Z",
    "ends": "2026-12-03T11:30:00Z",
}
TOKEN = {
    "name": "hf",
    "namespaces": ["training"],
    "secretsManager": {"existing": {"name": "team/hf"}, "keys": {"token": "hf_token"}},
}
UNSAVED = {"mounts": [], "checkpoint": None, "retries": 1}


def disk(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "ebs": {"existing": {"id": "vol-0a1b2c3d4e5f60718", "zone": "us-west-2b", "size": "100Gi"}},
    }


def _field_at(path: str) -> bool:
    """Whether a path of keys leads to a field of any platform's language."""
    model: type[BaseModel] | None = language(EKS).model_fields["spec"].annotation
    other: type[BaseModel] | None = language(PARALLEL_CLUSTER).model_fields["spec"].annotation
    return any(leads(start, path.split(".")) for start in (model, other) if start is not None)


@pytest.mark.parametrize("path", INSTEAD)
def test_every_key_that_is_refused_is_one_of_the_language(path: str) -> None:
    assert _field_at(path)


def _small(**size: Any) -> dict[str, Any]:
    """The network with another size of the subnet that the nodes are in."""
    nodes, other = SUBNETS
    subnet = {"id": nodes["id"], "zone": nodes["zone"], **size}
    return {"existing": {**NETWORK["existing"], "subnets": [subnet, other]}}


@pytest.mark.parametrize(
    ("code", "at", "parts"),
    [
        (
            "RES302",
            "spec.queues[0].cohort",
            {
                "queues": [
                    {
                        "name": "q",
                        "namespaces": ["t"],
                        "cohort": "all",
                        "quota": [{"pool": "a100", "nodes": 4}],
                    }
                ]
            },
        ),
        (
            "RES303",
            "spec.nodePools[0].capacity[1]",
            {
                "pool": {"capacity": [{"spot": {}}, {"onDemand": {}}], "efa": False},
                "job": {"nodes": 1},
            },
        ),
        ("RES303", "spec.nodePools[0].placement", {"pool": {"placement": "spread"}}),
        ("RES304", "spec.nodePools[0].zones[1]", {"pool": {"zones": ["us-west-2b", "us-west-2c"]}}),
        (
            "RES306",
            "spec.storage[0].name",
            {
                "storage": [{"name": "a" * 31, "fsxLustre": {"existing": FSX}}],
                "job": {"mounts": [], "checkpoint": None, "retries": 1},
            },
        ),
        (
            "RES308",
            "spec.jobs[0].priority",
            {"priorities": [{"name": "urgent", "value": 1}], "job": {"priority": "urgent"}},
        ),
        (
            "RES309",
            "spec.jobs[0].terminationGracePeriod",
            {"job": {"terminationGracePeriod": "20m"}},
        ),
        (
            "RES310",
            "spec.jobs[0].secretEnv[0].secret",
            {"job": {"secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}]}},
        ),
        (
            "RES110",
            "spec.jobs[0].secretEnv[0].secret",
            {
                "secrets": [{**TOKEN, "namespaces": ["others"]}],
                "job": {"secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}]},
            },
        ),
        ("RES381", 'spec.jobs[0].env["my.var"]', {"job": {"env": {"my.var": "x"}}}),
        ("RES381", "spec.jobs[0].env.UID", {"job": {"env": {"UID": "0"}}}),
        (
            "RES381",
            "spec.jobs[0].secretEnv[0].env",
            {
                "secrets": [TOKEN],
                "job": {"secretEnv": [{"env": "hf-token", "secret": "hf", "key": "token"}]},
            },
        ),
        ("RES382", "spec.jobs[0].env.status", {"job": {"env": {"status": "x"}}}),
        (
            "RES383",
            'spec.jobs[0].files["/workspace/a,b.txt"]',
            {"job": {"files": {"/workspace/a,b.txt": "x"}}},
        ),
        (
            "RES383",
            "spec.jobs[0].mounts[0].path",
            {
                "job": {
                    "mounts": [{"storage": "work", "path": "/a,b"}],
                    "checkpoint": None,
                    "retries": 1,
                }
            },
        ),
        (
            "RES311",
            "spec.priorities[0].value",
            {"priorities": [{"name": "later", "value": -1}], "own": {"accounting": ACCOUNTING}},
        ),
        (
            "RES110",
            "spec.jobs[0].secretEnv[0].key",
            {
                "secrets": [TOKEN],
                "job": {"secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "tokn"}]},
            },
        ),
        (
            "RES306",
            "spec.storage[5]",
            {"storage": [disk(f"disk{number}") for number in range(6)], "job": UNSAVED},
        ),
        ("RES010", "spec.nodePools[0].zones[0]", {"pool": {"zones": ["us-west-2a"]}}),
        (
            "RES045",
            "spec.jobs[0].timeout",
            {"pool": {"capacity": {"block": BLOCK}}, "job": {"timeout": "48h"}},
        ),
        ("RES312", "spec.platform.parallelCluster", {"network": None}),
        (
            "RES004",
            "spec.network.zoneIds.us-west-2b",
            {"network": {**NETWORK, "zoneIds": {"us-west-2b": "use1-az3"}}},
        ),
        ("RES390", "spec.nodePools[0].rootVolume.size", {"pool": {"rootVolume": {"size": "44Gi"}}}),
        (
            "RES390",
            "spec.nodePools[0].rootVolume.iops",
            {"pool": {"rootVolume": {"size": "500Gi", "iops": 16001}}},
        ),
        (
            "RES390",
            "spec.nodePools[0].rootVolume.throughput",
            {"pool": {"rootVolume": {"size": "500Gi", "iops": 16000, "throughput": 1001}}},
        ),
        (
            "RES390",
            "spec.platform.parallelCluster.headNode.rootVolume.iops",
            {"own": {"headNode": {"rootVolume": {"size": "500Gi", "iops": 20000}}}},
        ),
        (
            "SPC006",
            "spec.notifications.receivers[0].slack",
            {
                "notifications": {
                    "receivers": [
                        {
                            "name": "chat",
                            "slack": {
                                "channel": "#gpu",
                                "apiUrl": {"secret": "a", "key": "address"},
                            },
                        }
                    ],
                    "default": "chat",
                }
            },
        ),
        ("SPC006", "spec.notifications.flux", {"notifications": {**NOTIFICATIONS, "flux": "mail"}}),
        (
            "RES350",
            "spec.notifications.default",
            {"notifications": {**NOTIFICATIONS, "default": "mial"}},
        ),
        (
            "RES422",
            "spec.platform.parallelCluster.mountDirs.wrok",
            {"own": {"mountDirs": {"wrok": "/fsx2"}}},
        ),
        (
            "RES423",
            "spec.platform.parallelCluster.headNode.instanceType",
            {"own": {"headNode": {"instanceType": "g5.4xlarge"}}},
        ),
        (
            "RES423",
            "spec.platform.parallelCluster.loginNodes.instanceType",
            {"own": {"loginNodes": {"count": 2, "instanceType": "p5.48xlarge"}}},
        ),
        (
            "RES424",
            "spec.platform.parallelCluster.policies[1]",
            {
                "own": {
                    "policies": [
                        "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
                        "arn:aws:iam::999922223333:policy/datasets",
                    ]
                }
            },
        ),
        (
            "RES424",
            "spec.platform.parallelCluster.policies[0]",
            {"own": {"policies": ["arn:aws-cn:iam::aws:policy/AmazonS3ReadOnlyAccess"]}},
        ),
        (
            "SCH011",
            "spec.platform.parallelCluster.mountDirs.work",
            {"own": {"mountDirs": {"work": "/opt/slurm"}}},
        ),
        (
            "SCH012",
            "spec.platform.parallelCluster.ssh.allowedCidr",
            {"own": {"ssh": {"keyName": "a", "allowedCidr": "128.0.0.0/2"}}},
        ),
        (
            "RES391",
            "spec.platform.parallelCluster.scaledownIdletime",
            {"own": {"scaledownIdletime": "90s"}},
        ),
        (
            "RES026",
            "spec.network.existing.subnets[0].cidr",
            {"network": _small(cidr="10.0.0.0/28"), "pool": {"nodes": 12}},
        ),
        (
            "RES026",
            "spec.network.existing.subnets[0].freeAddresses",
            {"network": _small(freeAddresses=11), "pool": {"nodes": 12}},
        ),
        (
            "RES315",
            "spec.platform.parallelCluster.headNode.instanceType",
            {"own": {"headNode": {"instanceType": "m7g.2xlarge"}}},
        ),
        (
            "RES315",
            "spec.platform.parallelCluster.headNode.instanceType",
            {"own": {"headNode": {"instanceType": "m7i.large"}}, "pool": {"nodes": 200}},
        ),
        (
            "RES316",
            "spec.platform.parallelCluster.headNode.subnet",
            {"own": {"headNode": {"subnet": "subnet-0a1b2c3d4e5f60799"}}},
        ),
        (
            "RES346",
            "spec.storage[0].fsxLustre.existing.version",
            {"storage": [{"name": "work", "fsxLustre": {"existing": {**FSX, "version": "2.10"}}}]},
        ),
        (
            "SPC006",
            "spec.storage[0].fsxLustre.existing.address",
            {
                "storage": [
                    {"name": "work", "fsxLustre": {"existing": {**FSX, "address": "10.1.4.20"}}}
                ]
            },
        ),
        (
            "RES319",
            "spec.storage[0].fsxLustre.existing.zone",
            {
                "storage": [
                    {"name": "work", "fsxLustre": {"existing": {**FSX, "zone": "us-west-2c"}}}
                ]
            },
        ),
        (
            "RES315",
            "spec.platform.parallelCluster.loginNodes.instanceType",
            {"own": {"loginNodes": {"count": 1, "instanceType": "m7g.xlarge"}}},
        ),
        (
            "RES316",
            "spec.platform.parallelCluster.loginNodes.subnet",
            {"own": {"loginNodes": {"count": 1, "subnet": "subnet-0a1b2c3d4e5f60799"}}},
        ),
        (
            "SPC005",
            "spec.platform.parallelCluster.loginNodes.gracetimePeriod",
            {"own": {"loginNodes": {"count": 1, "gracetimePeriod": "90s"}}},
        ),
        (
            "SPC005",
            "spec.platform.parallelCluster.loginNodes.gracetimePeriod",
            {"own": {"loginNodes": {"count": 1, "gracetimePeriod": "121m"}}},
        ),
        (
            "SPC005",
            "spec.platform.parallelCluster.loginNodes.gracetimePeriod",
            {"own": {"loginNodes": {"count": 1, "gracetimePeriod": "2m"}}},
        ),
        (
            "SPC005",
            "spec.platform.parallelCluster.customSlurmSettings.SuspendTime",
            {"own": {"customSlurmSettings": {"SuspendTime": 300}}},
        ),
        ("RES005", "spec.nodePools[0].instanceTypes[0]", {"pool": {"instanceTypes": ["p9.large"]}}),
        ("RUN122", "spec.jobs[0].command[1]", {"job": {"command": ["python", "train.py"]}}),
        ("SPC006", "spec.health", {"health": {"nodeRepair": False}}),
        ("SPC006", "spec.nodePools[0].topology", {"pool": {"topology": "network"}}),
        ("SPC006", "spec.jobs[0].topology", {"job": {"topology": {"required": "hostname"}}}),
        ("SPC006", "spec.jobs[0].resources.efa", {"job": {"resources": {"efa": 4}}}),
    ],
)
def test_what_it_cannot_do_is_an_error_at_its_place(
    code: str, at: str, parts: dict[str, Any], tmp_path: Path
) -> None:
    assert (code, at) in codes(spec(**parts), tmp_path)


_ELSEWHERE = {
    "a file system": {"name": "work", "fsxLustre": {"existing": {**FSX, "zone": "eu-west-1a"}}},
    "a disk": {
        "name": "work",
        "ebs": {"existing": {"id": "vol-0a1b2c3d4e5f60718", "zone": "eu-west-1a", "size": "100Gi"}},
    },
    "a file system to make": {
        "name": "work",
        "fsxLustre": {"create": {"size": "1200Gi", "zone": "eu-west-1a", "throughputPerTiB": 125}},
    },
}


@pytest.mark.parametrize("storage", _ELSEWHERE.values(), ids=_ELSEWHERE)
def test_a_storage_of_another_region_is_told_of_that_alone(
    storage: dict[str, Any], tmp_path: Path
) -> None:
    """To put a pool into its zone would lead to the next error: there is no such zone in the Region."""
    found = [code for code, _ in codes(spec(storage=[storage], job=UNSAVED), tmp_path)]
    assert found == ["RES004"]


def test_a_storage_beside_a_misspelt_type_is_not_in_the_zone_of_no_pool(tmp_path: Path) -> None:
    pools = [
        {"name": "a100", "instanceTypes": ["p4d.24large"], "zones": ["us-west-2b"], "nodes": 4},
        {"name": "cpu", "instanceTypes": ["m7i.4xlarge"], "zones": ["us-west-2c"], "nodes": 2},
    ]
    storage = [{"name": "work", "fsxLustre": {"existing": {**FSX, "zone": "us-west-2b"}}}]
    found = codes(spec(nodePools=pools, storage=storage), tmp_path)
    assert found == [("RES005", "spec.nodePools[0].instanceTypes[0]")]


@pytest.mark.parametrize(
    ("parts", "help"),
    [
        ({"teams": []}, INSTEAD["namespaces"]),
        ({"argocd": {}}, INSTEAD["flux"]),
        ({"addons": {}}, "remove it: platform `parallelCluster` has no such key"),
        ({"pool": {"ami": "a"}}, "remove it: platform `parallelCluster` has no such key"),
        ({"pool": {"mig": {}}}, INSTEAD["nodePools.gpuSharing"]),
        ({"job": {"setup": "pip install a"}}, INSTEAD["jobs.initContainers"]),
        ({"job": {"node": 4}}, "here it is `nodes`, like `nodes: 4`"),
        ({"job": {"topolog": {}}}, INSTEAD["jobs.topology"]),
        ({"jobDefaults": {"topolog": {}}}, INSTEAD["jobs.topology"]),
        ({"network": {"creat": {}}}, INSTEAD["network.create"]),
        ({"job": {"launcher": {"slurm": {}}}}, "`launcher` has: `torchrun`"),
        ({"job": {"resources": {"gp": 8}}}, "`resources` has: `cpu`, `memory`, `accelerators`"),
    ],
)
def test_a_word_from_elsewhere_leads_to_no_key_that_is_refused(
    parts: dict[str, Any], help: str
) -> None:
    (found,) = load(document(spec(**parts)), PARALLEL_CLUSTER)[1]
    assert (found.code, found.help) == ("SPC002", help)


@pytest.mark.parametrize(
    ("value", "message", "help"),
    [
        (True, "text or a whole number, not the boolean `true`", 'quote it: `"true"`'),
        (1.5, "text or a whole number, not the number `1.5`", 'quote it: `"1.5"`'),
        (None, "text or a whole number, not empty", "write it as text"),
        (["a"], "text or a whole number, not a list", "write it as text"),
        ("a\nb", "is not a text of one line", "write `ab`"),
    ],
)
def test_a_parameter_of_slurm_is_a_text_or_a_number(value: Any, message: str, help: str) -> None:
    """Once, and not for each of the two."""
    data = spec(own={"customSlurmSettings": {"Parameter": value, "MaxArraySize": 10001, "A": ""}})
    (found,) = load(document(data), PARALLEL_CLUSTER)[1]
    assert str(found.at) == "spec.platform.parallelCluster.customSlurmSettings.Parameter"
    assert message in found.message
    assert found.help == help


def test_quotas_beyond_the_pool_and_names_that_are_too_long(tmp_path: Path) -> None:
    quota = [{"pool": "a100", "nodes": 3}]
    queues = [{"name": name, "namespaces": ["t"], "quota": quota} for name in ("one", "b" * 26)]
    found = codes(spec(queues=queues, job={"queue": "one", "nodes": 3}), tmp_path)
    assert ("RES305", "spec.queues[1].quota[0].nodes") in found
    assert ("RES300", "spec.queues[1].quota[0]") in found


def test_a_bucket_is_not_mounted(tmp_path: Path) -> None:
    storage = [{"name": "data", "s3": {"existing": {"bucket": "data-111122223333"}}}]
    job = {"mounts": [{"storage": "data", "path": "/data"}], "checkpoint": None, "retries": 1}
    found = compiled(spec(storage=storage, job=job), tmp_path).diagnostics
    (fault,) = [fact for fact in found if fact.code == "RES307"]
    assert str(fault.at) == "spec.jobs[0].mounts[0].storage"
    assert "dataRepositories" in fault.help


def test_a_region_without_images_of_parallelcluster(tmp_path: Path) -> None:
    subnets = [
        {**subnet, "zone": f"me-central-1{zone}"}
        for subnet, zone in zip(SUBNETS, "ab", strict=True)
    ]
    network = {"existing": {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": subnets}}
    pool = {"zones": ["me-central-1a"], "instanceTypes": ["m7i.4xlarge"]}
    found = codes(spec(region="me-central-1", network=network, pool=pool), tmp_path)
    assert ("RES314", "spec.region") in found


def test_a_name_is_as_long_as_parallelcluster_takes_it(tmp_path: Path) -> None:
    """It is that of a stack, and with accounting of a database: 40 characters (aws-parallelcluster 3.16.1,
    ClusterNameValidator), which is what any cluster of the language may have."""
    data = spec(own={"accounting": ACCOUNTING})
    for length, found in ((40, []), (41, [("SPC005", "metadata.name")])):
        data["metadata"]["name"] = "a" * length
        assert codes(data, tmp_path) == found


def _queue(name: str, *quota: tuple[str, int]) -> dict[str, Any]:
    granted = [{"pool": pool, "nodes": nodes} for pool, nodes in quota]
    return {"name": name, "namespaces": [name], "quota": granted}


def test_two_partitions_of_one_name(tmp_path: Path) -> None:
    """A queue of two pools has a partition of each, and its name may be that of another queue."""
    data = spec(
        queues=[_queue("q-a100", ("a100", 1)), _queue("q", ("a100", 2), ("cpu", 1))],
        job={"queue": "q-a100", "nodes": 1, "namespace": "q-a100"},
    )
    data["spec"]["nodePools"].append(
        {"name": "cpu", "instanceTypes": ["m7i.4xlarge"], "zones": ["us-west-2b"], "nodes": 1}
    )
    found = compiled(data, tmp_path).diagnostics
    (fault,) = [fact for fact in found if fact.code == "RES300"]
    assert str(fault.at) == "spec.queues[1].quota[0]"
    assert "would be called `q-a100`" in fault.message


@pytest.mark.parametrize(("own", "is_found"), [({}, True), ({"accounting": ACCOUNTING}, False)])
def test_more_queues_than_parallelcluster_takes(
    own: dict[str, Any], is_found: bool, tmp_path: Path
) -> None:
    """With accounting the queues of a pool share its partition; one without nodes has none."""
    queues = [_queue(f"q{number}", ("a100", 1)) for number in range(51)]
    data = spec(
        pool={"nodes": 51},
        queues=[_queue("none", ("a100", 0)), *queues],
        job={"nodes": 1, "queue": "q0", "namespace": "q0"},
        own=own,
    )
    assert (("RES301", "spec.queues[51].quota[0]") in codes(data, tmp_path)) is is_found


def test_slurm_starts_a_job_on_the_pool_with_room_first(tmp_path: Path) -> None:
    """In any order, and with reservations or without: what Kueue asks of jobs with several pools is not asked here."""
    data = spec(job={"pool": ["later", "a100"]}, queues=[_queue("q", ("a100", 4), ("later", 4))])
    pools = data["spec"]["nodePools"]
    pools.append({**pools[0], "name": "later", "capacity": {"block": BLOCK}})
    data["spec"]["jobs"][0]["namespace"] = "q"
    done = compiled(data, tmp_path)
    assert [fact for fact in done.diagnostics if fact.code.startswith("RES")] == []
    assert "#SBATCH --partition=q-later,q-a100\n" in files(done)["jobs/q/train.sbatch"]
    pools[1] |= {"instanceTypes": ["m7i.48xlarge"], "capacity": {"onDemand": {}}}
    assert "RES170" in dict(codes(data, tmp_path))


def test_nodes_of_a_reservation_need_no_placement_group(tmp_path: Path) -> None:
    reserved = {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}}
    assert codes(spec(pool={"capacity": reserved}), tmp_path) == []


def test_a_path_of_any_letters_is_one_word_of_the_script(tmp_path: Path) -> None:
    job = {
        "mounts": [{"storage": "work", "path": "/my work;x"}],
        "files": {"/workspace/$(id).sh": "true"},
        "checkpoint": {"path": "/my work;x/train", "every": "30m"},
    }
    done = compiled(spec(job=job), tmp_path)
    assert not done.diagnostics
    script = files(done)["jobs/training/train.sbatch"]
    step = script.partition("srun ")[2].replace("\\\n", " ")
    words = shlex.split(step)
    mounts = next(word for word in words if word.startswith("--container-mounts="))
    assert mounts.endswith(":/my work;x,$state/file-0:/workspace/$(id).sh:ro")


def test_each_variable_that_the_script_works_with_is_its_own(tmp_path: Path) -> None:
    """Whoever adds one to the script adds it to what a job may not set."""
    done = compiled(spec(job={"timeout": "10h"}), tmp_path)
    script = files(done)["jobs/training/train.sbatch"]
    worked_with = set(re.findall(r"\$\{?([a-z]\w*|SLURM_JOB_ID|SLURM_RESTART_COUNT)", script))
    assert worked_with
    assert worked_with | set(re.findall(r"(?m)^([a-z]\w*)=", script)) == OF_THE_SCRIPT


def test_neuron_devices_are_no_gres_and_have_their_nodes_alone(tmp_path: Path) -> None:
    """Slurm would leave a job pending that asks for a gres which no node has, and does not count the devices."""
    pool = {"instanceTypes": ["trn1.32xlarge"]}
    for resources in ({}, {"accelerators": 8}):
        done = compiled(spec(pool=pool, job={"resources": resources}), tmp_path)
        assert "RUN011" not in {found.code for found in done.diagnostics}
        script = files(done)["jobs/training/train.sbatch"]
        assert "--gres" not in script
        assert "#SBATCH --exclusive\n" in script


def test_five_percent_of_the_memory_are_not_for_jobs(tmp_path: Path) -> None:
    """Slurm refuses a job that asks for more than it knows of a node (SchedulableMemory: 95 %); p4d has 1152 GiB."""
    more = spec(job={"resources": {"memory": "1095Gi"}})
    (found,) = compiled(more, tmp_path).diagnostics
    assert (found.code, str(found.at)) == ("LIM002", "spec.jobs[0].resources.memory")
    assert "at most 1094Gi" in (found.help or "")
    assert codes(spec(job={"resources": {"memory": "1094Gi"}}), tmp_path) == []


def test_nodes_may_decrypt_the_secrets_that_they_may_read(tmp_path: Path) -> None:
    key = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
    stored = {"existing": {"name": "team/hf", "kmsKey": key}, "keys": {"token": "hf_token"}}
    secret = {**TOKEN, "secretsManager": stored}
    env = [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}]
    done = compiled(spec(secrets=[secret], job={"secretEnv": env}), tmp_path)
    assert not done.diagnostics
    (stack,) = (text for path, text in files(done).items() if "kms:Decrypt" in text)
    assert key in stack


def test_one_node_uses_no_efa(tmp_path: Path) -> None:
    env = {"LD_LIBRARY_PATH": "/app/lib"}
    assert [code for code, _ in codes(spec(job={"env": env}), tmp_path)] == ["EFA035"]
    assert codes(spec(job={"env": env, "nodes": 1}), tmp_path) == []


def test_a_rendezvous_is_judged_by_what_the_script_exports(tmp_path: Path) -> None:
    said = {"command": ["torchrun", "--rdzv-backend=c10d", "t.py"]}
    assert codes(spec(job=said), tmp_path) == []
    itself = {"env": {"PET_RDZV_ENDPOINT": "localhost:29500"}}
    assert codes(spec(job=itself), tmp_path) == [("RUN009", "spec.jobs[0].env.PET_RDZV_ENDPOINT")]


def test_each_pool_of_a_job_is_checked_as_if_it_ran_there(tmp_path: Path) -> None:
    """The second of two pools has GPUs that do not compute in fp8: the job may be started there."""
    job = {"pool": ["h100", "a100"], "model": {"parameters": 8e9, "precision": "fp8"}, "nodes": 1}
    data = spec(pool={"instanceTypes": ["p4d.24xlarge"]}, job=job)
    pools = data["spec"]["nodePools"]
    pools.insert(0, {**pools[0], "name": "h100", "instanceTypes": ["p5.48xlarge"]})
    quota = [{"pool": name, "nodes": 1} for name in ("h100", "a100")]
    data["spec"]["queues"] = [{"name": "q", "namespaces": ["t"], "quota": quota}]
    said = [
        fault.message for fault in compiled(data, tmp_path).diagnostics if fault.code == "RES047"
    ]
    assert said == ["`p4d.24xlarge` has A100 GPUs, which do not compute in fp8"]
