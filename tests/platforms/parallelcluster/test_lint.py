"""Configurations of others: what ParallelCluster refuses, and what it lets pass and never works, each at its line."""

from __future__ import annotations

import copy
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import yaml
from builders import ROOT
from trainyard.extensions.lint.linter import lint
from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.extensions.parallelcluster.formats.sbatch.reading import nodes as jobs_of
from trainyard.language.places import Route, SourceFile
from trainyard.language.source.parse import parse
from trainyard.output import Artifact
from trainyard.run.outcome import Options

QUEUE: dict[str, Any] = {
    "Name": "gpu",
    "Networking": {"SubnetIds": ["subnet-0a1b2c3d4e5f60718"]},
    "ComputeResources": [
        {
            "Name": "p5",
            "InstanceType": "p5.48xlarge",
            "MinCount": 0,
            "MaxCount": 4,
            "Efa": {"Enabled": True},
            "Networking": {"PlacementGroup": {"Enabled": True}},
        }
    ],
}
LUSTRE: dict[str, Any] = {
    "Name": "fsx",
    "MountDir": "/fsx",
    "StorageType": "FsxLustre",
    "FsxLustreSettings": {
        "StorageCapacity": 4800,
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "DeletionPolicy": "Retain",
    },
}
CLUSTER: dict[str, Any] = {
    "Region": "us-west-2",
    "Image": {"Os": "ubuntu2204"},
    "HeadNode": {
        "InstanceType": "m7i.2xlarge",
        "Networking": {"SubnetId": "subnet-0a1b2c3d4e5f60718"},
    },
    "Scheduling": {"Scheduler": "slurm", "SlurmQueues": [QUEUE]},
    "SharedStorage": [LUSTRE],
}
DELETE = object()


LOGIN = {
    "Name": "login",
    "InstanceType": "m7i.large",
    "Count": 1,
    "Networking": {"SubnetIds": ["subnet-0a1b2c3d4e5f60719"]},
}


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    """The configuration with other values, by their paths; ``DELETE`` removes one."""
    body = copy.deepcopy(CLUSTER)
    for path, value in changes:
        *above, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        node: Any = body
        for key in above:
            node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
        if value is DELETE:
            del node[last]
        elif isinstance(node, list) and isinstance(last, int) and last == len(node):
            node.append(value)
        else:
            node[last] = value
    return body


def found(body: Any, folder: Path) -> list[tuple[str, int]]:
    """The code and the line of each finding."""
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump(body, sort_keys=False))
    findings = lint([file], Options(today=date(2026, 11, 25))).all()
    return [(fact.code, fact.span.line if fact.span else 0) for fact in findings]


def line_of(body: Any, word: str) -> int:
    """The line of the file on which a word stands first."""
    lines = yaml.safe_dump(body, sort_keys=False).splitlines()
    return next(number for number, line in enumerate(lines, 1) if word in line)


def test_a_configuration_without_fault_is_clean(tmp_path: Path) -> None:
    assert found(CLUSTER, tmp_path) == []


Q, R = "Scheduling.SlurmQueues.0", "Scheduling.SlurmQueues.0.ComputeResources.0"
F, S = "SharedStorage.0.FsxLustreSettings", "Scheduling.SlurmSettings"


