"""Derive the committed structures: ``python -m trainyard.extensions.terraform.formats.terraform.derive WHEEL``.

HashiCorp publishes the schema of its AWS provider through Terraform alone. cdktf makes its classes of that schema, and
its prebuilt provider is on PyPI (``pip download --no-deps cdktf-cdktf-provider-aws``): the jsii assembly in the wheel
has every argument, whether it is required, and its type. What is kept is that, without a word of prose.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.extensions.terraform.formats.terraform.structure import DATA
from trainyard.lift.launch_templates import snake

TYPES = (
    "aws_cloudwatch_event_rule",
    "aws_cloudwatch_event_target",
    "aws_cloudwatch_log_group",
    "aws_codebuild_project",
    "aws_dlm_lifecycle_policy",
    "aws_ecr_lifecycle_policy",
    "aws_ecr_pull_through_cache_rule",
    "aws_ecr_repository",
    "aws_eip",
    "aws_eks_access_entry",
    "aws_eks_access_policy_association",
    "aws_eks_cluster",
    "aws_eks_node_group",
    "aws_eks_pod_identity_association",
    "aws_fsx_data_repository_association",
    "aws_fsx_lustre_file_system",
    "aws_grafana_workspace",
    "aws_iam_instance_profile",
    "aws_iam_policy",
    "aws_iam_role",
    "aws_iam_role_policy",
    "aws_iam_role_policy_attachment",
    "aws_internet_gateway",
    "aws_internet_gateway_attachment",
    "aws_kms_alias",
    "aws_kms_key",
    "aws_launch_template",
    "aws_nat_gateway",
    "aws_placement_group",
    "aws_prometheus_alert_manager_definition",
    "aws_prometheus_rule_group_namespace",
    "aws_prometheus_workspace",
    "aws_prometheus_workspace_configuration",
    "aws_route",
    "aws_route_table",
    "aws_route_table_association",
    "aws_s3_bucket",
    "aws_s3_bucket_lifecycle_configuration",
    "aws_s3_bucket_ownership_controls",
    "aws_s3_bucket_policy",
    "aws_s3_bucket_public_access_block",
    "aws_s3_bucket_server_side_encryption_configuration",
    "aws_s3_bucket_versioning",
    "aws_security_group",
    "aws_security_group_rule",
    "aws_sqs_queue",
    "aws_sqs_queue_policy",
    "aws_subnet",
    "aws_vpc",
    "aws_vpc_endpoint",
    "aws_vpc_security_group_egress_rule",
    "aws_vpc_security_group_ingress_rule",
    "data.aws_cloudformation_export",
    "data.aws_subnets",
)
"""What the bootstrap creates, and what is read of third-party modules."""
Assembly = Mapping[str, Any]
_PACKAGE = "@cdktf/provider-aws"
_ANCHOR = re.compile(r"/hashicorp/aws/([\d.]+)/docs/[a-z-]+/\w+#(\w+)")
_SCALARS = {"string": "string", "number": "number", "boolean": "bool"}
# Computed by the provider though it could be given, or of the provider's own.
_LEFT_OUT = ("id", "tags_all", "timeouts")


def types_of(wheel: Path) -> Assembly:
    """The types of the assembly, by their full names."""
    with zipfile.ZipFile(wheel) as archive:
        files = archive.namelist()
        (name,) = [file for file in files if file.endswith(".jsii.tgz")]
        with archive.open(name) as packed, tarfile.open(fileobj=packed) as package:
            assembly = package.extractfile("package/.jsii")
            if assembly is None:
                raise ValueError(f"no assembly in {wheel}")
            types: Assembly = json.load(assembly)["types"]
    return types


def derived(name: str, types: Assembly) -> dict[str, Any]:
    """The file of a type; ``data.`` before the name of a data source."""
    plain = name.replace("data.", "data_", 1).replace("aws_", "", 1)
    words = plain.split("_")
    title = "".join(word.capitalize() for word in words)
    if name.startswith("data."):
        title = "DataAws" + title.removeprefix("Data")
    space = title[0].lower() + title[1:]  # the submodule
    if f"{_PACKAGE}.{space}.{title}Config" not in types:
        title += "A"  # a block has the plain name
    full_name = f"{_PACKAGE}.{space}.{title}"
    config = types[f"{full_name}Config"]
    resource = types[full_name]
    arguments = _arguments(config, types)
    for left_out in _LEFT_OUT:
        arguments.pop(left_out, None)
    computed = {
        snake(attribute["name"])
        for attribute in resource["properties"]
        if attribute.get("immutable") and not attribute.get("static")
    }
    attributes = {attribute for attribute in computed if not _is_input(attribute)}
    attributes.discard("timeouts")
    return {
        "type": name,
        "source": f"provider hashicorp/aws {_version(config)}, as cdktf has it (cdktf-cdktf-provider-aws)",
        "attributes": sorted({"id", *attributes, *arguments}),
        "arguments": arguments,
    }


def _is_input(attribute: str) -> bool:
    """Whether a property is cdktf's own: what was given for an argument."""
    return attribute.endswith("_input") or attribute in ("cdktf_stack", "node")


def _arguments(interface: Mapping[str, Any], types: Assembly) -> dict[str, Any]:
    arguments = {}
    for member in interface["properties"]:
        anchor = _ANCHOR.search(member["docs"].get("summary", ""))
        if anchor:
            name = anchor[2]
        else:
            name = snake(member["name"])
        shape = _shape(member["type"], types)
        if not member.get("optional"):
            shape["required"] = True
        arguments[name] = shape
    return dict(sorted(arguments.items()))


def _shape(kind: Mapping[str, Any], types: Assembly) -> dict[str, Any]:
    """The form of a type of jsii."""
    if "primitive" in kind:
        return {"is": _SCALARS.get(kind["primitive"], "any")}
    if "union" in kind:
        real = [item for item in kind["union"]["types"] if item.get("fqn") != "cdktf.IResolvable"]
        if len(real) == 1:
            return _shape(real[0], types)
        return {"is": "any"}
    if "collection" in kind:
        collection = kind["collection"]
        of = _shape(collection["elementtype"], types)
        if collection["kind"] == "map":
            return {"is": "map", "of": of}
        if of["is"] == "block":
            return {**of, "is": "blocks"}
        return {"is": "list", "of": of}
    interface = types.get(kind.get("fqn", ""))
    if interface is None or interface["kind"] != "interface":
        return {"is": "any"}
    return {"is": "block", "of": _arguments(interface, types)}


def _version(config: Mapping[str, Any]) -> str:
    """The version of the provider, which the address of every argument's page has."""
    for member in config["properties"]:
        anchor = _ANCHOR.search(member["docs"].get("summary", ""))
        if anchor:
            return anchor[1]
    return "unknown"


def write(wheel: Path) -> Iterator[str]:
    """Write the files of all types, and yield their names."""
    types = types_of(wheel)
    DATA.mkdir(exist_ok=True)
    for name in TYPES:
        text = json.dumps(derived(name, types), separators=(",", ":"), sort_keys=True)
        (DATA / f"{name}.json").write_text(text + "\n")
        yield name


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write(
            "usage: python -m trainyard.extensions.terraform.formats.terraform.derive WHEEL\n"
        )
        return 2
    written = list(write(Path(arguments[0])))
    sys.stdout.write(f"{len(written)} structures in {DATA}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
