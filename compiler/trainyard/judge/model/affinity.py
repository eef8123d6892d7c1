"""Required affinity of pods, read from their bodies: few pods have any, so the plan has no field for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.core.pods.plan import Pod
from trainyard.judge.model.bodies import spec_of, templates
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import indexed, mappings_at, value_at
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.body import texts_at
from trainyard.plan.scheduling import INSTANCE_TYPE

_READ_HERE = ("node_affinity", "node_preference", "pod_affinity")
# The label of an instance type, and its name before Kubernetes 1.17, which nodes still have.
_TYPE_KEYS = (INSTANCE_TYPE, "beta.kubernetes.io/instance-type")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Expression:
    """A requirement on the labels of a node, and its place."""

    key: str
    operator: str
    values: tuple[str, ...]
    at: Route


@dataclass(frozen=True, slots=True)
class PodTerm:
    """Pods that must be in the same ``topology``: the labels that they have, and the place. ``narrowed``: it is about
    more than fixed labels."""

    topology: str
    labels: Mapping[str, str]
    narrowed: bool
    at: Route


@dataclass(frozen=True, slots=True)
class Affinity:
    """The required affinity of the pods of one template. ``nodes``: the expressions of each node selector term;
    ``preferred``: of each term that is only preferred."""

    title: str
    pod: Pod
    nodes: tuple[tuple[Expression, ...], ...]
    pods: tuple[PodTerm, ...]
    preferred: tuple[tuple[Expression, ...], ...] = ()


def affinities(world: Reading) -> Iterator[Affinity]:
    """The required affinity of every pod template that has one."""
    for template in world.once(templates):
        pod = template.pod
        if pod.unread.isdisjoint(_READ_HERE):
            continue
        spec, place = spec_of(world, pod)
        body, at = value_at(spec, "affinity"), place / "affinity"
        yield Affinity(
            template.title, pod, _node_terms(body, at), _pod_terms(body, at), _preferred(body, at)
        )


def _node_terms(body: Any, at: Route) -> tuple[tuple[Expression, ...], ...]:
    place = ("nodeAffinity", _REQUIRED, "nodeSelectorTerms")
    terms = []
    for index, term in indexed(body, *place):
        here = Route((*at, *place, index))
        terms.append(tuple(_expressions(term, here)))
    return tuple(terms)


def _preferred(body: Any, at: Route) -> tuple[tuple[Expression, ...], ...]:
    place = ("nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
    terms = []
    for index, term in indexed(body, *place):
        here = Route((*at, *place, index, "preference"))
        terms.append(tuple(_expressions(value_at(term, "preference"), here)))
    return tuple(terms)


def _expressions(term: Any, at: Route) -> Iterator[Expression]:
    for index, expression in indexed(term, "matchExpressions"):
        yield Expression(
            str(expression.get("key", "")),
            str(expression.get("operator", "")),
            tuple(texts_at(expression, "values")),
            at / "matchExpressions" / index,
        )


def _pod_terms(body: Any, at: Route) -> tuple[PodTerm, ...]:
    place = ("podAffinity", _REQUIRED)
    terms = []
    for index, term in indexed(body, *place):
        labels, more = _labels(term)
        narrowed = more or any(
            value_at(term, *key)
            for key in (
                ("matchLabelKeys",),
                ("mismatchLabelKeys",),
                ("namespaces",),
                ("namespaceSelector",),
            )
        )
        texts = {str(key): str(text) for key, text in labels.items()}
        terms.append(
            PodTerm(str(term.get("topologyKey", "")), texts, narrowed, Route((*at, *place, index)))
        )
    return tuple(terms)


def _labels(term: Any) -> tuple[dict[str, str], bool]:
    """The labels that a term asks for, those of expressions with one value too; whether it asks for more."""
    selector = value_at(term, "labelSelector", "matchLabels")
    labels = dict(selector) if isinstance(selector, dict) else {}
    more = False
    for expression in mappings_at(term, "labelSelector", "matchExpressions"):
        values = texts_at(expression, "values")
        if expression.get("operator") == "In" and len(values) == 1:
            labels[str(expression.get("key", ""))] = values[0]
        else:
            more = True
    return labels, more


def types_named(affinity: Affinity | None, pod: Pod) -> tuple[str, ...]:
    """The instance types on which a pod may land by its own words; () where it does not say."""
    for key in _TYPE_KEYS:
        if key in pod.node_selector:
            return (pod.node_selector[key],)
    named: list[str] = []
    if affinity is not None:
        terms = affinity.nodes
    else:
        terms = ()
    for term in terms:
        of_term = [
            expression.values
            for expression in term
            if expression.key in _TYPE_KEYS and expression.operator == "In"
        ]
        if not of_term:
            return ()
        named += of_term[0]
    return tuple(named)
