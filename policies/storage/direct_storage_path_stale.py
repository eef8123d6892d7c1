from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import Container
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.shell import title_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.plan import Plan

_MOVED = {"/usr/local/gds/": "/usr/local/cuda/gds/", "/etc/default/nvidia-gds": "/etc/cufile.json"}


@rule("RUN084", severity=Severity.NOTE)
def direct_storage_path_stale(plan: Plan) -> Iterator[Finding]:
    """A command names a path of GPUDirect Storage that was moved.

    The tools are in `/usr/local/cuda/gds/tools` and the configuration in `/etc/cufile.json` since GDS came with CUDA
    11.4 (NVIDIA, GPUDirect Storage installation guide); the paths of the beta are in no image.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: gds, namespace: team-a}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: gds, image: "public.ecr.aws/team/gds:1.0",
          command: [/usr/local/gds/tools/gdscheck, -p]}]}}}

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: gds, namespace: team-a}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: gds, image: "public.ecr.aws/team/gds:1.0",
          command: [/usr/local/cuda/gds/tools/gdscheck, -p]}]}}}
    """
    for owner, node in _commands(plan):
        for field, words in (("command", node.command), ("args", node.args)):
            for index, word in enumerate(words):
                if "gds" in word:
                    yield from _stale(_title(owner), word, node.where(field) / index)


def _commands(plan: Plan) -> Iterator[tuple[Gang | Workload, Gang | Container]]:
    for job in plan.of(Gang):
        yield job, job
    for workload in plan.of(Workload):
        for part in workload.pods:
            for container in part.pod.all_containers:
                yield workload, container


def _title(owner: Gang | Workload) -> str:
    if isinstance(owner, Workload):
        return title_of(owner)
    return f"job `{owner.identity.name}`"


def _stale(title: str, word: str, at: Route) -> Iterator[Finding]:
    for old, new in _MOVED.items():
        if old in word:
            yield Finding(
                f"{title} names `{old}`, which no release has any more", at, help=f"write `{new}`"
            )
            return
