"""Edits of the examples: each with the consequence, the object that has it, and the line that causes it."""

from __future__ import annotations

import dataclasses

import pytest
from trainyard.extensions.review.consequences import Action, Change, Consequence
from trainyard.extensions.review.edits.edit import edits

from consequences.edited import between, changes, line, sides

pytestmark = pytest.mark.slow


@dataclasses.dataclass(frozen=True)
class Case:
    """An edit: texts of one file of a spec and what stands there instead."""

    id: str
    spec: str
    edits: tuple[tuple[str, str], ...]
    consequence: Consequence
    object: str
    cause: str
    file: str = ""
    action: Action = Action.CHANGED


STARTER, TEAMS, T5 = "specs/starter.yaml", "specs/two-teams.yaml", "specs/t5-large.yaml"
JAKARTA, SLURM = "specs/jakarta", "specs/jakarta-slurm.yaml"
SEOUL, HYPERPOD = "specs/workshop/seoul", "specs/hyperpod-lora.yaml"
OBSERVED, AUTO = "scenarios/observed.yaml", "scenarios/auto-mode.yaml"
BORNEO = (
    "    - {name: borneo, queue: borneo, command: [torchrun, train.py, --config=/data/configs/borneo.yaml], "
    "checkpoint: {path: /checkpoints/borneo, every: 30m}}\n"
)
CASES = (
    # ends running jobs
    Case(
        "a label of nodes that have a deadline",
        OBSERVED,
        (
            (
                "nodes: {max: 4}\n      capacity",
                "nodes: {max: 4}\n      labels: {a: b}\n      capacity",
            ),
        ),
        Consequence.ENDS_JOBS,
        "NodePool/block-cr-0a1b2c3d4e5f60718",
        "labels: {a: b}",
    ),
    Case(
        "a larger disk of nodes that have a deadline",
        OBSERVED,
        (
            (
                "nodes: {max: 4}\n      capacity",
                "nodes: {max: 4}\n      rootVolume: {size: 900Gi}\n      capacity",
            ),
        ),
        Consequence.ENDS_JOBS,
        "EC2NodeClass/block",
        "rootVolume: {size: 900Gi}",
    ),
    Case(
        "a queue that is drained",
        STARTER,
        (
            (
                "  jobs:\n",
                "  patches:\n    - target: {kind: ClusterQueue, name: l40s}\n"
                "      patch: {spec: {stopPolicy: HoldAndDrain}}\n  jobs:\n",
            ),
        ),
        Consequence.ENDS_JOBS,
        "ClusterQueue/l40s",
        "stopPolicy: HoldAndDrain",
    ),
    Case(
        "a batch job that goes",
        SLURM,
        ((BORNEO, ""),),
        Consequence.ENDS_JOBS,
        "jobs/models/borneo.sbatch",
        "{name: borneo, queue: borneo,",
        action=Action.REMOVED,
    ),
    Case(
        "another head node",
        SLURM,
        (("m7i.4xlarge", "m7i.8xlarge"),),
        Consequence.ENDS_JOBS,
        "bootstrap/cluster.yaml",
        "headNode: {instanceType: m7i.8xlarge}",
        action=Action.REPLACED,
    ),
    Case(
        "a key that Slurm takes without nodes",
        SLURM,
        (("scaledownIdletime: 30m", "scaledownIdletime: 60m"),),
        Consequence.ENDS_JOBS,
        "bootstrap/cluster.yaml",
        "scaledownIdletime: 60m",
    ),
    # destroys data
    Case(
        "logs that are kept for a shorter time",
        OBSERVED,
        (("loki: {}", "loki: {retention: 168h}"),),
        Consequence.DESTROYS_DATA,
        "AWS::S3::Bucket Bucket",
        "loki: {retention: 168h}",
    ),
    # replaces nodes
    Case(
        "a label of nodes",
        STARTER,
        (("nodes: {max: 2}", "nodes: {max: 2}, labels: {a: b}"),),
        Consequence.REPLACES_NODES,
        "NodePool/l40s",
        "labels: {a: b}",
    ),
    Case(
        "a larger disk",
        TEAMS,
        (("nodes: {max: 12}", "nodes: {max: 12}\n      rootVolume: {size: 500Gi}"),),
        Consequence.REPLACES_NODES,
        "EC2NodeClass/h100",
        "rootVolume: {size: 500Gi}",
    ),
    Case(
        "another instance type",
        STARTER,
        (("[g6e.48xlarge]", "[g6e.24xlarge]"),),
        Consequence.REPLACES_NODES,
        "NodePool/l40s",
        "[g6e.24xlarge]",
    ),
    Case(
        "a label in Auto Mode, where people delete NodeClaims",
        AUTO,
        (("efa: false", "efa: false, labels: {a: b}"),),
        Consequence.REPLACES_NODES,
        "NodePool/l4",
        "labels: {a: b}",
    ),
    Case(
        "system nodes of another type",
        OBSERVED,
        (("c7g.2xlarge", "c7g.4xlarge"),),
        Consequence.REPLACES_NODES,
        "ClusterConfig/observed",
        "instanceType: c7g.4xlarge",
        action=Action.REPLACED,
    ),
    Case(
        "a larger disk on Slurm",
        SLURM,
        (("{size: 200Gi, iops", "{size: 300Gi, iops"),),
        Consequence.REPLACES_NODES,
        "bootstrap/cluster.yaml",
        "{size: 300Gi, iops",
    ),
    # moves jobs in the queue
    Case(
        "a job that runs again",
        STARTER,
        (("timeout: 1h,", "timeout: 2h, rerun: 1,"),),
        Consequence.MOVES_JOBS,
        "TrainJob/training/hello-",
        "{name: hello, nodes: 2,",
        action=Action.ADDED,
    ),
    Case(
        "a queue that leaves its cohort",
        TEAMS,
        (
            (
                "cohort: training\n      quota: [{pool: h100, nodes: 4, borrowingLimit: 8}]",
                "quota: [{pool: h100, nodes: 4}]",
            ),
        ),
        Consequence.MOVES_JOBS,
        "ClusterQueue/team-b",
        "- name: team-b",
    ),
    Case(
        "a priority",
        "specs/llama3-8b.yaml",
        (("value: 1000,", "value: 2000,"),),
        Consequence.MOVES_JOBS,
        "WorkloadPriorityClass/production",
        "value: 2000,",
    ),
    Case(
        "a queue more",
        SEOUL,
        (
            (
                "    - {name: cpu, namespaces: [team-a], quota: [{pool: cpu, nodes: 4}]}\n",
                "    - {name: cpu, namespaces: [team-a], quota: [{pool: cpu, nodes: 3}]}\n"
                "    - {name: spare, namespaces: [team-a], quota: [{pool: cpu, nodes: 1}]}\n",
            ),
        ),
        Consequence.MOVES_JOBS,
        "ClusterQueue/spare",
        "{name: spare,",
        file="specs/workshop/seoul/cluster.yaml",
        action=Action.ADDED,
    ),
    # changes cost or quota
    Case(
        "more nodes",
        TEAMS,
        (("max: 12", "max: 14"),),
        Consequence.COST,
        "NodePool/h100",
        "nodes: {max: 14}",
    ),
    Case(
        "another quota",
        TEAMS,
        (("borrowingLimit: 8", "borrowingLimit: 2"),),
        Consequence.COST,
        "ClusterQueue/team-b",
        "borrowingLimit: 2",
    ),
    Case(
        "another reservation",
        OBSERVED,
        (("cr-0a1b2c3d4e5f60718", "cr-0a1b2c3d4e5f60719"),),
        Consequence.COST,
        "NodePool/block-cr-0a1b2c3d4e5f60719",
        "cr-0a1b2c3d4e5f60719",
        action=Action.ADDED,
    ),
    Case(
        "more instances of HyperPod",
        HYPERPOD,
        (("nodes: 2, rootVolume", "nodes: 3, rootVolume"),),
        Consequence.COST,
        "bootstrap/hyperpod/create-cluster.json",
        "nodes: 3, rootVolume",
    ),
    Case(
        "a larger file system",
        JAKARTA,
        (
            (
                "{name: logs, fsxLustre: {create: {size: 7200Gi",
                "{name: logs, fsxLustre: {create: {size: 9600Gi",
            ),
        ),
        Consequence.COST,
        "AWS::FSx::FileSystem FileSystem",
        "{name: logs,",
        file="specs/jakarta/cluster.yaml",
    ),
    Case(
        "another budget",
        SLURM,
        (("monthly: 2200000", "monthly: 2500000"),),
        Consequence.COST,
        "AWS::Budgets::Budget Budget",
        "monthly: 2500000",
    ),
    # lets somebody in or out
    Case(
        "another office",
        TEAMS,
        (("203.0.113.0/24", "198.51.100.0/24"),),
        Consequence.ACCESS,
        "ClusterConfig/two-teams",
        "198.51.100.0/24",
    ),
    Case(
        "a principal that goes",
        TEAMS,
        ((', principals: ["arn:aws:iam::111122223333:role/team-b"]', ""),),
        Consequence.ACCESS,
        "RoleBinding/team-b/training-users",
        "role/team-b",
        action=Action.REMOVED,
    ),
    Case(
        "a namespace more",
        OBSERVED,
        (("{name: team-b}]", "{name: team-b}, {name: team-c}]"),),
        Consequence.ACCESS,
        "NetworkPolicy/team-c/training",
        "{name: team-c}",
        action=Action.ADDED,
    ),
    Case(
        "who may log in",
        SLURM,
        (("203.0.113.0/24", "198.51.100.0/24"),),
        Consequence.ACCESS,
        "bootstrap/cluster.yaml",
        "198.51.100.0/24",
    ),
    # changes controllers
    Case(
        "who is sent alerts",
        OBSERVED,
        (("default: chat\n", "default: pager\n"),),
        Consequence.CONTROLLERS,
        "HelmRelease/flux-system/kube-prometheus-stack",
        "default: pager",
    ),
    Case(
        "monitoring",
        T5,
        (("  storage:\n", "  monitoring: {}\n  storage:\n"),),
        Consequence.CONTROLLERS,
        "HelmRelease/flux-system/dcgm-exporter",
        "monitoring: {}",
        action=Action.ADDED,
    ),
    # harmless
    Case(
        "a bound of an alert",
        OBSERVED,
        (("gpuUtilization: 95", "gpuUtilization: 90"),),
        Consequence.HARMLESS,
        "PrometheusRule/monitoring/",
        "monitoring: {gpuUtilization: 90}",
    ),
    Case(
        "a pool of reserved capacity that Flux keeps",
        OBSERVED,
        (("cr-0a1b2c3d4e5f60718", "cr-0a1b2c3d4e5f60719"),),
        Consequence.HARMLESS,
        "NodePool/block-cr-0a1b2c3d4e5f60718",
        "cr-0a1b2c3d4e5f60718",
        action=Action.REMOVED,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_an_edit_has_its_consequence_and_its_line(case: Case) -> None:
    file = case.file or case.spec
    found = [
        change
        for change in changes(case.spec, file, *case.edits)
        if change.consequence is case.consequence and change.object.startswith(case.object)
    ]
    assert {change.action for change in found} == {case.action}
    places = [change.at for change in found]
    places += [field.at for change in found for field in change.fields]
    causes = {line(case.spec, file, case.edits, place) for place in places if place is not None}
    assert [cause for cause in causes if case.cause in cause], causes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_change_says_why_and_where(case: Case) -> None:
    for change in changes(case.spec, case.file or case.spec, *case.edits):
        assert change.effect.why
        assert change.at is not None


@pytest.mark.parametrize("spec", [STARTER, TEAMS, JAKARTA, SLURM, HYPERPOD, OBSERVED, AUTO])
def test_the_same_revision_has_no_changes(spec: str) -> None:
    file = f"{spec}/cluster.yaml" if spec == JAKARTA else spec
    assert changes(spec, file) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_way_back_is_the_mirror_image(case: Case) -> None:
    """What one direction adds the other one removes, and both change the same fields."""
    before, after = sides(case.spec, case.file or case.spec, case.edits)
    there = list(edits(before, after))
    back = {edit.thing.identity: edit for edit in edits(after, before)}
    mirror = {Action.ADDED: Action.REMOVED, Action.REMOVED: Action.ADDED}
    assert {edit.thing.identity for edit in there} == back.keys()
    for edit in there:
        other = back[edit.thing.identity]
        assert other.action is mirror.get(edit.action, edit.action)
        assert {pair.steps for pair in edit.fields} == {pair.steps for pair in other.fields}


def test_changes_stand_in_the_order_of_consequences() -> None:
    found: list[Change] = changes(STARTER, STARTER, ("[g6e.48xlarge]", "[g6e.24xlarge]"))
    ranks = [change.consequence.rank for change in found]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 3


TERRAFORM = (
    "  nodePools:\n",
    "  bootstrap: {tool: terraform, state: {bucket: terraform-state-111122223333}}\n  nodePools:\n",
)


def test_modules_of_terraform_are_compared_by_resource() -> None:
    principal = (', principals: ["arn:aws:iam::111122223333:role/team-b"]', "")
    found = between(TEAMS, TEAMS, TERRAFORM, principal)
    objects = {change.object: change for change in found if "aws_" in change.object}
    assert objects["aws_eks_access_entry.entry"].consequence is Consequence.ACCESS
    assert objects["aws_eks_access_entry.entry"].action is Action.REMOVED


def test_a_property_of_terraform_is_not_known_before_its_own_plan() -> None:
    size = (
        "{name: logs, fsxLustre: {create: {size: 7200Gi",
        "{name: logs, fsxLustre: {create: {size: 9600Gi",
    )
    found = between(JAKARTA, "specs/jakarta/cluster.yaml", TERRAFORM, size)
    (system,) = [change for change in found if change.kind == "aws_fsx_lustre_file_system"]
    assert system.consequence is Consequence.UNKNOWN
    assert "terraform plan" in system.effect.why
    assert [field.path for field in system.fields] == ["storage_capacity"]


def test_a_quota_of_task_governance_is_a_quota() -> None:
    checks = "deepHealthChecks: [InstanceStress]"
    governed = (checks, f"{checks}\n      taskGovernance: {{}}")
    less = ("quota: [{pool: a10g, nodes: 2}]", "quota: [{pool: a10g, nodes: 1}]")
    (change,) = between(HYPERPOD, HYPERPOD, governed, less)
    assert change.consequence is Consequence.COST
    assert change.object == "bootstrap/hyperpod/governance/quotas/research.json"
