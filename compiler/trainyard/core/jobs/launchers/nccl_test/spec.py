"""The spec of the launcher ``ncclTest``: the network's acceptance test."""

from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field


class NcclTest(SpecModel):
    """An acceptance test of EFA: `fi_info`, then NCCL's all-reduce, which fails below a share of what is expected.

    Image and command are derived; the image may be another one with Open MPI, EFA and nccl-tests.
    """

    bus_bandwidth: float | None = Field(
        None,
        gt=0,
        le=2000,
        description="The bus bandwidth in GB/s to expect of the largest message; derived: what was measured, or the "
        "network's rate.",
        examples=[480],
        bound="above 0, at most 2000 GB/s, more than NVLink of any GPU carries; needed where no bandwidth is "
        "known",
        source="nccl-tests, doc/PERFORMANCE.md; NVIDIA, NVLink: 1.8 TB/s of a GPU",
        codes=("RES133",),
    )
    share: float = Field(
        0.75,
        gt=0,
        le=1,
        description="The share of the expected bandwidth below which the job fails.",
        examples=[0.9],
        bound="above 0, at most 1",
        source="a share",
    )
