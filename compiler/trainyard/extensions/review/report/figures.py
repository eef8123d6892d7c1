"""The cost of a cluster as values, for programs: USD, and ``None`` where no price is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.extensions.forecast.costs import Item, total_costs
from trainyard.extensions.forecast.sections.bill import bill
from trainyard.extensions.forecast.sections.spending import JobCost, QueueCost, by_job, by_queue
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.report.teams import Part, parts


def figures(subject: Subject) -> Mapping[str, Any]:
    """What is paid for, the sums, and whom it is paid for; ``exact`` is false where a price is that of another
    Region."""
    region = subject.spec.region
    items = bill(subject)
    sums = total_costs(items, region)
    return {
        "cluster": subject.name,
        "region": region,
        "usdPerHour": {"always": sums.always, "atMost": sums.at_most, "exact": sums.exact},
        "withoutPrice": [item.name for item in items if item.usd is None],
        "items": [_item(item, region) for item in items],
        "jobs": [_job(subject, cost) for cost in by_job(subject)],
        "queues": [_queue(cost) for cost in by_queue(subject)],
        "teams": [_part(part) for part in parts(subject)],
    }


def _item(item: Item, region: str) -> Mapping[str, Any]:
    return {
        "name": item.name,
        "what": item.what,
        "least": item.least,
        "most": item.most,
        "usdPerHourEach": item.usd,
        "paid": item.how,
        "exact": item.is_exact(region),
    }


def _job(subject: Subject, cost: JobCost) -> Mapping[str, Any]:
    return {
        "job": cost.job.source_name,
        "team": cost.job.namespace,
        "queue": subject.queue_of(cost.job),
        "nodes": cost.job.whole_nodes,
        "usdPerHour": cost.usd_hour,
        "endsAfterSeconds": cost.job.deadline,
        "exact": cost.exact,
    }


def _queue(cost: QueueCost) -> Mapping[str, Any]:
    return {
        "queue": cost.queue.name,
        "teams": list(cost.queue.namespaces),
        "usdPerHour": cost.usd_hour,
        "exact": cost.exact,
    }


def _part(part: Part) -> Mapping[str, Any]:
    """``teams`` is empty for what all teams of the cluster have together."""
    return {
        "teams": list(part.teams),
        "kind": part.kind,
        "name": part.name,
        "usdPerMonth": part.usd,
        "exact": part.exact,
    }
