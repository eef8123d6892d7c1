from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.judge.model.core_types import Part, typed_parts
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule("ACC042", severity=Severity.WARNING)
def pod_owns_its_node(manifest: Manifest) -> Iterator[Finding]:
    """A pod mounts the whole file system of its node, or the socket of its container runtime.

    Either is root on the node: the pod reads the Secrets of every other pod there and the credentials of the kubelet,
    and starts what it likes (Kubernetes, Pod Security Standards, baseline: host path volumes). Agents that read the
    node's metrics mount `/` with `readOnly`, and are accepted.

    ## Fails

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: tuning, namespace: kube-system}
        spec:
          selector: {matchLabels: {app: tuning}}
          template:
            metadata: {labels: {app: tuning}}
            spec:
              containers:
              - name: tuning
                image: tuning:1
                securityContext: {privileged: true}
                volumeMounts: [{name: host, mountPath: /host}]
              volumes: [{name: host, hostPath: {path: /}}]

    ## Passes

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: metrics, namespace: kube-system}
        spec:
          selector: {matchLabels: {app: metrics}}
          template:
            metadata: {labels: {app: metrics}}
            spec:
              containers:
              - {name: metrics, image: "metrics:1", volumeMounts: [{name: host, mountPath: /host, readOnly: true}]}
              volumes: [{name: host, hostPath: {path: /}}, {name: dev, hostPath: {path: /dev/kmsg}}]
    """
    parts = list(typed_parts(manifest))
    for name, path, part in parts:
        if name != "Volume":
            continue
        host_path = value_at(part, "hostPath", "path")
        is_root = host_path == "/" and part.get("name") in _mounted_for_writing(parts)
        if is_root or str(host_path).rstrip("/") in _SOCKETS:
            yield Finding(
                f"`{manifest.ref.name}` mounts `{host_path}` of its nodes, and so is root there",
                Route((manifest.id, *path, "hostPath", "path")),
                help="mount the folder that is needed, with `readOnly: true`",
            )


_RUNTIMES = (
    "containerd/containerd.sock",
    "docker.sock",
    "crio/crio.sock",
    "cri-dockerd.sock",
    "podman/podman.sock",
    "k3s/containerd/containerd.sock",
    "dockershim.sock",
)
_SOCKETS = frozenset(f"{run}/{name}" for run in ("/run", "/var/run") for name in _RUNTIMES)
"""`/var/run` is a link to `/run` (Filesystem Hierarchy Standard 3.0)."""


def _mounted_for_writing(parts: Sequence[Part]) -> set[str]:
    """The names of volumes that a container of the object may write to."""
    names: set[str] = set()
    for name, _, part in parts:
        if name == "Container":
            names.update(_written(part))
    return names


def _written(container: Mapping[str, Any]) -> Iterator[str]:
    mounts = container.get("volumeMounts")
    for mount in mounts if isinstance(mounts, list) else ():
        if isinstance(mount, dict) and not mount.get("readOnly"):
            yield str(mount.get("name"))
