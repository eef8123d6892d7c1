"""Words for which people reach who come from Kubernetes, Slurm, SkyPilot, SageMaker, ParallelCluster or eksctl, and the
keys of the spec that they mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import plain
from trainyard.language.models.flow import flow

_Words = Mapping[str, str]

_JOB: _Words = {
    "nodes": (
        "node nnodes replicas instances instanceCount workers numWorkers count parallelism completions size "
        "nodeCount numNodes maxReplicas maxNodes maxNodeCount maxWorkers"
    ),
    "minNodes": "minReplicas minWorkers minNodeCount elasticPolicy",
    "resources.accelerators": (
        "gpu gpus gpusPerNode accelerator devices gres nvidia.com/gpu tpus neuronCores "
        "gpusPerTask gpusPerPod gpuCount numGpus acceleratorCount acceleratorsLimit tresPerNode"
    ),
    "resources.cpu": "cpu cpus vcpu vcpus cpusPerTask cpuPerTask cpusPerGpu numCpus vcpuLimit",
    "resources.memory": "mem memory ram memoryPerNode memPerNode memPerCpu memPerGpu memoryLimit",
    "resources": "limits requests resourcesPerNode",
    "resources.ephemeralStorage": "tmp disk diskSize",
    "sharedMemory": "shm shmSize devShm ipc",
    "command": "cmd commands run entrypoint entryScript script program shell sourceScript wrap",
    "args": (
        "arguments argv hyperparameters parameters params config configFile epochs numEpochs maxSteps learningRate "
        "batchSize"
    ),
    "env": "environment envs envVars variables export",
    "secretEnv": "envFrom secretRef imageSecret",
    "labels": "tags",
    "name": "jobName taskName displayName generateName",
    "kind": "apiVersion jobType",
    "rerun": "schedule cron cronSchedule",
    "nodePools[].capacity": (
        "spot useSpot onDemand capacity capacityType managedSpotTraining reservation capacityReservation "
        "spotPolicy enableManagedSpotTraining useSpotInstances"
    ),
    "nodePools[].instanceTypes": (
        "instanceType instanceTypes instance machine machineType resourceConfig constraint"
    ),
    "nodePools[].zones": "zone zones availabilityZone",
    "nodePools[].consolidateAfter": (
        "autostop idleMinutes idleMinutesToAutostop idleDuration inactivityDuration keepAlive keepAlivePeriodInSeconds"
    ),
    "nodePools[].efa": "networkTier interconnect efaEnabled",
    "nodePools[].rootVolume": "diskTier diskType volumeSizeInGB",
    "nodePools[].nodes": "creationPolicy",
    "queue": "partition localQueue clusterQueue queueName qos",
    "pool": (
        "nodePool nodeSelector nodeAffinity affinity tolerations nodelist nodeName fleet fleets anyOf ordered "
        "labelSelector"
    ),
    "topology": (
        "topologySpreadConstraints podAffinity switches contiguous preferredTopology requiredTopology topologyRequest "
        "placement"
    ),
    "processesPerNode": (
        "ntasks ntasksPerNode nprocPerNode nprocs processes numProcPerNode slotsPerWorker "
        "tasksPerNode ntasksPerGpu"
    ),
    "timeout": (
        "time timeLimit walltime maxRun maxRuntime maxRunSeconds stoppingCondition activeDeadlineSeconds deadline "
        "maxDuration timeMin"
    ),
    "retries": (
        "retry maxRetries backoffLimit restartPolicy retryStrategy maxRetryAttempts failurePolicy requeue "
        "jobRecovery maxRetry podFailurePolicy numRetries"
    ),
    "mounts": (
        "volumeMounts fileMounts storageMounts storage datasets inputs inputData inputDataConfig outputs outputPath "
        "outputDir outputS3Uri outputDataConfig artifacts cache fileSystem data"
    ),
    "volumes": "persistentVolumeClaims",
    "priority": "priorityClassName priorityClass",
    "serviceAccount": "serviceAccountName roleArn role",
    "initContainers": "setup prologue prolog",
    "imagePullSecrets": "registryAuth imagePullSecret",
    "excludeNodes": "exclude",
    "terminationGracePeriod": "terminationGracePeriodSeconds signal stopDuration",
    "queues[].stopPolicy": "suspend suspended paused hold",
    "completed": "ttl ttlSecondsAfterFinished cleanPodPolicy state status",
    "checkpoint": "checkpointConfig checkpointDir checkpointing",
    "launcher": "framework distribution backend mpi torchrun",
    "image": "container containerImage trainingImage imageUri imageId docker dockerImage",
    "runtime": "runtimeRef trainingRuntime",
    "workingDir": "chdir cwd workingDirectory",
    "notifications": "mailType mailUser notify alerts slack",
    "monitoring": "utilizationPolicy",
    "expected": "estimated",
}
_POOL: _Words = {
    "nodes": (
        "node replicas count size numNodes nodeCount nodesCount instanceCount desiredCapacity limits capacityLimit"
    ),
    "nodes.min": "min minSize minCount minReplicas",
    "nodes.max": "max maxSize maxCount maxReplicas maxNodes",
    "instanceTypes": (
        "instance instances machineType vmSize flavor gpu gpus gres sku accelerator accelerators computeResources"
    ),
    "zones": "az azs zone availabilityZone availabilityZones subnet subnets subnetSelectorTerms",
    "capacity": (
        "spot onDemand reserved block capacityType purchaseOption lifecycle marketType reservation reservations "
        "capacityReservation capacityBlock capacityReservationSelectorTerms capacityReservationTarget spotPolicy "
        "instanceMarketOptions"
    ),
    "rootVolume": (
        "disk diskSize diskTier volumeSize volumeType volumeEncrypted volumeIOPS volumeThroughput volume rootDisk "
        "blockDeviceMappings instanceStorageConfigs"
    ),
    "placement.group": "placementGroup placementGroupName",
    "efa": "efaEnabled enableEfa networkInterfaces interconnect",
    "platform.eks.ami": "ami amiType amiFamily amiSelectorTerms imageId image",
    "gpuSharing": "mig timeSlicing mps",
    "platform.hyperPod.deepHealthChecks": "onStartDeepHealthChecks",
    "platform.hyperPod.threadsPerCore": "threadsPerCore",
    "platform.hyperPod.trainingPlans": "trainingPlan trainingPlanArn",
    "platform.parallelCluster.computeNodes": "customActions",
    "burnIn": "healthChecks",
    "name": "nodeName nodePoolName",
    "consolidateAfter": (
        "disruption consolidation consolidationPolicy ttlSecondsAfterEmpty idleTimeout idleDuration"
    ),
    "taints": "startupTaints",
    "labels": "nodeLabels",
    "localStorage": "instanceStore instanceStorePolicy nvme scratch",
    "spareNodes": "spares hotSpares standby",
    "managedNodeGroup": "nodeGroup managed",
}
_CLUSTER: _Words = {
    "platform.eks.version": "version kubernetes kubernetesVersion k8sVersion",
    "platform.eks": "eks controlPlane",
    "platform": "cluster",
    "platform.eks.addons": "addons addonsConfig",
    "platform.eks.apiServer": "apiServer",
    "platform.eks.autoMode": "autoMode autoModeConfig",
    "platform.hyperPod.nodeRecovery": "nodeRecovery",
    "platform.parallelCluster.headNode": "headNode",
    "platform.parallelCluster.loginNodes": "loginNodes",
    "platform.parallelCluster.accounting": "accounting accounts database",
    "platform.parallelCluster.budget": "budget budgets",
    "network": "vpc vpcConfig subnets networking",
    "network.zoneIds": "availabilityZoneIds",
    "nodePools[].zones": "zone az availabilityZone availabilityZones",
    "logs": "cloudWatch logging",
    "images": "build builds dockerfile",
    "nodePools": (
        "nodeGroups managedNodeGroups pools nodes node machines computeResources gpu gpus resourceFlavors instances "
        "instanceGroups instanceGroupsSettings slurmQueues"
    ),
    "jobs": "job tasks workloads trainJobs training",
    "storage": "volumes volume fileSystems sharedStorage disks buckets fsx",
    "namespaces": "team teams project projects users tenants",
    "priorities": "priorityClasses workloadPriorityClasses qos",
    "queues": "partition partitions clusterQueues localQueues queue",
    "components": "charts helm helmReleases plugins",
    "flux": "git gitops repository repo argocd",
    "jobDefaults": "defaults env environment envs image command",
    "jobs[].rerun": "schedule cron",
    "platform.eks.admins": "admins accessEntries",
}
_QUEUE: _Words = {
    "quota": "limits resources nominalQuota resourceGroups nodes gpus gpu flavors pools",
    "namespaces": "namespace namespaceSelector teams team users",
    "preemption": "preempt preemptMode",
    "stopPolicy": "suspend paused hold state",
    "fairSharing.weight": "weight share shares",
    "quota[].borrowingLimit": "borrowingLimit borrow",
    "quota[].lendingLimit": "lendingLimit lend",
    "queueingStrategy": "strategy policy",
}
_RESOURCES: _Words = {
    "accelerators": "gpu gpus nvidia.com/gpu neuron devices",
    "cpu": "cpus vcpu vcpus cores",
    "memory": "mem ram",
    "jobs[].sharedMemory": "shm shmSize sharedMemory",
    "ephemeralStorage": "disk storage",
    "hugePages": "hugepages-2Mi",
    "efa": "vpc.amazonaws.com/efa",
}
_SECTIONS: Mapping[str, _Words] = {
    "": _CLUSTER,
    "nodePools[]": _POOL,
    "jobs[]": _JOB,
    "jobDefaults": _JOB,
    "jobs[].resources": _RESOURCES,
    "jobDefaults.resources": _RESOURCES,
    "queues[]": _QUEUE,
    "jobs[].mounts[]": {"storage": "name volume source", "path": "mountPath target"},
    "nodePools[].capacity[]": {
        "block": "capacityBlock capacityBlocks capacityBlockForMl cbml",
        "reserved": "reservation capacityReservation odcr onDemandCapacityReservation",
        "onDemand": "demand ondemandInstances",
        "spot": "spotInstances",
    },
    "jobs[].volumes[]": {"path": "mountPath", "persistentVolumeClaim": "pvc claim claimName"},
    "storage[]": {
        "fsxLustre": "fsx lustre",
        "s3": "bucket mountpoint",
        "ebs": "volume disk gp3 persistentVolume",
    },
    "namespaces[]": {"principals": "users roles iam members", "quota": "limits resourceQuota"},
}

_RERUN = "no job starts by the clock: a commit that raises `rerun` of the job runs it again"
_BOUGHT = "like `capacity: [{spot: {}}, {onDemand: {}}]`"
_EFA = "remove it: nodes have EFA where their instance type has it"
REMARKS: Mapping[str, str] = {
    "efa": _EFA,
    "nodePools[].efa": _EFA,
    "rerun": _RERUN,
    "jobs[].rerun": _RERUN,
    "capacity": f"here it is `capacity`, {_BOUGHT}",
    "nodePools[].capacity": f"its pool says how nodes are bought, {_BOUGHT}",
}
"""Hints for words whose key does not mean the same, or that are values of a key."""


def sections() -> Mapping[str, _Words]:
    """For each mapping of the spec, by its path from ``spec``: the words that mean each key.

    A key is named from its mapping, or from ``spec`` where it stands in another section.
    """
    return _SECTIONS


def meant_key(section: str, word: str) -> str:
    """The key that a word from elsewhere means in a mapping of the spec; empty where none is known.

    ``section``: the path of the mapping from ``spec``. Case and separators of the word do not count.
    """
    letters = plain(word)
    for key, words in _SECTIONS.get(section, {}).items():
        if letters in map(plain, words.split()):
            return key
    return ""


_AROUND = ("limits", "requests", "resourcespernode")
_COUNTS = ("accelerators", "efa")


def resources_help(word: str, value: Any, known: Collection[str]) -> str:
    """How a job asks for what Kubernetes has in `limits` or `requests`, by the keys that the mapping has; empty for any
    other word, and where nothing of it is known."""
    resources = _resources_in(word, value)
    if not resources:
        return ""
    if "resources" in known:
        return f"here it is `resources`, like `resources: {flow(resources)}`"
    if not resources.keys() <= {*known}:
        return ""
    written = [f"{key}: {flow(amount)}" for key, amount in resources.items()]
    return f"here its entries are keys of `resources`: {listed(written)}"


def _resources_in(word: str, value: Any) -> Mapping[str, Any]:
    """The keys of `resources` that a mapping of Kubernetes means, like `{nvidia.com/gpu: 8}` under `limits`."""
    if plain(word) not in _AROUND or not isinstance(value, Mapping):
        return {}
    found: dict[str, Any] = {}
    for name, amount in value.items():
        found.update(_resources_in(str(name), amount))
        key = _resource(str(name))
        if key:
            is_text = isinstance(amount, str) and amount.isdecimal()
            found[key] = int(amount) if is_text and key in _COUNTS else amount
    return found


def _resource(name: str) -> str:
    letters = plain(name)
    for key, words in _RESOURCES.items():
        if letters in map(plain, (key, *words.split())) and "." not in key:
            return key
    return ""
