"""The resources of a template as plan items. What a function fills in is unknown; `Ref` and `Fn::GetAtt` give names."""

from __future__ import annotations

from trainyard.catalog import type_regions
from trainyard.core.cloud.plan import CloudResource, LimitedResource
from trainyard.core.launch.plan import LaunchTemplate
from trainyard.language.places import Route
from trainyard.lift.cloud_property import Property
from trainyard.lift.cloud_resources import read
from trainyard.lift.reader import Reader
from trainyard.output.artifact import Artifact
from trainyard.verify.formats.cloudformation.values import TemplateProperty

_RULES = {
    "AWS::EC2::SecurityGroupIngress": "SecurityGroupIngress",
    "AWS::EC2::SecurityGroupEgress": "SecurityGroupEgress",
}
"""The types of rules that stand alone, and the property of a group that has such rules too."""


def nodes(artifact: Artifact) -> list[CloudResource | LaunchTemplate]:
    """The resources of a template whose type is read."""
    template = Reader(artifact.body, Route((artifact.id,)))
    resources = template / "Resources"
    rules = _rules_alone(resources)
    found: list[tuple[str, Property]] = []
    limited: list[CloudResource] = []
    for name, resource in resources.entries():
        kind = resource / "Type"
        found.append(
            (kind.word(), TemplateProperty(resource / "Properties", name, rules.get(name)))
        )
        if type_regions.without(kind.word()):
            region = _region(template, resources)
            limited.append(
                LimitedResource(at=kind.at, logical=name, kind=kind.word(), region=region)
            )
    return [*limited, *read(found)]


def _rules_alone(resources: Reader) -> dict[str, dict[str, list[Property]]]:
    """By the group that they name, the rules that are resources of their own."""
    rules: dict[str, dict[str, list[Property]]] = {}
    for name, resource in resources.entries():
        kind = (resource / "Type").word()
        if kind in _RULES:
            rule = TemplateProperty(resource / "Properties", name)
            of_group = rules.setdefault((rule / "GroupId").name() or "", {})
            of_group.setdefault(_RULES[kind], []).append(rule)
    return rules


def _region(template: Reader, resources: Reader) -> str:
    """The Region that a template is for, as far as it says: in its metadata, or by the zones of its subnets."""
    said = (template / "Metadata" / "Region").word()
    if said:
        return said
    zones = [
        TemplateProperty(each / "Properties" / "AvailabilityZone", name).text()
        for name, each in resources.entries()
    ]
    regions = {zone.rstrip("abcdef") for zone in zones if zone and "$" not in zone}
    return regions.pop() if len(regions) == 1 else ""
