"""Third-party manifests in the forms that people use: what is there is read, what is not is unknown."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from trainyard.eks.cluster.lower import cluster_config, group_config
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.health.plan import ProblemDetector
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.kueue.plan import ClusterQueue, QueueManager
from trainyard.eks.nodes.plan import NodePool
from trainyard.eks.rbac.plan import Access
from trainyard.eks.third_party_workloads.plan import Workload, titled
from trainyard.judge.model.kinds import framework_of, has_peers
from trainyard.language.places import Route
from trainyard.lift import kinds, lift
from trainyard.lift.pods import container, pod
from trainyard.lift.reader import Reader
from trainyard.output.manifest import Manifest
from trainyard.plan import Duration, Plan, Quantity


def read(text: str) -> Plan:
    plan = lift([Manifest(body) for body in yaml.safe_load_all(text)], closed=False)
    assert not plan.closed
    return plan


def queue(text: str) -> ClusterQueue:
    head = "apiVersion: kueue.x-k8s.io/{}\nkind: ClusterQueue\nmetadata: {{name: q}}\nspec: "
    version = "v1beta1" if "cohort:" in text else "v1beta2"
    (found,) = read(head.format(version) + text).of(ClusterQueue)
    return found


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("{}", None),
        ("{namespaceSelector: {}}", {}),
        ("{namespaceSelector: {matchLabels: {team: a}}}", {"team": ("a",)}),
        (
            "{namespaceSelector: {matchExpressions: [{key: team, operator: In, values: [a, b]}]}}",
            {"team": ("a", "b")},
        ),
        ("{namespaceSelector: {matchExpressions: [{key: team, operator: Exists}]}}", {"team": ()}),
    ],
)
def test_a_queue_that_selects_nothing_everything_or_something(text: str, selector: Any) -> None:
    assert queue(text).namespace_selector == selector


def test_both_versions_of_a_queue() -> None:
    assert queue("{cohort: all}").cohort == "all"
    assert queue("{cohortName: all}").cohort == "all"
    assert queue("{stopPolicy: Hold}").stopped
    assert queue("{}").strategy == "BestEffortFIFO"
    assert queue("{}").preemption.within == "Never"


def test_a_quota_that_is_no_quantity_is_unknown_and_its_place_is_kept() -> None:
    found = queue("""{resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [
        {name: cpu, nominalQuota: many}, {name: memory, nominalQuota: 8Gi, borrowingLimit: "1"}]}]}]}""")
    (flavor,) = found.flavors()
    assert flavor.of("cpu") is None
    quota = flavor.of("memory")
    assert quota is not None
    assert quota.nominal == Quantity.gib(8)
    path = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 1, "nominalQuota")
    assert quota.where("nominal") == Route(("@ClusterQueue/q", *path))


def test_a_pool_that_chooses_by_category_names_no_type() -> None:
    (pool,) = read("""
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: p}
spec:
  template:
    metadata: {labels: {topology.kubernetes.io/zone: us-west-2a}}
    spec:
      nodeClassRef: {name: c}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [p]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
  limits: {nvidia.com/gpu: 64, cpu: bad}
""").of(NodePool)
    assert pool.instance_types is None
    assert pool.zones == ("us-west-2a",)
    assert pool.limits == {"nvidia.com/gpu": Quantity.of(64)}
    assert str(pool.where("capacity_types")).endswith("requirements[1].values")
    assert str(pool.where("instance_types")).endswith("requirements")
    assert (pool.expire_after, pool.consolidation) == (None, None)


TRAIN_JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: j, namespace: n, labels: {kueue.x-k8s.io/queue-name: q, team: a}}
spec: %s
"""