@pytest.mark.parametrize(
    ("code", "word", "changes"),
    [
        ("SCH001", "SlurmQueues", [("Scheduling.SlurmQueues", DELETE), ("SlurmQueues", [QUEUE])]),
        ("SCH001", "Snapshot", [("HeadNode.LocalStorage", {"RootVolume": {"Snapshot": True}})]),
        ("SCH004", "alinux2", [("Image.Os", "alinux2")]),
        ("SCH006", "subnet-x", [("HeadNode.Networking.SubnetId", "subnet-x")]),
        ("SCH011", "AdditionalSecurityGroups", [
            ("HeadNode.Networking.SecurityGroups", ["sg-0a1b2c3d4e5f60718"]),
            ("HeadNode.Networking.AdditionalSecurityGroups", ["sg-0a1b2c3d4e5f60719"]),
        ]),
        ("SCH011", "60799", [(f"{Q}.Networking.SubnetIds.1", "subnet-0a1b2c3d4e5f60799")]),
        ("SCH011", "ResumeTimeout", [(f"{S}.CustomSlurmSettings", [{"ResumeTimeout": 1800}])]),
        ("SCH012", "SelectTypeParameters", [
            (f"{S}.EnableMemoryBasedScheduling", True),
            (f"{S}.CustomSlurmSettings", [{"SelectTypeParameters": "CR_Core_Memory"}]),
        ]),
        ("SCH011", "State", [(f"{Q}.CustomSlurmSettings", {"State": "UP"})]),
        ("SCH012", "GPUs", [(f"{R}.CustomSlurmSettings", {"GPUs": 8})]),
        ("SCH003", "OnNodeStart", [(f"{Q}.CustomActions", {"OnNodeStart": {"Args": ["a"]}})]),
        ("SCH011", "Sequence", [
            (f"{Q}.CustomActions", {"OnNodeStart": {"Script": "a", "Sequence": [{"Script": "b"}]}}),
        ]),
        ("SCH004", "ImdsSupport", [("Imds", {"ImdsSupport": "v3.0"})]),
        ("SCH012", "s3://scripts", [("HeadNode.CustomActions", {"OnNodeConfigured": {"Script": "s3://scripts/a.sh"}})]),
        ("SCH012", "0.0.0.0", [("HeadNode.Ssh", {"AllowedIps": "0.0.0.0/0"})]),
        ("SCH012", "0.0.0.0/1", [("HeadNode.Ssh", {"AllowedIps": "0.0.0.0/1"})]),
        ("SCH012", "0.0.0.0", [("LoginNodes", {"Pools": [LOGIN | {"Ssh": {"AllowedIps": "0.0.0.0/0"}}]})]),
        ("SCH012", "Ssh", [("HeadNode.Ssh", {"KeyName": "a"})]),
        ("SCH011", "GPU_1", [(f"{Q}.Name", "GPU_1")]),
        ("SCH011", "a-st-b", [(f"{Q}.Name", "a-st-b")]),
        ("SCH011", "MaxCount", [(f"{R}.MinCount", 5)]),
        ("SCH011", "CAPACITY_BLOCK", [(f"{Q}.CapacityType", "CAPACITY_BLOCK"), (f"{R}.MinCount", 4)]),
        ("SCH011", "MinCount", [
            (f"{Q}.CapacityType", "CAPACITY_BLOCK"),
            (f"{R}.CapacityReservationTarget", {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}),
        ]),
        ("SCH012", "PlacementGroup", [
            (f"{Q}.CapacityType", "CAPACITY_BLOCK"),
            (f"{R}.MinCount", 4),
            (f"{R}.CapacityReservationTarget", {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}),
        ]),
        ("SCH011", "Efa", [(f"{R}.Networking", DELETE)]),
        ("SCH012", "Efa", [(f"{R}.Networking.PlacementGroup.Enabled", False)]),
        ("SCH011", "GdrSupport", [(f"{R}.Efa", {"Enabled": False, "GdrSupport": True})]),
        ("SCH011", "name: other", [("SharedStorage.1", {**LUSTRE, "Name": "other", "MountDir": "/other"})]),
        ("SCH011", "/opt/slurm", [("SharedStorage.0.MountDir", "/opt/slurm")]),
        ("SCH011", "/opt/slurm/x", [("SharedStorage.0.MountDir", "/opt/slurm/x")]),
        ("SCH011", "ExportPath", [
            (f"{F}.DeploymentType", "PERSISTENT_1"),
            (f"{F}.PerUnitStorageThroughput", 200),
            (f"{F}.ExportPath", "s3://a"),
        ]),
        ("SCH012", "ImportPath", [(f"{F}.ImportPath", "s3://a")]),
        ("SCH011", "AutomaticBackup", [
            (f"{F}.DeploymentType", "PERSISTENT_1"),
            (f"{F}.PerUnitStorageThroughput", 200),
            (f"{F}.ImportPath", "s3://a"),
            (f"{F}.AutomaticBackupRetentionDays", 7),
        ]),
        ("SCH011", "DailyAutomatic", [(f"{F}.DailyAutomaticBackupStartTime", "01:00")]),
        ("SCH011", "PerUnit", [(f"{F}.PerUnitStorageThroughput", 200)]),
        ("SCH011", "StorageCapacity", [(f"{F}.StorageCapacity", 1300)]),
        ("SCH012", "FsxLustreSettings", [(f"{F}.DeletionPolicy", DELETE)]),
    ],
)  # fmt: skip
def test_a_fault_is_found_at_its_line(
    code: str, word: str, changes: list[tuple[str, Any]], tmp_path: Path
) -> None:
    body = changed(*changes)
    line = line_of(body, word.removeprefix("name: ")) - (1 if word == "name: other" else 0)
    codes = found(body, tmp_path)
    if word == "name: other":
        line = line_of(body, "Name: other")
    assert (code, line) in codes


