"""Users' rules in CEL: a ValidatingAdmissionPolicy, as a cluster takes it, judged before anything is applied.

Attributes of a rule for which the API has no field are annotations: ``trainyard.dev/code``, ``severity``, ``enabled``,
``help``, ``description``, and examples, ``fails`` and ``passes``. Of what only the API server knows (who asks, what was
there before, parameters, labels of namespaces) no rule can speak.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.extensions.declared_rules.expressions import TooCostlyError, evaluated, refusal
from trainyard.judge.policy.rule import SEVERITIES, Finding, Rule, is_code, is_slug
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Key, Route
from trainyard.output.body import value_at as value_at
from trainyard.output.manifest import Manifest, group_of
from trainyard.verify.body import validate_body
from trainyard.verify.schemas import BUILTIN

API, KIND = "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"
_PREFIX = "trainyard.dev/"
_ANNOTATIONS = ("code", "severity", "enabled", "help", "description", "fails", "passes")
_VARIABLE = re.compile(r"\bvariables\.([A-Za-z_]\w*)")
_PATH = re.compile(r"\bobject((?:\.[A-Za-z_]\w*)+)(\s*\()?")
_MOST_EXPRESSIONS = 64

Fault = tuple[str, Route, bool, str]
"""What is wrong, where, whether it is the key, and what to write."""


def is_admission(data: Any) -> bool:
    """Whether a document is a policy, or its binding."""
    return isinstance(data, Mapping) and data.get("kind") in (KIND, BINDING)


@dataclass(frozen=True, slots=True)
class Resources:
    """Groups, versions and plural names of what a policy is about; ``*`` is any."""

    groups: tuple[str, ...]
    versions: tuple[str, ...]
    names: tuple[str, ...]

    def has(self, group: str, version: str, name: str) -> bool:
        """Whether a resource is one of them."""
        pairs = ((self.groups, group), (self.versions, version), (self.names, name))
        return all("*" in known or one in known for known, one in pairs)


@dataclass(frozen=True, slots=True)
class Check:
    """A check of an object: the expression, and the message where it does not hold."""

    expression: str
    message: str
    message_expression: str


@dataclass(frozen=True, slots=True)
class Admission:
    """The parts of a policy that are judged."""

    resources: tuple[Resources, ...]
    labels: Mapping[str, str]
    conditions: tuple[str, ...]
    variables: Mapping[str, str]
    checks: tuple[Check, ...]
    ignores_errors: bool
    help: str

    def is_about(self, manifest: Manifest) -> bool:
        """Whether an object is one of those that the policy names."""
        ref = manifest.ref
        group, _, version = ref.api_version.rpartition("/")
        name = plural(ref.kind)
        labels = value_at(manifest.body, "metadata", "labels") or {}
        if any(labels.get(key) != value for key, value in self.labels.items()):
            return False
        return any(each.has(group, version, name) for each in self.resources)


def plural(kind: str) -> str:
    """The name of a kind's resource: its plural in lower case, as API conventions and code generators have it."""
    name = kind.lower()
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    if name.endswith(("s", "x", "ch", "sh")):
        return f"{name}es"
    return f"{name}s"


def rule_of(data: Mapping[str, Any], file: str) -> Rule:
    """The rule of a policy without faults."""
    notes = _annotations(data)
    severity = SEVERITIES[notes.get("severity", "error")]
    return Rule(
        code=notes["code"],
        slug=data["metadata"]["name"],
        severity=severity,
        doc=_page(notes, data["spec"]),
        subject=Manifest,
        check=_checker(_admission(data["spec"], notes.get("help", ""))),
        needs_world=False,
        file=file,
        enabled=notes.get("enabled", "true") == "true",
    )


def _page(notes: Mapping[str, str], spec: Mapping[str, Any]) -> str:
    """The manual page: what it finds, its expressions, its examples."""
    first = spec["validations"][0]
    parts = [notes.get("description") or first.get("message") or first["expression"]]
    parts += [f"    {validation['expression']}" for validation in spec["validations"]]
    for key, title in (("fails", "Fails"), ("passes", "Passes")):
        if key in notes:
            example = textwrap.indent(notes[key].strip(), "    ")
            parts += [f"## {title}", example]
    return "\n\n".join(parts) + "\n"


def _annotations(data: Mapping[str, Any]) -> dict[str, str]:
    written = value_at(data, "metadata", "annotations") or {}
    return {
        key.removeprefix(_PREFIX): value
        for key, value in written.items()
        if key.startswith(_PREFIX) and value is not None
    }


