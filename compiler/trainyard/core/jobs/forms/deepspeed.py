"""The spec of DeepSpeed's configuration."""

from typing import Any

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import FilePath

_MOST = 2**31


class DeepSpeed(SpecModel):
    """The configuration of DeepSpeed, which becomes a file of the job.

    ZeRO's stage, offloading and precision are those of ``model``; of the three sizes of a batch, those that are left
    out follow from the others and the ranks.
    """

    path: FilePath = Field(
        "/etc/deepspeed/config.json",
        description="Where the file appears; the command names it, as `--deepspeed_config` or `--deepspeed`.",
        examples=["/etc/deepspeed/config.json"],
    )
    train_batch_size: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="The samples of one step of the optimizer, of all ranks together.",
        examples=[512],
    )
    micro_batch_size: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="The samples that one rank takes forward and backward at once "
        "(`train_micro_batch_size_per_gpu`).",
        examples=[4],
    )
    gradient_accumulation_steps: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="How often a rank goes forward and backward before one step of the optimizer.",
        examples=[8],
    )
    config: dict[str, Any] = Field(
        {},
        description="What else the configuration has, by DeepSpeed's own keys; `auto` is left to the program.",
        examples=[{"gradient_clipping": 1.0}],
    )
