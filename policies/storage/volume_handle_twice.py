from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import PersistentVolume
from trainyard.judge.model.bodies import templates
from trainyard.judge.model.reading import Reading
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import placeholder
from trainyard.plan import Plan

_NEVER_TWICE = ("s3.csi.aws.com",)
"""Drivers that tell volumes apart by the handle alone (mountpoint-s3-csi-driver v2.2.1, docs/CONFIGURATION.md)."""


@rule("RUN192", severity=Severity.WARNING)
def volume_handle_twice(plan: Plan, world: World) -> Iterator[Finding]:
    """Two PersistentVolumes have one `volumeHandle`.

    The kubelet and the driver know a volume by its driver and handle (Kubernetes 1.36, CSIPersistentVolumeSource:
    unique): of a pod that mounts both, one is mounted and the pod waits for ever for the other
    (awslabs/mountpoint-s3-csi-driver#159). Of S3 the handle is any word, and must be another one for each volume;
    file systems may stand behind several volumes, as long as no pod mounts two of them.

    ## Fails

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: a}
        spec: {capacity: {storage: 1Ti}, accessModes: [ReadOnlyMany], csi: {driver: s3.csi.aws.com,
          volumeHandle: s3-csi-driver-volume, volumeAttributes: {bucketName: a}}}
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: b}
        spec: {capacity: {storage: 1Ti}, accessModes: [ReadOnlyMany], csi: {driver: s3.csi.aws.com,
          volumeHandle: s3-csi-driver-volume, volumeAttributes: {bucketName: b}}}

    ## Passes

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: a}
        spec: {capacity: {storage: 1Ti}, accessModes: [ReadOnlyMany], csi: {driver: s3.csi.aws.com,
          volumeHandle: a, volumeAttributes: {bucketName: a}}}
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: b}
        spec: {capacity: {storage: 1Ti}, accessModes: [ReadOnlyMany], csi: {driver: s3.csi.aws.com,
          volumeHandle: b, volumeAttributes: {bucketName: b}}}
    """
    seen: dict[tuple[str, str], PersistentVolume] = {}
    for volume in plan.of(PersistentVolume):
        if not volume.handle or placeholder(volume.handle):
            continue
        first = seen.setdefault((volume.driver, volume.handle), volume)
        if first is volume or first.name == volume.name:
            continue
        together = _mounted_together(first, volume, world)
        if volume.driver in _NEVER_TWICE or together:
            yield Finding(
                f"volumes `{first.name}` and `{volume.name}` have one handle, `{volume.handle}`",
                volume.at / "spec" / "csi" / "volumeHandle",
                label="a pod with both waits for ever",
                help="write another handle for each volume"
                if volume.driver in _NEVER_TWICE
                else "mount one of them, with `subPath` for its folders",
                severity=Severity.ERROR if together else None,
            )


def _mounted_together(first: PersistentVolume, second: PersistentVolume, world: Reading) -> bool:
    """Whether some pod mounts both."""
    for template in world.once(templates):
        claims = {
            each.source for each in template.pod.volumes if each.type == "persistentVolumeClaim"
        }
        names = {each.name for each in world.storage.volumes(template.namespace, claims)}
        if {first.name, second.name} <= names:
            return True
    return False
