"""Alerts of GPUs: heat, power, Xids, memory, NVLink."""

from __future__ import annotations

from trainyard.catalog.xid import XidTable
from trainyard.eks.health.alert import CRITICAL, INFO, WARNING, Alert

_ON = "GPU {{ $labels.gpu }} of {{ $labels.node }}"
_BY = "max by (node, gpu)"
_CATALOG = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"
_ACTIONS = {
    "RESET_GPU": "the GPU must be reset: drain the node, then reboot it (`aws ec2 reboot-instances`)",
    "RESTART_VM": "the instance must be restarted: drain the node, then reboot it",
    "RESTART_BM": "the GPU has fallen off the bus: stop using the node, and let AWS exchange it",
    "WORKFLOW": (
        "diagnose first: `dcgmi diag -r 3` on the drained node; a test that fails means that the node is "
        "exchanged"
    ),
    "CHECK_MECHANICALS": "a power cable or connector: only AWS can look, so exchange the node",
    "CONTACT_SUPPORT": "open a case at AWS with the output of `nvidia-bug-report.sh`, and exchange the node",
    "IGNORE": "NVIDIA asks for nothing at once, and others count it as fatal: look at the log of the driver "
    "before the node goes",
}
"""What each immediate action of NVIDIA's Xid catalog means on an instance of EC2 (NVIDIA, Xid Errors, Analyzing Xid
Errors with the Xid Catalog)."""


_ASKS = {
    "RESET_GPU": "the GPU must be reset",
    "RESTART_VM": "the instance must be restarted",
    "RESTART_BM": "the GPU has fallen off the bus",
    "WORKFLOW": "the node must be diagnosed",
    "CHECK_MECHANICALS": "the hardware is broken",
    "CONTACT_SUPPORT": "a case at AWS is needed",
    "IGNORE": "it counts as fatal, though NVIDIA asks for nothing at once",
}
"""The same in the words of a summary."""


def _asked(xids: XidTable) -> str:
    """A template of Prometheus: what an Xid asks for, by the label."""
    fatal = xids.fatal()
    text = ""
    for action, words in _ASKS.items():
        codes = [str(code) for code in fatal if xids.action(code) == action]
        if codes:
            text += f'{{{{ if match "^({"|".join(codes)})$" $labels.xid }}}}{words}{{{{ end }}}}'
    return text


def xid_steps(xids: XidTable) -> tuple[str, ...]:
    """A step for each action that NVIDIA's catalog asks for, with the Xids that do."""
    fatal = set(xids.fatal())
    listed = xids.lists["nvidia"].actions
    steps = []
    for action, meaning in _ACTIONS.items():
        codes = sorted(fatal.intersection(listed.get(action, ())))
        if codes:
            steps.append(f"Xid {', '.join(map(str, codes))} (`{action}`): {meaning}.")
    return tuple(steps)


