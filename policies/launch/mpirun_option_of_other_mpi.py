from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.judge.model.command import starts
from trainyard.judge.model.mpirun import PROGRAMS, options_of
from trainyard.judge.model.values import indexed, mapping, texts_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_OPEN_MPI = "OpenMPI"
_OF_OPEN_MPI = frozenset(
    {"x", "allow-run-as-root", "mca", "oversubscribe", "npernode", "tag-output", "report-bindings"}
)
_OF_HYDRA = frozenset({"genv", "genvlist", "genvall", "genvnone", "envall", "perhost", "iface"})
_INSTEAD: Mapping[str, str] = {
    "x": "write `-genv NAME VALUE`",
    "genv": "write `-x NAME=VALUE`",
    "npernode": "write `-ppn N`",
    "perhost": "write `--map-by ppr:N:node`",
}
_LAUNCHER = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec", "containers")


@rule("RUN205", kinds=("kubeflow.org/MPIJob",))
def mpirun_option_of_other_mpi(manifest: Manifest) -> Iterator[Finding]:
    """mpirun gets an option that the MPI of its job does not know.

    `mpiImplementation` says by which MPI the launcher reaches the workers, and is `OpenMPI` where it says nothing
    (mpi-operator v0.8.2, MPIJob). The mpirun of Intel MPI and of MPICH is Hydra: it ends with "unrecognized argument"
    at `-x` or `--allow-run-as-root` of Open MPI, as Open MPI does at `-genv` (Open MPI 4.1, mpirun(1); MPICH 4.3,
    Hydra).

    ## Fails

        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: ring, namespace: team-a}
        spec:
          mpiImplementation: Intel
          slotsPerWorker: 8
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: l, image: "r:1",
              command: [mpirun, -np, "16", -x, NCCL_DEBUG=INFO, ring]}]}}}
            Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: "r:1"}]}}}

        # as the first that fails, but
        kind: MPIJob
        spec:
          mpiImplementation: OpenMPI
          mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [
            {name: l, command: [mpirun, -np, "16", -genv, NCCL_DEBUG, INFO, ring]}]}}}}

    ## Passes

        # as the first that fails, but
        kind: MPIJob
        spec: {mpiImplementation: OpenMPI}
    """
    mpi = mapping(manifest.body, "spec").get("mpiImplementation", _OPEN_MPI)
    unknown = _OF_HYDRA if mpi == _OPEN_MPI else _OF_OPEN_MPI
    for index, container in indexed(manifest.body, *_LAUNCHER):
        said = {key: texts_at(container, key) for key in ("command", "args")}
        words = [word for each in said.values() for word in each]
        if not any(starts(words, program) for program in PROGRAMS):
            continue
        for option, _ in options_of(words):
            if option in unknown:
                field = "args" if said["args"] else "command"
                yield Finding(
                    f"job `{manifest.ref.name}` gives mpirun `-{option}`, and `mpiImplementation` is {mpi}",
                    Route((manifest.id, *_LAUNCHER, index, field)),
                    label="it starts nothing",
                    help=_INSTEAD.get(option, "remove it, or name the MPI of the image"),
                )
                return
