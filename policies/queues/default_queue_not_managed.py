from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.eks.teams.plan import Namespace
from trainyard.judge.model.fit import NAMESPACE_NAME
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import embedded, mapping, mappings_at, texts_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_FIELD = "managedJobsNamespaceSelector"
_GROUP = "config.kueue.x-k8s.io/"


@rule("QUE048", severity=Severity.WARNING, kinds=("kueue.x-k8s.io/LocalQueue",))
def default_queue_not_managed(manifest: Manifest, world: World) -> Iterator[Finding]:
    """The LocalQueue `default` is in a namespace that Kueue's configuration leaves out.

    Jobs that name no queue go to the LocalQueue `default` of their namespace, but only where
    `managedJobsNamespaceSelector` selects the namespace (kueue v0.19.2, LocalQueueDefaulting;
    kubernetes-sigs/kueue#13374): elsewhere they start at once, past every quota.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: default, namespace: team-b}
        spec: {clusterQueue: research}
        ---
        apiVersion: v1
        kind: Namespace
        metadata: {name: team-b}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: kueue-manager-config, namespace: kueue-system}
        data:
          controller_manager_config.yaml: |
            apiVersion: config.kueue.x-k8s.io/v1beta2
            kind: Configuration
            manageJobsWithoutQueueName: true
            managedJobsNamespaceSelector: {matchLabels: {kueue-managed: "true"}}
            waitForPodsReady: {timeout: 30m, recoveryTimeout: 10m}

    ## Passes

        # as the first that fails, but
        kind: Namespace
        metadata: {labels: {kueue-managed: "true"}}
    """
    if manifest.ref.name != "default" or not manifest.ref.namespace:
        return
    name = manifest.ref.namespace
    namespace = world.plan.named(Namespace, name)
    for selector in world.once(_selectors):
        key = _missed(selector, namespace, name)
        if key:
            yield Finding(
                f"`{_FIELD}` of Kueue leaves out namespace `{name}` of the LocalQueue `default`",
                Route((manifest.id, "metadata", "name")),
                label="jobs there that name no queue are not queued",
                help=f"give the namespace the label `{key}` that it selects, or widen the selector",
            )
            return


def _selectors(world: Reading) -> tuple[Mapping[str, Any], ...]:
    """The selectors of every configuration of Kueue: as an object, in a ConfigMap or in a chart's values."""
    found = []
    for manifest in world.manifests:
        for config in _configurations(manifest):
            version = str(value_at(config, "apiVersion") or "")
            if version.startswith(_GROUP) and value_at(config, _FIELD) is not None:
                found.append(mapping(config, _FIELD))
    return tuple(found)


def _configurations(manifest: Manifest) -> Iterator[Any]:
    if manifest.ref.kind == "Configuration":
        yield manifest.body
    elif manifest.ref.kind == "ConfigMap":
        for text in mapping(manifest.body, "data").values():
            if isinstance(text, str) and _FIELD in text:
                yield embedded(text)
    elif manifest.ref.kind == "HelmRelease":
        text = value_at(
            manifest.body, "spec", "values", "managerConfig", "controllerManagerConfigYaml"
        )
        if isinstance(text, str) and _FIELD in text:
            yield embedded(text)


def _missed(selector: Mapping[str, Any], namespace: Namespace | None, name: str) -> str:
    """The key of the first term that a namespace certainly does not meet."""
    labels = {**(namespace.labels if namespace is not None else {}), NAMESPACE_NAME: name}
    for key, wanted in mapping(selector, "matchLabels").items():
        known = namespace is not None or key in labels
        if known and labels.get(key) != wanted:
            return f"{key}: {wanted}"
    for term in mappings_at(selector, "matchExpressions"):
        key, values = str(term.get("key", "")), texts_at(term, "values")
        if namespace is None and key not in labels:
            continue
        has = labels.get(key)
        holds = {
            "In": has in values,
            "NotIn": has not in values,
            "Exists": has is not None,
            "DoesNotExist": has is None,
        }
        if not holds.get(str(term.get("operator")), True):
            return key
    return ""
