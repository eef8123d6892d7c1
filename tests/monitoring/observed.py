"""The cluster that these tests are about (S16): resolved once, with its rules as Prometheus reads them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from builders import ROOT, dumped
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.health.alert import CRITICAL, Alert
from trainyard.eks.settings.launcher import PoolLauncher
from trainyard.extensions.hyperpod.groups.watch import AGENT
from trainyard.extensions.observability.monitoring.alerts import capacity, pages, rule, sending
from trainyard.extensions.observability.monitoring.lower import rules_body
from trainyard.extensions.observability.monitoring.plan import Rule, RuleGroups
from trainyard.plan import Plan
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options

from monitoring.cases import BLOCK_ENDS

SPEC = ROOT / "tests" / "scenarios" / "observed.yaml"


@cache
def compilation() -> Compilation:
    """The spec, compiled."""
    (done,) = check([SPEC], Options()).compilations
    return done


def plan() -> Plan:
    """What it resolves to."""
    found = compilation().plan
    assert found is not None, compilation().diagnostics
    return found


def release(name: str, of: Plan | None = None) -> HelmRelease:
    """The release of a chart."""
    (found,) = [each for each in (of or plan()).of(HelmRelease) if each.name == name]
    return found


def rules() -> list[Rule]:
    """Every rule of the cluster."""
    return [
        rule for groups in plan().of(RuleGroups) for each in groups.groups.values() for rule in each
    ]


def alerts() -> dict[str, Alert]:
    """Every alert with its page, by name."""
    from trainyard.catalog import load_catalog

    listed = pages(load_catalog().xids, AGENT).values()
    return {alert.name: alert for alerts in listed for alert in alerts}


def groups() -> list[dict[str, Any]]:
    """The groups of all PrometheusRules as they are written, but alerts of a pool with times near 1970; and those that
    a cluster has instead of some, where AWS evaluates its rules or HyperPod watches its nodes."""
    found: list[dict[str, Any]] = []
    for each in plan().of(RuleGroups):
        if not each.name.startswith("trainyard-pool-"):
            found += rules_body(each)["spec"]["groups"]
            continue
        prices = [rule for rule in next(iter(each.groups.values())) if rule.record]
        (name,) = each.groups
        found += rules_body(_only(each, name, prices))["spec"]["groups"]
    unused = capacity.reservation_unused(
        "block",
        4,
        '(4 - (count(kube_node_labels{label_karpenter_sh_nodepool="block"}) or vector(0))) > 0'
        + capacity.while_it_lasts(None, BLOCK_ENDS, PoolLauncher.block_notice.seconds),
        "",
        CRITICAL,
    )
    timed = [rule(capacity.block_ends("block", BLOCK_ENDS)), rule(unused)]
    of_aws = [rule(alert) for alert in sending.ALERTS]
    some = plan().of(RuleGroups)[0]
    of_hyperpod = [rule(alert) for alert in AGENT.alerts]
    others = (("timed", timed), ("sending", of_aws), ("hyperpod", of_hyperpod))
    for name, rules in others:
        found += rules_body(_only(some, name, rules))["spec"]["groups"]
    return found


def _only(groups: RuleGroups, name: str, rules: list[Rule]) -> RuleGroups:
    from dataclasses import replace

    return replace(groups, groups={name: tuple(rules)})


def write(path: Path, *, alert: str = "") -> Path:
    """The file of rules for Prometheus; with a name, that alert alone and what is recorded for it."""
    found = groups()
    if alert:
        for group in found:
            group["rules"] = [rule for rule in group["rules"] if rule.get("alert", alert) == alert]
    path.write_text(dumped({"groups": found}))
    return path
