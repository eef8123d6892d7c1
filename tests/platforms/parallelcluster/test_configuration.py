"""The configuration of a cluster: what is written, and that it says what the spec said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from builders import ROOT
from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.extensions.parallelcluster.shared_storage.plan import BucketAccess, SharedFileSystem
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.verify.formats import lifted, objects

from tests.platforms.parallelcluster.clusters import (
    ACCOUNTING,
    BASE,
    FSX,
    LIKE_A_REAL_FILE,
    NOTIFICATIONS,
    PAGER,
    SUBNETS,
    TOPIC,
    WATCHED,
    files,
    spec,
)
from tests.platforms.passes import compiled

KINDS = (SlurmCluster, Partition, SharedFileSystem, BucketAccess, BatchJob)
SPEC = ROOT / "specs" / "jakarta-slurm.yaml"


def example() -> Compilation:
    return check([SPEC], Options(hold=False)).compilations[0]


def same(done: Compilation) -> None:
    """What is written says what was resolved: all that files carry."""
    assert done.plan is not None
    read = lifted(done.artifacts, closed=True)
    for kind in KINDS:
        ours = {node.name: node for node in done.plan.of(kind)}
        theirs = {node.name: node for node in read.of(kind)}
        assert theirs == ours


def test_what_is_written_says_what_was_resolved() -> None:
    done = example()
    assert done.diagnostics == []
    same(done)


@pytest.mark.parametrize(
    "parts",
    [
        {"own": {"accounting": ACCOUNTING, "customSlurmSettings": {"MaxArraySize": 10001}}},
        {"own": {"loginNodes": {"count": 2, "gracetimePeriod": "30m", "subnet": SUBNETS[1]["id"]}}},
        {"own": LIKE_A_REAL_FILE},
        WATCHED,
        {"notifications": NOTIFICATIONS, "job": {"timeout": "72h"}},
        {"pool": {"capacity": {"spot": {}}, "nodes": {"max": 4}}},
        {"pool": {"instanceTypes": ["m7i.4xlarge", "m6i.4xlarge"]}, "job": {"nodes": 2}},
        {"pool": {"placement": {"group": "research"}}, "job": {"resources": {"accelerators": 2}}},
        {"job": {"files": {"/etc/a.json": '{"a": 1}\nb\n'}, "env": {"A": "it's $HOME"}}},
        {"job": {"files": {"/etc/a.sh": "cat <<END\nEND\n"}}},
        {
            "pool": {
                "capacity": {
                    "reserved": {
                        "reservations": [
                            {"id": "cr-0a1b2c3d4e5f60718", "nodes": 1},
                            {"id": "cr-0a1b2c3d4e5f60719", "nodes": 3},
                        ]
                    }
                }
            }
        },
        {
            "storage": [
                {"name": "work", "fsxLustre": {"existing": FSX}},
                {
                    "name": "disk",
                    "ebs": {
                        "existing": {
                            "id": "vol-0a1b2c3d4e5f60718",
                            "zone": "us-west-2b",
                            "size": "100Gi",
                        }
                    },
                },
            ]
        },
        {
            "secrets": [
                {
                    "name": "hf",
                    "namespaces": ["training"],
                    "secretsManager": {"existing": {"name": "team/hf"}},
                }
            ],
            "job": {"secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}]},
        },
        {
            "job": {
                "command": ["torchrun", "t.py", "$$A $(CHECKPOINT_DIR) \"x\" 'y' $HOME"],
                "args": ["", "a b"],
                "timeout": "72h",
                "workingDir": "/work",
            }
        },
        {
            "secrets": [
                {
                    "name": "hf",
                    "namespaces": ["training"],
                    "secretsManager": {
                        "existing": {"name": "team/hf"},
                        "keys": {"token": "hf_token"},
                    },
                }
            ],
            "job": {"secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}]},
        },
    ],
)
def test_so_does_every_form_of_a_value(parts: dict[str, object], tmp_path: Path) -> None:
    done = compiled(spec(**parts), tmp_path)
    assert [fact for fact in done.diagnostics if fact.severity.name == "ERROR"] == []
    same(done)


def test_what_a_real_file_says_is_said(tmp_path: Path) -> None:
    """Scripts of one's own after ours and readable for all nodes, a bucket that is only read, policies once."""
    storage = [
        *BASE["storage"],
        {"name": "data", "s3": {"existing": {"bucket": "training-data-jakarta", "readOnly": True}}},
    ]
    done = compiled(spec(own=LIKE_A_REAL_FILE, storage=storage), tmp_path)
    assert done.diagnostics == []
    written = files(done)
    cluster = yaml.safe_load(written["bootstrap/cluster.yaml"])
    head, (queue,) = cluster["HeadNode"], cluster["Scheduling"]["SlurmQueues"]
    own = {"Script": "s3://scripts-jakarta/setup.sh", "Args": ["--metrics"]}
    for nodes in (head, queue):
        first, second = nodes["CustomActions"]["OnNodeConfigured"]["Sequence"]
        assert first["Script"].startswith("s3://lab-scripts-111122223333-us-west-2/nodes/")
        assert second == own
        access = {"BucketName": "training-data-jakarta", "EnableWriteAccess": False}
        assert nodes["Iam"]["S3Access"] == [access]
        policies = [each["Policy"] for each in nodes["Iam"]["AdditionalIamPolicies"]]
        assert len(policies) == len(set(policies)) == 3
    assert head["CustomActions"]["OnNodeStart"] == own
    assert cluster["LoginNodes"]["Pools"][0]["CustomActions"] == {"OnNodeConfigured": own}
    assert cluster["SharedStorage"][0]["MountDir"] == "/fsx1"
    assert "--container-mounts=/fsx1:/work" in written["jobs/training/train.sbatch"]
    assert cluster["DevSettings"]["Timeouts"] == {
        "HeadNodeBootstrapTimeout": 3600,
        "ComputeNodeBootstrapTimeout": 2700,
    }
    assert "arn:aws:s3:::scripts-jakarta/setup.sh" in written["bootstrap/stacks/nodes.yaml"]


