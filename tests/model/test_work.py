"""What a job is known to ask for, where that is written, and where it may land."""

from __future__ import annotations

import pytest
from trainyard.catalog import load_catalog
from trainyard.core.images.plan import MadeImage
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodePool
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.judge.model.affinity import affinities, types_named
from trainyard.judge.model.beside import in_one_folder
from trainyard.judge.model.capacity_windows import block_ends
from trainyard.judge.model.choice import Offer
from trainyard.judge.model.fit import excluding_namespace_label
from trainyard.judge.model.images import known
from trainyard.judge.model.landing import devices_of
from trainyard.judge.model.offers import in_catalog
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import seconds, tolerations
from trainyard.judge.model.work import Work
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import Plan
from trainyard.plan.scheduling import POOL_LABEL, Toleration

from tests.policy.harness import lifted
from tests.policy.manifests import JOB, POOL, batch, container, pods, release

QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\n"
TYPE = "node.kubernetes.io/instance-type"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ELSEWHERE = f"{JOB}spec: {{runtimeRef: {{name: elsewhere}}"
OTHER = f"{POOL}metadata: {{name: more}}\nspec: {{template: {{metadata: {{labels: {{{POOL_LABEL}: more}}}}}}}}"


def reading(*changes: str) -> Reading:
    """The base set with other objects laid over it."""
    plan, manifests = lifted("\n---\n".join(changes))
    return Reading(plan, load_catalog(), manifests)


def job(*changes: str) -> Work:
    """Its only job."""
    (work,) = reading(*changes).works
    return work


def patches(name: str, pod: str) -> str:
    """The job with a patch of the pods of a replicated job."""
    replicated = f"[{{name: {name}, template: {{spec: {{template: {{spec: {pod}}}}}}}}}]"
    spec = f"{{template: {{spec: {{replicatedJobs: {replicated}}}}}}}"
    return f", runtimePatches: [{{manager: a.b/c, trainingRuntimeSpec: {spec}}}]}}"


def affinity(key: str, operator: str, values: str = "") -> str:
    """Pods that select by affinity alone."""
    expression = f"{{key: {key}, operator: {operator}{values}}}"
    terms = f"{{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}"
    return pods(
        f"{{spec: {{nodeSelector: null, affinity: {{nodeAffinity: {{{REQUIRED}: {terms}}}}}}}}}"
    )


TOLERATES = "{tolerations: [{key: team, operator: Exists}]}"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (ELSEWHERE + "}", "@TrainJob/team-a/llama"),
        (ELSEWHERE + patches("node", "{nodeSelector: {pool: a}}"), "@TrainJob/team-a/llama"),
        (
            ELSEWHERE + patches("node", TOLERATES),
            "@TrainJob/team-a/llama.spec.runtimePatches[0].trainingRuntimeSpec.template.spec.replicatedJobs[0]"
            ".template.spec.template.spec.tolerations",
        ),
        (
            f"{JOB}metadata: {{name: llama}}",
            "@ClusterTrainingRuntime/torch-gpu-1.spec.template.spec.replicatedJobs[0].template.spec.template.spec"
            ".tolerations",
        ),
    ],
)
def test_where_tolerations_are_written(text: str, place: str) -> None:
    """At the job where neither its patches nor a runtime that is known have some."""
    assert str(job(text).where_tolerated) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (ELSEWHERE + "}", "@TrainJob/team-a/llama"),
        (
            ELSEWHERE + patches("node", "{nodeSelector: {pool: a}}"),
            "@TrainJob/team-a/llama.spec.runtimePatches[0].trainingRuntimeSpec.template.spec.replicatedJobs[0]"
            ".template.spec.template.spec.nodeSelector.pool",
        ),
    ],
)
def test_where_a_label_is_selected(text: str, place: str) -> None:
    assert str(job(text).where_selected("pool")) == place


def test_where_a_resource_is_asked_for() -> None:
    """At the limits of the job where nothing says it."""
    limits = "@TrainJob/team-a/llama.spec.trainer.resourcesPerNode.limits"
    work = job()
    assert str(work.place("nvidia.com/gpu")) == f'{limits}["nvidia.com/gpu"]'
    assert str(work.place("example.com/fpga")) == limits


