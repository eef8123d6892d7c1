"""One table reads the resources of templates and of modules: what it names is there in both, and is read alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, get_origin, get_type_hints

import pytest
from trainyard.core.cloud.plan import RESOURCES as ITEMS
from trainyard.core.cloud.plan import AccessPolicy, CloudResource, LimitedResource
from trainyard.extensions.terraform.formats.terraform.spelling import BESIDE, SPELLINGS, Beside
from trainyard.extensions.terraform.formats.terraform.structure import structure
from trainyard.lift.cloud_resources import POLICIES, PUBLIC_ACCESS, RESOURCES
from trainyard.lift.launch_templates import snake
from trainyard.output import Artifact
from trainyard.verify.formats import Setting, lifted, verified

PROVIDER = {spelling.kind: name for name, spelling in SPELLINGS.items()}
"""The provider's type of each type that is read."""
ONE_FORMAT = {
    "AWS::IAM::Policy": "the provider has one resource for each role, as `AWS::IAM::RolePolicy` is"
}
"""Types that are read in one format alone, and why."""
FIXED = {("AWS::FSx::FileSystem", "kind"): "the provider has a type for each kind of file system"}
"""Fields that are the same of all resources of a type of the provider, and why."""
FIELDS = [(kind, name) for kind, row in RESOURCES.items() for name in row.fields]
DOCUMENT = '{"Statement": []}'
RULE = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2}
PLAIN: tuple[Any, ...] = ("text", True, False, 7, ["a", "b"])
SAMPLES: Mapping[str, Any] = {
    "closed_out": [RULE],
    "labels": {"team": "a"},
    "detail_types": '{"detail-type": ["a"]}',
    "inline": [{"PolicyName": "a", "PolicyDocument": DOCUMENT}],
    "policies": [{"PolicyArn": "a"}],
    "public_access": dict.fromkeys(PUBLIC_ACCESS, True),
    "rules": {"SecurityGroupIngress": [RULE]},
    "targets": [{"Arn": "a"}],
    "template": {"Id": "a"},
    "template_name": {"Id": "a"},
    "trust": DOCUMENT,
    "versioned": "Enabled",
}
"""By field, a value that its property may have; of others a plain one does."""


def samples(path: str, field: str) -> list[dict[str, Any]]:
    """Properties of a resource, each with another value at a path."""
    found = [SAMPLES[field]] if field in SAMPLES else [*PLAIN]
    for name in reversed(path.split("/") if path else ()):
        found = [{name: value} for value in found]
    return found


def of_template(kind: str, properties: Mapping[str, Any], item: type[CloudResource]) -> Any:
    body = {"Resources": {f"{PROVIDER[kind]}.a": {"Type": kind, "Properties": properties}}}
    return of_file(body, "cloudformation", item)


def of_module(
    kind: str,
    properties: Mapping[str, Any],
    item: type[CloudResource],
    beside: Beside | None = None,
) -> Any:
    """The item of a resource, which says something itself, or of which one beside it does."""
    provider = PROVIDER[kind]
    if beside is None:
        resources = {provider: {"a": spelled(properties, SPELLINGS[provider].names)}}
        return of_file({"resource": resources}, "terraform", item)
    (value,) = properties.values()
    whose = {beside.by: f"${{{provider}.a.id}}", **({"type": beside.way} if beside.way else {})}
    others = {}
    for number, block in enumerate(value if isinstance(value, list) else [value]):
        said = {beside.value: block} if beside.value else block
        others[f"b{number}"] = {**spelled(said, beside.names), **whose}
    return of_file({"resource": {provider: {"a": {}}, beside.kind: others}}, "terraform", item)


def of_file(body: dict[str, Any], format: str, item: type[CloudResource]) -> Any:
    """The one item of a file, whose properties or arguments all exist."""
    artifact = Artifact(body, "main", format=format)
    assert "SCH001" not in [fault.code for fault in verified([artifact], Setting())], body
    (found,) = lifted([artifact], closed=False).of(item)
    return found


def spelled(value: Any, names: Mapping[str, Any]) -> Any:
    """A value in the provider's words."""
    if isinstance(value, list):
        return [spelled(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = names.get(key, snake(key))
        if name == "":
            found |= spelled(inner, names)
        else:
            found[name if isinstance(name, str) else snake(key)] = spelled(inner, names)
    return found


def ways(kind: str, property: str) -> list[Beside | None]:
    """What may say a property in a module: the resource itself, which is ``None``, and resources beside it."""
    provider = PROVIDER[kind]
    known = structure(provider)
    assert known is not None
    beside = [row for row in BESIDE if (row.of, row.property) == (provider, property)]
    name = SPELLINGS[provider].names.get(property, snake(property))
    return [None, *beside] if not beside or name in known.arguments else [*beside]


def test_every_item_has_a_row_that_reads_all_its_fields() -> None:
    common = {field.name for field in fields(CloudResource)}
    items = {item for item in ITEMS if item not in (AccessPolicy, LimitedResource)}
    of_items = {item: {field.name for field in fields(item)} - common for item in items}
    assert {row.item: set(row.fields) for row in RESOURCES.values()} == of_items


def test_what_is_read_in_one_format_alone_has_a_reason() -> None:
    assert {*RESOURCES, *POLICIES} - PROVIDER.keys() == ONE_FORMAT.keys()


@pytest.mark.parametrize(("kind", "name"), [field for field in FIELDS if field not in FIXED])
def test_each_field_is_read_alike_whatever_says_it(kind: str, name: str) -> None:
    row = RESOURCES[kind]
    absent = getattr(of_template(kind, {}, row.item), name)
    compared = 0
    for properties in samples(row.fields[name].path, name):
        ours = getattr(of_template(kind, properties, row.item), name)
        if ours in (absent, None, (), ("",), ("", "")):
            continue
        assert isinstance(ours, kind_of_field(row.item, name))
        (property,) = properties
        for way in ways(kind, property):
            assert getattr(of_module(kind, properties, row.item, way), name) == ours, properties
            compared += 1
    assert compared, "no sample gives it a value"


def kind_of_field(item: type[CloudResource], name: str) -> Any:
    """What a value of a field may be, as the item declares it."""
    hint = get_type_hints(item)[name]
    origin = get_origin(hint)
    return origin if origin in (tuple, Mapping) else hint


@pytest.mark.parametrize("kind", [kind for kind in POLICIES if kind not in ONE_FORMAT])
def test_each_policy_is_read_alike(kind: str) -> None:
    row = POLICIES[kind]
    properties = {
        "PolicyDocument": DOCUMENT,
        **{name: "a" for name in (row.name, *row.holders) if name},
    }
    lacks = SPELLINGS[PROVIDER[kind]].lacks
    ours = of_template(kind, properties, AccessPolicy)
    said = {name: value for name, value in properties.items() if name not in lacks}
    holders = ours.holders if lacks.keys().isdisjoint(row.holders) else ()
    assert of_module(kind, said, AccessPolicy) == replace(ours, holders=holders)
