"""The metrics that queries name, and those that exporters have."""

from __future__ import annotations

import json

import pytest
from trainyard.extensions.observability.exporters import made
from trainyard.extensions.observability.promql import selectors

from tests.policy.harness import lifted
from tests.policy.manifests import release


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ('up{pod="a"}', {"pod"}),
        ('up{pod=""}', set()),
        ('up{pod!="a"}', set()),
        ('up{pod=~"a.+"}', {"pod"}),
        ('up{pod=~"a|"}', set()),
        ('up{pod=~"$pod"}', set()),
        (r'up{pod=~"\\pL+"}', {"pod"}),
        (r'up{pod=~"\\pL*"}', set()),
        (r'up{pod=~"\\u{61}"}', set()),
        (r'up{pod=~"[[:alpha:]]+"}', {"pod"}),
    ],
)
def test_labels_that_series_must_have(query: str, labels: set[str]) -> None:
    """As Go reads patterns; of one that is not known as such none are."""
    (selector,) = selectors(query)
    assert selector.labels == labels


COUNTERS = """\
# clocks
DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz).

  #DCGM_FI_DEV_MEM_CLOCK, gauge, Memory clock frequency (in MHz).
  DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).
"""


def test_the_counters_of_a_table_are_those_without_a_mark() -> None:
    plan, _ = lifted(release("dcgm-exporter"))
    assert made(plan) == {}
    plan, _ = lifted(release("dcgm-exporter", json.dumps({"customMetrics": COUNTERS})))
    assert made(plan) == {"dcgm-exporter": {"DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_TEMP"}}


@pytest.mark.parametrize(
    ("relabelling", "kept"),
    [
        ("{action: keep, sourceLabels: [__name__], regex: 'a|b_c:d'}", {"a", "b_c:d"}),
        ("{action: keep, sourceLabels: [__name__], regex: 'a.*'}", None),
        ("{action: keep, sourceLabels: [namespace], regex: 'a|b'}", None),
        ("{action: drop, sourceLabels: [__name__], regex: 'a|b'}", None),
        ("{action: keep, sourceLabels: [__name__], regex: 1}", None),
        (
            "{action: drop, sourceLabels: [__name__], regex: c}, "
            "{action: keep, sourceLabels: [__name__], regex: a}",
            {"a"},
        ),
    ],
)
def test_the_metrics_that_a_relabelling_keeps(relabelling: str, kept: set[str] | None) -> None:
    """Where it lists them."""
    values = f"{{prometheus: {{serviceMonitor: {{metricRelabelings: [{relabelling}]}}}}}}"
    plan, _ = lifted(release("kube-prometheus-stack", values))
    assert made(plan).get("prometheus") == kept
