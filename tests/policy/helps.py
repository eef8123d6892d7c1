"""The help of a finding on a spec: in the spec's own words, which are keys of the language."""

from __future__ import annotations

import re
from functools import cache

from trainyard.run.examples.rehearse import SLURM
from trainyard.run.language.reference import all_keys

# Fields of what a spec compiles to. Nobody who wrote a spec has them before their eyes.
RENDERED = re.compile(
    r"vpc\.amazonaws\.com|nvidia\.com|hugepages-2Mi|nominalQuota|coveredResources|publicAccess|clusterEndpoints|"
    r"spec\.|featureGates|replicas|valueFrom|terminationGracePeriodSeconds|numNodes|numProcPerNode|"
    r"resourcesPerNode|runtimePatches|nodeSelector|capacity-type|managedNodeGroups|metadata\.|limits?\b"
)


@cache
def _keys() -> set[str]:
    return {key.name for key in all_keys()}


def is_of_spec(example: str) -> bool:
    """Whether an example of a rule is keys of a spec, not manifests."""
    return "apiVersion:" not in example and not SLURM.search(example)


def assert_speaks_of_the_spec(help: str) -> None:
    assert not RENDERED.search(help), help
    assert keys_in(help) <= _keys(), help


def keys_in(help: str) -> set[str]:
    """The keys that a help names: `key:`, `key: value`, `{key: value}` and `key.key` between backticks."""
    found: set[str] = set()
    for text in re.findall(r"`([^`]*)`", help):
        if re.fullmatch(r"[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+", text):
            found |= set(text.split("."))
        elif re.match(r"[a-z][A-Za-z]*:( |\Z)", text):
            found |= set(re.findall(r"([a-z][A-Za-z]*):(?= |\Z)", text))
    return found
