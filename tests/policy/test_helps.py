"""What tells whether the help of a finding speaks of the spec. `test_policies.py` asks it of every rule's examples."""

from __future__ import annotations

import pytest
from trainyard.core.jobs.spec import JobResources
from trainyard.core.pods.plan import EFA, EPHEMERAL, GPU, HUGEPAGES, NEURON
from trainyard.judge.model.spelling import spec_key

from tests.policy.harness import builtin_rules
from tests.policy.helps import is_of_spec, keys_in


def test_the_examples_are_there() -> None:
    examples = [text for rule in builtin_rules() for text in rule.fails if is_of_spec(text)]
    assert len(examples) > 80


def test_keys_are_read_out_of_a_help() -> None:
    help = "write `resources: {efa: 4}`, `a.b`, or `nodes:`; run `aws x: y`, `p5.48xlarge`"
    assert keys_in(help) == {"resources", "efa", "a", "b", "nodes"}


@pytest.mark.parametrize("resource", ["cpu", "memory", EFA, GPU, NEURON, HUGEPAGES, EPHEMERAL])
def test_a_resource_has_a_key_of_a_job(resource: str) -> None:
    fields = JobResources.model_fields.items()
    assert spec_key(resource) in {field.alias or name for name, field in fields}
