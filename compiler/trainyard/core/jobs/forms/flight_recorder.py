"""What PyTorch keeps of the last collectives of a job."""

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import Path


class FlightRecorder(SpecModel):
    """The last collectives of each rank, which PyTorch writes to a file when one does not end in time."""

    path: Path | None = Field(
        None,
        description="The folder that the files are written to, inside a mount, which must be there; derived: that of "
        "`checkpoint`, or the only mount.",
        examples=["/data/fsx/traces"],
    )
    entries: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        description="The collectives that each rank remembers.",
        examples=[20000],
    )
