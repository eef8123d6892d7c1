"""The namespaces that kustomizations give: to objects, and to the service accounts that bindings name.

Source: kustomize v5.8, api/filters/namespace (a Namespace gets the name itself), and ``nameReference`` of
api/internal/konfig/builtinpluginconsts (subjects of bindings follow the accounts that they name).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from trainyard.extensions.lint.inputs import LintObject
from trainyard.output.body import value_at
from trainyard.output.manifest import Body, ObjectRef
from trainyard.verify import BUILTIN

_RBAC = "rbac.authorization.k8s.io"
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


class Namespaces:
    """The namespaces of one build. ``given``: its objects, each with the namespace that it gets, or none."""

    def __init__(self, given: Iterable[tuple[LintObject, str]]) -> None:
        self._accounts: dict[tuple[str, str], str] = {}
        for item, namespace in given:
            ref = item.manifest.ref
            if namespace and (ref.api_version, ref.kind) == ("v1", "ServiceAccount"):
                self._accounts[ref.namespace, ref.name] = namespace

    def inside(self, item: LintObject, namespace: str) -> LintObject:
        """The object where it is applied, if that is known."""
        manifest = item.manifest
        ref, body = manifest.ref, manifest.body
        if namespace and is_namespace(ref):
            body = _with(body, "name", namespace)
        elif namespace and in_namespace(ref):
            body = _with(body, "namespace", namespace)
        if ref.group == _RBAC and ref.kind in _BINDINGS:
            body = self._bound(body, ref.namespace, namespace)
        if body is manifest.body:
            return item
        return replace(item, manifest=replace(manifest, body=body))

    def _bound(self, body: Body, namespace: str, given: str) -> Body:
        """A binding whose subjects are in the namespaces that they get; ``namespace`` is its own as it is written, and
        ``given`` the one that it gets."""
        subjects = value_at(body, "subjects")
        if not (self._accounts or given) or not isinstance(subjects, list):
            return body
        bound = [self._subject(each, namespace, given) for each in subjects]
        return body if bound == subjects else {**body, "subjects": bound}

    def _subject(self, subject: Any, namespace: str, of_binding: str) -> Any:
        if value_at(subject, "kind") != "ServiceAccount":
            return subject
        own = str(subject.get("namespace") or "")
        name = str(subject.get("name") or "")
        given = self._accounts.get((own or namespace, name))
        if name == "default" and of_binding:
            given = (
                of_binding  # there in every namespace (SetRoleBindingSubjects, defaultSubjectsOnly)
            )
        if given is None and not own:
            named = (space for (_, account), space in self._accounts.items() if account == name)
            given = next(named, None)
        return subject if given is None else {**subject, "namespace": given}


def is_namespace(ref: ObjectRef) -> bool:
    """Whether an object is a Namespace."""
    return (ref.api_version, ref.kind) == ("v1", "Namespace")


def in_namespace(ref: ObjectRef) -> bool | None:
    """Whether objects of a kind are in namespaces; ``None`` of a kind of Kubernetes' own that is not known here. Others
    that are not known are in one, as kustomize takes them."""
    schemas = BUILTIN.find(ref.api_version, ref.kind)
    if schemas:
        return schemas[0].namespaced
    is_own = "." not in ref.group or ref.group.endswith(".k8s.io")
    return None if is_own else True


def _with(body: Body, key: str, value: str) -> Body:
    """A body with another value in its metadata."""
    metadata = value_at(body, "metadata") or {}
    if not isinstance(metadata, dict) or metadata.get(key) == value:
        return body
    return {**body, "metadata": {**metadata, key: value}}
