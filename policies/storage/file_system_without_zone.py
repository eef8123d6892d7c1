from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.storage import FSX
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import ZONE


@rule(
    "PLC032",
    kubernetes="claims are of Kubernetes: ParallelCluster names file systems by their ids",
    severity=Severity.WARNING,
    pods=True,
)
def file_system_without_zone(work: Work, world: World) -> Iterator[Finding]:
    """A job may run in several zones, and its file system does not say in which it is.

    A file system of FSx for Lustre lies in one zone. From another one it can be mounted, at the price of latency and
    of traffic between zones (FSx for Lustre user guide, accessing file systems); a PersistentVolume with node
    affinity keeps the pods in its zone.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [
            {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a, us-west-2b]}]}}
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: data}
        spec:
          capacity: {storage: 4800Gi}
          accessModes: [ReadWriteMany]
          claimRef: {namespace: team-a, name: data}
          csi: {driver: fsx.csi.aws.com, volumeHandle: fs-0a1b2c3d4e5f60718}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          trainer: {numNodes: 1, resourcesPerNode: {requests: {vpc.amazonaws.com/efa: null, hugepages-2Mi: null},
            limits: {vpc.amazonaws.com/efa: null, hugepages-2Mi: null}}}
          runtimePatches:
            - trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
                volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}}}}]}}}

    ## Passes

        nodePools: [{name: gpu, zones: [us-west-2a, us-west-2b]}]
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 4800Gi,
          version: "2.15", zone: us-west-2a}}}]
        jobs: [{name: llama, nodes: 1, mounts: [{storage: data, path: /data}]}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 4800Gi,
          version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]
    """
    if work.gang and work.efa:
        return  # PLC003 and PLC004 report EFA across zones
    zones = world.zones_of_all(work.pools)
    if zones is None or len(zones) < 2:
        return
    for volume in world.storage.volumes(work.namespace, work.claims):
        if volume.driver != FSX:
            continue
        if volume.zone is None and "zone" not in volume.unread:
            yield Finding(
                f"volume `{volume.name}` says no zone, and {work.title} may run in {listed(sorted(zones))}",
                volume.at,
                label="reads may cross zones",
                help=f"add `nodeAffinity` with `{ZONE}` `In` the zone of the file system",
            )
            return
