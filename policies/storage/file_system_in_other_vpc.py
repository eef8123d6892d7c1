from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import PersistentVolume
from trainyard.eks.cluster.plan import Cluster
from trainyard.judge.model.storage import FSX
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("PLC036", severity=Severity.WARNING)
def file_system_in_other_vpc(volume: PersistentVolume, world: World) -> Iterator[Finding]:
    """A cluster creates its own VPC, and a volume mounts an existing file system by DNS name.

    The file system is then in another VPC, where its name has an address and here it has none: pods stay in
    ContainerCreating. Mounts from outside of its VPC take the address of its first network interface (FSx for Lustre
    user guide, mounting-on-premises; kubernetes-sigs/aws-fsx-csi-driver issue 357).

    ## Fails

        network: {create: {zones: [us-west-2a, us-west-2b]}}
        storage:
          - name: data
            fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 1200Gi, version: "2.15"}}
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]

    ## Passes

        storage:
          - name: data
            fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.8.1.20, mountName: abcdefgh, size: 1200Gi,
              version: "2.15"}}
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]

        network:
          existing:
            vpc: vpc-0a1b2c3d
            subnets: [{id: subnet-0a1b2c3d, zone: us-west-2a}, {id: subnet-0a1b2c3e, zone: us-west-2b}]
        storage:
          - name: data
            fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 1200Gi, version: "2.15"}}
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]
    """
    cluster = world.plan.one(Cluster)
    if cluster is None or not world.plan.closed or volume.driver != FSX:
        return
    if cluster.network.vpc is not None:
        return
    host = volume.attributes.get("dnsname", "")
    if host.startswith("fs-"):
        yield Finding(
            f"volume `{volume.name}` mounts `{host.partition('.')[0]}` by name, and the cluster is in a VPC of its own",
            volume.where("attributes"),
            label="the name has no address there",
            help="mount it by the address of its first network interface, or take the VPC that it is in",
            spec_help="add `address:`, that of its first network interface, or name its VPC under `network.existing`",
        )
