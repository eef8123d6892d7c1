"""The spec of the launcher ``mpi``: Open MPI's mpirun."""

from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
from trainyard.language.models.types import Path


class Mpi(SpecModel):
    """Open MPI: `mpirun` in the job's command starts ranks on all nodes by SSH, whose keys Trainer makes.

    Its containers run as root, and the image has `/bin/sh`, an SSH client and server, and Open MPI.
    """

    ssh_port: int = Field(
        2222,
        ge=1024,
        le=65535,
        description="The port of the SSH server in each pod.",
        examples=[2222],
        bound="1024 to 65535",
        source="sshd(8); ports below need a capability",
    )
    sshd: Path = Field(
        "/usr/sbin/sshd",
        description="The SSH server in the image.",
        examples=["/usr/sbin/sshd"],
        bound="an absolute path",
        source="sshd(8): it restarts itself by its absolute path",
    )