P = f"{R}.Networking.PlacementGroup"
T = f"{R}.CapacityReservationTarget"
RESERVED = {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
LINKS = [
    {
        "Name": f"link{number}",
        "FileSystemPath": f"/a{number}",
        "DataRepositoryPath": f"s3://bucket/a{number}",
    }
    for number in range(9)
]
PERSISTENT_1 = [(f"{F}.DeploymentType", "PERSISTENT_1"), (f"{F}.PerUnitStorageThroughput", 200)]
GROUP = "arn:aws:resource-groups:us-west-2:111122223333:group/a"
SECOND = "subnet-0a1b2c3d4e5f60799"
SEVERAL = [{"InstanceType": "m7i.2xlarge"}, {"InstanceType": "m6i.2xlarge"}]


def resource(**keys: Any) -> dict[str, Any]:
    return {"Name": "cpu", "MinCount": 0, "MaxCount": 4, **keys}


@pytest.mark.parametrize(
    ("words", "place", "changes"),
    [
        # queues
        (
            "given twice",
            f"{Q}.Networking.SubnetIds.1",
            [(f"{Q}.Networking.SubnetIds.1", "subnet-0a1b2c3d4e5f60718")],
        ),
        (
            "takes one subnet",
            f"{Q}.Networking.SubnetIds.1",
            [(f"{Q}.Networking.SubnetIds.1", SECOND), (R, resource(InstanceType="m7i.2xlarge"))],
        ),
        ("EFA never leaves", f"{Q}.Networking.SubnetIds.1", [(f"{Q}.Networking.SubnetIds.1", SECOND)]),
        ("is in one zone, and the queue", f"{Q}.Networking.SubnetIds.1", [(f"{Q}.Networking.SubnetIds.1", SECOND)]),
        ("a file system that ParallelCluster makes", F, [(f"{Q}.Networking.SubnetIds.1", SECOND)]),
        ("`InstanceType` and `Instances`", f"{R}.Instances", [(f"{R}.Instances", SEVERAL)]),
        (
            "are to be the same",
            f"{R}.MaxCount",
            [(f"{Q}.CapacityType", "CAPACITY_BLOCK"), (f"{R}.MinCount", 2), (T, RESERVED)],
        ),
        ("an `Id` or a `Name`", P, [(P, {"Id": "pg-1", "Name": "a"})]),
        ("is named and not enabled", f"{P}.Enabled", [(P, {"Name": "a", "Enabled": False})]),
        (
            "a group of reservations cannot be",
            T,
            [(T, {**RESERVED, "CapacityReservationResourceGroupArn": GROUP})],
        ),
        (
            "a reservation is of one",
            f"{R}.Instances",
            [(R, resource(Instances=SEVERAL, CapacityReservationTarget=RESERVED))],
        ),
        # Slurm
        (
            "`Database` and `ExternalSlurmdbd`",
            f"{S}.ExternalSlurmdbd",
            [(S, {"Database": {"Uri": "a:3306"}, "ExternalSlurmdbd": {"Host": "a", "Port": 6819}})],
        ),
        # names
        ("has 25 characters at most", f"{Q}.Name", [(f"{Q}.Name", "a" * 26)]),
        ("two of `gpu`", "Scheduling.SlurmQueues.1.Name", [("Scheduling.SlurmQueues.1", QUEUE)]),
        ("two of `p5`", f"{Q}.ComputeResources.1.Name", [(f"{Q}.ComputeResources.1", QUEUE["ComputeResources"][0])]),
        ("41 tags", "Tags.40", [("Tags", [{"Key": f"k{n}", "Value": "a"} for n in range(41)])]),
        # storage
        (
            "two storages are mounted",
            "SharedStorage.1.MountDir",
            [("SharedStorage.1", {**LUSTRE, "Name": "b"})],
        ),
        (
            "lie in one another",
            "SharedStorage.1.MountDir",
            [("SharedStorage.1", {**LUSTRE, "Name": "b", "MountDir": "/fsx/b"})],
        ),
        (
            "lie in one another",
            "SharedStorage.1.MountDir",
            [
                ("SharedStorage.0.MountDir", "/data/a"),
                ("SharedStorage.1", {**LUSTRE, "Name": "b", "MountDir": "/data"}),
            ],
        ),
        (
            "`ImportPath` and `DataRepositoryAssociations`",
            f"{F}.ImportPath",
            [*PERSISTENT_1, (f"{F}.ImportPath", "s3://a"), (f"{F}.DataRepositoryAssociations", LINKS[:1])],
        ),
        (
            "FSx links no folder",
            f"{F}.DataRepositoryAssociations",
            [
                (F, {"DeploymentType": "SCRATCH_1", "StorageCapacity": 1200, "DeletionPolicy": "Retain"}),
                (f"{F}.DataRepositoryAssociations", LINKS[:1]),
            ],
        ),
        (
            "has 8 associations at most",
            f"{F}.DataRepositoryAssociations.8",
            [(f"{F}.DataRepositoryAssociations", LINKS)],
        ),
        (
            "a scratch file system has no backups",
            f"{F}.AutomaticBackupRetentionDays",
            [(F, {"StorageCapacity": 1200, "DeletionPolicy": "Retain", "AutomaticBackupRetentionDays": 7})],
        ),
        (
            "`PerUnitStorageThroughput` is not given",
            F,
            [(f"{F}.PerUnitStorageThroughput", DELETE)],
        ),
        (
            "a scratch file system has one throughput",
            f"{F}.PerUnitStorageThroughput",
            [(F, {"StorageCapacity": 1200, "DeletionPolicy": "Retain", "PerUnitStorageThroughput": 200})],
        ),
    ],
)  # fmt: skip
def test_what_parallelcluster_refuses(
    words: str, place: str, changes: list[tuple[str, Any]], tmp_path: Path
) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump(changed(*changes), sort_keys=False))
    (document,), _ = parse(SourceFile(str(file), file.read_text()))
    route = Route(int(key) if key.isdigit() else key for key in place.split("."))
    found = [fact for fact in lint([file], Options()).all() if words in fact.message]
    assert [fact.span.line for fact in found if fact.span] == [document.span(route).line]
    assert [fact.help for fact in found if not fact.help] == []


