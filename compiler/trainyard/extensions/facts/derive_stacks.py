"""Derive the committed structures: ``python -m trainyard.extensions.facts.derive_stacks``.

CloudFormation publishes a schema of each resource type; cfn-lint ships them, corrected, and is among the development
requirements. What is kept: types, required properties, enumerations, patterns and bounds, and which properties are
fixed, so that another value makes another resource (``createOnlyProperties``). A property that only CloudFormation sets
is left out, as CloudFormation refuses it; combinations (``anyOf``, ``dependentRequired``) are left out too, since an
intrinsic function may stand for a property that is absent (``AWS::NoValue``).

It also derives ``catalog/data/type_regions.json``: the Regions that lack a type of CloudFormation; and
``compiler/trainyard/catalog/data/iam_actions.json`` from cfn-lint's copy of AWS' service authorization reference:
which actions can be limited to a resource. Those that only read are left out.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trainyard.catalog.catalog import DATA as FACTS
from trainyard.verify.formats.cloudformation.structure import DATA, file_name
from trainyard.verify.structure import Raw, go_pattern, shared

TYPES = (
    "AWS::APS::RuleGroupsNamespace",
    "AWS::APS::Workspace",
    "AWS::Budgets::Budget",
    "AWS::CloudWatch::Alarm",
    "AWS::CodeBuild::Project",
    "AWS::DLM::LifecyclePolicy",
    "AWS::EC2::EIP",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::LaunchTemplate",
    "AWS::EC2::NatGateway",
    "AWS::EC2::PlacementGroup",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCEndpoint",
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::ECR::PullThroughCacheRule",
    "AWS::ECR::Repository",
    "AWS::EKS::AccessEntry",
    "AWS::EKS::Cluster",
    "AWS::EKS::Nodegroup",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::Events::Rule",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::FSx::FileSystem",
    "AWS::Grafana::Workspace",
    "AWS::IAM::InstanceProfile",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::IAM::RolePolicy",
    "AWS::KMS::Alias",
    "AWS::KMS::Key",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
)
"""What the bootstrap creates, and what is read of third-party templates."""
SERVICES = (
    "autoscaling",
    "batch",
    "cloudformation",
    "dynamodb",
    "ec2",
    "ecr",
    "ecs",
    "eks",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "fsx",
    "iam",
    "kms",
    "lambda",
    "logs",
    "rds",
    "s3",
    "s3express",
    "sagemaker",
    "secretsmanager",
    "sns",
    "sqs",
    "ssm",
    "sts",
)
"""Services that training clusters have rights in, and those by which rights are widened."""
_READING = ("describe", "get", "list", "batchget", "head", "lookup", "search", "view")
_REGION = "us-east-1"
_COPIED = (
    "type",
    "required",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)


def converted(schema: Raw, definitions: Raw, above: tuple[str, ...] = ()) -> Raw:
    """A schema of CloudFormation in the derived form. A definition inside itself may hold anything."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in above:
            return {"any": True}
        return converted(definitions[name], definitions, (*above, name))
    structure: Raw = {key: schema[key] for key in _COPIED if key in schema}
    pattern = go_pattern(schema.get("pattern", ""))
    if pattern:
        structure["pattern"] = pattern
    if schema.get("uniqueItems"):
        structure["list"] = "set"
    if "items" in schema:
        structure["items"] = converted(schema["items"], definitions, above)
    properties = schema.get("properties", {})
    if properties:
        structure["properties"] = {
            name: converted(child, definitions, above) for name, child in properties.items()
        }
    elif "array" not in _types(schema) and not _is_scalar(schema):
        structure["any"] = True
    return structure


def _types(schema: Raw) -> tuple[str, ...]:
    kinds = schema.get("type", ())
    if isinstance(kinds, str):
        return (kinds,)
    return tuple(kinds)


def _is_scalar(schema: Raw) -> bool:
    kinds = _types(schema)
    return bool(kinds) and "object" not in kinds


def derived(resource_type: str, manager: Any) -> Raw:
    """The file of a type."""
    schema = manager.get_resource_schema(_REGION, resource_type).schema
    definitions = schema.get("definitions", {})
    read_only = set(_paths(schema, "readOnlyProperties"))
    properties = {
        name: converted(child, definitions)
        for name, child in schema["properties"].items()
        if name not in read_only
    }
    names = schema.get("required", ())
    required = [name for name in names if name in properties]
    root = {"type": "object", "properties": properties, "required": required}
    folded, defs = shared(root)
    attributes = manager.get_type_getatts(resource_type, _REGION)
    return {
        "type": resource_type,
        "source": f"cfn-lint {version('cfn-lint')} (MIT-0), provider schemas of {_REGION}",
        "attributes": sorted(attributes),
        "fixed": sorted(_paths(schema, "createOnlyProperties")),
        "schema": folded,
        "defs": defs,
    }


def _paths(schema: Raw, key: str) -> list[str]:
    """The paths of properties that a schema lists under a key, like ``LustreConfiguration/DeploymentType``."""
    return [path.removeprefix("/properties/") for path in schema.get(key, ())]


def actions(reference: Raw) -> dict[str, list[str]]:
    """The actions of each service that change something and can be limited to a resource, in lowercase."""
    return {service: _changing_actions(reference[service]) for service in SERVICES}


def _changing_actions(service: Raw) -> list[str]:
    return sorted(
        name
        for name, action in service["Actions"].items()
        if action.get("Resources") and not name.startswith(_READING)
    )


def write_actions() -> None:
    """Derive ``iam_actions.json``."""
    specs = import_module("cfnlint.data.AdditionalSpecs").__path__[0]
    reference = json.loads(Path(specs, "Policies.json").read_bytes())
    facts = {
        "source": "AWS service authorization reference, as in cfn-lint's data/AdditionalSpecs/Policies.json",
        "version": f"cfn-lint {version('cfn-lint')}",
        "actions": actions(reference),
    }
    text = json.dumps(facts, indent=1).replace('",\n   "', '", "')
    (FACTS / "iam_actions.json").write_text(text + "\n")


def write_regions() -> None:
    """Derive ``type_regions.json``. Isolated Regions are left out, of which little is published."""
    providers = Path(import_module("cfnlint.data.schemas").__path__[0], "providers")
    kinds = {
        path.stem: set(json.loads(path.read_bytes()))
        for path in providers.glob("*-*.json")
        if "-iso" not in path.stem
    }
    regions = sorted(kinds)
    lacking: dict[str, list[str]] = {}
    for kind in sorted(set().union(*kinds.values())):
        places = [str(index) for index, name in enumerate(regions) if kind not in kinds[name]]
        if places:
            lacking.setdefault(" ".join(places), []).append(kind.removeprefix("AWS::"))
    facts = {
        "source": "schemas of CloudFormation by Region, as in cfn-lint's data/schemas/providers",
        "version": f"cfn-lint {version('cfn-lint')}",
        "regions": regions,
        "lacking": {places: " ".join(names) for places, names in sorted(lacking.items())},
    }
    (FACTS / "type_regions.json").write_text(json.dumps(facts, indent=1) + "\n")


def main() -> int:
    manager = import_module("cfnlint.schema").PROVIDER_SCHEMA_MANAGER
    DATA.mkdir(exist_ok=True)
    for resource_type in TYPES:
        structure = derived(resource_type, manager)
        text = json.dumps(structure, separators=(",", ":"), sort_keys=True)
        (DATA / file_name(resource_type)).write_text(text + "\n")
    write_actions()
    write_regions()
    sys.stdout.write(f"{len(TYPES)} structures in {DATA}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
