"""GPUs that several jobs share: MIG or time-slicing."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import as_text, fault
from trainyard.language.models.choice import OneOf


def _profile(value: Any) -> str:
    """A profile of MIG: its compute slices and its memory."""
    text = as_text(value, "a profile of MIG", "1g.10gb")
    compute, _, memory = text.partition(".")
    cores = compute.removesuffix("g")
    is_compute = compute.endswith("g") and cores.isdecimal()
    size = memory.removesuffix("gb")
    is_memory = memory.endswith("gb") and size.isdecimal()
    if not is_compute or not is_memory:
        raise fault(f"`{text}` is no profile of MIG", "write one like `1g.10gb`")
    return text


class Mig(SpecModel):
    """Every GPU of the pool, cut into slices of one profile with memory and compute of their own."""

    profile: Annotated[str, BeforeValidator(_profile)] = Field(
        description="The profile of the slices; a GPU has as many of it as fit.",
        examples=["1g.10gb"],
    )


class TimeSlicing(SpecModel):
    """Every GPU of the pool, offered several times, to jobs that take turns and share its memory."""

    replicas: int = Field(
        ge=2, le=64, description="How many jobs a GPU is offered to.", examples=[4]
    )


class Sharing(OneOf):
    """How the GPUs of a pool are shared."""

    mig: Mig | None = Field(
        None,
        description="By Multi-Instance GPU: slices with memory of their own.",
        examples=[{"profile": "1g.10gb"}],
    )
    time_slicing: TimeSlicing | None = Field(
        None,
        description="By turns: nothing keeps one job from taking all of the memory.",
        examples=[{"replicas": 4}],
    )