@pytest.mark.parametrize("at", [Q, R])
def test_a_reservation_lies_where_it_was_made(at: str, tmp_path: Path) -> None:
    """No placement group is missed, as it is where EC2 may place nodes anywhere (the cases above)."""
    target = {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    group = (f"{R}.Networking.PlacementGroup.Enabled", False)
    assert found(changed(group), tmp_path)
    assert found(changed(group, (f"{at}.CapacityReservationTarget", target)), tmp_path) == []


@pytest.mark.parametrize(
    ("settings", "fits", "does_not"),
    [
        ({"DeploymentType": "SCRATCH_1"}, (1200, 2400, 3600, 7200), (0, 1201, 4800)),
        ({"DeploymentType": "SCRATCH_2"}, (1200, 2400, 4800), (0, 1201, 3600)),
        (
            {
                "DeploymentType": "PERSISTENT_1",
                "StorageType": "HDD",
                "PerUnitStorageThroughput": 12,
            },
            (6000, 12000),
            (1200, 1800, 6001),
        ),
        (
            {
                "DeploymentType": "PERSISTENT_1",
                "StorageType": "HDD",
                "PerUnitStorageThroughput": 40,
            },
            (1800, 3600, 6000 * 3),
            (1200, 1801, 6000),
        ),
    ],
)
def test_the_sizes_of_a_file_system(
    settings: dict[str, Any], fits: tuple[int, ...], does_not: tuple[int, ...], tmp_path: Path
) -> None:
    """https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, StorageCapacity."""
    for sizes, is_found in ((fits, False), (does_not, True)):
        for size in sizes:
            given = {"DeletionPolicy": "Retain", "StorageCapacity": size, **settings}
            body = changed((F, given))
            place = "SCH011", line_of(body, "StorageCapacity")
            assert (place in found(body, tmp_path)) is is_found, size


CASES = ROOT.parent / "shared" / "cases"
SEED = CASES / "seed002-parallelcluster-640gpu.yaml"


@pytest.mark.skipif(not SEED.exists(), reason="the shared cases are not here")
def test_the_faults_of_a_file_that_was_copied_widely() -> None:
    """A plan for 640 GPUs: each fault of its header, by the words on its line."""
    text = SEED.read_text().splitlines()
    findings = lint([SEED], Options(today=date(2026, 11, 25))).all()
    lines = {fact.span.line for fact in findings if fact.span is not None}
    for words in (
        "SlurmQueues:",
        "Snapshot: true",
        "FileSystem:",
        "BackupRetentionDays: 7",
        "AutoExportPolicy:",
        "RetentionInDays: 15",
        "AdditionalSecurityGroups:",
        "subnet-yyyyyyyyy2",
        "AutomaticBackupRetentionDays: 7",
        "ExportPath:",
        "ResumeTimeout:",
        "SuspendTime:",
        "SelectTypeParameters:",
        "s3://scripts-jakarta/setup_headnode.sh",
        "s3://scripts-jakarta/setup_compute_node.sh",
        "Os: alinux2",
    ):
        places = [
            number
            for number, line in enumerate(text, 1)
            if words in line and not line.startswith("#")
        ]
        assert lines & set(places), words


SCRIPT = """#!/bin/bash
#SBATCH --job-name=fsdp
#SBATCH --partition=gpu
#SBATCH --nodes=8
#SBATCH --exclusive
#SBATCH --gres=gpu:8
export FI_PROVIDER=tcp
srun -l --container-image nvcr.io#nvidia/pytorch:25.06-py3 torchrun --nnodes 2 train.py
"""


def test_a_batch_script_is_read_with_the_partitions_beside_it(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump(CLUSTER))
    (tmp_path / "job.sh").write_text(SCRIPT)
    findings = lint([tmp_path], Options(today=date(2026, 11, 25))).all()
    places = {(fact.code, fact.span.line) for fact in findings if fact.span is not None}
    assert {("LIM003", 4), ("EFA010", 7), ("RUN010", 8)} <= places


@pytest.mark.parametrize(
    ("option", "name"),
    [("#SBATCH --job-name=fsdp\n", "fsdp"), ("", "nightly.sh"), ("#SBATCH --job-name=$NAME\n", "")],
)
def test_the_name_of_a_batch_script(option: str, name: str) -> None:
    text = SCRIPT.replace("#SBATCH --job-name=fsdp\n", option)
    artifact = Artifact(path="jobs/nightly.sh", format="sbatch", text=text)
    (job,) = jobs_of(artifact, closed=False)
    assert isinstance(job, BatchJob)
    assert job.name == name


@pytest.mark.parametrize(
    ("start", "codes"),
    [
        ("srun torchrun --nnodes 8 train.py", ["RUN134"]),
        ("srun torchrun --nnodes 8 --rdzv_endpoint $(hostname):${MASTER_PORT} train.py", []),
        ("srun torchrun --nnodes 8 --rdzv_endpoint $(hostname):$MASTER_PORT train.py", []),
        ("srun torchrun --nnodes 8 --rdzv_endpoint $(hostname):$MASTER_PORTS train.py", ["RUN134"]),
    ],
)
def test_a_port_that_the_script_itself_takes(start: str, codes: list[str], tmp_path: Path) -> None:
    lines = SCRIPT.replace("FI_PROVIDER=tcp", "MASTER_PORT=12345").splitlines()
    (tmp_path / "job.sh").write_text("\n".join([*lines[:-1], start, ""]))
    findings = lint([tmp_path], Options(today=date(2026, 11, 25))).all()
    assert [each.code for each in findings if each.code == "RUN134"] == codes


@pytest.mark.parametrize(
    ("code", "line", "old", "new"),
    [
        ("SCH001", 2, "--job-name", "--jobname"),
        ("SCH006", 4, "--nodes=8", "--nodes=eight"),
        ("SCH012", 1, "#!/bin/bash\n", "\n"),
        ("SCH012", 6, "#SBATCH --exclusive\n", "set -e\n"),
    ],
)
def test_what_sbatch_refuses_or_passes_over(
    code: str, line: int, old: str, new: str, tmp_path: Path
) -> None:
    file = tmp_path / "job.sbatch"
    file.write_text(SCRIPT.replace(old, new))
    findings = lint([file], Options(today=date(2026, 11, 25))).all()
    assert (code, line) in {(fact.code, fact.span.line) for fact in findings if fact.span}


TOKEN = "hf_" + "a" * 34


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        (f"export HF_TOKEN={TOKEN} NCCL_P2P_DISABLE=1", {"RUN024", "RUN124"}),
        (f"export NCCL_P2P_DISABLE=1 HF_TOKEN={TOKEN}  # for the hub", {"RUN024", "RUN124"}),
        (f"HF_TOKEN={TOKEN} NCCL_P2P_DISABLE=1 python prep.py", {"RUN024"}),
        ("NCCL_P2P_DISABLE=1 python prep.py", set()),
        ("NCCL_P2P_DISABLE=1 && echo", set()),
        ("export NCCL_P2P_DISABLE=1 && echo", {"RUN124"}),
        ("export WORDS='a b' NCCL_P2P_DISABLE=$(true)1", set()),
    ],
)
def test_several_variables_of_one_line(line: str, codes: set[str], tmp_path: Path) -> None:
    """What stands before a command is its alone; what is exported is the program's too."""
    file = tmp_path / "job.sbatch"
    file.write_text(SCRIPT.replace("export FI_PROVIDER=tcp", line))
    found = {fact.code for fact in lint([file], Options(today=date(2026, 11, 25))).all()}
    assert found & {"RUN024", "RUN124"} == codes


