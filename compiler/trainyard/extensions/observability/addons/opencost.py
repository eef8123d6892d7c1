"""OpenCost, which divides what nodes and volumes cost among pods, by prices that Trainyard knows.

Its own prices are AWS' public list, which has none of Capacity Blocks, and which it would ask for over the Internet. It
makes metrics of kube-state-metrics a second time, by which alerts that count nodes would count twice: just those are
kept that its own queries name.
"""

from __future__ import annotations

from typing import Any

from trainyard.eks.addons.addon import OURS, AddOn, Controller, Setting
from trainyard.extensions.observability.monitoring.names import (
    OPENCOST,
    RELEASE,
    STACK,
    monitoring_of,
    namespace,
    prices_pods,
    readers,
)
from trainyard.extensions.observability.opencost.names import FILE, PRICES, STAGE
from trainyard.extensions.observability.opencost.names import key_route as opencost
from trainyard.extensions.observability.released_exporters import kept
from trainyard.output.lowering.body import resources

_FOLDER = "/var/opencost-prices"
_CPU, _MEMORY = 100, 512
_UI_CPU, _UI_MEMORY = 10, 64


def values(setting: Setting) -> dict[str, Any]:
    """opencost 2.5.17 chart values (OpenCost 1.120.1)."""
    context = setting.context
    keep = {
        "action": "keep",
        "sourceLabels": ["__name__"],
        "regex": kept(OPENCOST, readers=readers(context)),
    }
    return {
        "fullnameOverride": OPENCOST,
        "opencost": {
            "exporter": {
                "defaultClusterId": context.name,
                "resources": resources(_CPU, _MEMORY),
                "extraEnv": {"USE_CSV_PROVIDER": "true", "CSV_PATH": f"{_FOLDER}/{FILE}"},
                "extraVolumeMounts": [{"name": "prices", "mountPath": _FOLDER, "readOnly": True}],
            },
            # A server for AI agents, without a password.
            "mcp": {"enabled": False},
            "metrics": {
                # What kube-state-metrics 2 has no more, and OpenCost's queries name.
                "kubeStateMetrics": {"emitKsmV1Metrics": False, "emitKsmV1MetricsOnly": True},
                "serviceMonitor": {
                    "enabled": True,
                    "additionalLabels": RELEASE,
                    "scrapeInterval": str(monitoring_of(context).interval),
                    "metricRelabelings": [keep],
                },
            },
            "prometheus": {
                "internal": {
                    "serviceName": "prometheus-prometheus",
                    "namespaceName": namespace(context),
                    "port": 9090,
                }
            },
            "ui": {"resources": resources(_UI_CPU, _UI_MEMORY)},
        },
        "extraVolumes": [{"name": "prices", "configMap": {"name": PRICES}}],
    }


ADD_ON = AddOn(
    component=OPENCOST,
    wanted=prices_pods,
    at=opencost(),
    values=values,
    # Its chart has a ServiceMonitor, whose CRD the stack brings.
    after=(STACK,),
    stage=STAGE,
    controllers=(Controller(OPENCOST, 1, _CPU + _UI_CPU, _MEMORY + _UI_MEMORY, OURS),),
)
