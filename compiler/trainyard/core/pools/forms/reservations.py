"""Reserved capacity: On-Demand Capacity Reservations and Capacity Blocks."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from trainyard.language.models.aws import ReservationId
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.types import MOST_NODES, Timestamp


class Reservation(SpecModel):
    """A capacity reservation of a pool, and how many of the pool's nodes are in it."""

    id: ReservationId = Field(
        description="The id of the capacity reservation.", examples=["cr-0a1b2c3d4e5f60718"]
    )
    nodes: int | None = Field(
        None,
        ge=1,
        le=MOST_NODES,
        description="The number of instances in the reservation; may be left out where there is one, and together "
        "they are the pool's nodes.",
        examples=[4],
    )


_LONGEST_BLOCK_DAYS = 182
_BLOCKS = "EC2 user guide, capacity-blocks-purchase"


def _each_counted(reservations: list[Reservation]) -> list[Reservation]:
    """Several reservations, each once and with its nodes."""
    ids = [one.id for one in reservations]
    for one in reservations:
        if ids.count(one.id) > 1:
            raise fault(f"reservation `{one.id}` is listed twice", "remove one of them")
        if len(ids) > 1 and one.nodes is None:
            raise fault(
                f"reservation `{one.id}` is one of {len(ids)}, and its nodes are not given",
                "add `nodes:` to each, as many as it has instances",
            )
    return reservations


Reservations = Annotated[list[Reservation], Field(min_length=1), AfterValidator(_each_counted)]


class Reserved(SpecModel):
    """On-Demand Capacity Reservations (ODCR)."""

    reservations: Reservations = Field(
        description="The capacity reservations, each with its nodes; a job is kept inside one of them where it fits.",
        examples=[[{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]],
    )


class Block(SpecModel):
    """Capacity Blocks for ML: instances of a time that was bought beforehand."""

    reservations: Reservations = Field(
        description="The Capacity Blocks, each with its nodes; a job is kept inside one of them where it fits.",
        examples=[[{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]],
    )
    starts: Timestamp | None = Field(
        None,
        description="When the Capacity Block starts, with its time zone.",
        examples=["2026-12-01T11:30:00Z"],
    )
    ends: Timestamp | None = Field(
        None,
        description="When the Capacity Block ends, at 11:30 UTC; its jobs are stopped 40 minutes before.",
        examples=["2026-12-15T11:30:00Z"],
    )

    @model_validator(mode="after")
    def _ends_later(self) -> Self:
        if self.starts and self.ends and self.starts >= self.ends:
            raise fault(
                f"the block ends ({self.ends}) before it starts ({self.starts})",
                "swap `starts` and `ends`",
                "ends",
            )
        self._check_length()
        return self

    def _check_length(self) -> None:
        """EC2 user guide, Capacity Blocks: they end at 11:30 UTC, and last 182 days at most, or hours more."""
        if self.ends is not None and not self.ends.endswith("T11:30:00Z"):
            raise fault(
                f"the block ends at {self.ends}, and every Capacity Block ends at 11:30 UTC",
                f"write `{self.ends.partition('T')[0]}T11:30:00Z`",
                "ends",
                source=_BLOCKS,
            )
        if self.starts is None or self.ends is None:
            return
        days = (
            datetime.fromisoformat(self.ends) - datetime.fromisoformat(self.starts)
        ).total_seconds() / 86400
        if days >= _LONGEST_BLOCK_DAYS + 1:
            raise fault(
                f"the block lasts {days:.0f} days, and a Capacity Block at most {_LONGEST_BLOCK_DAYS}",
                "write the StartDate and EndDate that `aws ec2 describe-capacity-reservations` shows",
                "ends",
                source=_BLOCKS,
            )
