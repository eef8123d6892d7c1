from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.third_party_workloads.plan import titled
from trainyard.judge.model.kinds import framework_of
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_PREFIX = "kueue.x-k8s.io/"
_OF_PODS = tuple(
    f"{_PREFIX}podset-{name}"
    for name in (
        *("required-topology", "preferred-topology", "unconstrained-topology"),
        *("slice-required-topology", "slice-size", "group-name"),
    )
)
_LEAST = f"{_PREFIX}job-min-parallelism"
_PRIORITY = f"{_PREFIX}priority-class"


@rule("QUE050")
def annotation_not_read(manifest: Manifest) -> Iterator[Finding]:
    """What a job says to Kueue stands where Kueue does not read it.

    Kueue reads the topology of a set of pods from the annotations of their template, the fewest pods of a job from a
    batch/v1 Job alone, and the priority class from a label (kueue v0.19.2, pkg/controller/jobframework/tas.go,
    jobs/job/job_controller.go, constants.WorkloadPriorityClassLabel). Elsewhere it says nothing: the job is placed
    anywhere, starts whole or not at all, or waits with the lowest priority.

    ## Fails

        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: tune, namespace: team-a,
          annotations: {kueue.x-k8s.io/podset-required-topology: topology.kubernetes.io/zone}}
        spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {restartPolicy: Never,
          containers: [{name: a, image: "a:1"}]}}}}}]}

        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: tune, namespace: team-a, annotations: {kueue.x-k8s.io/job-min-parallelism: "2"}}
        spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {restartPolicy: Never,
          containers: [{name: a, image: "a:1"}]}}}}}]}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a, annotations: {kueue.x-k8s.io/priority-class: high}}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a, labels: {kueue.x-k8s.io/priority-class: high},
          annotations: {kueue.x-k8s.io/job-min-parallelism: "2"}}
        spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-preferred-topology: kubernetes.io/hostname}},
          spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}
    """
    kind = manifest.ref.kind
    if framework_of(kind) is None:
        return
    annotations = mapping(manifest.body, "metadata", "annotations")
    for key in annotations:
        if key in _OF_PODS and kind != "TrainJob":  # whose pods are those of its runtime
            where, help = (
                "the template of its pods",
                "move it to the annotations of the pod template",
            )
        elif key == _LEAST and kind != "Job":
            where, help = "Jobs alone", "remove it: Kueue admits this job whole"
        elif key == _PRIORITY:
            where, help = "the labels of the object", f"write it under `labels: {{{key}: …}}`"
        else:
            continue
        yield Finding(
            f"{titled(kind, manifest.ref.name)} has the annotation `{key}`, which Kueue reads of {where}",
            Route((manifest.id, "metadata", "annotations", str(key))),
            key=True,
            label="it has no effect",
            help=help,
        )