def test_jobs_may_publish_to_the_topics_that_they_tell(tmp_path: Path) -> None:
    """A team's own in the place of that of all; and what encrypts a topic."""
    key = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
    own = "arn:aws:sns:us-west-2:111122223333:own"
    receivers = [
        *NOTIFICATIONS["receivers"],
        {"name": "own", "sns": {"topicArn": own, "kmsKey": key}},
    ]
    said = {**NOTIFICATIONS, "receivers": receivers, "teams": {"team": "own"}}
    queues = [{"name": "one", "namespaces": ["team"], "quota": [{"pool": "a100", "nodes": 4}]}]
    done = compiled(spec(notifications=said, queues=queues), tmp_path)
    assert {each.code for each in done.diagnostics} <= {"RES456"}  # a topic of another Region
    written = files(done)
    assert f"for topic in {own} {PAGER}; do" in written["jobs/team/train.sbatch"]
    stack = yaml.safe_load(written["bootstrap/stacks/nodes.yaml"])
    rights = stack["Resources"]["Policy"]["Properties"]["PolicyDocument"]["Statement"]
    assert {"Effect": "Allow", "Action": ["sns:Publish"], "Resource": [TOPIC, PAGER, own]} in rights
    actions = ["kms:GenerateDataKey", "kms:Decrypt"]
    assert {"Effect": "Allow", "Action": actions, "Resource": [key]} in rights


def test_rights_of_an_administrator_are_told_at_their_line_and_once(tmp_path: Path) -> None:
    policies = ["arn:aws:iam::aws:policy/AdministratorAccess"]
    found = compiled(spec(own={"policies": policies}), tmp_path).diagnostics
    assert [(fact.code, str(fact.at)) for fact in found] == [
        ("ACC084", "spec.platform.parallelCluster.policies")
    ]


def test_nothing_of_kubernetes_is_written() -> None:
    assert objects(example().artifacts) == []


def test_each_queue_of_the_spec_has_the_nodes_of_its_quota() -> None:
    """Six queues of eleven nodes and one of fourteen share the eighty of two blocks, in their order."""
    partitions = {node.name: node for node in example().plan.of(Partition)}  # type: ignore[union-attr]
    sizes = {name: sum(part.most for part in node.resources) for name, node in partitions.items()}
    assert sizes == {
        **dict.fromkeys(("atlas", "borneo", "celebes", "java", "lombok", "sumatra"), 11),
        "timor": 14,
    }
    blocks: dict[str, int] = {}
    for node in partitions.values():
        for part in node.resources:
            assert part.least == part.most, "all nodes of a block are always on"
            assert part.placement is None, "a block is placed by itself"
            blocks[str(part.reservation)] = blocks.get(str(part.reservation), 0) + part.most
    assert blocks == {"cr-0a1b2c3d4e5f60713": 64, "cr-0a1b2c3d4e5f60714": 16}


def test_with_accounting_the_queues_of_a_pool_share_its_partition(tmp_path: Path) -> None:
    quota = [{"pool": "a100", "nodes": 2}]
    queues = [
        {"name": "one", "namespaces": ["t"], "cohort": "all", "quota": quota},
        {"name": "two", "namespaces": ["t"], "quota": quota},
    ]
    priorities = [{"name": "urgent", "value": 100}]
    own = {"accounting": ACCOUNTING}
    job = {"queue": "two", "nodes": 2, "priority": "urgent"}
    data = spec(queues=queues, priorities=priorities, own=own, job=job)
    done = compiled(data, tmp_path)
    assert done.diagnostics == []
    written = files(done)
    (queue,) = yaml.safe_load(written["bootstrap/cluster.yaml"])["Scheduling"]["SlurmQueues"]
    assert queue["Name"] == "a100"
    script = written["jobs/t/train.sbatch"]
    assert "#SBATCH --account=two\n#SBATCH --qos=urgent\n" in script
    assert "grptres=node=-1" in written["bootstrap/accounting/account-one.sh"]
    assert "grptres=node=2 fairshare=2" in written["bootstrap/accounting/account-two.sh"]
    assert "priority=100" in written["bootstrap/accounting/qos-urgent.sh"]


