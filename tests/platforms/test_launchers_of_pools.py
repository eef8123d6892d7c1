"""Every launcher of a pool's nodes says all that is asked of one: what is missing fails by its name."""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import ROOT, faults_of, loaded, resolved, spec
from trainyard.catalog import load_catalog
from trainyard.core.pools.pools import resolve_pools
from trainyard.eks.nodes.launchers import chosen, launchers
from trainyard.eks.settings.launcher import ASKED, PoolLauncher, launcher_of
from trainyard.language.diagnostics import Severity
from trainyard.plan.context import Context
from trainyard.run.driver import check
from trainyard.run.lower import lower
from trainyard.run.outcome import Options
from trainyard.run.platforms import EKS
from trainyard.verify.formats import lifted

from platforms.nodes_of_pools import differing, said, seen, unlike

OPTIONS = Options(today=date(2026, 11, 23))
SAMPLES: dict[str, dict[str, Any]] = {
    "Karpenter": {},
    "EKS Auto Mode": {"platform": {"eks": {"autoMode": {}}}},
    "managed node group": {"pool": {"managedNodeGroup": {}}},
}
"""By launcher, the parts of a spec whose pool is its own."""
REFUSED: dict[str, dict[str, Any]] = {
    "EKS Auto Mode": {"pool": {"gpuSharing": {"timeSlicing": {"replicas": 4}}}},
    "managed node group": {"pool": {"consolidateAfter": "1h"}},
    "Karpenter": {"pool": {"nodes": {"min": 1, "max": 2}}},
}
"""By launcher that refuses something, what it does not follow, laid over its sample."""
POOLS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "from none": {"nodes": {"max": 4}},
    "several types": {
        "instanceTypes": ["p4d.24xlarge", "p4de.24xlarge"],
        "labels": {"team": "research"},
        "taints": [{"key": "team", "value": "research", "effect": "NoSchedule"}],
        "rootVolume": {"size": "500Gi", "iops": 6000, "throughput": 500},
        "placement": {"group": "mine"},
    },
    "reservations": {
        "capacity": {
            "reserved": {
                "reservations": [
                    {"id": "cr-0a1b2c3d4e5f60718", "nodes": 1},
                    {"id": "cr-1a1b2c3d4e5f60718", "nodes": 1},
                ]
            }
        }
    },
    "block": {
        "instanceTypes": ["p5.48xlarge"],
        "zones": ["us-west-2a"],
        "capacity": {
            "block": {
                "reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 2}],
                "starts": "2026-12-01T11:30:00Z",
                "ends": "2026-12-15T11:30:00Z",
            }
        },
    },
    "spot": {"capacity": {"spot": {}}},
    "without accelerators": {"instanceTypes": ["m7i.8xlarge"], "zones": ["us-west-2a"]},
    "parts of GPUs": {"gpuSharing": {"mig": {"profile": "1g.5gb"}}},
    "Trainium": {"instanceTypes": ["trn1.32xlarge"], "zones": ["us-west-2a"]},
    "disks unused": {"localStorage": "none"},
}
"""Pools of any launcher, laid over its sample."""

of_each = pytest.mark.parametrize("launcher", launchers(), ids=lambda launcher: launcher.name)


def of_launcher(launcher: PoolLauncher, *, job: dict[str, Any] | None = None) -> dict[str, Any]:
    """A spec with two nodes of a launcher, and a job on them."""
    assert launcher.name in SAMPLES, f"launcher `{launcher.name}` has no sample in `SAMPLES`"
    sample = dict(SAMPLES[launcher.name])
    pool = {"nodes": 2, **sample.pop("pool", {})}
    return spec(pool=pool, job={"nodes": 2, **(job or {})}, **sample)


def snake(key: str) -> str:
    """How Python calls a key of the spec."""
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", key)


def context_of(data: dict[str, Any]) -> Context:
    model = loaded(data)
    catalog = load_catalog()
    return Context("lab", model.spec, catalog, catalog.newest_release, "generated", EKS)


