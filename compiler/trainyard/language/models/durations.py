"""Checks of durations: any, positive ones, and ranges for what they are used for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from trainyard.language.diagnostics.words import kind_of
from trainyard.language.models.checks import fault
from trainyard.language.models.editor import shaped, shaped_like
from trainyard.language.units import DURATION
from trainyard.language.units import Duration as DurationValue

_LONGEST = 10 * 365 * 24 * 3600


@shaped(rf"(?=.){DURATION}", type="string", examples=["20m"])
def duration(value: Any) -> DurationValue:
    """A duration of Kubernetes and Flux."""
    if not isinstance(value, str):
        if type(value) is int and value:
            help = f"give the unit, like `{value}s` or `{value}m`"
        else:
            help = _LIKE
        raise fault(f"a duration is a number with a unit, not {kind_of(value)}", help)
    try:
        parsed = DurationValue.parse(value)
    except ValueError:
        raise fault(f"`{value}` is not a duration", _duration_help(value)) from None
    if parsed.seconds > _LONGEST:
        raise fault(f"`{value}` is more than ten years", "write a shorter duration")
    return parsed


_LIKE = "write it like `20m` or `1h30m`"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def _duration_help(text: str) -> str:
    """The duration that a number with a unit of another form means: ``1.5h``, ``90 min``, ``2d``."""
    near = re.match(r"\s*(\d+(?:\.\d+)?)\s*(?!ms\b|mo)([smhdw])[a-z]*\s*\Z", text.lower())
    if near is None:
        return _LIKE
    seconds = float(near[1]) * _UNITS[near[2]]
    if not seconds or not seconds.is_integer():
        return _LIKE
    if near[2] in "dw":
        why = ": Kubernetes has no unit for days"
    else:
        why = ""
    return f"write `{DurationValue(int(seconds))}`{why}"


@shaped(rf"(?=.*[1-9]){DURATION}", type="string", examples=["20m"])
def period(value: Any) -> DurationValue:
    """A duration above 0."""
    parsed = duration(value)
    if not parsed.seconds:
        raise fault(f"`{value}` is no time at all", "write a duration above 0, like `20m`")
    return parsed


Check = Callable[[Any], DurationValue]


def at_most(which: Check, longest: str, why: str, help: str) -> Check:
    """A check of a duration that is no longer than ``longest``; ``why`` says what a longer one would do."""
    most = DurationValue.parse(longest)

    @shaped_like(which)
    def check(value: Any) -> DurationValue:
        parsed = which(value)
        if parsed.seconds > most.seconds:
            raise fault(f"`{value}` is longer than {longest}: {why}", help)
        return parsed

    return check


def at_least(shortest: str, why: str, help: str) -> Check:
    """A check of a duration that is no shorter than ``shortest``; ``why`` says what a shorter one would do."""
    least = DurationValue.parse(shortest)

    @shaped_like(period)
    def check(value: Any) -> DurationValue:
        parsed = period(value)
        if parsed.seconds < least.seconds:
            raise fault(f"`{value}` is shorter than {shortest}: {why}", help)
        return parsed

    return check


idle_time = at_most(
    duration,
    "168h",
    "empty nodes are paid for all that time",
    "write `nodes: 8` instead of `{max: 8}` for nodes that are always on",
)
grace = at_most(
    period,
    "24h",
    "until it is over nodes do not drain, and jobs that wait for theirs do not start",
    "write as long as a checkpoint takes, like `20m`, or remove it: it is derived",
)


def whole_minutes(least: int, most: int) -> Check:
    """A check of a duration that is a number of minutes within bounds."""

    @shaped_like(period)
    def check(value: Any) -> DurationValue:
        parsed = period(value)
        if least * 60 <= parsed.seconds <= most * 60 and parsed.seconds % 60 == 0:
            return parsed
        raise fault(f"`{value}` is not a number of minutes from {least} to {most}", _LIKE)

    return check


gracetime = whole_minutes(3, 120)
bootstrap = whole_minutes(1, 24 * 60)
between_failures = at_least(
    "1h",
    "no job of several nodes ends between two failures",
    "write the time of one node, like `6335h`, and not that of all of them",
)
refresh = at_least(
    "1m",
    "each look at Secrets Manager is paid for, and too many are refused",
    "write `1h`, or remove it",
)
retention = at_least(
    "2h",
    "Prometheus writes its samples to disk in blocks of two hours",
    "write `360h` for 15 days, or remove it",
)
scrape_interval = at_most(
    at_least(
        "5s",
        "DCGM reads its counters each second, and most exporters say nothing new so often",
        "write `30s`, or remove it",
    ),
    "2m",
    "alerts look back five minutes, and need two samples in them",
    "write `30s`, or remove it",
)


_DAY = 24 * 3600


@shaped_like(period)
def log_retention(value: Any) -> DurationValue:
    """Whole days: Loki has an index for each, and the lifecycle of a bucket counts them."""
    parsed = period(value)
    if parsed.seconds % _DAY:
        days = -(-parsed.seconds // _DAY)
        raise fault(
            f"`{value}` is not a number of whole days",
            f"write `{24 * days}h`, which is {days} days",
            source="Loki 3.7.6, limits_config.retention_period: 24h at least; S3 API, lifecycle Days",
        )
    return parsed
