"""Alerts of EFA: links, retransmits, errors."""

from __future__ import annotations

from trainyard.eks.health.alert import CRITICAL, WARNING, Alert

_ON = "{{ $labels.device }} of {{ $labels.node }}"
_BY = "by (node, device)"
_WATCH = (
    "Compare in Prometheus with the other interfaces of the node and with the job's other nodes: "
    "`rate(node_amazonefa_tx_bytes[5m])`, `rate(node_amazonefa_rx_bytes[5m])` and the counter of this alert."
)


def alerts(replace: tuple[str, ...]) -> tuple[Alert, ...]:
    """The alerts. ``replace``: how people replace a node."""
    return (_link_down(replace), *_OF_COUNTERS)


def _link_down(replace: tuple[str, ...]) -> Alert:
    return Alert(
        name="EfaLinkDown",
        expr=f"min {_BY} (node_amazonefa_link_up) == 0",
        wait="2m",
        severity=CRITICAL,
        summary=f"{_ON} has no link",
        means="The port is not active: NCCL falls back to fewer interfaces, or the job ends.",
        steps=(*replace, "Tell AWS support the instance id if it happens again on a new instance."),
    )


_OF_COUNTERS = (
    Alert(
        name="EfaRetransmits",
        expr=(
            f"sum {_BY} (rate(node_amazonefa_retrans_bytes[5m]))"
            f" / sum {_BY} (rate(node_amazonefa_tx_bytes[5m])) > 0.01"
        ),
        wait="10m",
        severity=WARNING,
        summary=f"{_ON} sends {{{{ $value | humanizePercentage }}}} of its bytes again",
        means="Packets are lost on the way. Collectives take longer, and all ranks wait.",
        steps=(
            _WATCH,
            "`rate(node_amazonefa_retrans_pkts[5m])` says how many packets that are.",
            "One node alone: replace it. All nodes: see whether they are in one placement group or network node.",
        ),
    ),
    Alert(
        name="EfaPathTimeouts",
        expr=f"sum {_BY} (increase(node_amazonefa_retrans_timeout_events[15m])) > 10",
        severity=WARNING,
        summary=f"{_ON} changed its network paths {{{{ $value }}}} times in 15 minutes",
        means="Traffic reached its timeout and took another path: a path is broken or overloaded.",
        steps=(_WATCH,),
    ),
    Alert(
        name="EfaDrops",
        expr=f"sum {_BY} (increase(node_amazonefa_rx_drops[15m])) > 0",
        severity=WARNING,
        summary=f"{_ON} dropped packets on arrival",
        means="The program has not posted enough buffers, or the host is too slow to take packets.",
        steps=(
            _WATCH,
            "See whether the node's CPUs are busy: `1 - avg by (node) (rate(node_cpu_seconds_total[5m]))`.",
        ),
    ),
    Alert(
        name="EfaRdmaErrors",
        expr=(
            f"sum {_BY} (increase(node_amazonefa_rdma_read_wr_err[15m])"
            " + increase(node_amazonefa_rdma_write_wr_err[15m])) > 0"
        ),
        severity=WARNING,
        summary=f"RDMA over {_ON} failed {{{{ $value }}}} times in 15 minutes",
        means="Reads or writes ended with an error. NCCL then reports one for the whole communicator.",
        steps=(
            "Look for `NET/OFI` in the logs of the job's ranks on this node.",
            "`rate(node_amazonefa_rdma_read_bytes[5m])` and `rate(node_amazonefa_rdma_write_bytes[5m])` say which of "
            "the two the job uses.",
            _WATCH,
        ),
    ),
    Alert(
        name="EfaPeerUnresponsive",
        expr=(
            f"sum {_BY} (increase(node_amazonefa_unresponsive_remote_events[15m])"
            " + increase(node_amazonefa_impaired_remote_conn_events[15m])) > 0"
        ),
        severity=WARNING,
        summary=f"{_ON} has peers that do not answer, or only slowly",
        means="The other end of a connection is gone or slow. The node that does not answer is the one to look at.",
        steps=(
            "Find the node of the same job without this alert: the others complain of it.",
            "See whether it is ready (`kubectl get node NODE`), and whether its ranks run (`kubectl get pods "
            "-o wide`).",
        ),
    ),
)
