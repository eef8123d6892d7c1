"""The spec of ``launcher``: exactly one key, which names the launcher."""

from pydantic import Field

from trainyard.core.jobs.launchers.jax.spec import Jax
from trainyard.core.jobs.launchers.mpi.spec import Mpi
from trainyard.core.jobs.launchers.nccl_test.spec import NcclTest
from trainyard.core.jobs.launchers.torchrun.spec import Torchrun
from trainyard.core.jobs.launchers.torchtune.spec import Torchtune
from trainyard.language.models.choice import OneOf


class JobLauncher(OneOf):
    """How the processes of a job start and find each other."""

    torchrun: Torchrun | None = Field(
        None,
        description="By torchrun in the command, whose options are derived; also for a program without a launcher.",
        examples=[{}],
    )
    mpi: Mpi | None = Field(
        None,
        description="By Open MPI: `mpirun` in the command runs on the first node and reaches the others by SSH.",
        examples=[{}],
    )
    jax: Jax | None = Field(
        None,
        description="By JAX: one process on each node, with the coordinator's address, their number and its own.",
        examples=[{}],
    )
    nccl_test: NcclTest | None = Field(
        None,
        description="An acceptance test of EFA by NCCL's all-reduce, with an image and a command of its own.",
        examples=[{}],
    )
    torchtune: Torchtune | None = Field(
        None,
        description="A recipe of torchtune with image, command, model and dataset of a released runtime of Trainer.",
        examples=[{"runtime": "torchtune-llama3.2-1b"}],
    )

    @property
    def name(self) -> str:
        """The launcher, by the name of its folder."""
        fields = type(self).model_fields
        given = (name for name in fields if getattr(self, name) is not None)
        return next(given)
