from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.judge.model.saves import claim_of, saved_paths
from trainyard.judge.model.storage import FSX
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

_SCRATCH = ("SCRATCH_1", "SCRATCH_2")
_HELP = "save to a persistent file system, or copy each checkpoint to S3"


@rule("RUN055", severity=Severity.WARNING)
def checkpoint_on_scratch_file_system(plan: Plan, world: World) -> Iterator[Finding]:
    """A job saves its checkpoints to a scratch file system, which loses data when a server fails.

    Scratch file systems of FSx for Lustre keep one copy of the data, and no server of theirs is replaced: of those with
    1.2 TiB one in 170 is lost in a week, of those with 50.4 TiB one in 16 (FSx for Lustre user guide,
    using-fsx-lustre). A StorageClass of the CSI driver without `deploymentType` makes scratch file systems
    (aws-fsx-csi-driver 1.9.0: SCRATCH_1). Where every checkpoint is copied to S3, write an exception down.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15", deployment: SCRATCH_2}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          torchVersion: "2.12"}]

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15"}
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {accessModes: [ReadWriteMany], storageClassName: lustre, resources: {requests: {storage: 1200Gi}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec:
          trainer: {env: [{name: CHECKPOINT_DIR, value: /data/llama}]}
          runtimePatches:
            - manager: example.com/team
              trainingRuntimeSpec:
                template:
                  spec:
                    replicatedJobs:
                      - name: node
                        template:
                          spec:
                            template:
                              spec:
                                containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]
                                volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]

    ## Passes

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          torchVersion: "2.12"}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15", deployment: SCRATCH_2}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], torchVersion: "2.12"}]
    """
    for schedule in plan.of(CheckpointSchedule):
        if schedule.deployment in _SCRATCH:
            yield Finding(
                f"job `{schedule.name}` saves to `{schedule.path}`, on the scratch file system "
                f"`{schedule.file_system}` ({schedule.deployment})",
                schedule.where("path"),
                label="lost when one of its servers fails",
                help=_HELP,
                spec_help=_HELP,
            )
    for work in world.programs:
        yield from _by_class(work, world)


def _by_class(work: Work, world: World) -> Iterator[Finding]:
    """A folder of a claim whose StorageClass makes scratch file systems."""
    for saved in saved_paths(work):
        claim = world.storage.claim(work.namespace, claim_of(work, saved.path))
        if claim is None or claim.volume:
            continue
        if world.storage.driver(claim) != FSX:
            continue
        parameters = world.storage.parameters(claim)
        deployment = parameters.get("deploymentType") or "SCRATCH_1"
        if parameters and deployment in _SCRATCH:
            yield Finding(
                f"{work.title} saves to `{saved.path}` ({saved.by}), on a scratch file system of StorageClass "
                f"`{claim.storage_class or ''}` ({deployment})",
                saved.at,
                label="lost when one of its servers fails",
                help=_HELP,
            )
