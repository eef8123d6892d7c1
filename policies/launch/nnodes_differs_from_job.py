from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Pod
from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.judge.model.bodies import held_back
from trainyard.judge.model.command import launches, named_options
from trainyard.judge.model.gangs import is_elastic, pod_sets
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route


@rule("RUN010", gangs=True, aliases=("nodes-in-command",))
def nnodes_differs_from_job(work: Work, world: World) -> Iterator[Finding]:
    """torchrun gets a number of nodes that differs from the job's.

    It waits for as many nodes as `--nnodes` or `PET_NNODES` says: with more it never starts, with fewer some nodes are
    left out, or each trains alone (PyTorch, torchrun). Trainer sets `PET_NNODES` from `numNodes`.

    With a range like `2:4` torchrun starts half a minute after the least number is there, and restarts all ranks for
    each node that comes later (torch 2.8, dynamic_rendezvous.py, `last_call_timeout`). Kueue admits all nodes or none,
    so the range wins nothing.

    ## Fails

        jobs:
          - name: llama
            kind: JobSet
            nodes: 2
            command: [torchrun, --nnodes=3, train.py]
            roles: [{name: rollout, nodes: 1, command: [python, r.py]}]

        jobs: [{name: llama, command: [torchrun, --nnodes=2, train.py]}]

        jobs: [{name: llama, command: [torchrun, "--nnodes=1:4", train.py]}]

        jobs: [{name: llama, command: [torchrun, "--nnodes=5:8", train.py]}]

        jobs: [{name: llama, kind: JobSet, command: [torchrun, train.py], env: {PET_NNODES: "1"}}]

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: lora, namespace: team-a}
        spec:
          pytorchReplicaSpecs:
            Master:
              replicas: 1
              restartPolicy: OnFailure
              template:
                spec:
                  containers: [{name: pytorch, image: "nvcr.io/nvidia/pytorch:26.06-py3",
                    command: [torchrun, --nnodes=2, train.py], resources: {limits: {nvidia.com/gpu: 8}}}]
            Worker:
              replicas: 1
              restartPolicy: OnFailure
              template:
                spec:
                  containers: [{name: pytorch, image: "nvcr.io/nvidia/pytorch:26.06-py3",
                    command: [torchrun, --nnodes=4, train.py], resources: {limits: {nvidia.com/gpu: 8}}}]

    ## Passes

        jobs:
          - name: llama
            kind: JobSet
            nodes: 2
            command: [torchrun, train.py]
            roles: [{name: rollout, nodes: 1, command: [python, r.py]}]

        jobs: [{name: llama, command: [torchrun, --nnodes=4, train.py]}]
    """
    if not work.nodes or not launches(work.words):
        return
    if work.own_sets and (is_elastic(work) or work.accelerator is None):
        return  # of pods without accelerators some may run another program
    held = held_back(work, world)
    if held is not None and named_options(work.words).get("nnodes") == str(held.all):
        return  # RUN195 reports that they start one after another
    yield from _of_other_sets(work)
    given = named_options(work.words).get("nnodes")
    if given is not None:
        help = f"write `--nnodes={_nodes(work)}`"
        if _is_set(work):
            help = "remove `--nnodes`: `PET_NNODES` is set"
        yield from _differing(work, "--nnodes", given, work.where_said("nnodes"), help)
        return
    said = work.variables  # torchrun reads each option from PET_*
    in_env = said.get("PET_NNODES")
    if in_env is not None:
        help = "remove it: it is set for the job"
        if work.own_sets:
            help = f"write `{_nodes(work)}`"
        yield from _differing(work, "PET_NNODES", in_env, work.where_env("PET_NNODES"), help)


def _of_other_sets(work: Work) -> Iterator[Finding]:
    """What sets of pods say whose command is another one than that of the job's first, as of a PyTorchJob's workers."""
    for pods in work.own_sets:
        for container in pods.pod.containers if pods.pod is not None else ():
            words = (*container.command, *container.args)
            given = named_options(words).get("nnodes")
            if words == work.words or given is None or not launches(words):
                continue
            field = "command" if any("nnodes" in word for word in container.command) else "args"
            help = f"write `--nnodes={_nodes(work)}`"
            yield from _differing(work, "--nnodes", given, container.where(field), help)


def _is_set(work: Work) -> bool:
    """Whether the job gets `PET_NNODES` from elsewhere: of a Trainer's runtime for torch, or in what it is given."""
    if work.own_sets:
        return False
    of_trainer = work.kind == TRAIN_JOB and work.framework == "torch" and work.trainer
    return of_trainer or "PET_NNODES" in work.variables


def _differing(work: Work, name: str, given: str, at: Route, help: str) -> Iterator[Finding]:
    """What is wrong with a number of nodes, or a range of them, that torchrun is given."""
    nodes = _nodes(work)
    least, _, most = given.partition(":")
    most = most or least
    if not least.isdecimal() or not most.isdecimal():
        return
    lower, upper = int(least), int(most)
    if lower == upper == nodes:
        return
    label, severity = "", None
    if lower < upper and lower <= nodes <= upper:  # it can start
        label = "all ranks restart for each node that comes late"
        severity = Severity.WARNING
    yield Finding(
        f"job `{work.name}` has {nodes} nodes, and torchrun gets `{name}` {given}",
        at,
        label=label,
        help=help,
        severity=severity,
    )


def _nodes(work: Work) -> int:
    """The nodes of a job that run its torchrun: a JobSet may have roles with programs of their own."""
    sets = pod_sets(work)
    if work.own_sets:
        alike = [pods for pods in sets if launches(tuple(_words(pods.pod)))]
    else:
        alike = [pods for pods in sets if _words(pods.pod) == _words(work.pod)]
    return sum(pods.fewest for pods in alike) or work.nodes or 0


def _words(pod: Pod | None) -> list[str]:
    containers = pod.containers if pod is not None else ()
    return [word for each in containers for word in (*each.command, *each.args)]
