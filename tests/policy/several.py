"""One fault among several of its kind: examples of rules with a clean container, set of pods or world beside it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from trainyard.catalog import load_catalog
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic
from trainyard.lift import lift
from trainyard.output.manifest import Body, Manifest
from trainyard.run.examples.rehearse import UnusableExampleError, base_set, config_for
from trainyard.run.examples.rehearse import lifted as example
from trainyard.verify.formats import objects

from tests.policy.harness import TODAY

ELSEWHERE = ("init", "sidecar", "second")
"""Where a program may stand that is not the first container: run before it, beside it from the start, or beside it."""
_OF_POD = ("name", "resources")
"""What stays with the place of a container when its program moves elsewhere."""
_PODS = ("JobSet", "Job.batch.volcano.sh", "HyperPodPyTorchJob")
_SETS = {_PODS[0]: "replicatedJobs", _PODS[1]: "tasks", _PODS[2]: "replicaSpecs"}


@lru_cache(maxsize=1024)
def objects_of(text: str) -> tuple[Body, ...]:
    """The objects of an example, of a spec too; () for one without any."""
    try:
        _, artifacts = example(text)
    except UnusableExampleError:
        return ()
    return tuple(dict(manifest.body) for manifest in objects(artifacts))


def found(rule: Rule, text: str, bodies: Sequence[Body]) -> list[Diagnostic]:
    """What a rule finds in objects of others, by the settings of its example."""
    manifests = [Manifest(body) for body in bodies]
    plan = lift(manifests, closed=False)
    said = run(plan, load_catalog(), (rule,), config_for(rule, text, TODAY), manifests)
    assert not any(each.code.startswith("INT") for each in said), said
    return said


def examples(rules: Iterable[Rule]) -> Iterator[tuple[Rule, str, list[Body]]]:
    """Each Fails example of rules with objects in which the rule finds something as an open set: of a whole cluster
    those of the kinds of the base, where that is enough."""
    kinds = {body["kind"] for body in base_set()}
    for rule in rules:
        for text in rule.fails:
            bodies = objects_of(text)
            few = [body for body in bodies if body["kind"] in kinds]
            if len(bodies) > 2 * len(few) and found(rule, text, few):
                yield rule, text, few
            elif found(rule, text, bodies):
                yield rule, text, list(bodies)


def pods_in(value: Any) -> Iterator[dict[str, Any]]:
    """The specs of pods below a value."""
    if isinstance(value, dict):
        containers = value.get("containers")
        if isinstance(containers, list) and all(isinstance(each, dict) for each in containers):
            yield value
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from pods_in(each)


def moved(bodies: Sequence[Body], where: str) -> list[Body]:
    """Objects whose programs run in another container, with a clean program in the place of each; "" has clean
    programs alone."""
    changed = copy.deepcopy(list(bodies))
    for body in changed:
        for pod in pods_in(body):
            _move(pod, where)
    return changed


def _move(pod: dict[str, Any], where: str) -> None:
    programs = pod["containers"]
    pod["containers"] = [
        {
            **{key: each[key] for key in _OF_POD if key in each},
            "image": "public.ecr.aws/team/clean:1.0",
            "command": ["/opt/clean/run"],
        }
        for each in programs
    ]
    others = [
        {**{key: each[key] for key in each if key not in _OF_POD}, "name": f"{each['name']}-2"}
        for each in programs
    ]
    if where == "second":
        pod["containers"] += others
    elif where:
        if where == "sidecar":
            others = [{**each, "restartPolicy": "Always"} for each in others]
        pod["initContainers"] = [*pod.get("initContainers", ()), *others]


def in_one_set(kind: str, faulty: Body, clean: Body, *, first: bool) -> Body | None:
    """A job of a kind with two sets of pods, of which only the first or only the second has the fault; ``None`` where
    it has no two sets, or the fault is in neither."""
    body, spec = copy.deepcopy(faulty), clean["spec"]
    if kind in _SETS:
        return _in_list(body, body["spec"], spec, _SETS[kind], "name", first=first)
    if kind == "RayJob":
        own = body["spec"]["rayClusterSpec"]
        groups = spec["rayClusterSpec"]
        return _in_list(body, own, groups, "workerGroupSpecs", "groupName", first=first)
    field = next((key for key in body["spec"] if key.endswith("ReplicaSpecs")), "")
    roles = body["spec"].get(field, {})
    if len(roles) < 2:
        return None
    one, other = roles
    left, replaced = (one, other) if first else (other, one)
    own, same = roles[left]["template"], spec[field].get(left, {}).get("template")
    if own == same or replaced not in spec[field]:
        return None
    roles[replaced]["template"] = copy.deepcopy(spec[field][replaced]["template"])
    return body


def _in_list(
    body: Body, own: Body, clean: Body, key: str, name: str, *, first: bool
) -> Body | None:
    """A node of the faulty set is given to a clean one: both have as many as before, and the faulty one has several."""
    (faulty,) = own[key]
    if faulty == clean[key][0] or not _take_one(faulty):
        return None
    other = {**copy.deepcopy(clean[key][0]), name: "clean"}
    _set_one(other)
    own[key] = [faulty, other] if first else [other, faulty]
    return body


_COUNTS = ("replicas", "minReplicas", "maxReplicas", "completions", "parallelism")


def _counted(part: Body) -> Body:
    return part["template"]["spec"] if "completions" in part["template"].get("spec", {}) else part


def _take_one(part: Body) -> bool:
    counted = _counted(part)
    named = [key for key in _COUNTS if isinstance(counted.get(key), int)]
    for key in named:
        counted[key] -= 1
    return bool(named) and all(counted[key] > 1 for key in named)


def _set_one(part: Body) -> None:
    counted = _counted(part)
    counted |= {key: 1 for key in _COUNTS if key in counted}


NAMES = {
    "gpu": "clean",
    "research": "clean",
    "llama": "clean",
    "torch-gpu-1": "torch-clean",
    "team-a": "team-clean",
}
"""The names of the base, and those of a clean world beside it."""


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A value with other names, wherever a text is one."""
    if isinstance(value, dict):
        return {key: renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def clean_set() -> list[Body]:
    """The objects of the base, as another cluster's that share none of its names."""
    return [renamed(body, NAMES) for body in base_set()]
