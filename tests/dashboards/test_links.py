"""From a panel or an alert to the counter: what the cluster's own manifests say an exporter has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from monitoring.observed import plan
from trainyard.eks.flux.plan import HelmRelease
from trainyard.extensions.observability.exporters import asked, made
from trainyard.extensions.observability.promql import of_dashboard, selectors
from trainyard.extensions.observability.released_exporters import exporter_of, exporters, of
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import lifted


def read(values: dict[str, Any] | None = None) -> Plan:
    """The cluster's manifests, read back; with other values of dcgm-exporter."""
    found = lifted(lower(plan()), closed=True)
    nodes = [
        replace(node, values={**node.values, **(values or {})})
        if isinstance(node, HelmRelease) and node.chart == "dcgm-exporter"
        else node
        for node in found.items
    ]
    return Plan(tuple(nodes), closed=True)


def lacking(cluster: Plan) -> set[str]:
    known = made(cluster)
    named = {each.metric for query in asked(cluster) for each in selectors(query.query)}
    owners = {name: exporter_of(name) for name in named}
    return {
        name
        for name, owner in owners.items()
        if owner is not None and owner.name in known and name not in known[owner.name]
    }


def test_the_lists_are_those_of_the_manifests() -> None:
    known = made(read())
    # An agent is there where AWS keeps the samples, OpenCost where it is asked for (tests/monitoring).
    absent = {"targets", "rules", "prometheus-agent", "opencost"}
    assert set(known) == set(exporters()) - absent
    assert known["dcgm-exporter"] >= {metric.name for metric in of("dcgm-exporter")}
    assert not lacking(read())


def test_a_counter_that_is_left_out_is_missed() -> None:
    assert "DCGM_FI_DEV_POWER_USAGE" in lacking(
        read({"customMetrics": "DCGM_FI_DEV_GPU_TEMP, gauge, C"})
    )


def test_a_list_that_is_not_known_is_not_judged() -> None:
    assert "dcgm-exporter" not in made(read({"customMetrics": {"unread": True}}))


def test_every_query_is_read() -> None:
    assert len(list(asked(read()))) > 120
    assert all(selectors(each.query) for each in asked(read()) if "vector(" not in each.query)


def test_what_a_query_asks_for() -> None:
    (one,) = selectors('sum by (x) (rate(a{b="c",d=~".+",e="",f!="g",h=~".*",i=~"$j"}[5m]))')
    assert (one.metric, one.labels) == ("a", {"b", "d"})
    assert [each.metric for each in selectors("a + on (x) topk(3, b) unless -c > bool 1")] == list(
        "abc"
    )
    assert selectors("rate(a[") == ()
    assert of_dashboard("rate(a[$__rate_interval]) + b[${span:text}:]") == "rate(a[5m]) + b[5m:]"
