"""What the pods of a run print, each with its rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.extensions.operate.api import Api, path_of
from trainyard.extensions.operate.faults import ClusterError
from trainyard.extensions.operate.runs import Run, time_of
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body


class Source(NamedTuple):
    """A container that prints: its rank or part, its pod, and whether the container before it is meant."""

    who: str
    namespace: str
    pod: str
    container: str
    previous: bool


def sources(run: Run, pods: Sequence[Body], rank: int | None, *, previous: bool) -> list[Source]:
    """The containers of a run, or of one rank of it, in the order of their ranks.

    Raises ``ClusterError`` where there is no such pod, or no container before it.
    """
    by_rank = _latest(run, pods)
    if not by_rank:
        raise ClusterError(
            "CLU013",
            f"run `{run.name}` of job `{run.job}` has no pods",
            "`trainyard status` says whether it waits; the logs of pods that are gone are gone with them",
        )
    if rank is not None:
        if str(rank) not in by_rank:
            ranks = ", ".join(name for name in by_rank if name.isdecimal())
            raise ClusterError(
                "CLU014",
                f"run `{run.name}` of job `{run.job}` has no pod of rank {rank}",
                f"its ranks are {ranks}" if ranks else "its pods have no ranks",
            )
        by_rank = {str(rank): by_rank[str(rank)]}
    found = [_source(run, who, pod, previous=previous) for who, pod in by_rank.items()]
    if previous:
        found = _restarted(run, found, by_rank)
    return found


def _latest(run: Run, pods: Sequence[Body]) -> dict[str, Body]:
    """The newest pod of each rank, by rank; then those that have none, by name."""
    labels = run.kind.run_pods
    own = [(pod["metadata"].get("labels") or {}, pod) for pod in pods]
    parts = frozenset(labels.part(each) for each, _ in own)
    ranked: dict[int, Body] = {}
    others: dict[str, Body] = {}
    for each, pod in sorted(own, key=lambda one: _created(one[1])):
        rank = labels.rank(each, parts)
        if rank is None:
            others[str(pod["metadata"]["name"])] = pod
        else:
            ranked[rank] = pod
    named = {str(rank): ranked[rank] for rank in sorted(ranked)}
    return {**named, **dict(sorted(others.items()))}


def _created(pod: Body) -> float:
    return time_of(pod["metadata"]["creationTimestamp"]).timestamp()


def _source(run: Run, who: str, pod: Body, *, previous: bool) -> Source:
    names = [str(each["name"]) for each in mappings_at(pod, "spec", "containers")]
    container = run.kind.main if run.kind.main in names else names[0]
    return Source(who, run.namespace, str(pod["metadata"]["name"]), container, previous)


def _restarted(run: Run, found: Sequence[Source], pods: dict[str, Body]) -> list[Source]:
    """Those whose container was restarted in its pod."""
    again = [each for each in found if _restarts(pods[each.who], each.container)]
    if not again:
        raise ClusterError(
            "CLU015",
            f"no container of run `{run.name}` of job `{run.job}` was restarted in its pod",
            "leave `--previous` out; where JobSet recreates the pods of a gang, their logs go with them",
        )
    return again


def _restarts(pod: Body, container: str) -> int:
    for status in mappings_at(pod, "status", "containerStatuses"):
        if status.get("name") == container:
            return int(value_at(status, "restartCount") or 0)
    return 0


def printed(api: Api, source: Source, tail: int | None, *, follow: bool) -> Iterator[str]:
    """The lines of a container; ``tail``: the last ones alone; ``follow``: as they come, until it ends."""
    query = {"container": source.container}
    if source.previous:
        query["previous"] = "true"
    if tail is not None:
        query["tailLines"] = str(tail)
    if follow:
        query["follow"] = "true"
    path = f"{path_of('v1', 'pods', source.namespace)}/{source.pod}/log"
    return api.lines(path, query, endless=follow)