def test_variables_before_what_starts_the_program_are_the_programs(tmp_path: Path) -> None:
    file = tmp_path / "job.sbatch"
    file.write_text(SCRIPT.replace("srun -l", f"HF_TOKEN={TOKEN} NCCL_P2P_DISABLE=1 srun -l"))
    findings = lint([file], Options(today=date(2026, 11, 25))).all()
    places = {(fact.code, fact.span.line) for fact in findings if fact.span is not None}
    assert {("RUN024", 8), ("RUN124", 8)} <= places


def test_other_scripts_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("#!/bin/bash\ncat <<END\napiVersion: v1\nkind: Pod\nEND\n")
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump(CLUSTER))
    assert lint([tmp_path], Options()).all() == []


def test_several_scripts_and_imds_at_the_top(tmp_path: Path) -> None:
    """What ParallelCluster takes and its classes hide: scripts below `Sequence`, and two classes named ImdsSchema."""
    several = {"OnNodeConfigured": {"Sequence": [{"Script": "https://a/b.sh", "Args": ["c"]}]}}
    body = changed(
        ("Imds", {"ImdsSupport": "v2.0"}),
        ("HeadNode.CustomActions", several),
        (f"{Q}.CustomActions", several),
    )
    assert {code for code, _ in found(body, tmp_path)} == {
        code for code, _ in found(CLUSTER, tmp_path)
    }


