"""Words of Slurm, Kubernetes, SkyPilot, dstack and SageMaker in a job, a pool and a cluster: each is answered by one
key that can be written, or by one sentence; nobody reads a list of all keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from builders import document, shape_faults, spec
from trainyard.cli.keys import explain_key
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.near import plain
from trainyard.language.models.answers import answers
from trainyard.language.models.elsewhere import sections
from trainyard.language.models.unknown import unknown
from trainyard.language.places import Route
from trainyard.plan.features import Platform
from trainyard.run.language.load import load
from trainyard.run.language.reference import all_keys
from trainyard.run.language.whole import every_language
from trainyard.run.platforms import EKS, PLATFORMS

# sbatch of Slurm 25.05, without its dashes.
SBATCH = """account acctgFreq array batch bb begin chdir clusterConstraint clusters comment constraint contiguous
    coreSpec coresPerSocket cpuFreq cpusPerGpu cpusPerTask deadline delayBoot dependency error exclude
    exclusive export getUserEnv gid gpuBind gpuFreq gpus gpusPerNode gpusPerTask gres hint hold input jobName
    licenses mailType mailUser mem memBind memPerCpu memPerGpu mincpus nice nodelist ntasks
    ntasksPerGpu ntasksPerNode openMode output overcommit oversubscribe parsable partition power priority_
    propagate qos quiet reboot requeue reservation signal switches threadsPerCore time timeMin tmp tresPerNode uid wait
    wckey wrap"""
# Fields of Pods, Jobs, TrainJobs, PyTorchJobs, MPIJobs and RayJobs (shared/crds).
KUBERNETES = """activeDeadlineSeconds affinity apiVersion automountServiceAccountToken backoffLimit cleanPodPolicy
    completionMode completions containers dnsPolicy elasticPolicy enableServiceLinks envFrom ephemeralContainers
    hostIPC hostNetwork hostPID imagePullPolicy lifecycle livenessProbe managedBy metadata mpiReplicaSpecs
    nodeName nodeSelector nprocPerNode numNodes numProcPerNode parallelism podFailurePolicy podTemplateOverrides ports
    preemptionPolicy priorityClassName pytorchReplicaSpecs rayClusterSpec rayVersion readinessProbe replicas
    resourcesPerNode restartPolicy runPolicy runtimeClassName runtimeEnvYAML runtimeRef schedulerName securityContext
    selector serviceAccountName shareProcessNamespace shutdownAfterJobFinishes slotsPerWorker startupProbe
    submissionMode successPolicy suspend template terminationGracePeriodSeconds tolerations topologySpreadConstraints
    trainer ttlSecondsAfterFinished volumeMounts workerGroupSpecs"""
SKYPILOT = """any_of autostop cloud config cpus disk_size disk_tier envs event_callback experimental file_mounts
    image_id infra instance_type job_recovery max_hourly_cost network_tier num_nodes ordered outputs run service setup
    storage_mounts use_spot workdir zone"""
DSTACK = """auth backends commands creation_policy docker entrypoint files_ fleets gateway home_dir ide idle_duration
    instance_types max_duration max_price nvcc privileged probes python rate_limits registry_auth regions repos retry
    scaling shm_size single_branch spot_policy startup_order stop_criteria stop_duration type user utilization_policy
    working_dir"""
# CreateTrainingJob, and `hyp create hyp-pytorch-job` of HyperPod's CLI 3.9.
SAGEMAKER = """accelerators_limit algorithmSpecification checkpointConfig debugHookConfig
    deep_health_check_passed_nodes_only enableManagedSpotTraining experimentConfig hyperParameters inputDataConfig
    instance_count job_name label_selector max_retry memory_limit node_count outputDataConfig output_s3_uri
    preferred_topology profilerConfig pull_policy queue_name required_topology resourceConfig retryStrategy roleArn
    scheduler_type service_account_name stoppingCondition tasks_per_node tensorBoardOutputConfig vcpu vpcConfig"""
EVERYONE = "after dependsOn notebook sweep tags workflow metrics wandb alerts monitoring notifications region"
POOLS = """MinCount MaxCount ComputeResources Instances CapacityType Networking Efa Image CustomActions SpotPrice
    HealthChecks AllocationStrategy Iam CapacityReservationTarget instanceType instanceCount lifecycleConfig
    onStartDeepHealthChecks threadsPerCore trainingPlanArn overrideVpcConfig instanceStorageConfigs amiFamily ami iam
    ssh privateNetworking desiredCapacity minSize maxSize volumeSize volumeType availabilityZones capacityReservation
    efaEnabled nodeRepairConfig maxPodsPerNode kubeletExtraConfig preBootstrapCommands subnets securityGroups
    disruption limits weight template requirements nodeClassRef startupTaints expireAfter userData amiSelectorTerms
    subnetSelectorTerms securityGroupSelectorTerms capacityReservationSelectorTerms role instanceProfile
    blockDeviceMappings metadataOptions kubelet detailedMonitoring instanceStorePolicy backends gpu cpu memory disk
    spot_policy max_price idle_duration reservation ssh_config placement_group blocks gres feature state type tags"""
CLUSTERS = """HeadNode Scheduling SharedStorage LoginNodes DirectoryService DeploymentSettings Imds CustomS3Bucket
    InstanceGroups Orchestrator NodeRecovery VpcConfig ClusterRole TieredStorageConfig AutoScaling clusterName
    eks_cluster_name availability_zone_ids cloudWatch iam vpc addons addonsConfig nodeGroups managedNodeGroups
    fargateProfiles availabilityZones secretsEncryption privateCluster gitops identityProviders karpenter autoModeConfig
    accessConfig kubernetesNetworkConfig podIdentityAssociations resources setup run envs workdir service experimental
    config name_ provider cluster project backends users version kubernetesVersion admins prometheus grafana alerts
    teams priorityClasses qos partitions registry ingress ssh gpuOperator policies encryption backup slurm extends
    variables"""
LEVELS = {
    "jobs": " ".join((SBATCH, KUBERNETES, SKYPILOT, DSTACK, SAGEMAKER, EVERYONE)),
    "nodePools": " ".join((POOLS, EVERYONE)),
    "spec": " ".join((CLUSTERS, SKYPILOT, DSTACK, EVERYONE)),
}
OWN = {key.path for key in all_keys()}
WORDS = [
    (level, word)
    for level, words in LEVELS.items()
    for word in dict.fromkeys(words.split())
    if not word.endswith("_") and (level != "spec" or f"spec.{word}" not in OWN)
]
_LEAD = re.compile(r"here it is `(\S+)`(?: under `(\S+)`)?(?:, like `\w+: (.*)`)?\Z", re.DOTALL)


def _with(level: str, word: str, value: Any = 1) -> dict[str, Any]:
    """A spec with a word at a level."""
    if level == "jobs":
        return spec(job={word: value})
    if level == "nodePools":
        return spec(pool={word: value})
    whole = spec()
    whole["spec"][word] = value
    return whole


def _said(level: str, word: str, platform: Platform = EKS) -> str:
    faults = [
        fault for fault in load(document(_with(level, word)), platform)[1] if _is_of(fault, word)
    ]
    assert [fault.code for fault in faults] in (["SPC002"], ["SPC006"]), faults
    return faults[0].help


def _is_of(fault: Diagnostic, word: str) -> bool:
    return fault.at is not None and bool(fault.at) and fault.at[-1] == word


def test_there_are_enough_of_them() -> None:
    assert len(WORDS) > 380


@pytest.mark.parametrize(("level", "word"), WORDS)
@pytest.mark.needs("observability")
def test_a_word_is_answered(level: str, word: str) -> None:
    help = _said(level, word)
    assert "lists the keys" not in help
    named = _named(help)
    assert len(named) <= 5, "a sentence names what it is about, and no list of keys"
    lead = _LEAD.match(help)
    if lead:
        key, outer, example = lead.groups()
        written = _written(level, outer or "", key, yaml.safe_load(example))
        assert not [fault.message for fault in shape_faults(written)]


def _named(help: str) -> list[str]:
    """The keys that stand for themselves in a help, without those inside an example."""
    return re.findall(r"`(\w+)`", help)


def _written(level: str, outer: str, key: str, value: Any) -> dict[str, Any]:
    """A spec with a key where a help says that it is."""
    whole = spec(pool={"nodes": {"max": 8}})
    body = whole["spec"]
    steps = outer.removeprefix("spec").strip(".").replace("[]", "").split(".")
    is_of_spec = (
        outer == "spec" or steps[0] in body or steps[0] in ("platform", "queues", "network")
    )
    if level != "spec" and not is_of_spec:
        body = body[level][0]
    for step in filter(None, steps):
        if step == "queues":
            body.setdefault(
                step, [{"name": "q", "namespaces": ["a"], "quota": [{"pool": "gpu", "nodes": 4}]}]
            )
        body = body.setdefault(step, {})
        body = body[0] if isinstance(body, list) else body
    body[key] = value
    return whole


@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=lambda platform: platform.name)
@pytest.mark.parametrize("level", LEVELS)
def test_no_answer_names_a_key_that_the_platform_does_not_take(
    level: str, platform: Platform
) -> None:
    """What is said of a word of another tool is true of the platform at hand."""
    wrong = []
    for of_level, word in WORDS:
        if of_level != level:
            continue
        lead = _LEAD.match(_said(level, word, platform))
        if lead:
            key, outer, _ = lead.groups()
            inside = "" if level == "spec" or outer == "spec" else f"{level}."
            paths = {f"{inside}{outer or ''}.{key}", f"{outer or level}.{key}"}
            plainly = {path.replace("[]", "").replace("..", ".").strip(".") for path in paths}
            wrong += [(word, path) for path in plainly if platform.instead_of(path)]
    assert not wrong


def test_sentences_name_keys_that_there_are() -> None:
    names = {key.name for key in all_keys()} | {"base", "low", "high", "prepare"}
    wrong = {
        (word, named)
        for _, word, sentence in answers()
        for named in _named(sentence)
        if named not in names
    }
    assert not wrong


def test_sentences_of_jobs_hold_on_every_platform() -> None:
    wrong = {
        (word, named)
        for section, word, sentence in answers()
        for named in _named(sentence)
        for platform in PLATFORMS.values()
        if section == "jobs[]" and platform.instead_of(f"jobs.{named}")
    }
    assert not wrong


def test_a_word_has_one_answer() -> None:
    """Neither two sentences nor a sentence and a key, nor is it a key itself."""
    said: Counter[tuple[str, str]] = Counter()
    for section, word, _ in answers():
        said[section, plain(word)] += 1
    for section, words in sections().items():
        for listed in words.values():
            said.update((section, plain(word)) for word in listed.split())
    for key in all_keys():
        section, _, name = key.path.removeprefix("spec.").rpartition(".")
        if key.path.startswith("spec.") and section in ("", "jobs[]", "nodePools[]"):
            said[section, plain(name)] += 1
    assert not [word for word, count in said.items() if count > 1]


def _sections() -> Iterator[Route]:
    """The route of every mapping of the language."""
    yield Route()
    for key in all_keys():
        if key.model is not None and key.model.model_fields:
            steps = key.inside.replace("[].", ".0.").rstrip(".").split(".")
            yield Route(tuple(0 if step == "0" else step for step in steps))


@pytest.mark.parametrize("outer", list(_sections()), ids=str)
def test_an_unknown_word_names_few_keys_and_the_page(outer: Route) -> None:
    fault = unknown(outer / "zzyzx", every_language(), 1, lambda path: None)
    named = _named(fault.help)
    assert len(named) <= 4, fault.help  # three, and the mapping
    page = re.match(r"`trainyard explain --spec ?(\S*)` lists the keys\Z", fault.help)
    if page and page.group(1):
        assert "keys inside" in explain_key(page.group(1))
    assert page or " has" in fault.help


VALUES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (
        spec(job={"priority": 100}),
        "`priority: high`",
        spec(job={"priority": "high"}, priorities=[{"name": "high", "value": 100}]),
    ),
    (spec(job={"nodes": {"min": 2, "max": 4}}), "`nodes: 4`", spec(job={"nodes": 4})),
    (spec(job={"nodes": "2-4"}), "`nodes: 4`", spec(job={"nodes": 4})),
    (spec(job={"nodes": "2..4"}), "`nodes: 4`", spec(job={"nodes": 4})),
    (spec(job={"nodes": "2.."}), "`nodes: 2`", spec(job={"nodes": 2})),
    *[
        (spec(job=job), "`accelerators: 8`, under `resources`", spec(job={"resources": {"accelerators": 8}}))
        for job in (
            {"accelerators": "H100:8"},
            {"resources": {"accelerators": "H100:8"}},
            {"resources": {"accelerators": {"H100": 8}}},
            {"resources": {"gpu": {"name": "H100", "count": 8}}},
            {"gpus": "H100:8"},
            {"gres": "gpu:8"},
        )
    ],
    *[
        (
            spec(job={"env": env}),
            "`secretEnv: [{env: HF_TOKEN, secret: hf, key: token}]`",
            spec(job={"secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}]}),
        )
        for env in (
            {"HF_TOKEN": {"valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}},
            {"valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
            [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}],
        )
    ],
    (spec(job={"env": [{"name": "A", "value": "b"}]}), "`NAME: value`", spec(job={"env": {"A": "b"}})),
    (spec(job={"extends": "../base.yaml"}), "beside `apiVersion`", spec()),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said", "instead"), VALUES)
def test_a_value_in_the_form_of_another_tool_says_how_it_is_written(
    written: dict[str, Any], said: str, instead: dict[str, Any]
) -> None:
    (fault,) = shape_faults(written)
    assert said in fault.help
    assert not shape_faults(instead)
