"""No kind that is written or read is without a consequence, or a reason why none is known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from running import EXAMPLE, ROOT
from trainyard.eks.jobs.kinds import kinds
from trainyard.extensions.facts.derive_stacks import TYPES
from trainyard.extensions.review.consequences import Action, Consequence
from trainyard.extensions.review.consequences.compared import effects, judges, not_known
from trainyard.extensions.review.edits.edit import Edit, edit_of
from trainyard.extensions.review.edits.thing import MEMORY, MODULE, STACK, Thing, things
from trainyard.extensions.terraform.formats.terraform.structure import types
from trainyard.output.fields import shown
from trainyard.plan.features import members, members_of_platforms, parts
from trainyard.run.driver import check
from trainyard.run.outcome import Options
from trainyard.run.writer import rendered
from trainyard.verify.formats import formats

from consequences.edited import TODAY

NO_FILES = {"kubernetes", "eksctl"}
"""Formats whose files are objects, each with a kind of its own."""
NOT_WRITTEN = {"config.kueue.x-k8s.io/Configuration"}
"""Kinds that are read out of a value of a chart, and are no file."""


def known() -> set[str]:
    return {*judges(), *not_known()}


@pytest.mark.slow
def test_every_kind_that_a_spec_compiles_to_has_a_consequence() -> None:
    paths = [EXAMPLE / "specs", *sorted((ROOT / "tests" / "scenarios").glob("*.yaml"))]
    missing: Counter[str] = Counter()
    options = Options(today=TODAY)
    for path in paths:
        for done in check([path], options, current=lambda _: None).compilations:
            assert done.plan is not None
            artifacts = {artifact.path: artifact for artifact in done.artifacts}
            for file, data in rendered(done, options).items():
                for thing in things(file, data, artifacts.get(file)):
                    missing[thing.kind] += thing.kind not in known()
    assert len(missing) > 60
    assert [kind for kind, count in missing.items() if count] == []


def test_every_kind_that_is_lifted_has_a_consequence() -> None:
    lifted = {kind for module in parts("lift") for kind in getattr(module, "KINDS", ())}
    named = set()
    for kind in lifted - NOT_WRITTEN:
        group, _, name = kind.rpartition("/")
        named.add(f"{name}.{group}" if group else name)
    assert len(named) > 40
    assert named - known() == set()


def test_every_kind_of_job_type_of_resource_and_format_has_a_consequence() -> None:
    jobs = {f"{kind.kind}.{kind.group}" for kind in kinds().values()}
    needed = jobs | set(TYPES) | types() | (set(formats()) - NO_FILES) | {MEMORY, STACK, MODULE}
    assert needed - known() == set()


def test_a_kind_has_one_judge() -> None:
    folder = ROOT / "compiler" / "trainyard" / "extensions" / "review" / "consequences" / "judges"
    tables = members("trainyard.extensions.review.consequences.judges", [str(folder)], "KINDS")
    tables += members("trainyard.extensions.review.consequences.judges", [str(folder)], "NOT_KNOWN")
    tables += members_of_platforms("consequences", "KINDS")
    counted = Counter(kind for table in tables for kind in table)
    assert len(counted) > 100
    assert [kind for kind, count in counted.items() if count > 1] == []


def thing(kind: str, body: dict[str, object] | None = None) -> Thing:
    return Thing(kind, (kind,), kind, "platform/x.yaml", body or {})


@pytest.mark.parametrize("action", [Action.ADDED, Action.REMOVED])
def test_what_no_judge_knows_is_never_harmless(action: Action) -> None:
    before = thing("Widget.example.com") if action is Action.REMOVED else None
    after = thing("Widget.example.com") if action is Action.ADDED else None
    ((effect, _),) = effects(Edit(action, before, after))
    assert effect.consequence is Consequence.UNKNOWN


def changed(kind: str, old: dict[str, object], new: dict[str, object]) -> dict[str, Consequence]:
    """The consequence of each field that differs."""
    edit = edit_of(thing(kind, old), thing(kind, new))
    assert edit is not None
    return {
        shown(pair.steps): effect.consequence for effect, pairs in effects(edit) for pair in pairs
    }


@pytest.mark.parametrize("kind", sorted(judges()))
def test_a_field_that_no_judge_knows_is_never_harmless_in_what_runs(kind: str) -> None:
    """Of kinds that are harmless in everything, a reason stands in their module: people or Prometheus read them."""
    found = changed(kind, {"spec": {"inventedKey": 1}}, {"spec": {"inventedKey": 2}})
    if found["spec.inventedKey"] is Consequence.HARMLESS:
        assert kind in HARMLESS


HARMLESS = {
    *("markdown", "shell", MEMORY),
    *("ServiceMonitor.monitoring.coreos.com", "PodMonitor.monitoring.coreos.com"),
    *("PrometheusRule.monitoring.coreos.com", "AlertmanagerConfig.monitoring.coreos.com"),
    *("Alert.notification.toolkit.fluxcd.io", "Provider.notification.toolkit.fluxcd.io"),
    "PodDisruptionBudget.policy",
}


def test_orders_to_flux_and_kueue_are_no_mere_labels() -> None:
    prune = "kustomize.toolkit.fluxcd.io/prune"
    found = changed(
        "NodePool.karpenter.sh",
        {"metadata": {"labels": {"a": "1"}}},
        {
            "metadata": {
                "labels": {"a": "2", "kueue.x-k8s.io/queue-name": "x"},
                "annotations": {prune: "disabled"},
            }
        },
    )
    assert found == {
        "metadata.labels.a": Consequence.HARMLESS,
        'metadata.labels["kueue.x-k8s.io/queue-name"]': Consequence.MOVES_JOBS,
        f'metadata.annotations["{prune}"]': Consequence.UNKNOWN,
    }


def removed(kind: str, body: dict[str, object]) -> Consequence:
    ((effect, _),) = effects(Edit(Action.REMOVED, thing(kind, body), None))
    return effect.consequence


KEPT: dict[str, object] = {
    "metadata": {"annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"}}
}
RETAIN: dict[str, object] = {"spec": {"persistentVolumeReclaimPolicy": "Retain"}}


@pytest.mark.parametrize(
    ("kind", "body", "consequence"),
    [
        ("TrainJob.trainer.kubeflow.org", {}, Consequence.ENDS_JOBS),
        ("TrainJob.trainer.kubeflow.org", KEPT, Consequence.HARMLESS),
        ("Namespace", {}, Consequence.ENDS_JOBS),
        ("PersistentVolume", {}, Consequence.DESTROYS_DATA),
        ("PersistentVolume", RETAIN, Consequence.HARMLESS),
        ("PersistentVolumeClaim", {"spec": {"volumeName": "x"}}, Consequence.UNKNOWN),
        ("PersistentVolumeClaim", {}, Consequence.DESTROYS_DATA),
        ("AWS::S3::Bucket", {}, Consequence.DESTROYS_DATA),
        ("AWS::FSx::FileSystem", {"DeletionPolicy": "Retain"}, Consequence.HARMLESS),
        ("aws_s3_bucket", {}, Consequence.DESTROYS_DATA),
        ("aws_s3_bucket", {"lifecycle": {"prevent_destroy": True}}, Consequence.HARMLESS),
        ("NodePool.karpenter.sh", {}, Consequence.REPLACES_NODES),
        ("HelmRelease.helm.toolkit.fluxcd.io", {}, Consequence.CONTROLLERS),
        ("Role.rbac.authorization.k8s.io", {}, Consequence.ACCESS),
        ("ClusterQueue.kueue.x-k8s.io", {}, Consequence.MOVES_JOBS),
    ],
)
def test_what_a_removal_means(kind: str, body: dict[str, object], consequence: Consequence) -> None:
    assert removed(kind, body) is consequence


@pytest.mark.parametrize(
    ("kind", "property", "policy", "consequence"),
    [
        ("AWS::FSx::FileSystem", "SubnetIds", {}, Consequence.DESTROYS_DATA),
        (
            "AWS::FSx::FileSystem",
            "SubnetIds",
            {"UpdateReplacePolicy": "Retain"},
            Consequence.UNKNOWN,
        ),
        ("AWS::FSx::FileSystem", "StorageCapacity", {}, Consequence.COST),
        ("AWS::FSx::FileSystem", "Tags", {}, Consequence.HARMLESS),
        ("AWS::EKS::Nodegroup", "InstanceTypes", {}, Consequence.REPLACES_NODES),
        ("AWS::EC2::LaunchTemplate", "LaunchTemplateData", {}, Consequence.REPLACES_NODES),
        ("AWS::IAM::Role", "AssumeRolePolicyDocument", {}, Consequence.ACCESS),
        ("AWS::EC2::PlacementGroup", "Tags", {}, Consequence.UNKNOWN),
        ("AWS::Logs::LogGroup", "RetentionInDays", {}, Consequence.DESTROYS_DATA),
    ],
)
def test_what_a_property_of_a_resource_means(
    kind: str, property: str, policy: dict[str, object], consequence: Consequence
) -> None:
    old = {"Type": kind, **policy, "Properties": {property: ["a"]}}
    new = {"Type": kind, **policy, "Properties": {property: ["b"]}}
    assert set(changed(kind, old, new).values()) == {consequence}


def test_a_stack_is_compared_by_resource(tmp_path: Path) -> None:
    text = b"Description: x\nResources:\n  A: {Type: 'AWS::S3::Bucket'}\n  B: {Type: 'AWS::IAM::Role'}\n"
    found = list(things("bootstrap/stacks/a.yaml", text, None))
    assert [each.title for each in found] == [
        "AWS::S3::Bucket A",
        "AWS::IAM::Role B",
        "bootstrap/stacks/a.yaml",
    ]


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("bootstrap/up.sh", "#!/bin/sh\n", "shell"),
        ("bootstrap/README.md", "# lab\n", "markdown"),
        ("images/train/Dockerfile", "FROM a\n", "dockerfile"),
        ("jobs/models/borneo.sbatch", "#!/bin/sh\n", "sbatch"),
        ("bootstrap/values", "a", "text"),
        ("jobs/a.yaml", "a: [", "text"),
        ("jobs/a.yaml", "- a\n", "text"),
        ("jobs/a.yaml", "a: 1\n", "yaml"),
        ("bootstrap/a.json", "{", "text"),
    ],
)
def test_the_kind_of_a_file_of_which_no_spec_is_known(path: str, text: str, kind: str) -> None:
    (found,) = things(path, text.encode(), None)
    assert (found.kind, found.title, found.path) == (kind, path, path)


@pytest.mark.parametrize(
    ("resources", "titles"),
    [('{"aws_iam_role": ["a"]}', []), ('{"aws_iam_role": {"a": ["b"]}}', ["aws_iam_role.a"])],
)
def test_a_module_that_was_edited_by_hand(resources: str, titles: list[str]) -> None:
    text = f'{{"terraform": {{}}, "resource": {resources}}}'
    found = list(things("bootstrap/terraform/main.tf.json", text.encode(), None))
    assert [each.title for each in found] == [*titles, "bootstrap/terraform/main.tf.json"]
    assert found[-1].kind == MODULE


STRANGE: list[object] = [None, 3, "x", [], [1], {}, {"a": 1}, [{"name": "a"}], {"spec": {"a": 1}}]


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(judges()))
def test_what_was_edited_by_hand_may_be_anything(kind: str) -> None:
    """The base is what somebody committed, in whatever shape."""
    for key in ("spec", "metadata", "Properties", "data", "managedNodeGroups", "lifecycle"):
        for old in STRANGE:
            for new in STRANGE:
                edit = edit_of(thing(kind, {key: old}), thing(kind, {key: new}))
                if edit is not None:
                    assert list(effects(edit))
        assert list(effects(Edit(Action.REMOVED, thing(kind, {key: "x"}), None)))
        assert list(effects(Edit(Action.ADDED, None, thing(kind, {key: "x"}))))
