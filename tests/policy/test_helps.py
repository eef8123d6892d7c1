"""The help of a finding on a spec: in the spec's own words, which are keys of the language."""

from __future__ import annotations

import re

import pytest

from compiler.core.jobs.spec import JobResources
from compiler.core.pods.plan import EFA, EPHEMERAL, GPU, HUGEPAGES, NEURON
from compiler.examples.rehearse import SLURM
from compiler.language.reference import all_keys
from compiler.model.spelling import spec_key
from compiler.policy.rule import Rule
from tests.policy.harness import TODAY, builtin_rules, config_for, findings_for

KEYS = {key.name for key in all_keys()}
EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.code}-{number}")
    for rule in builtin_rules()
    for number, example in enumerate(rule.fails)
    if "apiVersion:" not in example and not SLURM.search(example)  # keys of a spec, not manifests
]
# Fields of what a spec compiles to. Nobody who wrote a spec has them before their eyes.
RENDERED = re.compile(
    r"vpc\.amazonaws\.com|nvidia\.com|hugepages-2Mi|nominalQuota|coveredResources|publicAccess|clusterEndpoints|"
    r"spec\.|featureGates|replicas|valueFrom|terminationGracePeriodSeconds|numNodes|numProcPerNode|"
    r"resourcesPerNode|runtimePatches|nodeSelector|capacity-type|managedNodeGroups|metadata\.|limits?\b"
)


def test_the_examples_are_there() -> None:
    assert len(EXAMPLES) > 80


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_a_help_speaks_of_the_spec(rule: Rule, example: str) -> None:
    config = config_for(rule, example, TODAY)
    found = findings_for(example, rules=(rule,), config=config)
    assert {fault.code for fault in found} == {rule.code}
    for fault in found:
        assert not RENDERED.search(fault.help), fault.help
        assert keys_in(fault.help) <= KEYS, fault.help


def keys_in(help: str) -> set[str]:
    """The keys that a help names: `key:`, `key: value`, `{key: value}` and `key.key` between backticks."""
    found: set[str] = set()
    for text in re.findall(r"`([^`]*)`", help):
        if re.fullmatch(r"[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+", text):
            found |= set(text.split("."))
        elif re.match(r"[a-z][A-Za-z]*:( |\Z)", text):
            found |= set(re.findall(r"([a-z][A-Za-z]*):(?= |\Z)", text))
    return found


def test_keys_are_read_out_of_a_help() -> None:
    help = "write `resources: {efa: 4}`, `a.b`, or `nodes:`; run `aws x: y`, `p5.48xlarge`"
    assert keys_in(help) == {"resources", "efa", "a", "b", "nodes"}


@pytest.mark.parametrize("resource", ["cpu", "memory", EFA, GPU, NEURON, HUGEPAGES, EPHEMERAL])
def test_a_resource_has_a_key_of_a_job(resource: str) -> None:
    fields = JobResources.model_fields.items()
    assert spec_key(resource) in {field.alias or name for name, field in fields}
