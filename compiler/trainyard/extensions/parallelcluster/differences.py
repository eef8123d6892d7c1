"""What ParallelCluster does not do of the language, and what to write instead: by key, and below lists by dots."""

from __future__ import annotations

from collections.abc import Mapping

_KUBERNETES = "there is no Kubernetes here"

INSTEAD: Mapping[str, str] = {
    # whole keys of `spec`
    "namespaces": (
        "remove it: the namespaces that queues name are enough, and Slurm keeps nobody out of "
        "a partition by them"
    ),
    "images": (
        "build the image in a cluster of platform `eks`, or elsewhere, and write its name and "
        "digest in the job"
    ),
    "imageCaches": "remove it: nodes pull from the registry that the image names",
    "health": (
        "remove it: DCGM tests the GPUs of a node before each job, and Slurm replaces nodes "
        "that fail"
    ),
    "monitoring.retention": (
        "remove it: CloudWatch keeps metrics for 15 months, and logs for `logRetentionDays` of the platform"
    ),
    "monitoring.disk": "remove it: CloudWatch keeps the metrics",
    "monitoring.gpuUtilization": (
        "remove it: metrics are of nodes here, and a job that hangs is found by its script, which tells "
        "`notifications`"
    ),
    "monitoring.managed": "remove it: CloudWatch is managed by AWS, and there is no Prometheus here",
    "monitoring.openCost": (
        f"remove it: {_KUBERNETES}; `trainyard report` says what jobs cost, and `budget` of the platform "
        "watches the bill"
    ),
    "notifications.watchdog": "remove it: the scripts of jobs send, and there is no Alertmanager here",
    "notifications.flux": f"remove it: {_KUBERNETES}, and `bootstrap/up.sh` brings what is in git",
    "notifications.receivers.slack": (
        "write `sns:`, and let Amazon Q Developer in chat applications send what comes to the topic to the channel"
    ),
    "notifications.receivers.pagerDuty": (
        "write `sns:`, and subscribe the endpoint of PagerDuty's Amazon SNS integration to the topic"
    ),
    "notifications.receivers.webhook": "write `sns:`, and subscribe the address to the topic",
    "logs": (
        "remove it: ParallelCluster sends the logs of its nodes to CloudWatch Logs by itself, and jobs write theirs to "
        "files"
    ),
    "flux": "remove it: `bootstrap/up.sh` brings the cluster and its jobs",
    "components": f"remove it: {_KUBERNETES}, so that no chart is installed",
    "patches": "remove it: `customSlurmSettings` of the platform has what no key says",
    "include": f"remove it: {_KUBERNETES}, so that nothing reads the objects",
    "bootstrap": "remove it: ParallelCluster makes its cluster by CloudFormation",
    # the network
    "network.create": (
        "write `existing:` with the subnets of a VPC: `pcluster configure` makes one with a public subnet, a private "
        "one and a NAT gateway"
    ),
    "network.cilium": (
        f"remove it: {_KUBERNETES}, and the traffic of nodes is what their security groups allow"
    ),
    # pools
    "nodePools.spareNodes": (
        "remove it, and keep the quota of the queue or the job a node smaller than the pool"
    ),
    "nodePools.burnIn": (
        "remove it: DCGM tests the GPUs of a node before each job (HealthChecks.Gpu)"
    ),
    "nodePools.gpuSharing": "remove it: Slurm gives whole GPUs",
    "nodePools.managedNodeGroup": "remove it: the head node launches the nodes",
    "nodePools.labels": f"remove it: {_KUBERNETES}, and jobs name their pool",
    "nodePools.taints": f"remove it: {_KUBERNETES}, and jobs name their pool",
    "nodePools.topology": "remove it: instances of a placement group or a block are close together",
    "nodePools.consolidateAfter": (
        "write `scaledownIdletime` of the platform, which is the same for all pools"
    ),
    # storage
    # aws-parallelcluster 3.16.1, ExistingFsxNetworkingValidator
    "storage.fsxLustre.existing.address": (
        "remove it, and name a file system in the VPC of the cluster: ParallelCluster mounts no other"
    ),
    # aws-parallelcluster-cookbook, setup_disk
    "storage.ebs.existing.fileSystem": (
        "remove it: ParallelCluster mounts the file system that the volume has, and makes ext4 where it has none"
    ),
    "storage.ebs.existing.kmsKey": (
        "remove it, and name an IAM policy that allows the key in `policies` of the platform"
    ),
    "storage.ebs.create": (
        "write `fsxLustre:`, which all nodes mount, or use the nodes' own disks below `/scratch`"
    ),
    "storage.s3.cache": (
        "remove it: programs read the bucket by its API, or a file system by `dataRepositories`"
    ),
    # queues
    "queues.queueingStrategy": (
        "remove it: Slurm fills gaps with smaller jobs (backfill), and delays no older one for them"
    ),
    "queues.preemption": (
        "remove it: Slurm stops no job for another one here; the higher priority goes first"
    ),
    "queues.fairSharing": "remove it: with accounting, a queue's nodes are its share",
    "queues.flavorFungibility": (
        "remove it: a job that names several pools starts on the first with room"
    ),
    "queues.stopPolicy": (
        "remove it, and write `scontrol update PartitionName=NAME State=DRAIN` on the head node"
    ),
    "queues.quota.lendingLimit": (
        "remove it: with accounting a queue in a cohort lends all that it does not use"
    ),
    "cohorts": (
        "remove it: the names that queues give in `cohort:` are enough, and cohorts have no "
        "quotas of their own"
    ),
    "kueue": f"remove it: {_KUBERNETES}; nodes that do not come in time are Slurm's to replace",
    # jobs
    "jobs.kind": "remove it: every job is a batch script of Slurm",
    "jobs.minNodes": "remove it: a job of Slurm has all of its nodes",
    "jobs.roles": "make each role a job of its own",
    "jobs.runtime": f"write `image:` and `command:`: {_KUBERNETES}, and so no runtime of Trainer",
    "jobs.initializer": (
        "download in the program, or link the data by `dataRepositories` of the file system"
    ),
    "jobs.initContainers": "do it in the program, before training starts",
    "jobs.volumes": "write `mounts:` of a storage; the nodes' own disks are at `/scratch`",
    "jobs.serviceAccount": (
        "remove it: nodes have the rights of `policies` of the platform, and access to the "
        "buckets of `storage`"
    ),
    "jobs.imagePullSecrets": (
        "remove it: nodes pull from ECR by their role, and from elsewhere without credentials"
    ),
    "jobs.sharedMemory": (
        "remove it: containers have the node's own `/dev/shm`, which is half of its memory"
    ),
    "jobs.excludeNodes": (
        "remove it: a node that fails is replaced; on the head node, `scontrol update "
        "NodeName=NAME State=DRAIN`"
    ),
    "jobs.topology": "remove it: instances of a placement group or a block are close together",
    "jobs.annotations": f"remove it: {_KUBERNETES}",
    "jobs.labels": f"remove it: {_KUBERNETES}; the comment of the job has its name in the spec",
    "labels": f"remove it: {_KUBERNETES}; `tags` are of everything that AWS makes",
    "completedRuns": "remove it: a job that ended leaves nothing behind that is needed",
    "jobs.resources.hugePages": "remove it: jobs of Slurm have no huge pages of their own",
    "jobs.resources.efa": "remove it: a job has all EFA devices of its nodes",
    "jobs.resources.ephemeralStorage": "remove it: the disks of a node are shared by its jobs",
    "jobs.checkpoint.signalFile": (
        "remove it: the program gets SIGTERM itself, and has the time of `terminationGracePeriod`"
    ),
    "jobs.launcher.mpi": "start the program by torchrun, or use a cluster of platform `eks`",
    "jobs.launcher.jax": "start the program by torchrun, or use a cluster of platform `eks`",
    "jobs.launcher.ncclTest": (
        "use a cluster of platform `eks`, or write the test as a job with an image and a command"
    ),
    "jobs.launcher.torchtune": (
        "write the recipe as a job with an image that has torchtune and the EFA plugin, and "
        "`command:`"
    ),
    "secrets.type": "remove it: a variable of a job gets the value, whatever it is",
    "secrets.secretsManager.refresh": "remove it: a job reads the value when it starts",
    "sops": f"remove it: {_KUBERNETES}, so that nothing decrypts Secrets in files",
}
