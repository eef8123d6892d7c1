"""JAX by Trainer's policy ``jax``: one process on each node.

Trainer sets ``JAX_COORDINATOR_ADDRESS`` (the first pod), ``JAX_NUM_PROCESSES`` (the nodes) and ``JAX_PROCESS_ID`` (the
index of the pod), and ignores ``numProcPerNode`` (trainer v2.3.0, pkg/runtime/framework/plugins/jax). Of these JAX
itself reads the first alone; the program passes the others to ``jax.distributed.initialize`` (jax 0.10.2,
jax/_src/distributed.py).
"""

from __future__ import annotations

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import Launcher
from trainyard.core.jobs.starters import first_named
from trainyard.plan.context import Context

_SET = "trainer v2.3.0, jax plugin"
_ANOTHER = ("torchrun", "mpirun", "mpiexec", "torch.distributed.run")


class JaxProcesses(Launcher):
    """One process of JAX on every node of the job."""

    framework = "jax"

    def check(self, context: Context, job: Job) -> None:
        self.check_ignored(
            context, job, "torchVersion", "maxRestarts", "processesPerNode", "deepspeed"
        )
        _check_release(context, job)
        _check_command(context, job)

    def processes(self, context: Context, job: Job, derived: int, why: str, source: str) -> int:
        """As many as devices: one process computes on all of them."""
        context.derive(
            job.target,
            "launcher.processes",
            f"{job.spec.nodes}, one on each node",
            "Trainer starts one process of JAX in each pod, with all devices of it",
            _SET,
        )
        return derived

    def declared(self, processes: int) -> int | None:
        """Trainer drops ``numProcPerNode``."""
        return None

    def explain(self, context: Context, job: Job) -> None:
        context.derive(
            job.target,
            "launcher.environment",
            "JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES, JAX_PROCESS_ID",
            "set by Trainer in each pod, to be passed to jax.distributed.initialize",
            f"{_SET}; jax 0.10.2, jax/_src/distributed.py",
        )


def _check_release(context: Context, job: Job) -> None:
    version = context.version("trainer")
    # kubeflow/trainer#3151
    if not context.release.has("trainer.jax", version):
        context.fault(
            "RES132",
            f"job `{job.spec.name}` has the launcher `jax`, which Trainer `{version}` does not have",
            job.at / "launcher" / "jax",
            "take Trainer 2.2 or newer; or remove `launcher`, and pass `$(PET_MASTER_ADDR):$(PET_MASTER_PORT)`, "
            "`$(PET_NNODES)` and `$(PET_NODE_RANK)` to the program",
            source="kubeflow/trainer v2.2.0, pkg/runtime/framework/plugins/jax",
        )


def _check_command(context: Context, job: Job) -> None:
    """Each pod starts the program once; a launcher in it starts several, all with the same process id."""
    spec = job.spec
    other = first_named((*spec.command, *spec.args), _ANOTHER)
    if other is not None:
        context.fault(
            "RES131",
            f"job `{job.spec.name}` has the launcher `jax`, and its command starts `{other}`: its processes would all "
            "have the same `JAX_PROCESS_ID`",
            job.at / "command",
            "start the program itself, like `[python, train.py]`, or remove `launcher`",
        )


LAUNCHER = JaxProcesses()
