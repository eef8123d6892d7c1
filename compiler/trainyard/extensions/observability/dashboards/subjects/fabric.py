"""What EFA carries, and what it carries twice."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import (
    BYTES_A_SECOND,
    COUNT,
    RATE,
    choice,
    graph,
    number,
    rows,
)

_NODE = '{node=~"$node"}'
_OF_NODE = "{{node}}"


def _rate(counter: str) -> str:
    return f"sum by (node) (rate(node_amazonefa_{counter}{_NODE}[{RATE}]))"


PAGE = Page(
    "efa",
    "EFA",
    (choice("node", "node_amazonefa_link_up", several=True),),
    rows(
        {
            "Traffic": [
                number("Interfaces that are up", COUNT, f"sum(node_amazonefa_link_up{_NODE})"),
                number(
                    "Interfaces that are down",
                    COUNT,
                    f"sum(node_amazonefa_link_up{_NODE} == bool 0)",
                ),
                graph("Received", BYTES_A_SECOND, _rate("rx_bytes"), _OF_NODE),
                graph("Sent", BYTES_A_SECOND, _rate("tx_bytes"), _OF_NODE),
                graph("Read by RDMA", BYTES_A_SECOND, _rate("rdma_read_bytes"), _OF_NODE),
                graph("Written by RDMA", BYTES_A_SECOND, _rate("rdma_write_bytes"), _OF_NODE),
            ],
            "Faults": [
                graph(
                    "Sent again",
                    BYTES_A_SECOND,
                    _rate("retrans_bytes"),
                    _OF_NODE,
                    about="A path that loses packets: a node far above all others has a sick interface.",
                ),
                graph("Packets sent again a second", COUNT, _rate("retrans_pkts"), _OF_NODE),
                graph("Packets dropped on arrival a second", COUNT, _rate("rx_drops"), _OF_NODE),
                graph(
                    "RDMA that failed, a second",
                    COUNT,
                    {
                        f"{_OF_NODE} reads": _rate("rdma_read_wr_err"),
                        f"{_OF_NODE} writes": _rate("rdma_write_wr_err"),
                    },
                ),
                graph(
                    "Connections in trouble, a second",
                    COUNT,
                    {
                        f"{_OF_NODE} changed their path": _rate("retrans_timeout_events"),
                        f"{_OF_NODE} were slowed": _rate("impaired_remote_conn_events"),
                        f"{_OF_NODE} had no answer": _rate("unresponsive_remote_events"),
                    },
                ),
            ],
        }
    ),
)
