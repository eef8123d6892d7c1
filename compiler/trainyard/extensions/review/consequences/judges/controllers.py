"""Controllers: releases of charts, where charts come from, workloads of the system, and what Flux applies.

Sources: helm-controller v1.6.3 (a release is installed, upgraded or uninstalled as its HelmRelease says),
source-controller v1.10.1, kustomize-controller v1.9.5; Kubernetes 1.35 (rollouts of Deployments and DaemonSets,
disruptions, ConfigMaps). What a step between two versions asks for is known by ``trainyard.run.history.upgrades``, and
reported as CHG010 to CHG013.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge, key_of_spec
from trainyard.output.body import value_at
from trainyard.output.fields import Steps

_HELM = "helm-controller v1.6.3, docs/spec/v2/helmreleases.md"
_SOURCES = "source-controller v1.10.1, docs/spec/v1"
_FLUX = "kustomize-controller v1.9.5, docs/spec/v1/kustomizations.md"
_KUBERNETES = "Kubernetes 1.35"
_TIMES = frozenset({"interval", "retryInterval", "timeout"})
_ORDER = frozenset({"dependsOn", "wait", "healthChecks", "healthCheckExprs", "decryption"})
_DASHBOARD = "grafana_dashboard"
_IN_TIME = Effect(Consequence.HARMLESS, "only how often and for how long Flux tries", _FLUX)


def _release(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.CONTROLLERS, "Flux installs the chart", _HELM)
    if edit.action is Action.REMOVED:
        return Effect(Consequence.CONTROLLERS, "Flux uninstalls the chart", _HELM)
    key = key_of_spec(steps)
    if key in _TIMES:
        return _IN_TIME
    if key == "serviceAccountName":
        return Effect(Consequence.ACCESS, "Flux acts as another account", _HELM)
    if steps[:1] != ("spec",):
        return None
    return Effect(
        Consequence.CONTROLLERS,
        "Flux upgrades the release: pods whose template changes restart",
        _HELM,
    )


def _source(edit: Edit, steps: Steps) -> Effect | None:
    """Where a chart comes from. It is harmless by itself: a release that names it is listed."""
    if edit.action is not Action.CHANGED:
        return Effect(Consequence.HARMLESS, "only releases that name it use it", _SOURCES)
    if steps[:1] != ("spec",):
        return None
    if key_of_spec(steps) in _TIMES:
        return _IN_TIME
    return Effect(
        Consequence.CONTROLLERS, "another chart may come from it, which Flux upgrades to", _SOURCES
    )


def _repository(edit: Edit, steps: Steps) -> Effect | None:
    """A repository of others, whose content is not known here."""
    if edit.action is Action.CHANGED:
        return _IN_TIME if key_of_spec(steps) in _TIMES else None
    return Effect(Consequence.UNKNOWN, "what it holds is not known here", _SOURCES)


def _kustomization(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(
            Consequence.HARMLESS, "what it applies of this folder is listed by itself", _FLUX
        )
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.UNKNOWN,
            "Flux deletes what it applied, unless `deletionPolicy` keeps it",
            _FLUX,
        )
    key = key_of_spec(steps)
    if key in _TIMES:
        return _IN_TIME
    if key in _ORDER:
        return Effect(
            Consequence.HARMLESS, "only in which order Flux applies, and for what it waits", _FLUX
        )
    if key == "serviceAccountName":
        return Effect(Consequence.ACCESS, "Flux acts as another account", _FLUX)
    return None


def _workload(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.CONTROLLERS, "its pods start", f"{_KUBERNETES}, workloads")
    if edit.action is Action.REMOVED:
        return Effect(Consequence.CONTROLLERS, "its pods end", f"{_KUBERNETES}, workloads")
    if steps[:1] != ("spec",):
        return None
    return Effect(
        Consequence.CONTROLLERS, "its pods are rolled out again", f"{_KUBERNETES}, workloads"
    )


def _budget(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(
        Consequence.HARMLESS,
        "it bounds how many pods of a controller are evicted at once",
        f"{_KUBERNETES}, disruptions",
    )


def _config_map(edit: Edit, steps: Steps) -> Effect | None:
    """Pods that mount one see its new content without a restart; what they make of it is their own."""
    body = edit.new or edit.old
    if value_at(body, "metadata", "labels", _DASHBOARD) is not None:
        return Effect(
            Consequence.HARMLESS, "Grafana reads it; nothing restarts", f"{_KUBERNETES}, ConfigMaps"
        )
    if edit.action is Action.ADDED:
        return Effect(
            Consequence.HARMLESS, "only pods that name it read it", f"{_KUBERNETES}, ConfigMaps"
        )
    if value_at(body, "immutable") is True:
        return Effect(
            Consequence.HARMLESS, "no run that goes on reads it: history keeps what runs need"
        )
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(
        Consequence.UNKNOWN,
        "nothing restarts, and what the programs that read it make of it is not known",
        f"{_KUBERNETES}, ConfigMaps",
    )


KINDS: Mapping[str, Judge] = {
    "HelmRelease.helm.toolkit.fluxcd.io": _release,
    "HelmRepository.source.toolkit.fluxcd.io": _source,
    "OCIRepository.source.toolkit.fluxcd.io": _source,
    "GitRepository.source.toolkit.fluxcd.io": _repository,
    "Kustomization.kustomize.toolkit.fluxcd.io": _kustomization,
    "Deployment.apps": _workload,
    "DaemonSet.apps": _workload,
    "StatefulSet.apps": _workload,
    "ReplicaSet.apps": _workload,
    "PodDisruptionBudget.policy": _budget,
    "ConfigMap": _config_map,
}
