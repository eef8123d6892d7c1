"""The resources of a module as plan items, the same as those of a CloudFormation template.

A resource's logical name is its address (`aws_iam_role.nodes`). What an expression gives is unknown: it is left out,
and its field is among the item's ``unread``; a reference gives the address of what it is to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainyard.core.cloud.plan import CloudResource, LimitedResource
from trainyard.core.launch.plan import LaunchTemplate
from trainyard.extensions.terraform.formats.terraform.faults import resources
from trainyard.extensions.terraform.formats.terraform.property import ModuleProperty
from trainyard.extensions.terraform.formats.terraform.spelling import BESIDE, SPELLINGS
from trainyard.extensions.terraform.formats.terraform.values import name_at, text_at
from trainyard.language.places import Route
from trainyard.lift.cloud_property import Property
from trainyard.lift.cloud_resources import read
from trainyard.lift.reader import Reader
from trainyard.output.artifact import Artifact

Found = Mapping[str, list[tuple[Reader, str]]]
"""The resources and data sources of a module, each with its address, by their types."""
_IMAGES = ("data.aws_ssm_parameter", "data.aws_ami")
"""The data sources by which a module finds images."""
# Where CloudFormation has no type of these, there is no service. Of budgets and roles there is one for all Regions.
_LIMITED = {
    "aws_codebuild_project": "AWS::CodeBuild::Project",
    "aws_fsx_lustre_file_system": "AWS::FSx::FileSystem",
    "aws_grafana_workspace": "AWS::Grafana::Workspace",
    "aws_prometheus_workspace": "AWS::APS::Workspace",
}


def nodes(artifacts: Iterable[Artifact]) -> list[CloudResource | LaunchTemplate]:
    """The resources of the files of one module whose type is read."""
    found: dict[str, list[tuple[Reader, str]]] = {}
    for artifact in artifacts:
        file = Reader(artifact.body, Route((artifact.id,)))
        for place, kind, _ in resources(artifact.body):
            found.setdefault(kind, []).append((file.follow(*place), f"{kind}.{place[2]}"))
    images = {address: body for kind in _IMAGES for body, address in found.get(kind, ())}
    beside = _beside(found)
    whole: list[tuple[str, Property]] = []
    for kind, spelling in SPELLINGS.items():
        for body, address in found.get(kind, ()):
            own = ModuleProperty(body, address, spelling.names, images, beside.get(address))
            whole.append((spelling.kind, own))
    limited = [
        LimitedResource(at=body.at, logical=address, kind=of_cloudformation)
        for kind, of_cloudformation in _LIMITED.items()
        for body, address in found.get(kind, ())
    ]
    return [*limited, *read(whole)]


def _beside(found: Found) -> dict[str, dict[str, list[Property]]]:
    """By the address of a resource, and a property of it, what others say of that."""
    beside: dict[str, dict[str, list[Property]]] = {}
    for row in BESIDE:
        owners = found.get(row.of, ())
        addresses = {name_at(body / SPELLINGS[row.of].called): address for body, address in owners}
        for body, _ in found.get(row.kind, ()):
            if row.way and text_at(body / "type") not in (row.way, None):
                continue
            name = name_at(body / row.by)
            address = addresses.get(name, name or "")
            said = ModuleProperty(body, address, row.names, {}).along(row.value)
            beside.setdefault(address, {}).setdefault(row.property, []).append(said)
        for body, address in owners if row.elsewhere else ():
            unknown = ModuleProperty(body, address, {}, {}).made()
            beside.setdefault(address, {}).setdefault(row.property, [unknown])
    return beside
