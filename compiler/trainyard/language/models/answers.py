"""Words of other tools for which the spec has no key: what to do instead, in one sentence.

Each is true on every platform, so none names a key that some platform does not take. The words are those of sbatch
(Slurm 25.05), of Pods, Jobs, TrainJobs, PyTorchJobs and RayJobs (`shared/crds`), of tasks of SkyPilot 0.10 and dstack
0.21, of CreateTrainingJob and CreateCluster (SageMaker API), and of the CLI of HyperPod 3.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.language.diagnostics.near import plain

_Answers = Mapping[str, str]

_CLOCK = "no job starts by the clock: commit it when it may start"
_DERIVED = "remove it: it follows from the instance type"
_OF_PODS = "remove it: jobs have no such key, and what the compiler writes of it is derived"
_DERIVED_OF_POOLS = _OF_PODS.replace("jobs have", "pools have")
_DERIVED_OF_CLUSTERS = _OF_PODS.replace("jobs have", "a cluster has")

_JOB: _Answers = {
    "array arraySize arrayProperties sweep matrix strategy hyperparameterTuning hyperParameterRanges trials": (
        "one job is one run: write a job for each value, like `{name: lr-2, extends: lr-1, args: [--lr, '2e-4']}`"
    ),
    "after afterok afterany dependency dependsOn dependencies needs startupOrder waitFor requires upstream": (
        "no job waits for another one: add the later job to the spec once the earlier one has ended, or run both "
        "programs in one `command`"
    ),
    "notebook notebooks jupyter jupyterLab ide devEnvironment interactive workspace space": (
        "there are no notebooks, and a job runs its `command` to the end: `trainyard debug JOB` says how to get a "
        "shell with the accelerators of a job"
    ),
    "output error stdout stderr stdoutFile logFile openMode log logging logDir logPublishingOptions": (
        "remove it: `trainyard logs JOB` shows what the program prints, or says where it is; the program saves files "
        "below the path of one of its `mounts`"
    ),
    "containers template jobTemplate spec trainer podSpec podTemplate replicatedJobs pytorchJob trainingJob "
    "pytorchReplicaSpecs mpiReplicaSpecs replicaSpecs replicaSpec master worker workerGroupSpecs headGroupSpec "
    "rayClusterSpec algorithmSpecification": (
        "write what is in it as keys of the job itself, like `nodes`, `image` and `command`"
    ),
    "runPolicy": "write `timeout` and `retries` of the job itself",
    "sidecars sidecar sidecarContainers ephemeralContainers": (
        "a job has one program on each node: start what runs beside it in `command`"
    ),
    "type": "remove it: all of `jobs` are training jobs",
    "metadata": "write `name` of the job itself",
    "comment description notes": "write it behind `# `, as a comment of YAML",
    "account project costCenter wckey billing": (
        "remove it: `queue` is what a job is counted in, and `tags` of `spec` are on all that AWS bills"
    ),
    "exclusive overcommit oversubscribe overlap share": (
        "remove it: a job has whole nodes, unless its `resources` say less"
    ),
    "gpuBind gpuFreq hint cpuFreq memBind distributionPolicy coresPerSocket socketsPerNode coreSpec threadSpec bind "
    "cpuBind sockets cores acctgFreq mincpus overhead": _DERIVED,
    "input immediate parsable wait quiet verbose test testOnly getUserEnv ignorePbs propagate stdin stdinOnce tty "
    "attach detach kill noKill killOnInvalidDep spreadJob useMinNodes reboot power prefer bb bbf burstBuffer batch "
    "clusterConstraint delayBoot spankOptions": (
        "remove it: jobs start from git, and no terminal waits for them"
    ),
    "nice": "a priority has a name: write `priority: low`, and `{name: low, value: 0}` under `priorities`",
    "licenses license": "remove it: no licenses are counted",
    "uid gid user runAsUser securityContext privileged capabilities fsGroup runAsGroup runAsNonRoot": (
        "remove it: a job does not choose the user and the rights of its container"
    ),
    "begin delay startTime startAt startAfter": _CLOCK,
    "cluster clusters clusterName": "each cluster is a spec of its own: write the job in that one",
    "infra cloud clouds cloudProvider provider providers backends region regions": (
        "remove it: `account` and `region` of `spec` say where all jobs run"
    ),
    "livenessProbe readinessProbe startupProbe probes healthCheck": (
        "remove it: nothing probes a training program, and `timeout` ends one that hangs"
    ),
    "ports port containerPort service services gateway url domain ingress scaling autoscaling rateLimits auth https "
    "stripPrefix endpoint replicaGroups": (
        "remove it: a job trains and serves nothing, and the port at which its nodes meet is derived"
    ),
    "imagePullPolicy pullPolicy pull": (
        "remove it: an `image` that is named by its digest, like `train@sha256:…`, is the same wherever it is pulled"
    ),
    "automountServiceAccountToken dnsPolicy dnsConfig enableServiceLinks hostNetwork hostIPC hostPID hostname "
    "hostAliases "
    "hostUsers subdomain setHostnameAsFQDN schedulerName schedulerType scheduler runtimeClassName runtimeClass "
    "shareProcessNamespace preemptionPolicy readinessGates schedulingGates resourceClaims os lifecycle volumeDevices "
    "completionMode completionIndex manualSelector selector managedBy successPolicy podReplacementPolicy "
    "maxFailedIndexes backoffLimitPerIndex terminationMessagePath terminationMessagePolicy restartPolicyRules "
    "submissionMode shutdownAfterJobFinishes rayVersion entrypointNumCpus entrypointNumGpus runLauncherAsWorker "
    "sshAuthMountPath launcherCreationPolicy mpiImplementation podTemplateOverrides runtimePatches coordinator "
    "taskGovernance deepHealthCheckPassedNodesOnly autoResume homeDir singleBranch nvcc stopCriteria "
    "eventCallback experimental wrapper containerName metricsExportPort enableNetworkIsolation "
    "enableInterContainerTrafficEncryption infraCheckConfig debugRuleConfigurations sessionChainingConfig": _OF_PODS,
    "runtimeEnv runtimeEnvYAML pip conda python packages requirements dependenciesFile uv modules module": (
        "put packages into `image`, and write variables as `env`"
    ),
    "workdir code sourceDir sourceCode repo repos git gitRepo upload sync sourceConfig": (
        "nothing is copied from where you are: put the code into `image`, or below the path of one of `mounts`; "
        "`workingDir` is the folder of it that the command starts in"
    ),
    "maxPrice maxHourlyCost price cost spotPrice budget": (
        "remove it: its pool says how nodes are bought, and `trainyard fit` compares prices"
    ),
    "debugHookConfig profilerConfig profiler profilerRuleConfigurations profile": (
        "let the program profile itself, and save below the path of one of its `mounts`"
    ),
    "experimentConfig tensorBoardOutputConfig tensorboard wandb mlflow mlflowConfig metricDefinitions metrics tracking "
    "tracker experiment remoteDebugConfig": (
        "the program reports by itself: give it the address as `env` and keys as `secretEnv`"
    ),
    "hooks callbacks callback preStop postStart epilogue epilog onFailure onSuccess onExit": (
        "do it in the program, or in a script that `command` starts"
    ),
    "vpcConfig": "remove it: `network` of `spec` is that of all jobs",
    "steps stages phases pipeline pipelines workflow workflows dag": (
        "a job is one step: write a job for each, and add the later one once the earlier one has ended"
    ),
}
_POOL: _Answers = {
    "iam role roleArn executionRole instanceProfile iamInstanceProfile": (
        "remove it: the role of the nodes is made with what they need"
    ),
    "ssh sshConfig sshKey keyName keyPair remoteAccess allowSsh": (
        "remove it: pools have no key of SSH"
    ),
    "securityGroups securityGroupIds securityGroupSelectorTerms vpcSecurityGroupIds": (
        "write `securityGroups` of `network.existing`, which all pools have"
    ),
    "privateNetworking associatePublicIPAddress networking network overrideVpcConfig publicIp": (
        "remove it: nodes are in private subnets, those of `network` in the pool's `zones`"
    ),
    "userData preBootstrapCommands overrideBootstrapCommand bootstrap lifecycleConfig onCreate "
    "initScript startupScript bottlerocket setup": (
        "remove it: nodes are set up by their image and by what the platform runs on them"
    ),
    "kubelet kubeletConfig kubeletExtraArgs kubeletExtraConfig maxPods maxPodsPerNode clusterDNS evictionHard": (
        "remove it: the kubelet's settings are derived"
    ),
    "metadataOptions disableIMDSv1 disablePodIMDS imds instanceMetadata httpTokens ebsOptimized detailedMonitoring "
    "asgMetricsCollection asgSuspendProcesses propagateASGTags classicLoadBalancerNames "
    "targetGroupARNs updateConfig releaseVersion budgets terminationPolicy nodeClassRef template "
    "requirements expireAfter spotAllocationStrategy allocationStrategy spotInstancePools "
    "onDemandBaseCapacity "
    "instancesDistribution maxPrice spotPrice staticNodePriority dynamicNodePriority weight priority namePrefix "
    "disableSimultaneousMultithreading suspendProcesses outpostARN cpuCredits warmPool state feature "
    "features blocks backend instancePrefix instanceName": (_DERIVED_OF_POOLS),
    "tags": "write `tags` of `spec`, which all that AWS makes have",
    "cpu cpus vcpu vcpus memory mem ram resources realMemory sockets cores sshHosts": (
        "name instance types that have it, like `instanceTypes: [p5.48xlarge]`: `trainyard catalog` lists them"
    ),
    "region regions backends cloud infra provider": (
        "remove it: a cluster is in one Region, `region` of `spec`"
    ),
    "partition queue queues qos": (
        "a queue names its pools: write `{name: research, quota: [{pool: NAME, nodes: 4}]}` under `queues`"
    ),
    "jobs job tasks": "a job names its pool: write `pool: NAME` in the job",
    "type fleet": "remove it: all of `nodePools` are pools of nodes",
}
_CLUSTER: _Answers = {
    "name clusterName eksClusterName resourceNamePrefix": (
        "write it in `metadata`, like `metadata: {name: seoul}`"
    ),
    "iam podIdentityAssociations clusterRole rbac serviceRole executionRole": (
        "remove it: roles are made with what each part needs, and `namespaces` say who may do what"
    ),
    "fargateProfiles privateCluster identityProviders zonalShiftConfig upgradePolicy outpost remoteNetworkConfig "
    "kubernetesNetworkConfig accessConfig computeConfig secretsEncryption orchestrator restrictedInstanceGroups "
    "tieredStorageConfig nodeProvisioningMode clusterEndpoint deletionProtection scheduling scheduler slurm "
    "deploymentSettings directoryService additionalPackages customS3Bucket createVpcStack "
    "experimental provider cloud backends infra template domain certificate bastion sso nccl hooks fleets "
    "upgrade": (_DERIVED_OF_CLUSTERS),
    "karpenter autoscaling clusterAutoscaler gpuOperator devicePlugin": (
        "remove it: what launches nodes and finds their accelerators comes with the platform, and `nodes` of a pool "
        "bounds them"
    ),
    "encryption kms kmsKey": "write `kmsKey` for a storage, where it has one: `trainyard explain --spec storage`",
    "backup backups snapshots": "write it for a storage, where it has it: `trainyard explain --spec storage`",
    "prometheus grafana alertmanager observability metrics alerts alerting": (
        "metrics, alerts and who is sent them differ by platform: `trainyard explain --platforms` says how"
    ),
    "cost costs": "remove it: `trainyard report` says what the cluster costs",
    "security policies policy": (
        "remove it: what is allowed follows from the spec, and `policies/policy.yaml` sets the rules that judge it"
    ),
    "registry registries ecr": "remove it: nodes pull from every registry that an `image` names",
    "workflows pipelines workflow pipeline dag": (
        "there are no workflows: add a later job to `jobs` once the earlier one has ended"
    ),
    "notebooks services endpoints": "there are only training jobs: write them under `jobs`",
    "extends imports bases overlays": (
        "write `extends: base.yaml` at the top of the file, beside `apiVersion`"
    ),
    "variables vars values parameters": (
        "a spec has no variables: what jobs share is `jobDefaults`, and `extends` of a job takes over another one"
    ),
    "resources": "write them for each pool, as `instanceTypes`, and for each job, as `resources`",
    "efa": "remove it: EFA is derived of the instance types of each pool",
    "run setup script entrypoint": "write it as the `command` of a job, under `jobs`",
}
_ANSWERS: Mapping[str, _Answers] = {
    "": _CLUSTER,
    "nodePools[]": _POOL,
    "jobs[]": _JOB,
    "jobDefaults": _JOB,
}


def answer(section: str, word: str) -> str:
    """What to do instead of a word in a mapping, by the path of the mapping from ``spec``; empty where nothing is
    known of the word. Case and separators of the word do not count."""
    letters = plain(word)
    for words, sentence in _ANSWERS.get(section, {}).items():
        if letters in map(plain, words.split()):
            return sentence
    return ""


def answers() -> Iterator[tuple[str, str, str]]:
    """Each word with its section and its sentence."""
    for section, sentences in _ANSWERS.items():
        for words, sentence in sentences.items():
            for word in words.split():
                yield section, word, sentence
