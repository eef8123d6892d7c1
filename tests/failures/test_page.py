"""docs/failures.md says what the command does."""

from __future__ import annotations

import re

from builders import ROOT
from trainyard.catalog import load_catalog
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.waits import NOT_READY, REPAIR, REPAIR_SILENT, TOLERATED
from trainyard.eks.settings.launcher import PoolLauncher
from trainyard.extensions.forecast.failures.footing import From
from trainyard.extensions.forecast.failures.outcome import Failure
from trainyard.extensions.parallelcluster.failures.slurm import KILL, REQUEUED, SILENT

PAGE = (ROOT / "docs" / "failures.md").read_text()


def test_every_published_rate_is_on_the_page() -> None:
    for rate in load_catalog().failure_rates.rates:
        (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| {rate.name},"))
        assert rate.source in row
        assert row.endswith(f"| {round(rate.hours):,} GPU hours |")


def test_every_rate_has_a_source_and_a_date() -> None:
    named = {source.name for source in load_catalog().sources}
    for rate in load_catalog().failure_rates.rates:
        assert rate.source
        assert rate.version
        assert rate.date[:2] == "20"
        assert f"failure rate: {rate.name}" in named


def test_every_value_of_the_json_is_on_the_page() -> None:
    def listed(key: str) -> list[str]:
        match = re.search(rf"`{key}` \(([^)]*)\)", PAGE)
        assert match is not None
        return re.findall(r"`(\w+)`", match[1])

    assert listed("failure") == [failure.key for failure in Failure]
    assert listed("resumes") == [start.name.lower() for start in From]


def test_times_of_the_page_are_those_that_are_added() -> None:
    assert f"{NOT_READY.seconds} seconds to NotReady" in PAGE
    assert f"{TOLERATED.seconds // 60} minutes to eviction" in PAGE
    assert f"{REPAIR.seconds // 60} and {REPAIR_SILENT.seconds // 60} minutes to repair" in PAGE
    assert f"Karpenter drains {PoolLauncher.block_notice.seconds // 60} minutes before" in PAGE
    assert f"EC2 takes the instances {Launcher.block_notice.seconds // 60} minutes before" in PAGE
    assert f"`{SILENT[0]}`, {SILENT[1]} seconds" in PAGE
    assert f"{REQUEUED.seconds} seconds until a job that is back" in PAGE
    assert f"`{KILL[0]}`" in PAGE
