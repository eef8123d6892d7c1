"""What GPUs do, how warm they are, and what breaks."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import (
    CELSIUS,
    COUNT,
    PERCENT,
    RATE,
    SHARE,
    WATTS,
    choice,
    graph,
    number,
    rows,
)
from trainyard.extensions.observability.monitoring.alerts.records import GPU_UTIL

_NODE = '{node=~"$node"}'
_OF_NODE = "{{node}}"
_OF_GPU = "{{node}} {{gpu}}"
_USED, _FREE = f"DCGM_FI_DEV_FB_USED{_NODE}", f"DCGM_FI_DEV_FB_FREE{_NODE}"
_NVLINK = ("CRC_FLIT", "REPLAY", "RECOVERY")


def _nvlink(error: str) -> str:
    counter = f"DCGM_FI_DEV_NVLINK_{error}_ERROR_COUNT_TOTAL{_NODE}"
    return f"sum by (node) (rate({counter}[{RATE}]))"


PAGE = Page(
    "gpus",
    "GPUs",
    (choice("node", "DCGM_FI_DEV_GPU_UTIL", several=True),),
    rows(
        {
            "Work": [
                number("GPUs", COUNT, f"count(DCGM_FI_DEV_GPU_UTIL{_NODE})"),
                number("GPUs that jobs have", COUNT, f"count({GPU_UTIL}{_NODE})"),
                number("Busy on average", PERCENT, f"avg(DCGM_FI_DEV_GPU_UTIL{_NODE})"),
                number("Power", WATTS, f"sum(DCGM_FI_DEV_POWER_USAGE{_NODE})"),
                graph(
                    "Time in which a kernel ran",
                    PERCENT,
                    f"avg by (node) (DCGM_FI_DEV_GPU_UTIL{_NODE})",
                    _OF_NODE,
                    about="A kernel that waits in a collective counts: see the tensor cores beside it.",
                ),
                graph(
                    "Cycles with active tensor cores",
                    SHARE,
                    f"avg by (node) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{_NODE})",
                    _OF_NODE,
                ),
                graph(
                    "Cycles with active memory",
                    SHARE,
                    f"avg by (node) (DCGM_FI_PROF_DRAM_ACTIVE{_NODE})",
                    _OF_NODE,
                ),
                graph(
                    "Memory that is used",
                    SHARE,
                    f"max by (node) ({_USED} / ({_USED} + {_FREE}))",
                    _OF_NODE,
                    about="Of the fullest GPU of each node.",
                ),
            ],
            "Heat and power": [
                graph(
                    "Temperature of the warmest GPU",
                    CELSIUS,
                    f"max by (node) (DCGM_FI_DEV_GPU_TEMP{_NODE})",
                    _OF_NODE,
                ),
                graph(
                    "Power of a node's GPUs",
                    WATTS,
                    f"sum by (node) (DCGM_FI_DEV_POWER_USAGE{_NODE})",
                    _OF_NODE,
                ),
                graph(
                    "Reasons for lower clocks",
                    COUNT,
                    f"sum by (node, clock_event) (DCGM_EXP_CLOCK_EVENTS_COUNT{_NODE})",
                    "{{node}} {{clock_event}}",
                    about="Samples of the last five minutes in which a reason held.",
                ),
            ],
            "Faults": [
                graph(
                    "Xids",
                    COUNT,
                    f"sum by (node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{_NODE}) > 0",
                    f"{_OF_GPU}: {{{{xid}}}}",
                    about="In the last five minutes. docs/runbooks.md says what each of them means.",
                ),
                graph(
                    "Errors of NVLink a second",
                    COUNT,
                    {f"{_OF_NODE} {error.lower()}": _nvlink(error) for error in _NVLINK},
                ),
                graph(
                    "Double-bit errors of memory",
                    COUNT,
                    f"sum by (node, gpu) (DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{_NODE}) > 0",
                    _OF_GPU,
                ),
                graph(
                    "Rows of memory to remap",
                    COUNT,
                    {
                        f"{_OF_GPU} waits for a reset": f"DCGM_FI_DEV_ROW_REMAP_PENDING{_NODE} > 0",
                        f"{_OF_GPU} failed": f"DCGM_FI_DEV_ROW_REMAP_FAILURE{_NODE} > 0",
                    },
                ),
            ],
        }
    ),
)