def _admission(spec: Mapping[str, Any], help: str) -> Admission:
    constraints = spec["matchConstraints"]
    resources = [
        Resources(tuple(rule["apiGroups"]), tuple(rule["apiVersions"]), tuple(rule["resources"]))
        for rule in constraints["resourceRules"]
    ]
    checks = [
        Check(each["expression"], each.get("message") or "", each.get("messageExpression") or "")
        for each in spec["validations"]
    ]
    conditions = [each["expression"] for each in spec.get("matchConditions") or ()]
    variables = {each["name"]: each["expression"] for each in spec.get("variables") or ()}
    selector = constraints.get("objectSelector") or {}
    return Admission(
        resources=tuple(resources),
        labels=selector.get("matchLabels") or {},
        conditions=tuple(conditions),
        variables=variables,
        checks=tuple(checks),
        ignores_errors=spec.get("failurePolicy") == "Ignore",
        help=help,
    )


def _checker(policy: Admission) -> Callable[..., Iterator[Finding]]:
    def check(manifest: Manifest) -> Iterator[Finding]:
        if policy.is_about(manifest):
            yield from _judged(policy, manifest)

    return check


def _judged(policy: Admission, manifest: Manifest) -> Iterator[Finding]:
    scope = _Scope(policy, manifest)
    for condition in policy.conditions:
        if scope.value(condition) is not True:
            return
    for check in policy.checks:
        try:
            held = scope.value(check.expression)
        except TooCostlyError:
            raise
        except Exception as problem:  # no such key, or another type
            if policy.ignores_errors:
                continue
            message = f"`{check.expression}` fails on {_named(manifest)}: {problem}"
            help = "the API server refuses what an expression fails on: guard it by `has(…)`"
            yield Finding(message, _place(check, manifest), help=help)
            continue
        if held is not True:
            message = scope.message(check)
            yield Finding(message, _place(check, manifest), help=policy.help)


class _Scope:
    """What expressions see of one object. A variable is evaluated when one that names it is."""

    def __init__(self, policy: Admission, manifest: Manifest) -> None:
        self._policy = policy
        self._width = _width(manifest.body)
        self._known: dict[str, Any] = {}
        ref = manifest.ref
        self._given = {
            "object": manifest.body,
            "request": {
                "operation": "CREATE",
                "name": ref.name,
                "namespace": ref.namespace or "",
                "dryRun": False,
            },
        }

    def value(self, expression: str) -> Any:
        for name in _VARIABLE.findall(expression):
            if name not in self._known and name in self._policy.variables:
                self._known[name] = self.value(self._policy.variables[name])
        variables = {**self._given, "variables": self._known}
        return evaluated(expression, variables, self._width)

    def message(self, check: Check) -> str:
        """What a failed check says; an expression that fails gives way to the text, as in the API server."""
        if check.message_expression:
            try:
                text = self.value(check.message_expression)
            except Exception:
                text = ""
            if isinstance(text, str) and text.strip():
                return text
        return check.message or f"`{check.expression}` does not hold"


def _named(manifest: Manifest) -> str:
    return f"{manifest.ref.kind}/{manifest.ref.name}"


def _width(value: Any) -> int:
    """The length of the longest list or mapping of an object."""
    if isinstance(value, Mapping):
        below = list(value.values())
    elif isinstance(value, list):
        below = value
    else:
        return 1
    return max([len(below), *map(_width, below)])


def _place(check: Check, manifest: Manifest) -> Route:
    """The longest path of the expression that the object has."""
    best: tuple[Key, ...] = ()
    for dotted, called in _PATH.findall(check.expression):
        keys = dotted.strip(".").split(".")
        if called:
            keys = keys[:-1]  # the last is a function
        while keys and value_at(manifest.body, *keys) is None:
            keys = keys[:-1]
        if len(keys) > len(best):
            best = tuple(keys)
    return Route((manifest.id, *best))


def faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with a policy as a rule: what the API server refuses, or else what cannot be judged here."""
    refused = validate_body(dict(data))
    if refused:
        for fault in refused:
            help = fault.help or "write what the API takes"
            yield fault.message, Route(fault.path), fault.key, help
        return
    yield from _faults_of_metadata(data)
    spec = data.get("spec") or {}
    yield from _faults_of_constraints(spec)
    if spec.get("paramKind"):
        yield (
            "`paramKind` is known to the API server alone",
            Route(("spec", "paramKind")),
            True,
            "write the values into the expressions",
        )
    yield from _faults_of_expressions(spec)


def _faults_of_metadata(data: Mapping[str, Any]) -> Iterator[Fault]:
    name = value_at(data, "metadata", "name")
    if not is_slug(name):
        yield (
            f"`{name or ''}` is no slug",
            Route(("metadata", "name")),
            False,
            "write words joined by `-`",
        )
    here = Route(("metadata", "annotations"))
    notes = _annotations(data)
    for key in notes:
        if key not in _ANNOTATIONS:
            known = listed(sorted(_PREFIX + each for each in _ANNOTATIONS))
            yield (
                f"unknown annotation `{_PREFIX}{key}`",
                here / (_PREFIX + key),
                True,
                f"write one of {known}",
            )
    if not is_code(notes.get("code")):
        at = here / f"{_PREFIX}code" if "code" in notes else Route(("metadata",))
        yield (
            f"`{notes.get('code', '')}` is no code of a rule",
            at,
            False,
            f"annotate the policy with `{_PREFIX}code: ORG001`: 2 to 4 capitals and 3 digits",
        )
    if notes.get("severity", "error") not in SEVERITIES:
        yield (
            f"`{notes['severity']}` is no severity",
            here / f"{_PREFIX}severity",
            False,
            "write `error`, `warning` or `note`",
        )


def _faults_of_constraints(spec: Mapping[str, Any]) -> Iterator[Fault]:
    here = Route(("spec", "matchConstraints"))
    constraints = spec.get("matchConstraints") or {}
    rules = constraints.get("resourceRules")
    if not rules:
        yield (
            "`matchConstraints.resourceRules` is missing",
            Route(("spec",)),
            False,
            "write `[{apiGroups: [trainer.kubeflow.org], apiVersions: [v1alpha1], operations: [CREATE], "
            "resources: [trainjobs]}]`",
        )
        return
    for key in ("namespaceSelector", "excludeResourceRules"):
        if constraints.get(key):
            yield (
                f"`{key}` is not judged before the API server knows the object",
                here / key,
                True,
                "write a `matchConditions` on `object.metadata`",
            )
    if value_at(constraints, "objectSelector", "matchExpressions"):
        yield (
            "`matchExpressions` of a selector are not judged",
            here / "objectSelector" / "matchExpressions",
            True,
            "write `matchLabels`, or a `matchConditions`",
        )
    for index, rule in enumerate(rules):
        place = here / "resourceRules" / index
        absent = [key for key in _LISTS if not rule.get(key)]
        for key in absent:
            yield f"`{key}` is not a list of names", place, False, f"write `{key}: […]`"
        if not absent:
            yield from _faults_of_resource(rule, place)


_LISTS = ("apiGroups", "apiVersions", "resources")


def _faults_of_resource(rule: Mapping[str, Any], here: Route) -> Iterator[Fault]:
    """A rule about what there cannot be finds nothing, for ever, and looks like one that passes."""
    groups = set(rule["apiGroups"])
    known = {
        plural(kind)
        for kind, versions in BUILTIN.served().items()
        for version in versions
        if "*" in groups or group_of(version) in groups
    }
    for index, name in enumerate(rule["resources"]):
        at = here / "resources" / index
        if "/" in name:
            fact = f"`{name}` is what is asked of an object, and no object"
            yield fact, at, False, "write the resource itself, like `pods`"
            continue
        help = name_meant(name, known)
        if help and name not in known:
            fact = f"no object ever matches: there are no `{name}`"
            yield fact, at, False, help


def _faults_of_expressions(spec: Mapping[str, Any]) -> Iterator[Fault]:
    if not spec.get("validations"):
        yield (
            "`validations` are missing",
            Route(("spec",)),
            False,
            "write `[{expression: …, message: …}]`",
        )
    expressions = list(_expressions(spec))
    for text, at in expressions:
        wrong = refusal(text)
        if wrong:
            yield f"the expression cannot be judged: {wrong}", at, False, _FORM
    if len(expressions) > _MOST_EXPRESSIONS:
        yield (
            f"{len(expressions)} expressions, and {_MOST_EXPRESSIONS} are the most",
            Route(("spec",)),
            False,
            "write two policies",
        )


def _expressions(spec: Mapping[str, Any]) -> Iterator[tuple[str, Route]]:
    """Every expression of a policy, with its place."""
    for section in ("matchConditions", "variables", "validations"):
        for index, each in enumerate(spec.get(section) or ()):
            for key in ("expression", "messageExpression"):
                if key in each:
                    yield each[key] or "", Route(("spec", section, index, key))


_FORM = "write CEL on `object`, with has(), macros, and functions on strings and lists; docs/policies.md lists them"
