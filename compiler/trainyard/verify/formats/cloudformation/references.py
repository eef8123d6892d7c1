"""References of a template to names that it lacks, and resources that wait for each other.

Source: CloudFormation template reference, intrinsic functions and resource attributes (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from trainyard.output.artifact import Body
from trainyard.verify.fault import REFERENCE, Fault, Path, nearest
from trainyard.verify.formats.cloudformation.functions import FOR_EACH, PSEUDO, Use, uses
from trainyard.verify.formats.cloudformation.structure import structure


def unresolved(body: Body) -> Iterator[Fault]:
    """Names that nothing in the template has. A transform may add what is not there, so that nothing is certain."""
    resources = body.get("Resources")
    if "Transform" in body or not isinstance(resources, dict):
        return
    if any(name.startswith(FOR_EACH) for name in resources):
        return
    used = {name: list(uses(resource, ("Resources", name))) for name, resource in resources.items()}
    elsewhere = []
    for key in ("Outputs", "Conditions"):
        of_section = uses(body.get(key), (key,))
        elsewhere.append(of_section)
    for use in chain(*used.values(), *elsewhere):
        fault = _unresolved_use(use, body, resources)
        if fault is not None:
            yield fault
    for name, resource in resources.items():
        if isinstance(resource, dict):
            yield from _attributes(("Resources", name), resource, body, resources)
    yield from _circles(resources, used)


def _entries(body: Body, section: str) -> Body:
    """The entries of a section; none of one that is no mapping."""
    entries = body.get(section)
    if isinstance(entries, dict):
        return entries
    return {}


def _attributes(path: Path, resource: Body, body: Body, resources: Body) -> Iterator[Fault]:
    """What a resource waits for, and the condition that it is created on."""
    for place, other in _depends_on(resource):
        if other not in resources:
            at = (*path, *place)
            yield _absent(at, "resource", other, resources)
    condition = resource.get("Condition")
    conditions = _entries(body, "Conditions")
    if isinstance(condition, str) and condition not in conditions:
        yield _absent((*path, "Condition"), "condition", condition, conditions)


def _unresolved_use(use: Use, body: Body, resources: Body) -> Fault | None:
    parameters = _entries(body, "Parameters")
    if use.function == "Ref":
        if use.name in resources or use.name in parameters:
            return None
        if use.name in PSEUDO:
            return None
        known = [*resources, *parameters]
        if "::" in use.name:
            known = list(PSEUDO)
        return _absent(use.path, "resource or parameter", use.name, known)
    if use.function == "Fn::GetAtt":
        return _no_attribute(use, resources)
    if use.function == "Condition":
        conditions = _entries(body, "Conditions")
        if use.name in conditions:
            return None
        return _absent(use.path, "condition", use.name, conditions)
    mappings = _entries(body, "Mappings")
    if use.name in mappings:
        return None
    return _absent(use.path, "mapping", use.name, mappings)


def _no_attribute(use: Use, resources: Body) -> Fault | None:
    if use.name not in resources:
        return _absent(use.path, "resource", use.name, resources)
    resource = resources[use.name]
    known = None
    if isinstance(resource, dict):
        known = structure(str(resource.get("Type")))
    if known is None or not use.attribute:
        return None
    first = use.attribute.partition(".")[0]
    attributes = known.attributes
    if use.attribute in attributes or first in attributes:
        return None
    if "${" in use.attribute:
        return None
    return Fault(
        REFERENCE,
        "REF001",
        use.path,
        f"`{use.name}` has no attribute `{use.attribute}`",
        nearest(use.attribute, known.attributes, "`Ref` gives its name or ARN"),
    )


def _absent(path: Path, what: str, name: str, known: Iterable[str]) -> Fault:
    return Fault(
        REFERENCE,
        "REF001",
        path,
        f"{what} `{name}` is not in this template",
        nearest(name, known, "name one that is"),
    )


def _circles(resources: Body, used: Mapping[str, list[Use]]) -> Iterator[Fault]:
    """Resources that wait for each other: CloudFormation refuses the template ("Circular dependency")."""
    waits = {}
    for name, resource in resources.items():
        others = _waits_for(resource, used[name], resources)
        waits[name] = list(dict.fromkeys(others))
    free: set[str] = set()
    for start in waits:
        trail = _find_circle(start, waits, free)
        if trail:
            shown = " → ".join(f"`{name}`" for name in trail)
            yield Fault(
                REFERENCE,
                "REF003",
                ("Resources", trail[0]),
                f"resources wait for each other: {shown}",
                "move one of the two references into a resource of its own, like the policy of a role",
                key=True,
            )
            return


def _find_circle(start: str, waits: dict[str, list[str]], free: set[str]) -> list[str]:
    """The circle that is met from a resource; ``free`` learns which are in none."""
    first = iter(waits[start])
    stack = [(start, first)]
    trail = [start]
    while stack and start not in free:
        name, rest = stack[-1]
        unknown = (other for other in rest if other not in free)
        following = next(unknown, None)
        if following is None:
            free.add(name)
            stack.pop()
            trail.pop()
        elif following in trail:
            begins = trail.index(following)
            return [*trail[begins:], following]
        else:
            others = iter(waits[following])
            stack.append((following, others))
            trail.append(following)
    return []


def _waits_for(resource: Any, used: list[Use], resources: Body) -> Iterator[str]:
    if not isinstance(resource, dict):
        return
    for use in used:
        refers = use.function in ("Ref", "Fn::GetAtt")
        is_of_resource = refers and use.name in resources
        if is_of_resource and use.path[2] == "Properties":
            yield use.name
    for _, other in _depends_on(resource):
        if other in resources:
            yield other


def _depends_on(resource: Body) -> Iterator[tuple[Path, str]]:
    """The names that a resource waits for, each with its path: a list, or one alone."""
    written = resource.get("DependsOn")
    if isinstance(written, str):
        yield ("DependsOn",), written
    elif isinstance(written, list):
        for index, name in enumerate(written):
            if isinstance(name, str):
                yield ("DependsOn", index), name
