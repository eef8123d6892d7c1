"""Whether pods may run on nodes: taints and tolerations, selectors and required node affinity.

Source: Kubernetes 1.36, staging/src/k8s.io/component-helpers/scheduling/corev1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Term = tuple[Mapping[str, Any], ...]

_HARD = frozenset({"NoSchedule", "NoExecute"})


def untolerated(
    taints: Iterable[Mapping[str, Any]], tolerations: Iterable[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """The first taint that keeps pods with these tolerations off; ``None`` if there is none."""
    known = tuple(tolerations)
    for taint in taints:
        if taint.get("effect") not in _HARD:
            continue
        if not any(_tolerates(toleration, taint) for toleration in known):
            return taint
    return None


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    effect = toleration.get("effect") or taint.get("effect")
    if effect != taint.get("effect"):
        return False
    key = toleration.get("key") or ""
    if key and key != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    same_value = (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(key) and same_value


def matches(
    labels: Mapping[str, str], selector: Mapping[str, str], terms: tuple[Term, ...]
) -> bool:
    """Whether labels have all of a selector, and fulfil one of the terms if there are any."""
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    return not terms or any(_fulfils(labels, term) for term in terms)


def _fulfils(labels: Mapping[str, str], term: Term) -> bool:
    # A term without an expression matches nothing.
    return bool(term) and all(_holds(labels, expression) for expression in term)


def _holds(labels: Mapping[str, str], expression: Mapping[str, Any]) -> bool:
    found = labels.get(str(expression.get("key")))
    values = [str(value) for value in expression.get("values") or ()]
    holds = _OPERATORS.get(str(expression.get("operator")))
    return holds is not None and holds(found, values)


def _number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def _greater(found: str | None, values: list[str]) -> bool:
    one, other = _number(found), _number(values[0] if len(values) == 1 else None)
    return one is not None and other is not None and one > other


def _less(found: str | None, values: list[str]) -> bool:
    one, other = _number(found), _number(values[0] if len(values) == 1 else None)
    return one is not None and other is not None and one < other


_OPERATORS: Mapping[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda found, values: found in values,
    "NotIn": lambda found, values: found not in values,
    "Exists": lambda found, _: found is not None,
    "DoesNotExist": lambda found, _: found is None,
    "Gt": _greater,
    "Lt": _less,
}


def selects(labels: Mapping[str, str], selector: Mapping[str, Any] | None) -> bool:
    """Whether a LabelSelector selects labels; none selects nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(labels, each) for each in selector.get("matchExpressions") or ())
