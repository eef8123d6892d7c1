"""What stands beside jobs in third-party folders: autoscalers, ingresses and drivers of volumes.

Source of each refusal: pkg/apis/{autoscaling,networking,storage}/validation and the fields of k8s.io/api v0.36.
"""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.language.places import Route
from trainyard.verify import validate_body

from verify.conftest import edited

AUTOSCALER: dict[str, Any] = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "serve", "namespace": "team-a"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "serve"},
        "minReplicas": 1,
        "maxReplicas": 4,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 70},
                },
            }
        ],
        "behavior": {
            "scaleDown": {
                "stabilizationWindowSeconds": 300,
                "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}],
            }
        },
    },
}
INGRESS: dict[str, Any] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "serve", "namespace": "team-a"},
    "spec": {
        "ingressClassName": "alb",
        "rules": [
            {
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "serve", "port": {"number": 80}}},
                        }
                    ]
                }
            }
        ],
    },
}
INGRESS_CLASS: dict[str, Any] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "IngressClass",
    "metadata": {"name": "alb"},
    "spec": {"controller": "eks.amazonaws.com/alb"},
}
DRIVER: dict[str, Any] = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": "efs.csi.aws.com"},
    "spec": {
        "attachRequired": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
    },
}
METRIC = "spec/metrics/0"
RULES = "spec/behavior/scaleDown"
PATHS = "spec/rules/0/http/paths"

WRONG: list[tuple[dict[str, Any], str, Any, str, str]] = [
    (AUTOSCALER, "spec/maxReplica", 3, "SCH001", "spec.maxReplica"),
    (AUTOSCALER, "spec/maxReplicas", None, "SCH003", "spec.maxReplicas"),
    (AUTOSCALER, "spec/maxReplicas", 0, "SCH005", "spec.maxReplicas"),
    (AUTOSCALER, "spec/scaleTargetRef/name", "", "SCH005", "spec.scaleTargetRef.name"),
    (AUTOSCALER, f"{METRIC}/type", "resource", "SCH004", "spec.metrics[0].type"),
    (
        AUTOSCALER,
        f"{METRIC}/resource/target/type",
        "Average",
        "SCH004",
        "spec.metrics[0].resource.target.type",
    ),
    (
        AUTOSCALER,
        f"{RULES}/stabilizationWindowSeconds",
        3601,
        "SCH005",
        "spec.behavior.scaleDown.stabilizationWindowSeconds",
    ),
    (
        AUTOSCALER,
        f"{RULES}/policies/0/periodSeconds",
        1801,
        "SCH005",
        "spec.behavior.scaleDown.policies[0].periodSeconds",
    ),
    (INGRESS, f"{PATHS}/0/pathType", "prefix", "SCH004", "spec.rules[0].http.paths[0].pathType"),
    (INGRESS, f"{PATHS}/0/pathType", None, "SCH003", "spec.rules[0].http.paths[0].pathType"),
    (INGRESS, PATHS, [], "SCH005", "spec.rules[0].http.paths"),
    (INGRESS_CLASS, "metadata/namespace", "team-a", "NAM007", "metadata.namespace"),
    (DRIVER, "spec/fsGroupPolicy", "Files", "SCH004", "spec.fsGroupPolicy"),
    (DRIVER, "spec/volumeLifecycleModes", ["persistent"], "SCH004", "spec.volumeLifecycleModes[0]"),
]


@pytest.mark.parametrize("body", [AUTOSCALER, INGRESS, INGRESS_CLASS, DRIVER])
def test_a_sound_object_has_no_fault(body: dict[str, Any]) -> None:
    assert validate_body(body) == []


@pytest.mark.parametrize(("body", "where", "value", "code", "path"), WRONG)
def test_what_the_server_refuses_is_found_at_its_place(
    body: dict[str, Any], where: str, value: Any, code: str, path: str
) -> None:
    (fault,) = validate_body(edited(body, (where, value)))
    assert (fault.code, str(Route(fault.path))) == (code, path)
