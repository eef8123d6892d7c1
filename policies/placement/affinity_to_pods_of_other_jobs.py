from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.eks.third_party_workloads.plan import Workload, is_job
from trainyard.judge.model.affinity import Affinity, PodTerm, affinities
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("PLC059", severity=Severity.WARNING)
def affinity_to_pods_of_other_jobs(plan: Plan, world: World) -> Iterator[Finding]:
    """The required affinity of a job's pods is to labels that pods of another job have too.

    Pod affinity is to every pod of the namespace with these labels (Kubernetes 1.36, inter-pod affinity): two jobs
    with the same fixed label are put on each other's nodes, and one waits for room where the other runs.
    `matchLabelKeys` with a label that each job has for itself, as `batch.kubernetes.io/job-name`, keeps them apart.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec:
          template:
            metadata: {labels: {app: evaluate}}
            spec:
              restartPolicy: Never
              containers: [{name: evaluate, image: "public.ecr.aws/team/python:3.12", command: [python, evaluate.py]}]
              affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
                {labelSelector: {matchLabels: {app: evaluate}}, topologyKey: kubernetes.io/hostname}]}}
        ---
        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate-again, namespace: team-a}
        spec:
          template:
            metadata: {labels: {app: evaluate}}
            spec:
              restartPolicy: Never
              containers: [{name: evaluate, image: "public.ecr.aws/team/python:3.12", command: [python, evaluate.py]}]

    ## Passes

        # as the first that fails, but
        kind: Job
        metadata: {name: evaluate}
        spec:
          template:
            spec:
              affinity:
                podAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                    - {matchLabelKeys: [batch.kubernetes.io/job-name]}
    """
    jobs = [job for job in plan.of(Workload) if is_job(job.kind)]
    for affinity in affinities(world):
        own = str(affinity.pod.at[0])
        same = (job for job in jobs if str(job.at[0]) == own)
        mine = next(same, None)
        if mine is None:
            continue
        for term in affinity.pods:
            other = _other(mine, jobs, term)
            if other and _is_own(affinity, term):
                yield Finding(
                    f"{affinity.title} must be near pods that job `{other}` has too",
                    term.at,
                    label="the jobs wait for each other's nodes",
                    help="add `matchLabelKeys: [batch.kubernetes.io/job-name]`, or a label of each job's own",
                )


def _is_own(affinity: Affinity, term: PodTerm) -> bool:
    """Whether the labels are those of the job's own pods: to be near another job's may be intended."""
    return _has(affinity.pod.labels, term.labels)


def _other(mine: Workload, jobs: list[Workload], term: PodTerm) -> str:
    """The name of another job of the namespace that has pods with the labels."""
    if term.narrowed or not term.labels:
        return ""
    for job in jobs:
        if job.at == mine.at:
            continue
        if job.namespace != mine.namespace:
            continue
        if any(_has(part.pod.labels, term.labels) for part in job.pods):
            return job.name
    return ""


def _has(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(key) == text for key, text in wanted.items())
