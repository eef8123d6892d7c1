from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compiler.manifest import Manifest
from compiler.plan import Plan
from compiler.plan.delivery import HelmRelease
from compiler.policy.rule import Finding, rule
from compiler.policy.values import items, mapping, value
from compiler.policy.world import World
from compiler.source import Route


@rule("HLT025", aliases=("monitor-file-absent",))
def monitor_config_missing(_plan: Plan, world: World) -> Iterator[Finding]:
    """The node-problem-detector is told to read a file that nothing gives it.

    It stops at a monitor's file that it cannot read (node-problem-detector v1.36.0, NewLogMonitorOrDie), on every node.
    Told where the path lies in a ConfigMap of these files without that key, outside of all mounts of the released
    image (which has files in `/config` only), or in the `/custom-config` of the chart without a definition (chart
    2.4.1 of deliveryhero).

    ## Fails

        # a whole cluster
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: node-problem-detector, namespace: kube-system}
        spec: {template: {spec: {containers: [{name: node-problem-detector, command: [
          /node-problem-detector, --config.system-log-monitor=/config/nvidia.json]}]}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: npd, namespace: flux-system}
        spec:
          chart: {spec: {chart: node-problem-detector, version: 2.4.1}}
          values: {settings: {log_monitors: [/custom-config/nvidia.json]}, tolerations: [{operator: Exists}]}

    ## Passes

        health: {problemDetector: true}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: npd, namespace: flux-system}
        spec:
          chart: {spec: {chart: node-problem-detector, version: 2.4.1}}
          values:
            settings:
              log_monitors: [/config/kernel-monitor.json, /custom-config/nvidia.json]
              custom_monitor_definitions: {nvidia.json: '{"plugin": "kmsg", "rules": []}'}
            tolerations: [{operator: Exists}]
    """
    for manifest in world.manifests:
        if manifest.ref.group == "apps" and manifest.ref.kind == "DaemonSet":
            yield from _of_pods(manifest, world)
    for release in world.releases("node-problem-detector"):
        yield from _of_chart(release)


def _of_pods(manifest: Manifest, world: World) -> Iterator[Finding]:
    path = ("spec", "template", "spec")
    pod = value(manifest.body, *path)
    for index, container in enumerate(items(pod, "containers")):
        if "node-problem-detector" not in str(container.get("image")):
            continue
        for field in ("command", "args"):
            words = container.get(field)
            for place, word in enumerate(words if isinstance(words, list) else ()):
                for file in _files(str(word)):
                    if why := _absent(
                        file, container, pod, manifest.ref.namespace, world
                    ):
                        yield _finding(
                            file,
                            why,
                            Route(
                                (manifest.id, *path, "containers", index, field, place)
                            ),
                        )


def _files(word: str) -> list[str]:
    """The configuration files that an option of the detector names."""
    found = re.match(
        r"--?(?:config\.[a-z-]+|system-log-monitors|custom-plugin-monitors)=(.+)", word
    )
    return (
        [
            each
            for each in found[1].split(",")
            if each.startswith("/") and "$" not in each
        ]
        if found
        else []
    )


def _absent(
    file: str, container: Mapping[str, Any], pod: Any, namespace: str, world: World
) -> str:
    """Why there is no such file; nothing where there is one, or may be."""
    over = [
        each
        for each in items(container, "volumeMounts")
        if f"{file}/".startswith(f"{str(each.get('mountPath')).rstrip('/')}/")
    ]
    if not over:
        released = str(container.get("image")).startswith(
            "registry.k8s.io/node-problem-detector/"
        )
        return (
            "no volume is mounted there"
            if released and not file.startswith("/config/")
            else ""
        )
    mount = max(over, key=lambda each: len(str(each.get("mountPath"))))
    volume = next(
        (
            each
            for each in items(pod, "volumes")
            if each.get("name") == mount.get("name")
        ),
        {},
    )
    name = value(volume, "configMap", "name")
    body = next(
        (
            each.body
            for each in world.manifests
            if each.ref.group == ""
            and each.ref.kind == "ConfigMap"
            and (each.ref.namespace, each.ref.name) == (namespace, name)
        ),
        None,
    )
    rest = file.removeprefix(str(mount.get("mountPath")).rstrip("/")).lstrip("/")
    inner = "/".join(
        each for each in (str(mount.get("subPath") or "").strip("/"), rest) if each
    )
    if body is None or inner in _provided(value(volume, "configMap"), body):
        return ""
    return f"ConfigMap `{name}` does not give it"


def _provided(source: Any, body: Mapping[str, Any]) -> set[str]:
    """The files of a ConfigMap volume."""
    chosen = items(source, "items")
    return {str(each.get("path")) for each in chosen} or {
        *mapping(body, "data"),
        *mapping(body, "binaryData"),
    }


def _of_chart(release: HelmRelease) -> Iterator[Finding]:
    settings = value(release.values, "settings")
    if "values" in release.unread or value(release.values, "extraVolumeMounts"):
        return
    for field in ("log_monitors", "custom_plugin_monitors"):
        listed = value(settings, field)
        for index, file in enumerate(listed if isinstance(listed, list) else ()):
            folder, _, name = str(file).rpartition("/")
            if folder == "/custom-config" and name not in mapping(
                settings, "custom_monitor_definitions"
            ):
                yield _finding(
                    str(file),
                    "`custom_monitor_definitions` does not define it",
                    release.where("values") / "settings" / field / index,
                )


def _finding(file: str, why: str, at: Route) -> Finding:
    return Finding(
        f"the node-problem-detector reads `{file}`, and {why}",
        at,
        label="it stops on every node",
        help="add the file, or remove it from the option",
    )
