from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.storage.plan import PersistentVolume
from trainyard.judge.model.storage import FSX
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("PLC033", severity=Severity.WARNING)
def file_system_in_other_region(volume: PersistentVolume, world: World) -> Iterator[Finding]:
    """A volume mounts an FSx file system of another region than the cluster's.

    The DNS name of a file system holds its region (FSx for Lustre user guide). Across regions a mount needs peered
    VPCs, and every read pays latency and traffic; mostly the name was copied.

    ## Fails

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: data}
        spec:
          capacity: {storage: 4800Gi}
          accessModes: [ReadWriteMany]
          csi:
            driver: fsx.csi.aws.com
            volumeHandle: fs-0a1b2c3d4e5f60718
            volumeAttributes: {dnsname: fs-0a1b2c3d4e5f60718.fsx.us-east-1.amazonaws.com, mountname: abcdefgh}

    ## Passes

        # as the first that fails, but
        kind: PersistentVolume
        spec: {csi: {volumeAttributes: {dnsname: fs-0a1b2c3d4e5f60718.fsx.us-west-2.amazonaws.com}}}
    """
    host = re.search(_REGION, volume.attributes.get("dnsname", ""))
    if volume.driver != FSX or host is None:
        return
    known = world.catalog.regions.keys()
    zones = [zone for pool in world.pools for zone in pool.zones or ()]
    homes = {zone[:-1] for zone in zones} & known
    if world.region in known:
        homes = {world.region}
    region = host[1]
    if homes and region in known and region not in homes:
        yield Finding(
            f"volume `{volume.name}` is in region `{region}`, and the nodes are in `{min(homes)}`",
            volume.where("attributes"),
            help=f"write the DNS name of a file system in `{min(homes)}`",
        )


_REGION = r"\.fsx\.([a-z0-9-]+)\.amazonaws\.com"