def test_patches_of_both_forms_and_several_jobs_of_one() -> None:
    (job,) = read(
        TRAIN_JOB
        % """
  runtimeRef: {name: torch}
  suspend: true
  trainer: {numProcPerNode: auto, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}
  podTemplateOverrides:
    - targetJobs: [{name: node}, {name: launcher}]
      spec: {nodeSelector: {a: b}, tolerations: [{operator: Exists}]}
  runtimePatches:
    - manager: me
      trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
        {name: node, template: {spec: {template: {spec: {terminationGracePeriodSeconds: 5}}}}}]}}}
"""
    ).of(TrainJob)
    assert [(each.job, each.manager) for each in job.patches] == [
        ("node", "me"),
        ("node", ""),
        ("launcher", ""),
    ]
    assert job.patches[1].pod.tolerations[0].operator == "Exists"
    assert job.patches[0].pod.grace_seconds == 5
    assert (job.queue, job.labels, job.suspend, job.processes) == ("q", {"team": "a"}, True, "auto")
    assert job.runtime_kind == "ClusterTrainingRuntime"
    assert job.asks("nvidia.com/gpu") == Quantity.of(8)
    assert job.prune


def test_a_job_without_trainer_says_so() -> None:
    (job,) = read(TRAIN_JOB % "{runtimeRef: {name: torch}}").of(TrainJob)
    assert not job.trainer
    assert (job.nodes, job.image, job.requests) == (None, None, {})


def test_a_runtime_without_failure_policy_never_restarts() -> None:
    head = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainingRuntime\nmetadata: {name: r, namespace: n}\n"
    (none,) = read(
        head + "spec: {mlPolicy: {mpi: {}}, template: {spec: {replicatedJobs: [{name: x}]}}}"
    ).of(Runtime)
    (silent,) = read(head + "spec: {template: {spec: {failurePolicy: {}, replicatedJobs: []}}}").of(
        Runtime
    )
    assert (none.max_restarts, none.framework, none.namespace, none.trainer()) == (
        None,
        "mpi",
        "n",
        None,
    )
    assert silent.max_restarts == 0


def test_eksctl_groups_with_one_type_a_reservation_and_efa() -> None:
    cluster = read("""
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-west-2, version: "1.35"}
vpc: {id: vpc-1, subnets: {private: {one: {id: subnet-1, az: us-west-2a}}}}
addons: [{name: vpc-cni, configurationValues: "{bad"}]
managedNodeGroups:
  - name: gpu
    instanceType: p5.48xlarge
    efaEnabled: true
    availabilityZones: [us-west-2a]
    placement: {groupName: g}
    instanceMarketOptions: {marketType: capacity-block}
    capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-1}}
""").one(Cluster)
    assert cluster is not None
    (group,) = cluster.node_groups
    assert (
        group.instance_types,
        group.efa,
        group.placement_group,
        group.reservation,
        group.capacity_block,
    ) == (("p5.48xlarge",), True, "g", "cr-1", True)
    assert (
        str(group.where("instance_types")) == "@ClusterConfig/c.managedNodeGroups[0].instanceType"
    )
    assert cluster.network.subnets[0].zone == "us-west-2a"
    assert cluster.addons[0].values == {}
    assert cluster.auto_mode is None


def test_self_managed_groups_are_read_and_never_written_as_managed_ones() -> None:
    cluster = read("""
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-west-2, version: "1.35"}
nodeGroups: [{name: gpu, instanceType: p5.48xlarge}]
""").one(Cluster)
    assert cluster is not None
    (group,) = cluster.node_groups
    assert not group.managed
    with pytest.raises(AssertionError, match="none is written"):
        cluster_config(cluster)
    with pytest.raises(AssertionError, match="none is written"):
        group_config(cluster, group)


def test_a_detector_from_its_chart() -> None:
    plan = read("""
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: npd, namespace: flux-system}
spec:
  targetNamespace: kube-system
  chart: {spec: {chart: node-problem-detector, version: 2.4.1, sourceRef: {name: deliveryhero}}}
  values:
    tolerations: [{operator: Exists}]
    settings:
      custom_monitor_definitions:
        xid.json: |
          {"plugin": "kmsg", "conditions": [{"type": "Xid"}], "rules": [{"type": "permanent", "condition": "Xid"}]}
        notes.txt: hello
        broken.json: '{'
""")
    (detector,) = plan.of(ProblemDetector)
    assert [each.name for each in detector.monitors] == ["xid"]
    assert detector.monitors[0].sets() == ("Xid",)
    assert detector.tolerations[0].operator == "Exists"
    assert plan.of(HelmRelease)[0].timeout == Duration(300)


