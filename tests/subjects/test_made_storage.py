"""Storage that the bootstrap makes: its stacks, its volumes, the script that keeps what AWS gave it."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import cfn_lint
import pytest
import yaml
from builders import faults_of, files, objects_of, plan_of, spec
from running import Command, Run, stand_ins
from trainyard.core.cloud.plan import AccessPolicy, Bucket, FileSystemStack
from trainyard.core.storage.plan import MadeBucket, MadeFileSystem
from trainyard.eks.flux.plan import Stage
from trainyard.output.lowering.body import NO_SUBSTITUTION
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.run.driver import check
from trainyard.run.lower import lower
from trainyard.run.outcome import Options
from trainyard.verify.formats import Setting, lifted, verified, written

pytestmark = pytest.mark.slow

KEY = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
STORAGE: list[dict[str, Any]] = [
    {
        "name": "raw",
        "s3": {
            "create": {
                "kmsKey": KEY,
                "lifecycle": {
                    "noncurrentDays": 90,
                    "transitions": [{"days": 30, "to": "STANDARD_IA"}],
                },
            },
            "prefix": "tokens/",
        },
    },
    {
        "name": "scratch",
        "fsxLustre": {
            "create": {
                "deployment": "SCRATCH_2",
                "size": "1200Gi",
                "compression": "LZ4",
                "dataRepositories": [
                    {"path": "/raw", "storage": "raw"},
                    {
                        "path": "/logs/",
                        "s3": "s3://logs-111122223333",
                        "export": ["NEW", "CHANGED"],
                    },
                ],
            }
        },
    },
    {
        "name": "fast-disk",
        "fsxLustre": {
            "create": {
                "size": "38400Gi",
                "throughputPerTiB": 125,
                "efa": True,
                "kmsKey": KEY,
                "backups": {"days": 14, "at": "14:30"},
                "maintenance": "7:04:00",
            }
        },
    },
    {
        "name": "cheap",
        "fsxLustre": {
            "create": {
                "deployment": "PERSISTENT_1",
                "size": "6000Gi",
                "throughputPerTiB": 12,
                "driveCache": "READ",
            }
        },
    },
]
POOL = {"instanceTypes": ["p5.48xlarge"]}  # FSx takes clients over EFA from Nitro v4 on
MOUNTS = [{"storage": each["name"], "path": f"/data/{each['name']}"} for each in STORAGE]
VOLUME = "persistentvolume-training-scratch.yaml"
VPC = {
    "vpc": "vpc-0a1b2c3d4e5f60718",
    "subnets": [
        {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2a"},
        {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2b"},
    ],
}


def made(**parts: Any) -> dict[str, Any]:
    storage = copy.deepcopy(STORAGE)  # which tests edit
    return spec(**{"storage": storage, "job": {"mounts": MOUNTS}, "pool": POOL, **parts})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(made(tags={"team": "research"}))


def stack(plan: Plan, name: str) -> dict[str, Any]:
    body = files(plan)[f"bootstrap/stacks/storage-{name}.yaml"]
    assert isinstance(body, dict)
    return body


def properties(plan: Plan, name: str, resource: str) -> dict[str, Any]:
    found: dict[str, Any] = stack(plan, name)["Resources"][resource]["Properties"]
    return found


def test_the_whole_of_it_is_clean(tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(made(), sort_keys=False))
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / "generated/lab/bootstrap/storage.sh").exists()
    assert trainyard("compile", "--check", "spec.yaml", cwd=tmp_path).code == 0


def test_no_template_has_a_fault(plan: Plan) -> None:
    templates = [each for each in lower(plan) if each.format == "cloudformation"]
    assert verified(templates, Setting()) == []


def test_cfn_lint_finds_nothing_above_information(plan: Plan, tmp_path: Path) -> None:
    """By somebody else's judge (cfn-lint, of the development requirements)."""
    for name, source in (("eksctl", plan), ("own", plan_of(made(network={"existing": VPC})))):
        for each in lower(source):
            if each.path.startswith("bootstrap/stacks/"):
                file = tmp_path / name / Path(each.path).name
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(written(each))
    templates = sorted(tmp_path.rglob("*.yaml"))
    assert cfn_lint.findings(templates, "--regions", "us-west-2") == ""