@pytest.mark.parametrize("value", ["{SUBNET_ID}", {"SUBNET_ID": None}, "${SUBNET_ID}"])
def test_a_value_that_is_filled_in_later(value: Any, tmp_path: Path) -> None:
    body = changed(("HeadNode.Networking.SubnetId", value))
    left = [("SCH055", 8 if isinstance(value, dict) else 7)]
    assert found(body, tmp_path) == sorted([*found(CLUSTER, tmp_path), *left])


def test_a_script_is_judged_with_the_cluster_nearest_to_it(tmp_path: Path) -> None:
    """Two clusters have a partition of the same name; the script beside the smaller one exceeds it."""
    for name, nodes in (("one", 4), ("two", 16)):
        folder = tmp_path / name
        folder.mkdir()
        body = changed((f"{R}.MaxCount", nodes))
        (folder / "cluster.yaml").write_text(yaml.safe_dump(body))
        (folder / "job.sbatch").write_text(SCRIPT.replace("FI_PROVIDER=tcp", "FI_PROVIDER=efa"))
    findings = lint([tmp_path], Options(today=date(2026, 11, 25))).all()
    files = [fact.span.file.name for fact in findings if fact.span and fact.code == "LIM003"]
    assert [Path(file).parent.name for file in files] == ["one"]


@pytest.mark.parametrize(
    "line",
    ["srun " + "\\\n" * 100_000 + "a", "f" + " " * 100_000 + "()" + " " * 100_000 + "x"],
    ids=["continued", "blanks"],
)
def test_a_line_with_very_many_blanks_takes_no_square_of_them(line: str) -> None:
    """23 s of CPU for the first, where two repeated blanks stood beside each other."""
    begun = process_time()
    text = f"#!/bin/bash\n#SBATCH --nodes=2\n{line}\n"
    artifact = Artifact(path="long.sbatch", format="sbatch", text=text)
    (job,) = jobs_of(artifact, closed=False)
    assert isinstance(job, BatchJob)
    assert process_time() - begun < 5
