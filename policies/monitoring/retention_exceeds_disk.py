from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.units import Quantity

_SPEC = ("prometheus", "prometheusSpec")
_CLAIM = (*_SPEC, "storageSpec", "volumeClaimTemplate", "spec", "resources", "requests", "storage")
_SIZE = r"(\d*\.?\d+)([KMGTPE]?)i?B"


@rule("HLT061")
def retention_exceeds_disk(release: HelmRelease) -> Iterator[Finding]:
    """Prometheus keeps samples until they fill more than its volume.

    The file system holds less than its volume has, compaction writes a block before it deletes those that are in it,
    and Prometheus stops when its disk is full. Its documentation leaves a fifth of the disk free (Prometheus, storage,
    operational aspects: 80 to 85 %). Sizes of Prometheus are powers of 1024. In a spec the retention follows from the
    disk, and a `disk` that is too small for `retention` is RES330.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}
          values:
            prometheus:
              prometheusSpec:
                retentionSize: 100GB
                storageSpec:
                  volumeClaimTemplate: {spec: {resources: {requests: {storage: 100Gi}}}}

    ## Passes

        # as the first that fails, but
        kind: HelmRelease
        spec: {values: {prometheus: {prometheusSpec: {retentionSize: 80GB}}}}
    """
    if release.chart != "kube-prometheus-stack":
        return
    kept = _bytes(value_at(release.values, *_SPEC, "retentionSize"))
    disk = _disk(value_at(release.values, *_CLAIM))
    if kept is None or disk is None or kept < disk.value:
        return
    yield Finding(
        f"samples of {value_at(release.values, *_SPEC, 'retentionSize')} are kept on a volume of {disk}",
        release.where("values") / (*_SPEC, "retentionSize"),
        label="the disk is full before samples are deleted",
        help=f"write `retentionSize: {disk.value * 4 // 5 // 2**20}MB`, four fifths of the volume, or more `storage`",
    )


def _bytes(size: object) -> int | None:
    found = re.fullmatch(_SIZE, size) if isinstance(size, str) else None
    if found is None:
        return None
    power = "BKMGTPE".index(found[2] or "B")
    return int(float(found[1]) * 1024**power)


def _disk(storage: object) -> Quantity | None:
    try:
        return Quantity.parse(storage) if isinstance(storage, str) else None
    except ValueError:
        return None
