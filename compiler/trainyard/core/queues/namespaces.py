"""The teams' namespaces: those that the spec declares, and those that its queues name."""

from __future__ import annotations

from trainyard.core.queues.queues import resolve_queues
from trainyard.core.teams.spec import NamespacesSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, unique_names


def namespace_routes(context: Context) -> dict[str, Route]:
    """Every team's namespace, with the route that asks for it."""
    queues = context.once(resolve_queues)
    at = SPEC / "namespaces"
    declared = NamespacesSection.of(context.spec).namespaces
    names = (namespace.name for namespace in declared)
    unique_names(context, "namespace", names, at)
    routes = {}
    for index, namespace in enumerate(declared):
        routes[namespace.name] = at / index
    for queue in queues.values():
        for name in queue.namespaces:
            routes.setdefault(name, queue.place("namespaces"))
    return routes