def alerts(xids: XidTable, replace: tuple[str, ...]) -> tuple[Alert, ...]:
    """The alerts; ``xids`` says which of them mean broken hardware, and what to do at each. ``replace``: how people
    replace a node."""
    codes = "|".join(map(str, xids.fatal()))
    return (
        Alert(
            name="GpuXidFatal",
            expr=f'max by (node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{{xid=~"{codes}"}}) > 0',
            severity=CRITICAL,
            summary=f"{_ON} reported Xid {{{{ $labels.xid }}}}: {_asked(xids)}",
            means="The driver logged an Xid that asks for an action on the node. A gang with this GPU stops "
            "or hangs.",
            steps=(
                *xid_steps(xids),
                f"What an Xid means in words is in NVIDIA's [Xid catalog]({_CATALOG}).",
                *replace,
            ),
        ),
        Alert(
            name="GpuXid",
            # Without an Xid in its window the exporter has 0, or a sample without the label.
            expr=f'max by (node, gpu, xid) (DCGM_EXP_XID_ERRORS_COUNT{{xid!~"0?|{codes}"}}) > 0',
            severity=INFO,
            summary=f"{_ON} reported Xid {{{{ $labels.xid }}}}",
            means="An Xid that a program may cause (13, 31, 43 …), or one that asks for no action on the node.",
            steps=(
                "Look at the log of the job's rank on this GPU: an access out of bounds is the usual cause.",
                "The same Xid under different jobs on one GPU is no program's fault: cordon the node.",
            ),
        ),
        Alert(
            name="GpuThermalThrottling",
            expr=(
                f'{_BY} (DCGM_EXP_CLOCK_EVENTS_COUNT{{clock_event=~"sw_thermal|hw_thermal|hw_slowdown"}}) > 0'
            ),
            wait="10m",
            severity=WARNING,
            summary=f"{_ON} lowers its clocks because of heat: its gang waits for it",
            means="One slow GPU slows every rank, since each step ends with a collective over all of them.",
            steps=(
                "Compare `DCGM_FI_DEV_GPU_TEMP` in Prometheus with the other GPUs of the node and of the job.",
                "One GPU alone: replace its node. All of a node: the same. All of a rack: tell AWS support.",
            ),
        ),
        Alert(
            name="GpuPowerBrake",
            expr=f'{_BY} (DCGM_EXP_CLOCK_EVENTS_COUNT{{clock_event="hw_power_brake"}}) > 0',
            wait="5m",
            severity=WARNING,
            summary=f"{_ON} lowers its clocks because its power supply asks for it",
            means="The power brake is a signal of the host. Reaching the power limit itself (power_cap) is normal.",
            steps=("Replace the node: the fault is outside of the GPU.", *replace),
        ),
        Alert(
            name="GpuHot",
            expr=f"{_BY} (DCGM_FI_DEV_GPU_TEMP) > 80",
            wait="10m",
            severity=WARNING,
            summary=f"{_ON} has {{{{ $value }}}} °C",
            means="Above 80 °C a GPU is close to lowering its clocks, which is at some 85 to 90 °C.",
            steps=("See whether GpuThermalThrottling fires too; if not, nothing is slower yet.",),
        ),
        Alert(
            name="GpuMemoryError",
            expr=f"{_BY} (increase(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[15m])) > 0",
            severity=CRITICAL,
            summary=f"{_ON} had a double-bit error in its memory",
            means="An error that ECC cannot correct: the program that read it was killed (Xid 48, 94, 95).",
            steps=("The GPU must be reset before it computes again.", *replace),
        ),
        Alert(
            name="GpuRowRemapPending",
            expr=f"{_BY} (DCGM_FI_DEV_ROW_REMAP_PENDING) > 0",
            wait="5m",
            severity=WARNING,
            summary=f"{_ON} waits for a reset to remap a row of its memory",
            means="A row is marked as bad and still in use: it is exchanged when the GPU is reset.",
            steps=("Replace or reboot the node after the job's next checkpoint.", *replace),
        ),
        Alert(
            name="GpuRowRemapFailed",
            expr=f"{_BY} (DCGM_FI_DEV_ROW_REMAP_FAILURE) > 0",
            severity=CRITICAL,
            summary=f"{_ON} has no spare row left for its memory",
            means="The memory has no redundancy any more: NVIDIA asks to exchange the GPU.",
            steps=replace,
        ),
        Alert(
            name="GpuNvlinkErrors",
            expr=(
                f"{_BY} (increase(DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL[15m]) > 0"
                " or increase(DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL[15m]) > 0"
                " or increase(DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL[15m]) > 100)"
            ),
            severity=WARNING,
            summary=f"{_ON} has errors on NVLink",
            means="NVLink sends again what was damaged. A link that fails ends the job with Xid 74.",
            steps=(
                "Few and once: watch it. Growing: replace the node after the next checkpoint.",
                *replace,
            ),
        ),
    )