def test_config_maps_and_daemon_sets_of_other_things_are_nothing_of_ours() -> None:
    plan = read("""
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {x.json: '{"plugin": 1}', y: z}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: b}
spec: {template: {spec: {containers: [{image: "nginx:1"}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: c}
""")
    assert [each.name for each in plan.of(Workload)] == ["b", "c"]
    assert plan.with_items(Workload, ()) == Plan(closed=False)


def test_a_release_without_its_source_and_a_binding_without_its_role() -> None:
    plan = read("""
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: kueue, namespace: flux-system}
spec: {chartRef: {kind: OCIRepository, name: kueue}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: n}
roleRef: {name: nobody}
subjects: [{kind: Group, name: g}]
""")
    assert (plan.of(HelmRelease)[0].chart, plan.of(HelmRelease)[0].version) == ("", "")
    assert plan.of(Access) == ()
    assert plan.one(QueueManager) is None


def test_kinds_that_nobody_reads_are_passed_over() -> None:
    assert read("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n") == Plan(
        closed=False
    )
    assert "karpenter.sh/NodePool" in kinds()
    assert "/Secret" not in kinds()


@pytest.mark.parametrize(
    "value", [None, 1, True, "x", [], ["a", 1], {}, {"a": {"b": 1}}, {1: 2}, 1.5]
)
def test_a_reader_takes_any_value_for_any_type(value: Any) -> None:
    reader = Reader(value, Route())
    for each in (
        reader,
        reader / "a",
        reader / 0,
        reader.follow("a", "b"),
        reader.follow(0, "x", 3),
    ):
        assert each.text() is None or isinstance(each.text(), str)
        assert isinstance(each.word(), str)
        assert type(each.integer()) in (int, type(None))
        assert each.flag() in (True, False, None)
        assert all(isinstance(item, str) for item in each.texts())
        assert all(isinstance(item, str) for item in each.strings().values())
        assert isinstance(each.quantities(), dict)
        assert isinstance(each.mapping(), dict)
        assert isinstance(list(each.entries()), list)
        assert isinstance(each.items(), list)
        each.quantity()
        each.duration()


NODES = "karpenter.sh/nodepool"
HOST = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("terms", "pools", "excluded"),
    [
        ([[(NODES, "In", ["a"])], [(NODES, "In", ["b"])]], [["a"], ["b"]], ()),
        ([[(HOST, "NotIn", ["n1"])]], [], ("n1",)),
        ([[(NODES, "In", ["a"]), (HOST, "NotIn", ["n1"])]], [["a"]], ("n1",)),
        # what says more than pools and hosts, or not of all the same
        ([[(NODES, "In", ["a"])], [(HOST, "NotIn", ["n1"])]], None, ()),
        ([[(NODES, "In", ["a"]), (HOST, "NotIn", ["n1"])], [(HOST, "NotIn", ["n1"])]], None, ()),
        ([[(NODES, "In", ["${POOL}"])]], None, ()),
        ([[("zone", "In", ["a"])]], None, ()),
        ([[]], None, ()),
    ],
)
def test_required_affinity_is_read_where_it_is_about_pools_and_hosts_alone(
    terms: list[Any], pools: list[Any] | None, excluded: tuple[str, ...]
) -> None:
    written = [
        {
            "matchExpressions": [
                {"key": key, "operator": operator, "values": values}
                for key, operator, values in term
            ]
        }
        for term in terms
    ]
    found = pod(Reader(affine(written), Route()))
    assert ("node_affinity" in found.unread) is (pools is None)
    assert [[*each[0].values] for each in found.pools] == (pools or [])
    assert found.excluded_nodes == excluded


def affine(terms: list[dict[str, Any]]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"spec": {"affinity": {"nodeAffinity": required}}}


def test_a_term_about_fields_of_nodes_is_not_read() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    expressions = [{"key": NODES, "operator": "In", "values": ["a"]}]
    found = pod(Reader(affine([{"matchFields": fields, "matchExpressions": expressions}]), Route()))
    assert "node_affinity" in found.unread


