from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import Container, Pod
from trainyard.eks.jobs.plan import Runtime
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, placeholder
from trainyard.plan import Plan

_BUCKET = r"s3://([a-z0-9](?:[a-z0-9.-]|\$\{?\w*(?:ACCOUNT|REGION)\w*\}?){2,})(?![\w.${-])"
_NAME = r"(?<![\w/.$-])[a-z0-9][a-z0-9.-]{2,62}(?![\w/.:-])"
# What scripts and templates write for the account and the Region in a bucket's name.
_ACCOUNT = r"\$\{?\w*ACCOUNT\w*\}?|(?<![0-9])[0-9]{12}(?![0-9])"
_REGION = r"\$\{?\w*REGION\w*\}?|(?<![a-z0-9])[a-z]{2}-[a-z]+-[0-9](?![0-9])"
_PARTS = r"(?:account|region)(?:-(?:account|region))*"


@rule("RUN085", severity=Severity.WARNING)
def bucket_name_differs(plan: Plan, world: World) -> Iterator[Finding]:
    """A name of a bucket differs from another one in the set by the account or region at its end.

    `training-data-111122223333` and `training-data-111122223333-us-west-2` are two buckets (S3 user guide, bucket
    naming rules): one job writes where no other reads. Read from commands, variables and ConfigMaps (`s3://…`),
    from volumes of the S3 CSI driver, and from the links of storage classes. A word or variable without `s3://`
    counts where it has an account or Region at its end, and is a bucket of the set but for one more. Templates of
    CloudFormation and Terraform are judged by themselves.

    ## Fails

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: runs}
        spec: {capacity: {storage: 1200Gi}, accessModes: [ReadWriteMany], storageClassName: "",
          csi: {driver: s3.csi.aws.com, volumeHandle: runs,
            volumeAttributes: {bucketName: team-runs-111122223333-us-west-2}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {env: [{name: RUNS, value: "s3://team-runs-111122223333/llama"}]}}

        # as the first that fails, but
        kind: TrainJob
        spec:
          trainer: {command: [bash, -c, "aws s3 sync s3://team-runs-${AWS_ACCOUNT_ID}/llama /data"], env: null}

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: runs}
        spec: {capacity: {storage: 1200Gi}, accessModes: [ReadWriteMany], storageClassName: "",
          csi: {driver: s3.csi.aws.com, volumeHandle: runs,
            volumeAttributes: {bucketName: team-runs-111122223333-us-west-2}}}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: llama, namespace: team-a}
        data: {train.yaml: "output: s3://team-runs-111122223333/llama"}

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: runs}
        spec: {capacity: {storage: 1200Gi}, accessModes: [ReadWriteMany], storageClassName: "",
          csi: {driver: s3.csi.aws.com, volumeHandle: runs,
            volumeAttributes: {bucketName: team-runs-111122223333-us-west-2}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {env: [{name: BUCKET, value: team-runs-111122223333}]}}

    ## Passes

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: runs}
        spec: {capacity: {storage: 1200Gi}, accessModes: [ReadWriteMany], storageClassName: "",
          csi: {driver: s3.csi.aws.com, volumeHandle: runs,
            volumeAttributes: {bucketName: team-runs-111122223333-us-west-2}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {env: [{name: NAME, value: team-runs-of-llama},
          {name: BUCKET, value: team-runs-111122223333-us-west-2}]}}

        # as the first that fails, but
        kind: TrainJob
        spec: {trainer: {env: [{name: RUNS, value: "s3://team-logs-111122223333/llama"}]}}
    """
    places: dict[str, tuple[str, Route]] = {}
    for name, at in _named(plan, world):
        places.setdefault(_pattern(name), (name, at))
    said = tuple(places)
    for name, at in _alone(plan) if said else ():
        pattern = _pattern(name)
        if not pattern.endswith(("account", "region")):
            continue  # any word could be the beginning of a bucket's name
        if any(_is_longer(pattern, other) or _is_longer(other, pattern) for other in said):
            places.setdefault(pattern, (name, at))
    for pattern in sorted(places):
        longer = [name for other, (name, _) in places.items() if _is_longer(other, pattern)]
        if longer:
            name, at = places[pattern]
            yield Finding(
                f"bucket `{name}` is named here, and bucket `{min(longer)}` elsewhere in the set",
                at,
                label="two buckets",
                help=f"write `{min(longer)}`, if that one is meant",
            )


def _is_longer(name: str, other: str) -> bool:
    """Whether a name is another one with the account or the Region at its end."""
    rest = name.removeprefix(f"{other}-")
    return rest != name and re.fullmatch(_PARTS, rest) is not None


def _pattern(name: str) -> str:
    """A name with its account and its Region as words, written out or by a variable."""
    return re.sub(_REGION, "region", re.sub(_ACCOUNT, "account", name))


def _named(plan: Plan, world: World) -> Iterator[tuple[str, Route]]:
    """The buckets that objects name, with their places."""
    for manifest in world.manifests:
        for path in _FIELDS.get(str(manifest.body.get("kind")), ()):
            said = value_at(manifest.body, *path)
            if isinstance(said, str) and not placeholder(_pattern(said)):
                name = said.removeprefix("s3://").partition("/")[0]
                yield name, Route((manifest.id, *path))
        if manifest.body.get("kind") == "ConfigMap":
            yield from _in_files(manifest)
    for node in _nodes(plan):
        for field, words in (("command", node.command), ("args", node.args)):
            for index, word in enumerate(words):
                if "s3://" in word:
                    yield from _in_text(word, node.where(field) / index)
        for index, variable in enumerate(node.env):
            if variable.value and "s3://" in variable.value:
                yield from _in_text(variable.value, node.where("env") / index)


_FIELDS = {
    "PersistentVolume": (("spec", "csi", "volumeAttributes", "bucketName"),),
    "StorageClass": (("parameters", "s3ImportPath"), ("parameters", "s3ExportPath")),
}


def _in_files(manifest: Manifest) -> Iterator[tuple[str, Route]]:
    for key, text in mapping(manifest.body, "data").items():
        if isinstance(text, str) and "s3://" in text:
            yield from _in_text(text, Route((manifest.id, "data", key)))


def _alone(plan: Plan) -> Iterator[tuple[str, Route]]:
    """Words and variables that could be names of buckets."""
    for node in _nodes(plan):
        for field, words in (("command", node.command), ("args", node.args)):
            for index, word in enumerate(words):
                for name in re.findall(_NAME, word):
                    yield name, node.where(field) / index
        for index, variable in enumerate(node.env):
            if variable.value and re.fullmatch(_NAME, variable.value):
                yield variable.value, node.where("env") / index


def _in_text(text: str, at: Route) -> Iterator[tuple[str, Route]]:
    for name in re.findall(_BUCKET, text):
        yield name, at


def _nodes(plan: Plan) -> Iterator[Gang | Container]:
    """Every job, and every container."""
    yield from plan.of(Gang)
    pods: list[Pod] = []
    for runtime in plan.of(Runtime):
        pods += [replicated.pod for replicated in runtime.jobs]
    for workload in plan.of(Workload):
        pods += [part.pod for part in workload.pods]
    for pod in pods:
        yield from pod.all_containers
