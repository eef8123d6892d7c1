from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.judge.model.mpirun import OPEN_MPI, implementation_of, launchers, ranks_of
from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import Manifest

_MEANT = "oversubscribe"
_REPLICAS = ("spec", "mpiReplicaSpecs")


@rule("RUN176", kinds=("kubeflow.org/MPIJob",))
def mpi_job_lacks_slots(manifest: Manifest, world: World) -> Iterator[Finding]:
    """mpirun gets more ranks than the workers of its MPIJob have slots, or so few that workers have none.

    The MPI operator writes a host file with `slots=slotsPerWorker`, which is 1 unless it is said, for each worker, and
    for the launcher if it is one too (mpi-operator v0.8.2, pkg/controller/mpi_job_controller.go). Open MPI 4.1 starts
    none where there are more ranks: "There are not enough slots available". `--oversubscribe` is meant. It fills
    the slots of the first worker before those of the next (mpirun(1), mapping by slot), so with few ranks the last
    workers wait with their accelerators. What a spec says is RUN060.

    ## Fails

        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: ring, namespace: team-a}
        spec:
          slotsPerWorker: 8
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: l, image: "r:1", command: [mpirun, -np, "32", ring]}]}}}
            Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: "r:1"}]}}}

        # as the first that fails, but
        kind: MPIJob
        spec: {mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [
          {name: l, command: [mpirun, -np, "2", ring]}]}}}}}

    ## Passes

        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: ring, namespace: team-a}
        spec:
          slotsPerWorker: 8
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: l, image: "r:1", command: [mpirun, -np, "16", ring]}]}}}
            Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: "r:1"}]}}}

        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: ring, namespace: team-a}
        spec:
          runLauncherAsWorker: true
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: l, image: "r:1", command: [mpirun, -np, "3", ring]}]}}}
            Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: "r:1"}]}}}
    """
    if world.plan.closed:
        return
    # The operator takes the first container.
    first = next((each for each in launchers(manifest) if each.is_first), None)
    if first is None or implementation_of(manifest) != OPEN_MPI:
        return
    words = first.words
    if any(_MEANT in word for word in words):
        return
    ranks, slots = ranks_of(words), _slots(manifest)
    if ranks is None or slots is None:
        return
    if ranks > slots.all:
        yield Finding(
            f"job `{manifest.ref.name}` starts {ranks} ranks, and its workers have {slots.all} slots",
            first.at,
            label="it starts none",
            help=f"write `-np {slots.all}`, more workers, or `slotsPerWorker` with the GPUs of a worker",
        )
        return
    used = -(-ranks // slots.each)
    if 0 < used < slots.workers and not any(word.lstrip("-") in _SPREADS for word in words):
        yield Finding(
            f"job `{manifest.ref.name}` starts {ranks} ranks, which the first {used} of its {slots.workers} workers "
            "have slots for",
            first.at,
            label="the others do nothing",
            help=f"write `-np {slots.all}`, or `--map-by ppr:N:node` for N ranks on each worker",
            severity=Severity.WARNING,
        )


_SPREADS = (
    *("map-by", "N", "npernode", "pernode", "bynode", "ppr", "rankfile", "rf"),
    *("host", "H", "hostfile", "machinefile", "rank-by", "npersocket", "app"),
)
"""Options of mpirun that say on which workers ranks start."""


class _Slots(NamedTuple):
    """What the host file has: how many workers, and slots of each."""

    workers: int
    each: int

    @property
    def all(self) -> int:
        return self.workers * self.each


def _slots(manifest: Manifest) -> _Slots | None:
    """The slots of the workers; ``None`` where one of the numbers is filled in later."""
    spec = mapping(manifest.body, "spec")
    each = spec.get("slotsPerWorker", 1)
    workers = value_at(manifest.body, *_REPLICAS, "Worker", "replicas")
    workers = 1 if workers is None else workers
    if not isinstance(each, int) or not isinstance(workers, int) or each < 1:
        return None
    return _Slots(workers + bool(spec.get("runLauncherAsWorker")), each)
