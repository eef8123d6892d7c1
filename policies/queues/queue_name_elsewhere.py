from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.third_party_workloads.plan import is_job, titled
from trainyard.judge.model.kinds import framework_of
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_QUEUE = "kueue.x-k8s.io/queue-name"
_MISNAMED = (
    "kueue.x-k8s.io/queue",
    "kueue.x-k8s.io/queueName",
    "kueue.x-k8s.io/local-queue",
    "kueue.x-k8s.io/localqueue-name",
)
_TEMPLATE = ("spec", "template", "metadata")


@rule("QUE046")
def queue_name_elsewhere(manifest: Manifest) -> Iterator[Finding]:
    """The queue of a job is named where Kueue does not read it.

    Kueue reads the label `kueue.x-k8s.io/queue-name` of the object itself (kueue v0.19.2, constants.QueueLabel): as
    an annotation, by another name or on the pod template alone it says nothing, and the job starts past every quota.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a, annotations: {kueue.x-k8s.io/queue-name: research}}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a, labels: {kueue.x-k8s.io/queue: research}}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec: {template: {metadata: {labels: {kueue.x-k8s.io/queue-name: research}},
          spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}
    """
    if framework_of(manifest.ref.kind) is None and manifest.ref.kind != "Pod":
        return
    labels = mapping(manifest.body, "metadata", "labels")
    if _QUEUE in labels:
        return
    at = Route((manifest.id,))
    named = titled(manifest.ref.kind, manifest.ref.name)
    places = _PLACES if is_job(manifest.ref.kind) else _PLACES[:2]
    for path, keys in places:
        held = mapping(manifest.body, *path)
        for key in keys:
            if key in held:
                what = "an annotation" if path[-1] == "annotations" else "a label of its pods"
                if key in _MISNAMED:
                    what = f"`{key}`"
                yield Finding(
                    f"{named} names its queue by {what}, and Kueue reads the label `{_QUEUE}` of the object",
                    at / path / key,
                    label="the job starts past every quota",
                    help=f"write `metadata.labels: {{{_QUEUE}: {held[key]}}}`",
                )
                return


_PLACES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("metadata", "annotations"), (_QUEUE, *_MISNAMED)),
    (("metadata", "labels"), _MISNAMED),
    ((*_TEMPLATE, "labels"), (_QUEUE,)),
    ((*_TEMPLATE, "annotations"), (_QUEUE,)),
)