def test_what_holds_data_is_kept_whatever_happens_to_its_stack(plan: Plan) -> None:
    for each in STORAGE:
        for name, resource in stack(plan, each["name"])["Resources"].items():
            kept = {resource.get(f"{key}Policy") for key in ("Deletion", "UpdateReplace")}
            if resource["Type"] in ("AWS::S3::Bucket", "AWS::FSx::FileSystem"):
                assert kept == {"Retain"}, name
            if name.endswith(("FromNodes", "ToNodes", "NodesFrom", "NodesTo")):
                assert kept == {None}, "it would hold the cluster's security group"


def test_a_bucket_is_closed_and_versioned(plan: Plan) -> None:
    bucket = properties(plan, "raw", "Bucket")
    assert bucket["BucketName"] == "lab-raw-111122223333-us-west-2"
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {
        "SSEAlgorithm": "aws:kms",
        "KMSMasterKeyID": KEY,
    }
    rules = {each["Id"]: each for each in bucket["LifecycleConfiguration"]["Rules"]}
    assert rules["noncurrent-versions"]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}
    assert rules["incomplete-uploads"]["AbortIncompleteMultipartUpload"] == {
        "DaysAfterInitiation": 7
    }
    assert rules["transitions"]["Transitions"] == [
        {"StorageClass": "STANDARD_IA", "TransitionInDays": 30}
    ]
    assert {"Key": "team", "Value": "research"} in bucket["Tags"]
    (statement,) = properties(plan, "raw", "TlsOnly")["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_plain_bucket_has_keys_of_s3_and_no_versions_if_so_asked() -> None:
    plain = [{"name": "raw", "s3": {"create": {"versioning": False}}}]
    bucket = properties(plan_of(spec(storage=plain)), "raw", "Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Suspended"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    ids = [each["Id"] for each in bucket["LifecycleConfiguration"]["Rules"]]
    assert ids == ["incomplete-uploads"]


def test_mountpoint_may_use_the_bucket_and_its_key(plan: Plan) -> None:
    body = files(plan)["bootstrap/stacks/bucket-raw.yaml"]
    policy = body["Resources"]["Policy"]["Properties"]["PolicyDocument"]
    arn = "arn:aws:s3:::lab-raw-111122223333-us-west-2"
    resources = [each["Resource"] for each in policy["Statement"]]
    assert resources == [arn, f"{arn}/*", KEY]
    assert policy["Statement"][2]["Action"] == ["kms:GenerateDataKey", "kms:Decrypt"]


def test_a_file_system_has_what_was_wished(plan: Plan) -> None:
    system = properties(plan, "fast-disk", "FileSystem")
    assert (system["StorageCapacity"], system["StorageType"]) == (38400, "SSD")
    assert system["FileSystemTypeVersion"] == "2.15"
    assert system["KmsKeyId"] == KEY
    assert system["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 125,
        "DataCompressionType": "NONE",
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        "EfaEnabled": True,
        "AutomaticBackupRetentionDays": 14,
        "DailyAutomaticBackupStartTime": "14:30",
        "CopyTagsToBackups": True,
        "WeeklyMaintenanceStartTime": "7:04:00",
    }
    disks = properties(plan, "cheap", "FileSystem")
    assert disks["StorageType"] == "HDD"
    assert disks["LustreConfiguration"]["DriveCacheType"] == "READ"
    assert disks["LustreConfiguration"]["AutomaticBackupRetentionDays"] == 0
    scratch = properties(plan, "scratch", "FileSystem")["LustreConfiguration"]
    assert scratch == {"DeploymentType": "SCRATCH_2", "DataCompressionType": "LZ4"}


def test_folders_are_linked_to_buckets(plan: Plan) -> None:
    resources = stack(plan, "scratch")["Resources"]
    links = [
        each["Properties"]
        for each in resources.values()
        if each["Type"] == "AWS::FSx::DataRepositoryAssociation"
    ]
    every = {"Events": ["NEW", "CHANGED", "DELETED"]}
    assert [(each["FileSystemPath"], each["DataRepositoryPath"]) for each in links] == [
        ("/raw", "s3://lab-raw-111122223333-us-west-2/tokens/"),
        ("/logs", "s3://logs-111122223333/"),
    ]
    assert [each["S3"] for each in links] == [
        {"AutoImportPolicy": every},
        {"AutoImportPolicy": every, "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}},
    ]


@pytest.mark.parametrize(
    ("path", "name"), [("/raw", "Linkraw"), ("/raw-1", "Link0x7261772d31"), ("/", "Link0x")]
)
def test_a_link_is_called_by_its_folder(path: str, name: str) -> None:
    """Logical names have letters and digits alone (CloudFormation user guide, resources section)."""
    link = {"path": path, "s3": "s3://logs-111122223333"}
    create = {"deployment": "SCRATCH_2", "size": "1200Gi", "dataRepositories": [link]}
    storage = [{"name": "scratch", "fsxLustre": {"create": create}}]
    resources = stack(plan_of(spec(storage=storage)), "scratch")["Resources"]
    assert name in resources


@pytest.mark.parametrize(
    ("paths", "code"), [(("/", "/a"), "RES125"), (("/a", "/a/b"), "RES125"), (("/a", "/ab"), None)]
)
def test_links_lie_next_to_each_other(paths: tuple[str, str], code: str | None) -> None:
    links = [
        {"path": path, "s3": f"s3://logs{index}-111122223333"} for index, path in enumerate(paths)
    ]
    create = {"deployment": "SCRATCH_2", "size": "1200Gi", "dataRepositories": links}
    found = faults_of(spec(storage=[{"name": "scratch", "fsxLustre": {"create": create}}]))
    assert [each.code for each in found] == ([code] if code else [])


def test_objects_move_to_one_class_after_the_other() -> None:
    moves = [{"days": 30, "to": "STANDARD_IA"}, {"days": 90, "to": "GLACIER"}]
    create = {"lifecycle": {"transitions": moves}}
    plan = plan_of(spec(storage=[{"name": "raw", "s3": {"create": create}}]))
    rules = properties(plan, "raw", "Bucket")["LifecycleConfiguration"]["Rules"]
    (rule,) = (each for each in rules if each["Id"] == "transitions")
    assert [each["TransitionInDays"] for each in rule["Transitions"]] == [30, 90]


def test_no_backups_need_no_time() -> None:
    create = {"size": "1200Gi", "throughputPerTiB": 125, "backups": {"days": 0}}
    plan = plan_of(spec(storage=[{"name": "fast", "fsxLustre": {"create": create}}]))
    lustre = properties(plan, "fast", "FileSystem")["LustreConfiguration"]
    assert "DailyAutomaticBackupStartTime" not in lustre
    assert lustre.get("AutomaticBackupRetentionDays", 0) == 0


def test_ports_of_lustre_are_open_both_ways_and_efa_wholly(plan: Plan) -> None:
    nodes = {"Fn::ImportValue": "eksctl-lab-cluster::ClusterSecurityGroupId"}
    own = {"Ref": "SecurityGroup"}
    for name, efa in (("scratch", False), ("fast-disk", True)):
        body = stack(plan, name)["Resources"]
        open_ = {
            (str(rule["GroupId"]), str(rule["SourceSecurityGroupId"]), rule["FromPort"])
            for each in body.values()
            if each["Type"] == "AWS::EC2::SecurityGroupIngress"
            for rule in [each["Properties"]]
            if rule["IpProtocol"] == "tcp"
        }
        ways = [(own, own), (own, nodes), (nodes, own)]
        assert open_ == {(str(a), str(b), port) for a, b in ways for port in (988, 1018)}
        everything = [
            each["Type"].removeprefix("AWS::EC2::SecurityGroup")
            for each in body.values()
            if each["Properties"].get("IpProtocol") == "-1"
        ]
        assert sorted(everything) == ["Egress"] * 3 * efa + ["Ingress"] * 3 * efa
        waited = body["FileSystem"]["DependsOn"]
        assert waited
        assert set(waited) <= set(body)
        assert all(body[each]["Properties"]["GroupId"] == own for each in waited)


def test_the_subnet_is_a_parameter_or_that_of_the_network(plan: Plan) -> None:
    """eksctl exports its private subnets in the order of a Go map: none of them is that of a zone."""
    body = stack(plan, "scratch")
    assert body["Metadata"] == {"Zone": "us-west-2b"}
    assert list(body["Parameters"]) == ["Subnet"]
    assert properties(plan, "scratch", "FileSystem")["SubnetIds"] == [{"Ref": "Subnet"}]
    group = properties(plan, "scratch", "SecurityGroup")
    assert group["VpcId"] == {"Fn::ImportValue": "eksctl-lab-cluster::VPC"}

    existing = plan_of(made(network={"existing": VPC}))
    assert "Parameters" not in stack(existing, "scratch")
    system = properties(existing, "scratch", "FileSystem")
    assert system["SubnetIds"] == ["subnet-0a1b2c3d4e5f60719"]
    group = properties(existing, "scratch", "SecurityGroup")
    assert group["VpcId"] == "vpc-0a1b2c3d4e5f60718"


def test_what_stacks_make_reads_back_as_what_was_planned(plan: Plan) -> None:
    cloud = lifted(lower(plan), closed=True)
    (bucket,) = cloud.of(Bucket)
    (planned,) = plan.of(MadeBucket)
    assert bucket.name == planned.bucket
    assert len(bucket.public_access) == 4
    systems = {
        (each.kind, each.deployment, each.size, each.version, bool(each.efa))
        for each in cloud.of(FileSystemStack)
    }
    assert systems == {
        ("LUSTRE", each.deployment, each.size, each.version, each.efa)
        for each in plan.of(MadeFileSystem)
    }
    assert any(each.what == "bucket" for each in cloud.of(AccessPolicy))


def test_flux_fills_in_volumes_of_made_file_systems_alone(plan: Plan) -> None:
    for each in objects_of(plan):
        is_late = each.path.startswith("volumes/")
        text = json.dumps(each.body)
        if each.body["kind"] == "PersistentVolume" and is_late:
            csi = each.body["spec"]["csi"]
            name = each.body["metadata"]["name"]
            assert csi["volumeHandle"] == f"${{fsx_id}}--{name}"
            assert csi["volumeAttributes"] == {"dnsname": "${fsx_dns}", "mountname": "${fsx_mount}"}
            assert text.count("${") == 3
        elif "${" in text:
            assert NO_SUBSTITUTION.items() <= each.body["metadata"]["annotations"].items()
    volumes = {
        each.path.split("/")[1] for each in objects_of(plan) if each.path.startswith("volumes/")
    }
    assert volumes == {"scratch", "fast-disk", "cheap"}


def test_each_file_system_waits_for_its_own_values_and_jobs_for_all(plan: Plan) -> None:
    stages = {each.name: each for each in plan.of(Stage)}
    assert stages["trainyard-jobs"].depends_on == ("trainyard-queues", "trainyard-storage")
    assert stages["trainyard-storage"].depends_on == ("trainyard-platform",)
    assert stages["trainyard-storage"].wait
    assert {name for name, each in stages.items() if each.values} == {
        f"trainyard-storage-{name}" for name in ("scratch", "fast-disk", "cheap")
    }
    body = next(
        each.body
        for each in objects_of(plan)
        if each.path == "storage/kustomization-trainyard-storage-scratch.yaml"
    )
    assert body["spec"]["path"] == "./generated/lab/volumes/scratch"
    assert body["spec"]["wait"] is True
    assert body["spec"]["postBuild"] == {
        "substituteFrom": [{"kind": "ConfigMap", "name": "trainyard-storage-scratch"}]
    }


def test_a_bucket_that_is_made_waits_for_nothing() -> None:
    """Its name is known before it is there."""
    only = plan_of(spec(storage=STORAGE[:1], job={"mounts": MOUNTS[:1]}))
    stages = {each.name: each for each in only.of(Stage)}
    assert "trainyard-storage" not in stages
    assert stages["trainyard-jobs"].depends_on == ("trainyard-queues",)
    (volume,) = (each.body for each in objects_of(only) if each.body["kind"] == "PersistentVolume")
    assert volume["spec"]["csi"]["volumeAttributes"] == {
        "bucketName": "lab-raw-111122223333-us-west-2"
    }


def test_another_made_storage_changes_no_file_of_the_others() -> None:
    """Two branches that each make a storage merge."""

    def paths(count: int) -> dict[str, bytes]:
        data = spec(storage=STORAGE[:count], job={"mounts": MOUNTS[:3]}, pool=POOL)
        return {
            each.path: written(each)
            for each in lower(plan_of(data))
            if "job" not in each.path and "runtime" not in each.path
        }

    three, four = paths(3), paths(4)
    assert {path: four[path] for path in three} == three


def test_a_patched_volume_is_still_filled_in(tmp_path: Path, trainyard: Command) -> None:
    patch = {
        "target": {"kind": "PersistentVolume", "name": "training-scratch"},
        "patch": {"metadata": {"labels": {"cost": "a"}}},
    }
    data = made(patches=[patch])
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    folder = tmp_path / "generated/lab/volumes/scratch"
    body = yaml.safe_load((folder / VOLUME).read_text())
    assert body["metadata"]["labels"]["cost"] == "a"
    assert NO_SUBSTITUTION.keys().isdisjoint(body["metadata"]["annotations"])


def test_volumes_stay_for_a_run_that_goes_on_without_its_job(
    tmp_path: Path, trainyard: Command
) -> None:
    """The only job that mounts a storage leaves the spec; its pods go on with the volume."""
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(made(), sort_keys=False))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    volume = tmp_path / "generated/lab/volumes/scratch" / VOLUME
    before = volume.read_bytes()
    stacks = tmp_path / "generated/lab/bootstrap/stacks"
    data = made()
    data["spec"]["jobs"][0]["mounts"] = []
    data["spec"]["jobs"][0]["name"] = "other"
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert volume.read_bytes() == before
    assert (stacks / "storage-scratch.yaml").exists()


def _compiled_twice(folder: Path, trainyard: Command, storage: list[dict[str, Any]]) -> Run:
    """A spec with made storage, then with another one instead."""
    for declared in (STORAGE, storage):
        data = spec(storage=declared, job={"mounts": MOUNTS}, pool=POOL)
        (folder / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        done = trainyard("compile", "spec.yaml", cwd=folder)
    return done


@pytest.mark.parametrize(
    ("index", "change", "field"),
    [
        (0, {"bucket": "other-111122223333"}, "BucketName"),
        (1, {"deployment": "PERSISTENT_1", "throughputPerTiB": 100}, "DeploymentType"),
        (2, {"efa": False, "metadata": {}}, "EfaEnabled"),
        (2, {"kmsKey": None}, "KmsKeyId"),
        (3, {"size": "12000Gi"}, None),
        (1, {"compression": "NONE"}, None),
        (2, {"backups": None}, "CopyTagsToBackups"),
        (2, {"backups": {"days": 3, "at": "14:30"}}, None),
        (3, {"backups": {"days": 3}}, "CopyTagsToBackups"),
        (3, {"driveCache": "NONE"}, "DriveCacheType"),
    ],
)
def test_what_would_be_another_bucket_or_file_system_is_refused(
    index: int, change: dict[str, Any], field: str | None, tmp_path: Path, trainyard: Command
) -> None:
    storage = json.loads(json.dumps(STORAGE))
    (kind,) = storage[index].keys() & {"s3", "fsxLustre"}
    storage[index][kind]["create"] |= change
    done = _compiled_twice(tmp_path, trainyard, storage)
    assert ("error[CHG014]" in done.out) == (field is not None), done.out
    if field is not None:
        assert f"`{field}` of `bootstrap/stacks/storage-" in done.out


def test_capacity_is_raised_and_never_lowered(tmp_path: Path, trainyard: Command) -> None:
    storage = json.loads(json.dumps(STORAGE))
    storage[3]["fsxLustre"]["create"]["size"] = "12000Gi"
    assert _compiled_twice(tmp_path, trainyard, storage).code == 0
    data = made()
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    lowered = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert "`StorageCapacity` of `bootstrap/stacks/storage-cheap" in lowered.out


def test_a_made_file_system_can_be_named_instead(tmp_path: Path, trainyard: Command) -> None:
    """Flux filled its id in, so the volume stays what it was; the other way would be another file system."""
    named = json.loads(json.dumps(STORAGE))
    named[1]["fsxLustre"] = {
        "existing": {
            "id": "fs-0a1b2c3d4e5f60718",
            "mountName": "abcdefgh",
            "size": "1200Gi",
            "version": "2.15",
            "deployment": "SCRATCH_2",
            "zone": "us-west-2b",
        }
    }
    done = _compiled_twice(tmp_path, trainyard, named)
    assert done.code == 0, done.out
    data = made()
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    back = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert "error[CHG002]" in back.out


def test_checkpoints_are_held_against_a_made_file_system() -> None:
    model = {"parameters": 1e12}
    data = made()
    data["spec"]["jobs"][0] |= {
        "model": model,
        "checkpoint": {"path": "/data/scratch/run", "every": "1h"},
    }
    found = [each.message for each in faults_of(data) if each.code == "RES046"]
    assert any("`scratch`" in each for each in found), found


def test_a_file_system_in_another_zone_than_its_jobs_is_a_finding(tmp_path: Path) -> None:
    data = made()
    data["spec"]["storage"][1]["fsxLustre"]["create"]["zone"] = "us-west-2a"
    data["spec"]["network"] = {"existing": VPC}
    file = tmp_path / "spec.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    found = check([file], Options(output=tmp_path / "generated")).all()
    (finding,) = (each for each in found if each.code == "PLC015")
    assert str(finding.at) == "spec.storage[1].fsxLustre.create.zone"


# --- the script


AWS = """#!/bin/bash
printf '%s\\n' "aws $*" >> "$LOG"
stack=
while [ $# -gt 0 ]; do
  case $1 in
    --stack-name) stack=$2; shift ;;
    --template-file) [ -e "$2" ] || exit 3; shift ;;
    deploy|describe-subnets|describe-stacks|set-stack-policy) command=$1 ;;
    --stack-policy-body) printf '%s' "$2" > "$HOME/policy" ;;
  esac
  shift
done
case $command in
  deploy) touch "$HOME/$stack" ;;
  describe-subnets) echo subnet-1 ;;
  describe-stacks)
    if [ "$stack" = eksctl-lab-cluster ]; then
      [ -n "$VPC" ] || { echo "Stack with id $stack does not exist" >&2; exit 254; }
      echo "$VPC"
      exit 0
    fi
    [ -e "$HOME/$stack" ] || { echo "Stack with id $stack does not exist" >&2; exit 254; }
    printf 'DnsName\\t%s.fsx\\nId\\tfs-%s\\n' "$stack" "$stack"
    [ -n "$NO_MOUNT" ] || printf 'MountName\\tabcdefgh\\n' ;;
esac
"""
KUBECTL = """#!/bin/bash
printf '%s\\n' "kubectl $*" >> "$LOG"
case $* in
  *--filename=-*) cat ;;
  get*) echo 'Error from server (NotFound): not found' >&2; exit 1 ;;
  *) echo body ;;
esac
"""


def run(plan: Plan, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    for each in lower(plan):
        if isinstance(each, Manifest) or each.format == "markdown":
            continue
        target = folder / "lab" / each.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(written(each))
    commands = {"aws": AWS, "kubectl": KUBECTL}
    (folder / "home").mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", str(folder / "lab/bootstrap/storage.sh")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={
            "PATH": stand_ins(folder / "bin", commands),
            "HOME": str(folder / "home"),
            "LOG": str(folder / "log"),
            "VPC": "vpc-1",
            "NO_MOUNT": "",
            **more,
        },
    )


def calls(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_the_script_makes_buckets_first_and_keeps_what_aws_gave(plan: Plan, tmp_path: Path) -> None:
    done = run(plan, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    deployed = [
        line.split("--stack-name ")[1].split()[0] for line in calls(tmp_path) if " deploy " in line
    ]
    assert deployed[0] == "trainyard-lab-storage-raw"
    assert sorted(deployed[1:]) == [
        f"trainyard-lab-storage-{name}" for name in ("cheap", "fast-disk", "scratch")
    ]
    assert sum("Subnet=subnet-1" in line for line in calls(tmp_path)) == 3
    (kept,) = (
        line for line in calls(tmp_path) if "create configmap trainyard-storage-fast-disk" in line
    )
    assert "--namespace=flux-system" in kept
    stack_name = "trainyard-lab-storage-fast-disk"
    assert f"--from-literal=fsx_id=fs-{stack_name} " in kept
    assert f"--from-literal=fsx_dns={stack_name}.fsx " in kept
    assert kept.endswith("--from-literal=fsx_mount=abcdefgh")
    policy = json.loads((tmp_path / "home" / "policy").read_text())
    allowed, denied = policy["Statement"]
    assert (allowed["Effect"], denied["Effect"]) == ("Allow", "Deny")
    assert denied["Action"] == ["Update:Replace", "Update:Delete"]
    assert denied["Condition"]["StringEquals"]["ResourceType"] == [
        "AWS::S3::Bucket",
        "AWS::FSx::FileSystem",
    ]


def test_the_script_looks_a_subnet_up_once(plan: Plan, tmp_path: Path) -> None:
    """Another subnet would be another file system: a stack that is there keeps its own."""
    run(plan, tmp_path)
    (tmp_path / "log").unlink()
    assert run(plan, tmp_path).returncode == 0
    assert not any("Subnet=" in line for line in calls(tmp_path))
    assert sum("create configmap" in line for line in calls(tmp_path)) == 3


def test_the_script_keeps_nothing_in_part(plan: Plan, tmp_path: Path) -> None:
    done = run(plan, tmp_path, NO_MOUNT="1")
    assert done.returncode == 1
    assert "has no outputs Id, DnsName and MountName yet" in done.stderr
    assert not any("configmap" in line for line in calls(tmp_path))


def test_the_script_needs_the_cluster(plan: Plan, tmp_path: Path) -> None:
    done = run(plan, tmp_path, VPC="")
    assert done.returncode == 1
    assert "make the cluster first" in done.stderr
    assert not any("storage-scratch" in line for line in calls(tmp_path) if "deploy" in line)


def test_specs_without_made_storage_have_no_script() -> None:
    assert "bootstrap/storage.sh" not in files(plan_of(spec()))
