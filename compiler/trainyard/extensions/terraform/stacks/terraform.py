"""Writes stacks as Terraform modules: one folder each, with its state under its own key.

A template says what is made, once, for both tools (``output/lowering/templates.py``, and the stacks of subjects); a
table says how the AWS provider calls it. Sources: Terraform language, JSON configuration syntax, meta-arguments
`lifecycle` and `depends_on`, backend `s3` (v1.11: `use_lockfile`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Protocol

from trainyard.extensions.terraform.lowering.expressions import (
    EXPORT,
    Named,
    Names,
    identifier,
    literal,
)
from trainyard.extensions.terraform.lowering.part import Part
from trainyard.extensions.terraform.lowering.types import TYPES
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.body import walk_mappings

FOLDER = "bootstrap/terraform"
VERSION, PROVIDER = ">= 1.11", "6.25.0"
"""The least Terraform whose S3 backend locks by itself, and the provider whose schema is compared."""
_CLUSTER = "stack"
"""The stack of the cluster itself; its module is called so."""
Body = dict[str, Any]


class State(Protocol):
    """Where Terraform keeps the state of a ``cluster``: a bucket, and its Region; ``region`` is the cluster's."""

    @property
    def cluster(self) -> str: ...
    @property
    def region(self) -> str: ...
    @property
    def bucket(self) -> str: ...
    @property
    def bucket_region(self) -> str: ...


def modules(artifacts: Iterable[Artifact], state: State) -> Iterator[Artifact]:
    """The artifacts, with a module in place of each template."""
    for artifact in artifacts:
        if artifact.format == "cloudformation":
            yield module(artifact, state)
        else:
            yield artifact


def module_name(path: str) -> str:
    """The name of a stack's module: that of its file."""
    name = PurePosixPath(path).stem
    return "cluster" if name == _CLUSTER else name


def module(stack: Artifact, state: State) -> Artifact:
    """A template as a module of one file."""
    body = stack.body
    name = module_name(stack.path)
    resources = {}
    for logical, resource in body["Resources"].items():
        kind = resource["Type"]
        resources[logical] = Named(kind, _address(logical, kind))
    names = Names(body, resources)
    data = _subnets(body, names)
    rendered: dict[str, dict[str, Any]] = {}
    origins: Places = {}
    for logical, resource in body["Resources"].items():
        for part in _parts(logical, resource, names):
            label = identifier(logical) + part.suffix
            rendered.setdefault(part.type, {})[label] = {
                **part.arguments,
                **_meta(resource, part, resources),
            }
            at = ("Resources", logical, "Properties", part.of)
            place = ("resource", part.type, label)
            origins[place] = stack.origin(at if part.of else at[:2])
            if not part.suffix:
                _arguments_from(stack, logical, part, label, origins)
    for label, export in names.exports.items():
        exported = literal(export)
        data.setdefault(EXPORT, {})[label] = {"name": exported}
    outputs = {
        identifier(output): {"value": names.value(said["Value"])}
        for output, said in body.get("Outputs", {}).items()
    }
    kept = _kept(rendered)
    if kept:
        outputs["kept"] = {"value": kept}
    rendered_module: Body = {
        "terraform": _settings(name, state),
        "provider": {"aws": _provider(name, state)},
    }
    metadata = body.get("Metadata", {})
    for section, content in (
        ("locals", {} if "Zone" in metadata else metadata),
        ("data", data),
        ("resource", rendered),
        ("output", outputs),
    ):
        if content:
            rendered_module[section] = content
    path = f"{FOLDER}/{name}/main.tf.json"
    return Artifact(rendered_module, path, stack.at, origins, format="terraform")


def _kept(rendered: Mapping[str, Mapping[str, Any]]) -> str:
    """The addresses of what is not destroyed, for who deletes the rest of a module."""
    addresses = [
        f"{kind}.{label}"
        for kind, labels in rendered.items()
        for label, resource in labels.items()
        if resource.get("lifecycle", {}).get("prevent_destroy")
    ]
    return " ".join(addresses)


def _address(logical: str, kind: str) -> str:
    return f"{TYPES[kind][0]}.{identifier(logical)}"


def _parts(logical: str, resource: Mapping[str, Any], names: Names) -> Iterator[Part]:
    kind = resource["Type"]
    make = TYPES[kind][1]
    yield from make(resource.get("Properties", {}), names, _address(logical, kind))


def _arguments_from(stack: Artifact, logical: str, part: Part, label: str, origins: Places) -> None:
    """The places of arguments that are called as their property is, in the words of the provider."""
    at = ("Resources", logical, "Properties")
    for path, route in stack.origins.items():
        is_below = len(path) > len(at)
        if is_below and path[: len(at)] == at:
            argument = identifier(str(path[-1]))
            for alias in (argument, _ALIASES.get(argument, argument)):
                if alias in part.arguments:
                    origins["resource", part.type, label, alias] = route


_ALIASES = {"bucket_name": "bucket", "repository_name": "name"}


def _meta(resource: Mapping[str, Any], part: Part, resources: Mapping[str, Named]) -> Body:
    """Meta-arguments. What CloudFormation retains, Terraform refuses to destroy."""
    meta: Body = {}
    waits = resource.get("DependsOn", [])
    if isinstance(waits, str):
        several = [waits]
    else:
        several = waits
    if several and not part.suffix:
        addresses = [resources[logical].address for logical in several]
        meta["depends_on"] = addresses
    lifecycle: Body = {}
    if resource.get("DeletionPolicy") == "Retain":
        lifecycle["prevent_destroy"] = True
    if part.type == "aws_fsx_lustre_file_system":
        # The subnet is looked up: another one would be another file system.
        lifecycle["ignore_changes"] = ["subnet_ids"]
    if part.type in ("aws_vpc", "aws_subnet"):
        lifecycle["prevent_destroy"] = True
    if lifecycle:
        meta["lifecycle"] = lifecycle
    return meta


def _subnets(body: Mapping[str, Any], names: Names) -> dict[str, dict[str, Any]]:
    """The private subnets of a zone in the VPC that eksctl makes, where a template has its subnet as a parameter.

    eksctl 0.230.0, pkg/cfn/builder/vpc_ipv4.go: the tag of private subnets.
    """
    zone = body.get("Metadata", {}).get("Zone")
    if zone is None:
        return {}
    imports = [
        part["Fn::ImportValue"]
        for _, part in walk_mappings(body["Resources"])
        if "Fn::ImportValue" in part
    ]
    (export,) = {name for name in imports if name.endswith("::VPC")}
    vpc = names.value({"Fn::ImportValue": export})
    names.subnet = "${sort(data.aws_subnets.private.ids)[0]}"
    filters = [
        {"name": "vpc-id", "values": [vpc]},
        {"name": "availability-zone", "values": [zone]},
        {"name": "tag:kubernetes.io/role/internal-elb", "values": ["1"]},
    ]
    return {"aws_subnets": {"private": {"filter": filters}}}


def _settings(name: str, state: State) -> Body:
    backend = {
        "bucket": state.bucket,
        "key": f"trainyard/{state.cluster}/{name}.tfstate",
        "region": state.bucket_region,
        "encrypt": True,
        "use_lockfile": True,
    }
    source = {"source": "hashicorp/aws", "version": PROVIDER}
    return {
        "required_version": VERSION,
        "required_providers": {"aws": source},
        "backend": {"s3": backend},
    }


def _provider(name: str, state: State) -> Body:
    part = "trainyard-network-of" if name == "network" else "trainyard-part-of"
    return {"region": state.region, "default_tags": {"tags": {part: state.cluster}}}
