"""Rules about pools and gangs read the core's nodes, so that they judge any platform's: here one without Kubernetes."""

from __future__ import annotations

from trainyard.catalog import load_catalog
from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import GPU
from trainyard.core.pools.plan import FixedPool
from trainyard.judge.policy.config import Config
from trainyard.judge.policy.engine import run
from trainyard.language.places import Route
from trainyard.plan import Plan, Quantity
from trainyard.plan.base import PlanItem
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, ZONE, Requirement

from tests.policy.harness import builtin_rules


def pool(**required: tuple[str, ...]) -> FixedPool:
    keys = {"types": INSTANCE_TYPE, "zones": ZONE, "capacity": CAPACITY_TYPE}
    requirements = [Requirement(keys[name], "In", values) for name, values in required.items()]
    return FixedPool(
        at=Route(("spec", "nodePools", 0)), name="sketch", requirements=tuple(requirements)
    )


def found(*nodes: PlanItem) -> set[str]:
    findings = run(Plan(items=nodes, closed=False), load_catalog(), builtin_rules(), Config(), [])
    return {each.code for each in findings}


def test_pools() -> None:
    """Types, zones and capacity are facts of EC2, whoever launches the nodes."""
    spot = pool(types=("hpc7a.96xlarge",), zones=("us-east-2b",), capacity=("spot",))
    assert "PLC012" in found(spot)
    assert "PLC002" in found(pool(types=("g6.xlarge",), zones=("us-west-2a", "us-east-1a")))
    assert "PLC014" in found(pool(types=("p5e.48xlarge",), zones=("us-west-2a",)))
    assert "PLC018" in found(pool(types=("p5.47xlarge",), zones=("us-west-2a",)))
    sound = pool(types=("g6e.48xlarge",), zones=("us-west-2a",), capacity=("on-demand",))
    assert found(sound).isdisjoint({"PLC002", "PLC003", "PLC011", "PLC012", "PLC014", "PLC018"})


def test_gangs() -> None:
    """What a node of a job may use of CPU and memory is a fact of the gang."""
    limits = {GPU: Quantity.of(8), "memory": Quantity.of(4 << 30)}
    small = Gang(at=Route(("spec", "jobs", 0)), name="small", nodes=1, limits=limits)
    assert "LIM015" in found(small)
    enough = {**limits, "memory": Quantity.of(512 << 30)}
    assert "LIM015" not in found(
        Gang(at=Route(("spec", "jobs", 0)), name="large", nodes=1, limits=enough)
    )