def test_accounts_of_a_cohort_and_of_a_queue_of_two_pools(tmp_path: Path) -> None:
    """What a queue may borrow is added to what it has; a queue of several pools has an account of each."""
    borrows = {"pool": "a100", "nodes": 1, "borrowingLimit": 2}
    queues = [
        {"name": "one", "namespaces": ["t"], "cohort": "all", "quota": [borrows]},
        {
            "name": "two",
            "namespaces": ["u"],
            "quota": [{"pool": "a100", "nodes": 1}, {"pool": "cpu", "nodes": 1}],
        },
    ]
    data = spec(queues=queues, own={"accounting": ACCOUNTING}, job={"queue": "one", "nodes": 1})
    data["spec"]["nodePools"].append(
        {"name": "cpu", "instanceTypes": ["m7i.4xlarge"], "zones": ["us-west-2b"], "nodes": 1}
    )
    written = files(compiled(data, tmp_path))
    assert "grptres=node=3 fairshare=1" in written["bootstrap/accounting/account-one.sh"]
    for account in ("two-a100", "two-cpu"):
        assert "grptres=node=1" in written[f"bootstrap/accounting/account-{account}.sh"]


def test_deepspeed_reads_its_file_in_the_container(tmp_path: Path) -> None:
    """512 of 32 ranks with 4 each: four passes a step."""
    path = "/etc/deepspeed/config.json"
    job = {
        "deepspeed": {"trainBatchSize": 512, "microBatchSize": 4},
        "command": ["torchrun", "t.py", "--deepspeed_config", path],
    }
    script = files(compiled(spec(job=job), tmp_path))["jobs/training/train.sbatch"]
    file, _, rest = script.partition("cat > \"$state/file-0\" <<'END'\n")[2].partition("END\n")
    assert json.loads(file) == {
        "train_batch_size": 512,
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 4,
    }
    assert f'"$state"/file-0:{path}:ro' in rest


def test_a_gang_that_is_larger_than_its_partition_is_found_at_its_line(tmp_path: Path) -> None:
    done = compiled(spec(job={"nodes": 5}), tmp_path)
    assert ("LIM003", "spec.jobs[0].nodes") in [
        (fact.code, str(fact.at)) for fact in done.diagnostics
    ]


def test_a_finding_is_about_what_the_spec_says_too(tmp_path: Path) -> None:
    """Rules of gangs, images and checkpoints read what a script says."""
    found = {
        (fact.code, str(fact.at))
        for fact in compiled(
            spec(
                job={
                    "image": "ubuntu:24.04",
                    "checkpoint": {"path": "/elsewhere", "every": "30m"},
                    "env": {"NCCL_P2P_DISABLE": "1"},
                }
            ),
            tmp_path,
        ).diagnostics
    }
    assert ("RUN145", "spec.jobs[0].image") in found


def test_one_private_subnet_is_enough(tmp_path: Path) -> None:
    """EKS alone needs a second zone."""
    subnet = {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2b", "cidr": "10.0.0.0/18"}
    network = {"existing": {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": [subnet]}}
    done = compiled(spec(network=network), tmp_path)
    assert [each.message for each in done.diagnostics] == []
    assert "subnet-0a1b2c3d4e5f60718" in files(done)["bootstrap/cluster.yaml"]


@pytest.mark.parametrize("accounting", [None, ACCOUNTING])
def test_some_nodes_of_a_pool_are_always_on(
    accounting: dict[str, str] | None, tmp_path: Path
) -> None:
    """Without accounting each queue has a partition: the first have them."""
    queues = [
        {"name": name, "namespaces": [name], "quota": [{"pool": "a100", "nodes": nodes}]}
        for name, nodes in (("first", 2), ("second", 6))
    ]
    data = spec(
        pool={"nodes": {"min": 3, "max": 8}},
        job={"queue": "first", "nodes": 2},
        queues=queues,
        own={"accounting": accounting} if accounting else {},
    )
    done = compiled(data, tmp_path)
    assert [each.message for each in done.diagnostics] == []
    assert done.plan is not None
    counts = [
        (partition.name, one.least, one.most)
        for partition in done.plan.of(Partition)
        for one in partition.resources
    ]
    keys = {
        str(one.origins["least"])
        for partition in done.plan.of(Partition)
        for one in partition.resources
    }
    assert keys == {"spec.nodePools[0].nodes.min"}
    if accounting:
        assert counts == [("a100", 3, 8)]
    else:
        assert counts == [("first", 2, 2), ("second", 1, 6)]
