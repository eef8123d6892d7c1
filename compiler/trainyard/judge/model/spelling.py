"""The key of the spec for a resource of pods, for a finding's help."""

from __future__ import annotations

from trainyard.core.pods.plan import EFA, EPHEMERAL, HUGEPAGES

_KEYS = {
    "cpu": "cpu",
    "memory": "memory",
    EFA: "efa",
    HUGEPAGES: "hugePages",
    EPHEMERAL: "ephemeralStorage",
}
ACCELERATORS = "accelerators"


def spec_key(resource: str) -> str:
    """The key of a job's ``resources`` that asks for a resource of pods; any device but EFA is an accelerator."""
    return _KEYS.get(resource, ACCELERATORS)
