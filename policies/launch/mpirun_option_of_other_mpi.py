from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.judge.model.mpirun import OPEN_MPI, implementation_of, launchers, options_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.output.manifest import Manifest

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
    mpi = implementation_of(manifest)
    unknown = _OF_HYDRA if mpi == OPEN_MPI else _OF_OPEN_MPI
    for launcher in launchers(manifest):
        for option, _ in options_of(launcher.words):
            if option in unknown:
                yield Finding(
                    f"job `{manifest.ref.name}` gives mpirun `-{option}`, and `mpiImplementation` is {mpi}",
                    launcher.at,
                    label="it starts nothing",
                    help=_INSTEAD.get(option, "remove it, or name the MPI of the image"),
                )
                return