@pytest.mark.parametrize(
    ("resource", "limits", "may"),
    [
        ("nvidia.com/gpu", "{}", True),
        ("example.com/fpga", "{}", False),
        ("example.com/fpga", "'${LIMITS}'", True),
        ("fpga", "'${LIMITS}'", False),
    ],
)
def test_what_a_job_may_ask_for(resource: str, limits: str, may: bool) -> None:
    """Anything with a domain, where its amounts are filled in later."""
    work = job(f"{JOB}spec: {{trainer: {{resourcesPerNode: {{limits: {limits}}}}}}}")
    assert work.may_ask(resource) is may


@pytest.mark.parametrize(
    ("size", "limits", "boundless"),
    [
        ("64Gi", "{cpu: 90}", False),
        ("null", "{cpu: 90}", True),
        ("null", "{memory: 1Gi}", False),
        ("null", "'${LIMITS}'", False),
    ],
)
def test_shared_memory_without_a_bound(size: str, limits: str, boundless: bool) -> None:
    """A limit of memory bounds it, which may be filled in later."""
    memory = f"volumes: [{{name: dshm, emptyDir: {{medium: Memory, sizeLimit: {size}}}}}]"
    node = f"containers: [{{name: node, resources: {{limits: {limits}}}}}]"
    changes = [
        pods(f"{{spec: {{{memory}, {node}}}}}"),
        f"{JOB}spec: {{trainer: {{resourcesPerNode: null}}}}",
    ]
    assert job(*changes).boundless_memory is boundless


INITIALIZER = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
spec: {template: {spec: {replicatedJobs: [{name: node}, {name: dataset-initializer, template: {
  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}},
  spec: {template: {spec: {containers: [{name: dataset-initializer, image: 'a:1'}]}}}}}]}}}"""


@pytest.mark.parametrize(("name", "tolerated"), [("dataset-initializer", ["team"]), ("node", [])])
def test_a_patch_is_of_the_replicated_job_that_it_names(name: str, tolerated: list[str]) -> None:
    work = job(INITIALIZER, f"{JOB}spec: {{{patches(name, TOLERATES)[2:]}")
    ((_, pod, _),) = work.others
    assert [each.key for each in pod.tolerations] == tolerated


@pytest.mark.parametrize(
    ("key", "operator", "values", "pools"),
    [
        (POOL_LABEL, "DoesNotExist", "", ["gpu"]),
        (POOL_LABEL, "In", ", values: [more]", ["more"]),
        ("karpenter.sh/nodepool", "DoesNotExist", "", []),
        ("karpenter.sh/nodepool", "In", ", values: [more]", ["more"]),
    ],
)
def test_the_pools_that_affinity_leaves(
    key: str, operator: str, values: str, pools: list[str]
) -> None:
    flavor = f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, {TYPE}: p4d.24xlarge}}}}"
    work = job(OTHER, flavor, affinity(key, operator, values))
    assert [pool.name for pool in work.pools] == pools


CPU = "{name: cpu, nominalQuota: 360}, {name: memory, nominalQuota: 4000Gi}, {name: hugepages-2Mi, nominalQuota: 20Gi}"
GPU = "{name: nvidia.com/gpu, nominalQuota: 32}, {name: vpc.amazonaws.com/efa, nominalQuota: 16}"


def two_groups(flavors: str) -> str:
    """A queue of two groups, of which the second has these flavors."""
    return (
        f"{QUEUE}spec: {{resourceGroups: [{{coveredResources: [nvidia.com/gpu, vpc.amazonaws.com/efa], "
        f"flavors: [{{$patch: replace, name: gpu, resources: [{GPU}]}}]}}, "
        f"{{coveredResources: [cpu, memory, hugepages-2Mi], flavors: {flavors}}}]}}"
    )


@pytest.mark.parametrize(
    "flavors", [f"[{{name: shared, resources: [{CPU}]}}]", "[]"], ids=["without labels", "none"]
)
def test_a_choice_is_named_for_the_last_flavor_with_labels(flavors: str) -> None:
    """A group of flavors without labels, or of none, leads a job nowhere else."""
    shared = f"{FLAVOR}metadata: {{name: shared}}\nspec: {{}}"
    (choice,) = job(two_groups(flavors), shared).choices
    assert choice.flavor is not None
    assert choice.flavor.name == "gpu"
    assert [pool.name for pool in choice.pools] == ["gpu"]


@pytest.mark.parametrize(
    ("selector", "terms", "names"),
    [
        (f"nodeSelector: {{{TYPE}: g5.xlarge}}, ", "", ("g5.xlarge",)),
        ("", "", ()),
        (
            "",
            f"{{key: {TYPE}, operator: In, values: [g5.xlarge, g5.2xlarge]}}",
            ("g5.xlarge", "g5.2xlarge"),
        ),
        ("", "{key: team, operator: In, values: [a]}", ()),
        ("", f"{{key: {TYPE}, operator: NotIn, values: [g5.xlarge]}}", ()),
    ],
)
def test_the_types_that_pods_name(selector: str, terms: str, names: tuple[str, ...]) -> None:
    """By a label, or by each term of their affinity."""
    required_terms = f"{{{REQUIRED}: {{nodeSelectorTerms: [{{matchExpressions: [{terms}]}}]}}}}"
    written = f"affinity: {{nodeAffinity: {required_terms}}}, " if terms else ""
    text = batch(f"{selector}{written}{container(', nvidia.com/gpu: 1')}")
    read = reading(text)
    found = next(iter(affinities(read)), None)
    (work,) = read.pods
    assert work.pod is not None
    assert types_named(found, work.pod) == names


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("[{key: a, operator: Exists}]", ["a"]),
        ("[]", []),
        ("null", ["chart"]),
        ("'${TOLERATIONS}'", None),
    ],
)
def test_tolerations_of_a_release(written: str, keys: list[str] | None) -> None:
    """Those of the chart where its values have none; unknown where they are filled in later."""
    values = "{}" if written == "null" else f"{{tolerations: {written}}}"
    plan, _ = lifted(release("chart", values))
    (found,) = (each for each in plan.of(HelmRelease) if each.chart == "chart")
    read = tolerations(found, "tolerations", default=(Toleration("chart", "Exists", "", ""),))
    assert (None if read is None else [each.key for each in read]) == keys


@pytest.mark.parametrize(
    ("text", "count"), [("1h30m", 5400), ("24h", 86400), ("Never", None), ("", None), (None, None)]
)
def test_the_seconds_of_a_duration(text: str | None, count: int | None) -> None:
    assert seconds(text) == count


def test_what_stands_in_no_file_belongs_together() -> None:
    one, other = Route(("@Pod/a/x#m/a.yaml:1",)), Route(("@Pod/a/y#n/b.yaml:1",))
    assert not in_one_folder(one, other)
    assert in_one_folder(one, one)
    assert in_one_folder(Route(()), other)
    assert reading().carries("apps", Route(()))


IMAGES = """images: [{name: train, base: "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-devel@sha256:%s"%s,
  build: {codeBuild: {}}}]
