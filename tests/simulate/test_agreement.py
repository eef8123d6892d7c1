"""The simulation decides what a real Kueue decided."""

from __future__ import annotations

import pytest

from simulate.agreement import cases, differences

# What Kueue says of a job that waits differs even between its own recordings of these scenarios (`runs.same`), so what
# it said last is no consequence of the input. All that it decided is the same.
OTHER_WORDS = {
    168: "k0: no place in the topology, or later, that its quota is used: an update looked at it once more",
    216: "j4: taken by another job of the cycle, or later, that the quota is used: the earlier words stayed",
    1021: "j1: no place in the topology, or once it was looked at again, that the quota is used",
    1047: "j4: the same",
    1117: "j2: the same",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['id']}-{case['dimension']}")
def test_the_simulation_decides_as_kueue_did(case) -> None:
    found = differences(case)
    if case["id"] in OTHER_WORDS:
        assert not case.get("runs", {}).get("same")
        assert {difference.what for difference in found} == {"resources"}, "take it off the list"
        return
    assert found == []
