"""The timeline of a compiled cluster, as rules, reports and forecasts ask for it."""

from __future__ import annotations

from trainyard.extensions.forecast.simulate.compiled import Cluster, cluster
from trainyard.extensions.forecast.timeline.course import Course, Timeline
from trainyard.extensions.forecast.timeline.engine import timeline
from trainyard.extensions.forecast.timeline.readiness import pods_ready
from trainyard.extensions.forecast.timeline.windows import windows
from trainyard.judge.model.lengths import lengths
from trainyard.judge.model.reading import Reading

MOST_JOBS = 100
"""Of more jobs nothing is said: many that wait for each other take longer than the rest of a check."""


def timeline_of(compiled: Cluster, reading: Reading, origin: int | None = None) -> Timeline:
    """The timeline of a cluster; ``origin``: the second since 1970 at which it begins, else with the first block."""
    plan = reading.plan
    return timeline(compiled, reading.once(lengths), windows(plan, origin), pods_ready(plan))


def outlook(reading: Reading) -> Timeline | None:
    """The timeline from the start of the first block on; ``None`` where there are too many jobs."""
    if len(reading.works) > MOST_JOBS:
        return None
    return timeline_of(cluster("", reading), reading)


def courses(reading: Reading) -> dict[str, Course]:
    """The courses of all jobs, by namespace and name; none of them where there is no timeline."""
    found = reading.once(outlook)
    if found is None:
        return {}
    return {course.key: course for course in found.courses}


def known_pools(reading: Reading) -> frozenset[str]:
    """The pools in which no job runs whose length is not known."""
    found = reading.once(outlook)
    if found is None:
        return frozenset()
    unknown = {
        share.pool
        for course in found.courses
        if course.length.seconds is None
        for attempt in course.attempts
        for share in attempt.shares
    }
    return frozenset(use.pool for use in found.pools if use.pool not in unknown)
