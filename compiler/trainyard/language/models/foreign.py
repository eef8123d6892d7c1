"""Values in the form of other tools, and how the spec writes what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainyard.language.models.flow import flow

_RANGE = re.compile(r"(\d+)?\s*(?:-|\.\.)\s*(\d+)?")
_TYPED = re.compile(r"[^:]*[A-Za-z][^:]*(?::(\d+))?")


def value_help(section: str, key: str, value: Any) -> str:
    """How to write a value of another tool; ``section``: the path of the mapping of its key, from ``spec``. Empty
    where nothing is known of it."""
    *_, last = section.replace("jobDefaults", "jobs[]").split(".")
    explained = _EXPLAINED.get((last, key))
    return explained(value) if explained is not None else ""


def _priority(value: Any) -> str:
    """Kubernetes, Slurm and dstack have priorities that are numbers; here they have names."""
    if type(value) is not int:
        return ""
    declared = flow([{"name": "high", "value": value}])
    return f"a priority has a name: write `priority: high`, and `priorities: {declared}` in `spec`"


def _nodes(value: Any) -> str:
    """Elastic jobs (Kubeflow), `--nodes=2-4` of Slurm, and `2..4` of dstack."""
    bounds: Sequence[Any] = ()
    if isinstance(value, Mapping):
        bounds = (value.get("max"), value.get("min"))
    elif isinstance(value, str) and (written := _RANGE.fullmatch(value.strip())):
        bounds = (written.group(2), written.group(1))
    count = next((int(bound) for bound in bounds if str(bound).isdecimal()), None)
    if count is None:
        return ""
    return f"a job has one number of nodes, which start together: write `nodes: {count}`"


def _accelerators(value: Any) -> str:
    """`H100:8` of SkyPilot, `{name: H100, count: 8}` of dstack, `{H100: 8}` of SkyPilot again."""
    count: Any = None
    if isinstance(value, Mapping):
        entries = [value["count"]] if "count" in value else list(value.values())
        count = entries[0] if len(entries) == 1 else None
    elif isinstance(value, str):
        typed = _TYPED.fullmatch(value.strip())
        if typed is None:
            return ""
        count = int(typed.group(1) or 1)
    else:
        return ""
    how_many = count if type(count) is int else 8
    return (
        f"write the number of them on each node, `accelerators: {how_many}`, under `resources`: which they are follows "
        "from `instanceTypes` of the job's pool"
    )


def _env(value: Any) -> str:
    """`env` of a container of Kubernetes: a list, whose values may be in Secrets."""
    if not isinstance(value, list):
        return _value_from(value) if isinstance(value, Mapping) else ""
    plain_values = {}
    said = []
    for item in value:
        if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
            return ""
        if "valueFrom" in item:
            said.append(_value_from(item["valueFrom"], item["name"]))
        else:
            plain_values[item["name"]] = item.get("value", "")
    if plain_values:
        said.insert(0, "write each entry as `NAME: value`")
    return "; ".join(filter(None, said))


def _value_from(value: Any, name: str = "HF_TOKEN") -> str:
    """`valueFrom` of a variable, or what stands in it."""
    if not isinstance(value, Mapping):
        return ""
    source = value.get("valueFrom", value)
    secret = source.get("secretKeyRef") if isinstance(source, Mapping) else None
    if isinstance(secret, Mapping):
        entry = {"env": name, "secret": secret.get("name"), "key": secret.get("key")}
        return f"write `secretEnv: {flow([entry])}` in the job"
    if source is not value or {"fieldRef", "configMapKeyRef", "resourceFieldRef"} & {*source}:
        return (
            "write the value itself, as text; one of a Secret is an entry of `secretEnv` of the job"
        )
    return ""


def _extends(value: Any) -> str:
    """A file, as a document of the spec names those that it stands on."""
    if not isinstance(value, str) or not {"/", "."} & {*value}:
        return ""
    return (
        "write the name of another one of this spec; files stand in `extends:` beside `apiVersion`"
    )


_EXPLAINED: Mapping[tuple[str, str], Callable[[Any], str]] = {
    ("jobs[]", "priority"): _priority,
    ("jobs[]", "nodes"): _nodes,
    ("jobs[]", "env"): _env,
    ("jobs[]", "extends"): _extends,
    ("nodePools[]", "extends"): _extends,
    ("resources", "accelerators"): _accelerators,
}


def variable_help(name: str, value: Any) -> str:
    """How to write a variable whose value is elsewhere, as Kubernetes has it."""
    return _value_from(value, "HF_TOKEN" if name == "valueFrom" else name)