@of_each
class TestEveryLauncher:
    def test_it_says_all_that_is_asked_of_a_launcher(self, launcher: PoolLauncher) -> None:
        missing = [name for name in ASKED if name not in vars(type(launcher))]
        assert not missing, f"launcher `{launcher.name}` does not say: {', '.join(missing)}"
        assert [other.name for other in launchers() if other.place == launcher.place] == [
            launcher.name
        ]

    def test_it_has_the_pool_that_asks_for_it(self, launcher: PoolLauncher) -> None:
        (pool,) = context_of(of_launcher(launcher)).once(resolve_pools).values()
        assert launcher_of(pool) is launcher

    @pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
    def test_its_nodes_will_be_what_it_says(
        self, launcher: PoolLauncher, pool: dict[str, Any]
    ) -> None:
        data = of_launcher(launcher)
        data["spec"]["nodePools"][0].update(pool)
        data["spec"] |= {"jobs": [], "tags": {"cost-center": "research"}}
        plan, found = resolved(data)
        codes = {each.code for each in found if each.severity is Severity.ERROR}
        if plan is None or codes:
            assert pool
            assert codes == {launcher.code}
            return
        read = lifted(lower(plan), closed=True)
        context = context_of(data)
        (own,) = context.once(resolve_pools).values()
        assert launcher_of(own) is launcher
        made = {node.identity: node for node in launcher.nodes(context, own) if node.carried}
        assert made
        for key, node in made.items():
            lost = unlike(node, read.named(type(node), key.name))
            assert not lost, f"{key.kind} `{key.name}` is written with another {', '.join(lost)}"
        wrong = differing(said(context, launcher, own, plan), seen(context, launcher, own, read))
        assert not wrong, f"`{launcher.name}` says of its nodes what is not written: {wrong}"

    def test_its_nodes_are_counted_by_the_quota(
        self, launcher: PoolLauncher, tmp_path: Path
    ) -> None:
        """A quota of three nodes is more than a pool of two has."""
        data = of_launcher(launcher)
        quota = [{"pool": data["spec"]["nodePools"][0]["name"], "nodes": 3}]
        data["spec"]["queues"] = [{"name": "q", "namespaces": ["a"], "quota": quota}]
        file = tmp_path / "spec.yaml"
        file.write_text(yaml.safe_dump(data))
        assert "QUE004" in {each.code for each in check([file], OPTIONS).all()}
        quota[0]["nodes"] = 2
        file.write_text(yaml.safe_dump(data))
        assert "QUE004" not in {each.code for each in check([file], OPTIONS).all()}

    def test_a_gang_that_is_larger_than_its_pool_is_found(
        self, launcher: PoolLauncher, tmp_path: Path
    ) -> None:
        file = tmp_path / "spec.yaml"
        file.write_text(yaml.safe_dump(of_launcher(launcher, job={"nodes": 9})))
        assert "LIM003" in {each.code for each in check([file], OPTIONS).all()}
        file.write_text(yaml.safe_dump(of_launcher(launcher)))
        assert "LIM003" not in {each.code for each in check([file], OPTIONS).all()}

    def test_what_it_cannot_follow_is_an_error(self, launcher: PoolLauncher) -> None:
        if not launcher.code:
            assert launcher.name not in REFUSED
            return
        assert launcher.name in REFUSED, f"launcher `{launcher.name}` has no pool in `REFUSED`"
        assert launcher.code not in {each.code for each in faults_of(of_launcher(launcher))}
        data = of_launcher(launcher)
        data["spec"]["nodePools"][0].update(REFUSED[launcher.name]["pool"])
        assert launcher.code in {each.code for each in faults_of(data)}

    def test_only_its_own_modules_read_its_key(self, launcher: PoolLauncher) -> None:
        """All others ask its record."""
        if not launcher.key:
            return
        record = sys.modules[type(launcher).__module__]
        text = Path(str(record.__file__)).read_text()
        own = {record.__name__, *re.findall(r"from (trainyard\.\S+\.nodes\.\w+) import", text)}
        readers = {
            ".".join(path.relative_to(ROOT / "compiler").with_suffix("").parts)
            for path in (ROOT / "compiler" / "trainyard").rglob("*.py")
            if re.search(rf"\.{snake(launcher.key)}\b", path.read_text())
        }
        assert readers
        assert readers <= own, f"ask the record of `{launcher.name}`: {readers - own}"

    def test_its_page_has_it(self, launcher: PoolLauncher) -> None:
        page = (ROOT / "docs/capacity.md").read_text()
        row = f"| {launcher.name} |"
        assert row in page, f"`docs/capacity.md` has no row of launcher `{launcher.name}`"


def test_each_pool_has_one_launcher_and_the_last_takes_every_other() -> None:
    last = launchers()[-1]
    context = context_of(spec())
    assert last.name == "Karpenter"
    (resolved,) = context.once(resolve_pools).values()
    assert chosen(context.spec, resolved.spec) is last
