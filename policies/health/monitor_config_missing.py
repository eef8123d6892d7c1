from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import indexed, mapping, mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan


@rule("HLT025", aliases=("monitor-file-absent",))
def monitor_config_missing(_plan: Plan, world: World) -> Iterator[Finding]:
    """The node-problem-detector is configured to read a file that does not exist.

    It stops at a monitor's file that it cannot read (node-problem-detector v1.36.0, NewLogMonitorOrDie), on every node.
    Reported where the path lies in a ConfigMap of these files without that key, outside of all mounts of the released
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

        health: {nodeProblemDetector: true}

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
    pod = value_at(manifest.body, *path)
    for index, container in indexed(pod, "containers"):
        if "node-problem-detector" not in str(container.get("image")):
            continue
        at = Route((manifest.id, *path, "containers", index))
        for place, file in _options(container):
            why = _absent(file, container, pod, manifest.ref.namespace, world)
            if why:
                yield _finding(file, why, at / place[0] / place[1])


def _options(container: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], str]]:
    """The configuration files that a container's words name, each with the field and the index of its word."""
    for field in ("command", "args"):
        words = container.get(field)
        for index, word in enumerate(words if isinstance(words, list) else ()):
            for file in _files(str(word)):
                yield (field, index), file


_OPTION = r"--?(?:config\.[a-z-]+|system-log-monitors|custom-plugin-monitors)=(.+)"


def _files(word: str) -> list[str]:
    """The configuration files that an option of the detector names."""
    option = re.match(_OPTION, word)
    if option:
        files = option[1].split(",")
    else:
        files = []
    return [file for file in files if file.startswith("/") and "$" not in file]


def _absent(file: str, container: Mapping[str, Any], pod: Any, namespace: str, world: World) -> str:
    """Why there is no such file; nothing where there is one, or may be."""
    mounts = {_mount_path(mount): mount for mount in mappings_at(container, "volumeMounts")}
    above = [path for path in mounts if f"{file}/".startswith(f"{path}/")]
    if not above:
        image = str(container.get("image"))
        released = image.startswith("registry.k8s.io/node-problem-detector/")
        own = not released or file.startswith("/config/")
        return "" if own else "no volume is mounted there"
    path = max(above, key=len)
    mount = mounts[path]
    volumes = {str(volume.get("name")): volume for volume in mappings_at(pod, "volumes")}
    volume = volumes.get(str(mount.get("name")), {})
    name = value_at(volume, "configMap", "name")
    body = _config_map(namespace, name, world)
    folder = str(mount.get("subPath") or "").strip("/")
    inner = f"{folder}/{file.removeprefix(path).lstrip('/')}".strip("/")
    if body is None or inner in _provided(value_at(volume, "configMap"), body):
        return ""
    return f"ConfigMap `{name}` does not give it"


def _mount_path(mount: Mapping[str, Any]) -> str:
    return str(mount.get("mountPath")).rstrip("/")


def _config_map(namespace: str, name: Any, world: World) -> Mapping[str, Any] | None:
    """The body of a ConfigMap; ``None`` where the set does not have it."""
    for manifest in world.manifests:
        ref = manifest.ref
        if (ref.group, ref.kind) != ("", "ConfigMap"):
            continue
        if (ref.namespace, ref.name) == (namespace, name):
            return manifest.body
    return None


def _provided(source: Any, body: Mapping[str, Any]) -> set[str]:
    """The files of a ConfigMap volume."""
    chosen = {str(item.get("path")) for item in mappings_at(source, "items")}
    return chosen or {*mapping(body, "data"), *mapping(body, "binaryData")}


def _of_chart(release: HelmRelease) -> Iterator[Finding]:
    settings = value_at(release.values, "settings")
    if "values" in release.unread or value_at(release.values, "extraVolumeMounts"):
        return
    for field in ("log_monitors", "custom_plugin_monitors"):
        listed = value_at(settings, field)
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
