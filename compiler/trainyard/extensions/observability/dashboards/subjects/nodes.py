"""Which nodes there are, which are sick, and what they have left."""

from __future__ import annotations

from trainyard.eks.health.watch import NodeWatch
from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import (
    COUNT,
    RATE,
    SHARE,
    choice,
    graph,
    number,
    rows,
)
from trainyard.extensions.observability.monitoring.alerts.nodes import FILE_SYSTEMS

_NODE = '{node=~"$node"}'
_OF_NODE = "{{node}}"
_READY = 'kube_node_status_condition{condition="Ready",status="true"}'
_DISKS = f'{{node=~"$node",{FILE_SYSTEMS}}}'
_FREE = f"node_filesystem_avail_bytes{_DISKS} / node_filesystem_size_bytes{_DISKS}"
_MEMORY = f"node_memory_MemAvailable_bytes{_NODE} / node_memory_MemTotal_bytes{_NODE}"
_IDLE = 'node_cpu_seconds_total{mode="idle",node=~"$node"}'
_TYPE = "label_node_kubernetes_io_instance_type"


def page(watch: NodeWatch) -> Page:
    """``watch``: what watches the nodes."""
    sick = watch.sick
    return Page(
        "nodes",
        "Nodes",
        (choice("node", "kube_node_labels", several=True),),
        rows(
            {
                "Health": [
                    number("Nodes", COUNT, "count(kube_node_labels)"),
                    number("Not ready", COUNT, f"sum(max by (node) ({_READY}) == bool 0)"),
                    number("Sick", COUNT, f"count(max by (node) ({sick.query})) or vector(0)"),
                    number(
                        "Alerts that fire", COUNT, 'count(ALERTS{alertstate="firing"}) or vector(0)'
                    ),
                    graph(
                        "Nodes by type",
                        COUNT,
                        f"count by ({_TYPE}) (kube_node_labels)",
                        f"{{{{{_TYPE}}}}}",
                    ),
                    graph(sick.title, COUNT, sick.query, sick.legend, about=sick.about),
                    graph(
                        "Alerts by severity",
                        COUNT,
                        'count by (alertname, severity) (ALERTS{alertstate="firing"})',
                        "{{severity}} {{alertname}}",
                    ),
                ],
                "Room": [
                    graph(
                        "CPUs that are busy",
                        SHARE,
                        f"1 - avg by (node) (rate({_IDLE}[{RATE}]))",
                        _OF_NODE,
                    ),
                    graph("Memory that is used", SHARE, f"1 - min by (node) ({_MEMORY})", _OF_NODE),
                    graph(
                        "Disks: what is free",
                        SHARE,
                        f"min by (node, mountpoint) ({_FREE})",
                        "{{node}} {{mountpoint}}",
                        about="The kubelet removes images at 15 %, and evicts pods at 10 %.",
                    ),
                    graph(
                        "Programs killed for memory",
                        COUNT,
                        f"max by (node) (increase(node_vmstat_oom_kill{_NODE}[{RATE}]))",
                        _OF_NODE,
                    ),
                ],
            }
        ),
    )
