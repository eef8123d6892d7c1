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

TEXT: Raw = {"type": "string"}
FLAG: Raw = {"type": "boolean"}
_TAGS: Raw = {"type": "object", "additionalProperties": TEXT}


def object_schema(required: tuple[str, ...] = (), /, **properties: Raw) -> Raw:
    """The schema of a mapping with these fields."""
    schema: Raw = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def list_schema(item: Raw) -> Raw:
    """The schema of a list of one kind of items."""
    return {"type": "array", "items": item}


def definition(group: str, kind: str, scope: str, spec: Raw) -> Raw:
    """A CustomResourceDefinition with one version, `v1`, of a kind with this ``spec``."""
    return {
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": group,
            "names": {"kind": kind},
            "scope": scope,
            "versions": [
                {
                    "name": "v1",
                    "schema": {"openAPIV3Schema": object_schema(metadata={}, spec=spec)},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


def _between(least: int, most: int) -> Raw:
    return {"type": "integer", "minimum": least, "maximum": most}


def _one_of(*values: str) -> Raw:
    return {"type": "string", "enum": list(values)}


_BY_ID_OR_TAGS = list_schema(object_schema(id=TEXT, tags=_TAGS))
_INTERFACE = object_schema(
    ("networkCardIndex", "deviceIndex", "interfaceType"),
    networkCardIndex={"type": "integer", "minimum": 0},
    deviceIndex={"type": "integer", "minimum": 0},
    interfaceType=_one_of("interface", "efa-only"),
    secondaryIPv4Count={"type": "integer", "minimum": 0},
    secondaryIPv4PrefixCount={"type": "integer", "minimum": 0},
)
_SPEC = object_schema(
    role=TEXT,
    instanceProfile=TEXT,
    subnetSelectorTerms=_BY_ID_OR_TAGS,
    securityGroupSelectorTerms=list_schema(object_schema(id=TEXT, name=TEXT, tags=_TAGS)),
    podSubnetSelectorTerms=_BY_ID_OR_TAGS,
    podSecurityGroupSelectorTerms=list_schema(object_schema(id=TEXT, name=TEXT, tags=_TAGS)),
    capacityReservationSelectorTerms=list_schema(
        object_schema(
            id=TEXT,
            owner=TEXT,
            tags=_TAGS,
            # as Karpenter's documentation calls it, to which ml-node-pools (commit 80436be5) leads for it
            instanceMatchCriteria=_one_of("open", "targeted"),
        )
    ),
    placementGroupSelector=object_schema(id=TEXT, name=TEXT),
    snatPolicy=_one_of("Random", "Disabled"),
    networkPolicy=_one_of("DefaultAllow", "DefaultDeny"),
    networkPolicyEventLogs=_one_of("Disabled", "Enabled"),
    ephemeralStorage=object_schema(
        size=TEXT, iops=_between(3000, 16000), throughput=_between(125, 1000), kmsKeyID=TEXT
    ),
    advancedNetworking=object_schema(
        associatePublicIPAddress=FLAG,
        enableV4Egress=FLAG,
        httpsProxy={"type": "string", "maxLength": 255},
        noProxy={**list_schema({"type": "string", "maxLength": 255}), "maxItems": 50},
        ipv4PrefixSize=_one_of("Auto", "32"),
        networkInterfaces=list_schema(_INTERFACE),
    ),
    advancedSecurity=object_schema(fips=FLAG, kernelLockdown=TEXT),
    certificateBundles=list_schema(object_schema(name=TEXT, data=TEXT)),
    tags=_TAGS,
)

NODE_CLASS = definition("eks.amazonaws.com", "NodeClass", "Cluster", _SPEC)
