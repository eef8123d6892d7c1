"""Kinds without a published CustomResourceDefinition, as their documentation defines them.

The NodeClass of EKS Auto Mode: EKS user guide (github.com/awsdocs/amazon-eks-user-guide), pages create-node-class
(commit 0026c9df: fields, ranges), auto-odcr (commit 4f3d5005: ``owner``), device-management-efa (commit 43d79bdb:
``networkInterfaces``, ``placementGroupSelector``), auto-advanced-security (commit 7a9d43b9) and the release notes,
auto-change, up to 2026-08-12 (``instanceProfile``, ``podSubnetSelectorTerms``, ``associatePublicIPAddress``,
``ipv4PrefixSize``, ``enableV4Egress``). Read 2026-11. What the pages do not state is not bounded here.
"""

from __future__ import annotations

from typing import Any

Raw = dict[str, Any]

PROJECT, RELEASE = "eks-auto-mode", "v1"
SOURCE = (
    "EKS user guide: create-node-class, auto-odcr, device-management-efa, auto-advanced-security, "
    "auto-change up to 2026-08-12; read 2026-11-22"
)

_TEXT: Raw = {"type": "string"}
_FLAG: Raw = {"type": "boolean"}
_TAGS: Raw = {"type": "object", "additionalProperties": _TEXT}


def _object(required: tuple[str, ...] = (), **properties: Raw) -> Raw:
    schema: Raw = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def _list(item: Raw) -> Raw:
    return {"type": "array", "items": item}


def _between(least: int, most: int) -> Raw:
    return {"type": "integer", "minimum": least, "maximum": most}


def _one_of(*values: str) -> Raw:
    return {"type": "string", "enum": list(values)}


_BY_ID_OR_TAGS = _list(_object(id=_TEXT, tags=_TAGS))
_INTERFACE = _object(
    ("networkCardIndex", "deviceIndex", "interfaceType"),
    networkCardIndex={"type": "integer", "minimum": 0},
    deviceIndex={"type": "integer", "minimum": 0},
    interfaceType=_one_of("interface", "efa-only"),
    secondaryIPv4Count={"type": "integer", "minimum": 0},
    secondaryIPv4PrefixCount={"type": "integer", "minimum": 0},
)
_SPEC = _object(
    role=_TEXT,
    instanceProfile=_TEXT,
    subnetSelectorTerms=_BY_ID_OR_TAGS,
    securityGroupSelectorTerms=_list(_object(id=_TEXT, name=_TEXT, tags=_TAGS)),
    podSubnetSelectorTerms=_BY_ID_OR_TAGS,
    podSecurityGroupSelectorTerms=_list(_object(id=_TEXT, name=_TEXT, tags=_TAGS)),
    capacityReservationSelectorTerms=_list(
        _object(
            id=_TEXT,
            owner=_TEXT,
            tags=_TAGS,
            # as Karpenter's documentation calls it, to which ml-node-pools (commit 80436be5) leads for it
            instanceMatchCriteria=_one_of("open", "targeted"),
        )
    ),
    placementGroupSelector=_object(id=_TEXT, name=_TEXT),
    snatPolicy=_one_of("Random", "Disabled"),
    networkPolicy=_one_of("DefaultAllow", "DefaultDeny"),
    networkPolicyEventLogs=_one_of("Disabled", "Enabled"),
    ephemeralStorage=_object(
        size=_TEXT, iops=_between(3000, 16000), throughput=_between(125, 1000), kmsKeyID=_TEXT
    ),
    advancedNetworking=_object(
        associatePublicIPAddress=_FLAG,
        enableV4Egress=_FLAG,
        httpsProxy={"type": "string", "maxLength": 255},
        noProxy={**_list({"type": "string", "maxLength": 255}), "maxItems": 50},
        ipv4PrefixSize=_one_of("Auto", "32"),
        networkInterfaces=_list(_INTERFACE),
    ),
    advancedSecurity=_object(fips=_FLAG, kernelLockdown=_TEXT),
    certificateBundles=_list(_object(name=_TEXT, data=_TEXT)),
    tags=_TAGS,
)

NODE_CLASS: Raw = {
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "eks.amazonaws.com",
        "names": {"kind": "NodeClass"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1",
                "schema": {"openAPIV3Schema": _object(metadata={}, spec=_SPEC)},
                "subresources": {"status": {}},
            }
        ],
    },
}