flux: {url: 'ssh://git@github.com/team/repo.git'}
jobs: [{name: llama, image: train}]"""
INSTALLER = ', efaInstaller: {version: "1.43.2", sha256: "%s"}' % ("1" * 64)


@pytest.mark.parametrize(("installer", "efa"), [("", False), (INSTALLER, True)])
def test_an_image_that_is_built_has_what_it_installs(installer: str, efa: bool) -> None:
    plan, _ = lifted(IMAGES % ("2" * 64, installer))
    (made,) = plan.of(MadeImage)
    image = f"{made.uri}@sha256:{'3' * 64}"
    facts = known(plan, image)
    assert facts is not None
    assert facts.efa is efa
    assert known(Plan((made,), closed=True), image) is None


CATEGORY = (
    f"{POOL}spec: {{template: {{spec: {{requirements: [{{key: {TYPE}, operator: Exists, values: null}}, "
    "{key: karpenter.k8s.aws/instance-category, operator: In, values: [p]}%s]}}}"
)
"""A pool that says no types."""


@pytest.mark.parametrize(
    ("more", "selected", "types"),
    [
        ("", "p5.48xlarge", ["p5.48xlarge"]),
        ("", "g5.48xlarge", []),
        (", {key: kubernetes.io/arch, operator: In, values: [arm64]}", "p5.48xlarge", []),
        ("", "p99.48xlarge", []),
    ],
)
def test_a_pool_of_categories_launches_the_type_that_is_selected(
    more: str, selected: str, types: list[str]
) -> None:
    """If it meets what the pool requires."""
    flavor = f"{FLAVOR}spec: {{nodeLabels: null}}"
    selects = pods(f"{{spec: {{nodeSelector: {{{TYPE}: {selected}}}}}}}")
    assert [each.name for each in job(CATEGORY % more, flavor, selects).types] == types


@pytest.mark.parametrize(
    ("key", "value", "known"),
    [(TYPE, "ml.p5.48xlarge", "p5.48xlarge"), (TYPE, "p5.48xlarge", ""), ("team", "ml.a", "ml.a")],
)
def test_types_of_instance_groups_have_names_of_their_own(key: str, value: str, known: str) -> None:
    group = InstanceGroup(at=Route(("group",)), name="gpu")
    assert in_catalog(group, key, value) == known
    assert in_catalog(NodePool(name="gpu", node_class="gpu"), key, value) == value


def offers(*names: str) -> tuple[Offer, ...]:
    """A pool with these types."""
    pool = NodePool(name="gpu", node_class="gpu")
    types = map(load_catalog().instance, names)
    return tuple((pool, instance) for instance in types if instance is not None)


@pytest.mark.parametrize(
    ("names", "devices"),
    [
        (("p5.48xlarge", "g5.12xlarge"), {"nvidia.com/gpu": 4}),
        (("p5.48xlarge", "trn1.32xlarge"), {}),
        (("p5.48xlarge", "m7i.large"), {}),
        (("m7i.large",), {}),
        ((), {}),
    ],
)
def test_the_devices_of_whole_nodes(names: tuple[str, ...], devices: dict[str, int]) -> None:
    """Of nodes that all have one kind of them, as many as the smallest."""
    expected = {name: Quantity.of(count) for name, count in devices.items()}
    assert devices_of(offers(*names)) == expected


VOLUME = """apiVersion: v1
kind: PersistentVolume
metadata: {{name: {0}}}
spec: {{capacity: {{storage: 1Ti}}, accessModes: [ReadWriteMany], csi: {{driver: {1}, volumeHandle: {0}}}{2}}}"""
CLAIM = """apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: team-a}}
spec: {{accessModes: [ReadWriteMany], resources: {{requests: {{storage: 1Ti}}}}{}}}"""
RESERVED = ", claimRef: {namespace: team-a, name: data}"


@pytest.mark.parametrize(
    ("named", "driver"),
    [
        (", volumeName: two", "two.csi"),
        (", volumeName: one", "one.csi"),
        (", volumeName: three", ""),
        ("", "one.csi"),
    ],
)
def test_a_claim_has_the_volume_that_it_names(named: str, driver: str) -> None:
    """Also where another volume is reserved for it."""
    volumes = [VOLUME.format("one", "one.csi", RESERVED), VOLUME.format("two", "two.csi", "")]
    storage = reading(*volumes, CLAIM.format(named)).storage
    claim = storage.claim("team-a", "data")
    assert claim is not None
    assert storage.driver(claim) == driver


@pytest.mark.parametrize(
    ("namespace", "label"),
    [("team-a", ""), ("team-b", "kubernetes.io/metadata.name"), ("'${TEAM}'", "")],
)
def test_a_queue_takes_jobs_of_its_namespaces(namespace: str, label: str) -> None:
    """Of a namespace that is filled in later it is not known."""
    queue = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
        f"metadata: {{name: research, namespace: {namespace}}}"
    )
    read = reading(f"{JOB}metadata: {{namespace: {namespace}}}", queue)
    (work,) = read.works
    assert work.queue is not None
    assert excluding_namespace_label(work, read) == label


def test_the_end_of_a_block_is_known_where_it_is_said() -> None:
    pool = "{{name: {0}, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: 4, capacity: {{block: {{{1}}}}}}}"
    begins = 'starts: "2026-12-01T11:30:00Z"'
    block = "reservations: [{{id: cr-0a1b2c3d4e5f6071{}}}], {}"
    one = pool.format("gpu", block.format(1, begins + ', ends: "2026-12-03T11:30:00Z"'))
    two = pool.format("more", block.format(2, begins))
    plan, _ = lifted(f"nodePools: [{one}, {two}]")
    assert [(each.name, str(each.day)) for each in block_ends(plan)] == [("gpu", "2026-12-03")]
