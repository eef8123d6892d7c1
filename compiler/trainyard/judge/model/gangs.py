"""All pods of a job: what they ask for together, and third-party jobs as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from trainyard.core.pods.plan import ACCELERATORS, BESIDE_NODES, INITIALIZERS, Pod, Resources
from trainyard.eks.third_party_workloads.plan import PodSet as Part
from trainyard.eks.third_party_workloads.plan import Workload, is_job
from trainyard.judge.model.amounts import limited, summed, total
from trainyard.judge.model.exports import exported
from trainyard.judge.model.pod_set import PodSet
from trainyard.judge.model.work import Work
from trainyard.language.units import Quantity


def pod_sets(work: Work) -> tuple[PodSet, ...]:
    """All pods of a job, of which Kueue admits all or none (kueue v0.19.2): nothing while it is unknown how many nodes
    there are."""
    if work.own_sets or work.nodes is None:
        return work.own_sets
    left = work.most_nodes or work.nodes
    others = []
    for part, pod, asks in work.others:
        count = part.nodes or part.replicas
        if part.step not in BESIDE_NODES:
            left = max(0, left - count)
        initializes = part.step in INITIALIZERS
        others.append(PodSet(part.name, count, pod, asks, initializes=initializes))
    main = work.runtime.trainer() if work.runtime is not None else None
    name = main.name if main is not None else "node"
    nodes = PodSet(name, left, work.pod, work.pod_asks, work.job.least_nodes)
    return (nodes, *others)


def asked_by(sets: Iterable[PodSet]) -> Resources:
    """What all pods of some sets ask for, of elastic ones the fewest. Kueue counts those of a job together:
    initializers in addition to the nodes (kueue v0.19.2, trainjob: the pod sets of the whole JobSet), and Ray's head
    (rayjob)."""
    return summed(_times(pods.asks, pods.fewest) for pods in sets)


def limited_to(sets: Iterable[PodSet]) -> Resources:
    """The limits of all pods of some sets together, of elastic ones the fewest."""
    known = ((pods.pod, pods.fewest) for pods in sets)
    return summed(_times(total(pod, limited), count) for pod, count in known if pod is not None)


def _times(amounts: Resources, count: int) -> Resources:
    return {resource: amount * count for resource, amount in amounts.items()}


def is_elastic(work: Work) -> bool:
    """Whether a job may start with fewer nodes than it can have."""
    return any(pods.least is not None for pods in pod_sets(work))


def copies(work: Work) -> int | None:
    """How many pods run the program of a job: of a third-party one those with the same commands and
    variables."""
    if not work.own_sets:
        return work.nodes
    said = _programs(work.pod)
    return sum(pods.fewest for pods in work.own_sets if _programs(pods.pod) == said)


def _programs(pod: Pod | None) -> list[object]:
    """What the containers of a pod run, one by one, with their variables."""
    containers = pod.containers if pod is not None else ()
    return [(*each.command, *each.args, each.env) for each in containers]


def gang_of(workload: Workload, works: Mapping[int, Work]) -> Work | None:
    """A workload as one job, that of its largest pods; ``None`` where its pods are no job of a known size. Its nodes
    are those pods and others with as many accelerators; of an elastic one they are the fewest. ``works`` are the pods
    that rules judge, by their ids."""
    if any(part.count is None for part in workload.pods):
        return _gang_of_any_size(workload, works) if is_job(workload.kind) else None
    parts = [part for part in workload.pods if part.count]
    if not parts:
        return None
    count = sum(part.count or 0 for part in parts if not part.beside)
    missing = 0 if workload.least is None else max(0, count - workload.least)
    sets = tuple(_pod_set(part, missing) for part in parts)
    largest = max(sets, key=lambda pods: (_accelerators(pods.asks), pods.count))
    work = works.get(id(largest.pod))
    if work is None:
        return None
    nodes = None
    if workload.nodes is not None:
        nodes = _alike(largest, sets)
    return with_program(replace(work, nodes=nodes, own_sets=sets), workload)


def sets_beside(gang: Work, works: Mapping[int, Work]) -> Iterator[Work]:
    """Each other set of pods of a third-party job that rules judge, as a job with the program of these pods. Its nodes
    are those with as many accelerators; pods that are no nodes of the training are each by themselves."""
    for pods in gang.own_sets:
        work = works.get(id(pods.pod))
        if work is None or pods.pod is gang.pod:
            continue
        nodes = work.nodes
        if nodes is not None and nodes > 1:
            nodes = _alike(pods, gang.own_sets)
        yield replace(work, nodes=nodes, own_sets=gang.own_sets, role=pods.name)


def _gang_of_any_size(workload: Workload, works: Mapping[int, Work]) -> Work | None:
    """A job of which nobody can read how many pods it has, like ``replicas: ${NODES}``."""
    judged = (works.get(id(part.pod)) for part in workload.pods if not part.beside)
    work = next((work for work in judged if work is not None), None)
    return None if work is None else with_program(replace(work, nodes=None), workload)


def with_program(work: Work, workload: Workload) -> Work:
    """A job with the program that one of its pods starts on all others, where these run none of their own."""
    program = workload.program
    if program is None or not _runs_nothing(work):
        return work
    words = (*program.command, *program.args)
    job = replace(
        work.job,
        command=program.command,
        args=program.args,
        origins={**work.job.origins, **{name: program.where(name) for name in ("command", "args")}},
    )
    return replace(work, job=job, words=words, env={**work.env, **exported(words)})


def _runs_nothing(work: Work) -> bool:
    """Whether nodes only wait for what is started on them: with the command of their image or operator, or a daemon of
    SSH."""
    return not work.words or any("sshd" in word for word in work.words)


def nodes_of(workload: Workload, part: Part) -> int | None:
    """How many nodes pods of a part are among: those that ask for as many accelerators, or all where it is alone."""
    if part.beside or workload.nodes is None:
        return 1 if part.beside else None
    most = _accelerators(total(part.pod))
    nodes = [each for each in workload.pods if not each.beside]
    alike = sum(each.count or 0 for each in nodes if _accelerators(total(each.pod)) == most)
    return alike if alike > 1 else workload.nodes


def _alike(pods: PodSet, sets: Iterable[PodSet]) -> int:
    """How many pods of some sets have as many accelerators as those of one of them."""
    most = _accelerators(pods.asks)
    return sum(each.fewest for each in sets if _accelerators(each.asks) == most)


def _accelerators(asks: Resources) -> Quantity:
    return max(asks.get(resource, Quantity(0)) for resource in ACCELERATORS)


def _pod_set(part: Part, missing: int) -> PodSet:
    """The pods of a part, of which so many may be missing."""
    count = part.count or 0
    least = max(0, count - missing) if missing and not part.beside else None
    return PodSet(part.name, count, part.pod, total(part.pod), least)
