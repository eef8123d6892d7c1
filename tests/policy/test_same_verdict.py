"""What a rule finds depends on what is said, not on how: over the examples of all rules' pages.

- *Lists turned round*: the item with the fault is the first one or the last, and the rule finds it. Where an order
  means something (words of a command, layers of a topology), the list stays.
- *Defaults left out*: a value that the API fills in by itself is as faulty unsaid.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from drawn import drawn
from trainyard.catalog import load_catalog
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.language.source.libyaml import DUMPER, LOADER, yaml
from trainyard.lift import lift
from trainyard.output.manifest import Body, Manifest
from trainyard.run.examples.rehearse import (
    SLURM,
    WHOLE,
    base_set,
    base_spec,
    config_for,
    from_spec,
    merged,
    overlaid,
)
from trainyard.verify import BUILTIN
from trainyard.verify.formats import objects, recognised, reread
from trainyard.verify.node import Node

from tests.policy.harness import TODAY, builtin_rules

pytestmark = pytest.mark.slow

ORDERED = {
    "command": "words of a command",
    "args": "words of a command",
    "entrypoint": "words of a command",
    "capacity": "ways of buying, tried in turn",
    "levels": "layers of a topology, widest first",
    "flavors": "tried in turn",
    "initContainers": "run in turn",
    "env": "a variable sees those before it",
    "coveredResources": "the order of the quotas",
    "resources": "the order of what is covered",
    "exec": "words of a command",
    "rules": "the first one that fits counts",
    "replicatedJobs": "the first one has rank 0",
    "preBootstrapCommands": "run in turn",
}
"""Keys whose lists have an order, and what it means."""

UNSAID = {
    "RUN001": "who does not say `suspend` leaves it to Kueue, and who says the default takes it"
}
"""Rules for which a default that is written is not the default, and why."""


def turned(value: Any, key: str = "") -> Any:
    """A value with its lists turned round, where their order means nothing."""
    if isinstance(value, dict):
        return {name: turned(item, name) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [turned(item) for item in value]
    return items if key in ORDERED else items[::-1]


def documents_of(text: str) -> list[dict[str, Any]]:
    """The documents of an example of objects or of keys of a spec; none of another format."""
    if SLURM.search(text):
        return []
    try:
        documents = [each for each in yaml.load_all(text, Loader=LOADER) if each]
    except yaml.YAMLError:
        return []
    if not all(isinstance(each, dict) for each in documents):
        return []
    if documents and recognised(documents[0]) not in ("", "kubernetes", "eksctl"):
        return []
    return documents


def found(rule: Rule, text: str, change: Any) -> list[str] | None:
    """What a rule says of an example after a change of all that it is a part of; ``None`` for other formats."""
    documents = documents_of(text)
    if not documents:
        return None
    if "kind" not in documents[0]:
        if "Resources" in documents[0]:
            return None
        spec = change(merged(base_spec(), {"spec": documents[0]}))
        plan, artifacts = from_spec(yaml.dump(spec, Dumper=DUMPER))
        manifests = objects(artifacts)
    elif WHOLE in text:
        plan, artifacts = from_spec(yaml.dump(base_spec(), Dumper=DUMPER))
        bodies = [manifest.body for manifest in objects(artifacts)]
        manifests = [Manifest(change(body)) for body in overlaid(bodies, documents)]
        plan = reread(manifests, plan)
    else:
        manifests = [Manifest(change(body)) for body in overlaid(base_set(), documents)]
        plan = lift(manifests, closed=False)
    said = run(plan, load_catalog(), (rule,), config_for(rule, text, TODAY), manifests)
    return sorted(each.code for each in said)


RULES = {rule.code: rule for rule in builtin_rules()}
EXAMPLES = [
    (rule, text, f"{rule.code}-{number}")
    for rule in builtin_rules()
    for number, text in enumerate(rule.fails)
    if documents_of(text)
]
WALKED = [pytest.param(rule, text, id=name) for rule, text, name in drawn(EXAMPLES, 110)]


@cache
def found_as_it_is(code: str, text: str) -> list[str] | None:
    """What the rule of a code says of an example as it stands, which both tests compare with."""
    return found(RULES[code], text, lambda body: body)


@pytest.mark.parametrize(("rule", "text"), WALKED)
def test_the_order_of_a_list_changes_nothing(rule: Rule, text: str) -> None:
    as_it_is = found_as_it_is(rule.code, text)
    if as_it_is is not None:
        assert found(rule, text, turned) == as_it_is


def without_defaults(body: Body) -> Body:
    """An object without the values that the API would fill in by itself."""
    schemas = BUILTIN.find(str(body.get("apiVersion")), str(body.get("kind")))
    if not schemas:
        return body
    body = copy.deepcopy(body)
    for parent, key in list(_defaults(schemas[0].root, body)):
        del parent[key]
    return body


def _defaults(node: Node, value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            child = node.child(key)
            if child is None:
                continue
            if child.default is not None and child.default == item:
                yield value, key
            else:
                yield from _defaults(child, item)
    elif isinstance(value, list) and node.items is not None:
        for item in value:
            yield from _defaults(node.items, item)


@pytest.mark.parametrize(("rule", "text"), WALKED)
def test_a_default_is_as_wrong_unsaid(rule: Rule, text: str) -> None:
    if "kind" not in documents_of(text)[0] or rule.code in UNSAID:
        return
    assert found(rule, text, without_defaults) == found_as_it_is(rule.code, text)
