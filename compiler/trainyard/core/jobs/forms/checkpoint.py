"""Where and how a job saves checkpoints."""

from typing import Self

from pydantic import Field, model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.types import Path, Period, WritablePath


class Checkpoint(SpecModel):
    """Where and how often the job saves, so that a restart can go on.

    The program reads it from ``CHECKPOINT_DIR``, ``CHECKPOINT_EVERY_SECONDS``, ``CHECKPOINT_KEEP`` and
    ``CHECKPOINT_SIGNAL_FILE``.
    """

    path: Path = Field(
        description="The folder that the program saves to and resumes from, inside a mount; the program reads it from "
        "`CHECKPOINT_DIR`.",
        examples=["/data/fsx/pretrain"],
    )
    every: Period | None = Field(
        None,
        description="The time between two saves, which the program reads from `CHECKPOINT_EVERY_SECONDS`; unset: the "
        "variable is not set.",
        examples=["30m"],
    )
    keep: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="How many checkpoints the program keeps, which it reads from `CHECKPOINT_KEEP`; derived: 10, and "
        "the variable is not set.",
        examples=[3],
    )
    asynchronous: bool = Field(
        False,
        alias="async",
        description="Whether training goes on while a checkpoint is written, as with `async_save` of PyTorch.",
        examples=[True],
    )
    signal_file: WritablePath | None = Field(
        None,
        description="A file that appears in the container when the pod must stop; the program saves and removes it, "
        "then SIGTERM follows, after a minute if nobody saves.",
        examples=["/tmp/save-now"],
    )

    @model_validator(mode="after")
    def _names_a_file(self) -> Self:
        if self.signal_file is None:
            return self
        if self.signal_file.endswith(("/", "/.", "/..")) or self.signal_file in _FOLDERS:
            raise fault(
                f"`{self.signal_file}` is a folder, and the signal is a file",
                f"write `{self.signal_file.rstrip('/.')}/save-now`",
                "signalFile",
                source="open(2): EISDIR, a folder cannot be written",
            )
        if self.signal_file.startswith(("/etc/", "/bin/", "/usr/")):
            raise fault(
                f"`{self.signal_file}` is likely there from the start, and the program would save at once",
                "write a path that nothing else uses, like `/tmp/save-now`",
                "signalFile",
                source="Filesystem Hierarchy Standard 3.0",
            )
        return self


# Filesystem Hierarchy Standard 3.0: folders that each image has.
_FOLDERS = frozenset(
    {"/", "/tmp", "/var/tmp", "/dev/shm", "/root", "/home", "/opt", "/run", "/mnt", "/etc", "/usr"}
)