@pytest.mark.parametrize(
    ("hook", "command", "unread"),
    [
        ({"exec": {"command": ["sh"]}}, ("sh",), False),
        ({"httpGet": {"port": 80}}, (), True),
        ({"sleep": {"seconds": 5}}, (), True),
    ],
)
def test_a_hook_that_runs_no_command_is_one_all_the_same(
    hook: dict[str, Any], command: tuple[str, ...], unread: bool
) -> None:
    found = container(Reader({"name": "a", "lifecycle": {"preStop": hook}}, Route()))
    assert found.pre_stop == command
    assert ("pre_stop" in found.unread) is unread


RAY_JOB = """
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: tune, namespace: a, labels: {{kueue.x-k8s.io/queue-name: q}}}}
spec:
  entrypoint: python train.py --epochs 3
  rayClusterSpec:
    enableInTreeAutoscaling: {scales}
    headGroupSpec:
      template:
        spec: {{containers: [{{name: head, resources: {{limits: {head}}}}}]}}
    workerGroupSpecs:
      - groupName: gpu
        replicas: 3
        numOfHosts: 2
        template:
          spec:
            containers:
              - name: worker
                resources: {{limits: {{memory: 8Gi, nvidia.com/gpu: 8}}}}
              - {{name: logs}}
"""


def ray_job(*, scales: str = "false", head: str = "{cpu: 2}") -> Workload:
    (workload,) = read(RAY_JOB.format(scales=scales, head=head)).of(Workload)
    return workload


def test_the_pods_of_a_ray_job_are_one_gang() -> None:
    """Its head is a node of it only with accelerators; how many workers an autoscaler makes is unknown."""
    assert (ray_job().nodes, ray_job().queue) == (6, "q")
    assert [part.beside for part in ray_job().pods] == [True, False]
    assert ray_job(head="{nvidia.com/gpu: 8}").nodes == 7
    assert ray_job(scales="true").nodes is None


def test_what_kuberay_makes_of_a_pod() -> None:
    """Ray's containers get shared memory (kuberay v1.6.2, common/pod.go), and a head that trains runs the entrypoint:
    of another the workers are judged by it."""
    trains, _ = (part.pod for part in ray_job(head="{nvidia.com/gpu: 8}").pods)
    assert trains.containers[0].command == ("/bin/sh", "-c", "python train.py --epochs 3")
    head, worker = (part.pod for part in ray_job().pods)
    assert head.containers[0].command == ()
    ray, logs = worker.containers
    assert ray.command == ()
    assert [mount.path for mount in ray.mounts] == ["/dev/shm"]
    assert logs.mounts == ()
    (volume,) = worker.volumes
    assert (volume.medium, volume.size) == ("Memory", None)  # the memory limit bounds it


def test_shared_memory_of_a_container_without_a_memory_limit_is_as_large_as_its_request() -> None:
    text = RAY_JOB.format(scales="false", head="{cpu: 2}")
    requested = text.replace("limits: {memory: 8Gi, ", "requests: {memory: 8Gi}, limits: {")
    (workload,) = read(requested).of(Workload)
    (volume,) = workload.pods[1].pod.volumes
    assert volume.size == Quantity.gib(8)


def test_a_ray_cluster_is_no_gang() -> None:
    """Jobs come to it."""
    body = yaml.safe_load(RAY_JOB.format(scales="false", head="{cpu: 2}"))
    body |= {"kind": "RayCluster", "spec": body["spec"]["rayClusterSpec"]}
    (workload,) = read(yaml.safe_dump(body)).of(Workload)
    assert workload.nodes is None
    assert [part.name for part in workload.pods] == ["head", "gpu"]


POD_OF_TASK = "{spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}"
VOLCANO = f"""\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: bert, namespace: team-a, labels: {{kueue.x-k8s.io/queue-name: research}}}}
spec: {{tasks: [{{name: worker, replicas: 4, template: {POD_OF_TASK}}}]}}
"""


def test_a_job_of_another_api_group_is_not_judged_as_that_of_kubernetes() -> None:
    """Pods of a batch Job are alone, and Kueue manages it as `batch/job`; Volcano's are one gang, and it has none."""
    (workload,) = read(VOLCANO).of(Workload)
    assert workload.kind == "Job.batch.volcano.sh"
    assert titled(workload.kind, workload.name) == "job `bert`"
    assert has_peers(workload.kind)
    assert framework_of(workload.kind) is None
    assert not has_peers("Job")
    assert framework_of("Job") == "batch/job"
