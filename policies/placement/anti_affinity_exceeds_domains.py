from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.judge.model.bodies import spec_of
from trainyard.judge.model.values import indexed, mappings_at, texts_at, value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL_LABEL, ZONE

_REQUIRED = ("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
_REGION = "topology.kubernetes.io/region"
_OF_OPERATORS = (
    "jobset.sigs.k8s.io/",
    "training.kubeflow.org/",
    "trainer.kubeflow.org/",
    "batch.kubernetes.io/",
)
"""Labels that operators give to all pods of a job, beside those of its template."""
_JOB = ("job-name", "controller-uid")


@rule("PLC118", kubernetes="Slurm has no affinity between pods", pods=True)
def anti_affinity_exceeds_domains(work: Work, world: World) -> Iterator[Finding]:
    """The pods of a job must each be in another zone, pool or Region, and there are fewer of these than pods.

    A required anti-affinity of pods to their own labels lets one pod into each domain of its `topologyKey`
    (Kubernetes 1.36, inter-pod affinity): the others stay Pending, and those that run wait for them. So they do where
    a spread constraint asks for more domains than there are (`minDomains` with `DoNotSchedule`).

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {
          metadata: {labels: {app: llama}},
          spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
            {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: llama}}}]}}}}}}}]}}}

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {
          metadata: {labels: {app: llama}},
          spec: {topologySpreadConstraints: [{maxSkew: 1, minDomains: 3, whenUnsatisfiable: DoNotSchedule,
            topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: llama}}}]}}}}}]}}}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {
          metadata: {labels: {app: llama}},
          spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
            {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: llama}}}]}}}}}}}]}}}
    """
    if work.pod is None or not work.gang or not work.pools:
        return
    spec, at = spec_of(world, work.pod)
    for index, term in indexed(spec, *_REQUIRED):
        domains = _domains(work, world, str(term.get("topologyKey", "")))
        if domains is None or not _selects_itself(term, work.pod.labels):
            continue
        if (work.nodes or 0) > domains:
            yield Finding(
                f"each of {work.nodes} pods of {work.title} must have its own `{term['topologyKey']}`, "
                f"and its pools have {domains}",
                at / _REQUIRED / index,
                label="the other pods stay Pending",
                help="write `topologyKey: kubernetes.io/hostname`",
            )
    for index, term in indexed(spec, "topologySpreadConstraints"):
        least = term.get("minDomains")
        domains = _domains(work, world, str(term.get("topologyKey", "")))
        if term.get("whenUnsatisfiable") != "DoNotSchedule" or domains is None:
            continue
        if (
            isinstance(least, int)
            and domains < least
            and (work.nodes or 0) > term.get("maxSkew", 1) * domains
        ):
            yield Finding(
                f"{work.title} asks for {least} domains of `{term['topologyKey']}`, and its pools have {domains}",
                at / "topologySpreadConstraints" / index / "minDomains",
                label="pods stay Pending",
                help=f"write {domains}, or remove it",
            )


def _domains(work: Work, world: World, key: str) -> int | None:
    """How many domains of a label the nodes of a job's pools have; ``None`` where that is not known."""
    if key == _REGION:
        return 1
    if key == ZONE:
        if ZONE in work.selector:
            return 1
        zones = world.zones_of_all(work.pools)
        return len(zones) if zones else None
    if key == NODEPOOL_LABEL:
        return len({pool.name for pool in work.pools})
    if key == INSTANCE_TYPE:
        return len({each.name for each in work.types}) or None
    if key == CAPACITY_TYPE:
        kinds = [pool.capacity_types for pool in work.pools]
        known = {kind for each in kinds for kind in each or ()}
        return len(known) if all(kinds) else None
    return None


def _selects_itself(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a term is about pods like the pod itself."""
    if term.get("namespaces") or term.get("namespaceSelector") or term.get("mismatchLabelKeys"):
        return False
    selector = term.get("labelSelector")
    if not isinstance(selector, Mapping):
        return False
    wanted = value_at(selector, "matchLabels")
    pairs = dict(wanted) if isinstance(wanted, Mapping) else {}
    for expression in mappings_at(selector, "matchExpressions"):
        key, values = str(expression.get("key", "")), texts_at(expression, "values")
        operator = expression.get("operator")
        if operator == "Exists" and key in labels:
            continue
        if operator != "In" or not values:
            return False
        pairs[key] = labels[key] if labels.get(key) in values else values[0]
    return all(labels.get(key) == wanted or _of_operator(key) for key, wanted in pairs.items())


def _of_operator(key: str) -> bool:
    return key.startswith(_OF_OPERATORS) or key in _JOB
