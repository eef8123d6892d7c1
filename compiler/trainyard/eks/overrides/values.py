"""Merges the spec's Helm values over ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.eks.overrides.spec import OverridesSection
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Key, Route
from trainyard.language.places.route import routes_below
from trainyard.plan.context import SPEC, Context

_ABSENT = object()
_WIDTH = 60
Places = dict[tuple[Key, ...], Route]


@dataclass(frozen=True, slots=True)
class Change:
    """One key of the values that the spec sets or removes: its value before and after; ``_ABSENT`` where none is."""

    path: tuple[str, ...]
    before: Any
    after: Any
    at: Route


def chart_values(
    context: Context, component: str, ours: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Places]:
    """The values of a component's chart, and the place in the spec of each that the spec sets."""
    component_of_spec = OverridesSection.of(context.spec).components.get(component)
    own = component_of_spec.values if component_of_spec else {}
    at = SPEC / "components" / component / "values"
    return overridden(context, component, ours, own, at)


def overridden(
    context: Context, component: str, ours: Mapping[str, Any], own: Mapping[str, Any], at: Route
) -> tuple[Mapping[str, Any], Places]:
    """Our values with those of the spec at ``at`` over them, and the place of each that the spec sets.

    Helm's own rule for values over those of a chart (helm v3.18 pkg/chartutil/coalesce.go), one level higher: mappings
    merge, anything else replaces, and null removes.
    """
    if not own:
        return ours, {}
    values = dict(ours)
    places: Places = {}
    for change in _laid_over(values, own, (), at):
        if change.after is _ABSENT and change.before is _ABSENT:
            _nothing_to_remove(context, component, change)
            continue
        places.update(_places(change))
        _explain(context, change)
    return values, places


def _laid_over(
    values: dict[str, Any], own: Mapping[str, Any], path: tuple[str, ...], at: Route
) -> Iterator[Change]:
    """Lay the spec's values over ``values``, which changes; mappings inside are copied before they do."""
    for key, value in own.items():
        here = (*path, key)
        place = at / key
        before = values.get(key, _ABSENT)
        if value is None:
            values.pop(key, None)
            yield Change(here, before, _ABSENT, place)
        elif isinstance(value, dict) and value:
            if isinstance(before, Mapping):
                inside = dict(before)
            else:
                inside = {}
            values[key] = inside
            yield from _laid_over(inside, value, here, place)
        else:
            values[key] = value
            yield Change(here, before, value, place)


def _places(change: Change) -> Places:
    if change.after is _ABSENT:
        return {change.path: change.at}
    return dict(routes_below(change.after, change.path, change.at))


def _nothing_to_remove(context: Context, component: str, change: Change) -> None:
    context.fault(
        "RES083",
        f"Trainyard sets no value `{'.'.join(change.path)}` for `{component}`",
        change.at,
        "remove the key: `null` removes only what Trainyard sets, and no default of what it installs",
    )


def _explain(context: Context, change: Change) -> None:
    name = ".".join(map(str, change.at[1:]))
    reason = "set by the spec"
    if change.before is not _ABSENT:
        reason += f", instead of {_shown(change.before)}"
    if change.after is _ABSENT:
        shown = "removed"
    else:
        shown = _shown(change.after)
    context.given("cluster", name, shown, change.at, reason)


def _shown(value: Any) -> str:
    text = str(value)
    if len(text) <= _WIDTH:
        return text
    return f"{text[: _WIDTH - 1]}…"
