"""CloudFormation's intrinsic functions as Terraform expressions.

Source: Terraform language, JSON configuration syntax and string templates (v1.11): every text is a template, so that
`${` and `%{` that mean themselves are doubled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

EXPORT = "aws_cloudformation_export"

# What `Ref` of a type is in CloudFormation, as an attribute of the provider; `id` of the others.
_REFERENCE = {
    "AWS::IAM::ManagedPolicy": "arn",
    "AWS::IAM::Role": "name",
    "AWS::Logs::LogGroup": "name",
    "AWS::SQS::Queue": "url",
}
_ATTRIBUTES = {
    "Arn": "arn",
    "AllocationId": "id",
    "DNSName": "dns_name",
    "LustreMountName": "mount_name",
}
"""Attributes of ``Fn::GetAtt``, as the provider calls them (an address's id is that of its allocation)."""


class Named(NamedTuple):
    """A resource of a template: its type, and where Terraform has it."""

    kind: str
    address: str


class Names:
    """What the expressions of one template name, and the data sources that they need.

    ``subnet``: the expression of the subnet that is a parameter of the template.
    """

    def __init__(self, body: Mapping[str, Any], resources: Mapping[str, Named]) -> None:
        self._parameters = body.get("Parameters", {})
        self._resources = resources
        self.exports: dict[str, str] = {}
        self.subnet = ""

    def value(self, value: Any) -> Any:
        """A property with expressions in place of functions, and its own texts as they are meant."""
        if isinstance(value, str):
            return literal(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        if len(value) == 1:
            name, inner = next(iter(value.items()))
            expression = self._expression(name, inner)
            if expression is not None:
                return expression
        return {key: self.value(item) for key, item in value.items()}

    def text(self, document: Any) -> str:
        """A document as the JSON that an argument takes, with expressions in it."""
        return json.dumps(self.value(document))

    def _expression(self, name: str, inner: Any) -> str | None:
        if name == "Ref":
            return self._reference(inner)
        if name == "Fn::GetAtt":
            resource, attribute = inner
            address = self._resources[resource].address
            return f"${{{address}.{_ATTRIBUTES[attribute]}}}"
        if name == "Fn::ImportValue":
            label = identifier(inner.rpartition("::")[2])
            self.exports[label] = inner
            return f"${{data.{EXPORT}.{label}.value}}"
        if name.startswith("Fn::"):
            raise ValueError(f"no expression of Terraform for `{name}`")
        return None

    def _reference(self, name: str) -> str:
        parameter = self._parameters.get(name)
        if parameter is None:
            resource = self._resources[name]
            attribute = _REFERENCE.get(resource.kind, "id")
            return f"${{{resource.address}.{attribute}}}"
        if "Default" in parameter:
            return literal(parameter["Default"])
        return self.subnet


def literal(text: str) -> str:
    """A text that Terraform reads literally."""
    return text.replace("${", "$${").replace("%{", "%%{")


def identifier(name: str) -> str:
    """A logical name as Terraform's are: words of lowercase letters and digits."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
