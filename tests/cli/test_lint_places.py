"""Every finding belongs to the object that it is about, whatever else has its name."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import lint
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {NAME, namespace: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: a
        image: "busybox:1.37"
        resources: {limits: {RESOURCE: 1, cpu: 4, memory: 16Gi}}
"""
POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {nvidia.com/gpu: 32}
  template:
    spec:
      expireAfter: Never
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [TYPE]}]
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}
"""
FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu}
spec: {nodeLabels: {node.kubernetes.io/instance-type: p5.48xlarge}}
"""
KUSTOMIZATION = (
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [RESOURCES]\n"
)
STAGE = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 10m, prune: false, path: ./apps, sourceRef: {kind: GitRepository, name: fleet}}
"""


def reported(folder: Path) -> list[tuple[str, str, int]]:
    """File, code and line of each finding."""
    found = lint([folder], Options(today=date(2026, 11, 21))).diagnostics
    return sorted(
        (
            Path(each.span.file.name).relative_to(folder).as_posix() if each.span else "?",
            each.code,
            each.span.line if each.span else 0,
        )
        for each in found
    )


def job(name: str, resource: str = "nvidia.com/gpu") -> str:
    return JOB.replace("NAME", name).replace("RESOURCE", resource)


@pytest.mark.parametrize("faulty", ["a.yaml", "b.yaml", "deep/c.yaml"])
def test_a_finding_lands_in_the_file_of_its_object(faulty: str, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("a.yaml", "b.yaml", "deep/c.yaml"):
        (tmp_path / name).write_text(
            job("name: same", "gpu" if name == faulty else "nvidia.com/gpu")
        )
    assert reported(tmp_path) == [(faulty, "SCH011", 11)]


def test_objects_without_a_name_are_each_their_own(tmp_path: Path) -> None:
    texts = [job("generateName: run-", each) for each in ("nvidia.com/gpu", "gpu", "amd")]
    (tmp_path / "a.yaml").write_text("---\n".join(texts))
    (tmp_path / "b.yaml").write_text(texts[1])
    assert reported(tmp_path) == [
        ("a.yaml", "SCH011", 23),
        ("a.yaml", "SCH011", 35),
        ("b.yaml", "SCH011", 11),
    ]


def test_a_policy_of_a_pool_lands_in_its_file(tmp_path: Path) -> None:
    """Both pools are called `default`; one names a type that is none."""
    (tmp_path / "a.yaml").write_text(POOL.replace("TYPE", "p5.48xlarge"))
    (tmp_path / "b.yaml").write_text(POOL.replace("TYPE", "p5.24xlarge"))
    assert reported(tmp_path) == [("b.yaml", "PLC018", 10)]


def test_what_alternatives_share_is_judged_by_all_of_them(tmp_path: Path) -> None:
    """The flavor selects nodes that one of the alternatives has: it is no fault of the flavor that another has none."""
    (tmp_path / "flavor.yaml").write_text(FLAVOR)
    (tmp_path / "a.yaml").write_text(POOL.replace("TYPE", "p5.48xlarge"))
    (tmp_path / "b.yaml").write_text(POOL.replace("TYPE", "p4d.24xlarge"))
    assert reported(tmp_path) == []
    (tmp_path / "a.yaml").write_text(POOL.replace("TYPE", "p5en.48xlarge"))
    assert reported(tmp_path) == [("flavor.yaml", "QUE002", 4)]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"a.yaml": 1, "b.yaml": 1}, []),
        ({"a.yaml": 2}, [("a.yaml", "NAM005", 15)]),
        ({"a.yaml": 1, "b.yaml": 1, "kustomization.yaml": "a.yaml"}, []),
        (
            {"a.yaml": 1, "b.yaml": 1, "kustomization.yaml": "a.yaml, b.yaml"},
            [("b.yaml", "NAM005", 3)],
        ),
        (
            {
                "base/a.yaml": 1,
                "base/kustomization.yaml": "a.yaml",
                "one/b.yaml": 1,
                "one/kustomization.yaml": "../base, b.yaml",
            },
            [("one/b.yaml", "NAM005", 3)],
        ),
        ({"apps/a.yaml": 1, "apps/b.yaml": 1, "flux.yaml": "flux"}, [("apps/b.yaml", "NAM005", 3)]),
        ({"apps/a.yaml": 1, "examples/b.yaml": 1, "flux.yaml": "flux"}, []),
    ],
)
def test_one_object_twice_collides_where_both_are_applied(
    files: dict[str, int | str], found: list[tuple[str, str, int]], tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        times = "---\n".join([job("name: same")] * content) if isinstance(content, int) else ""
        text = STAGE if content == "flux" else KUSTOMIZATION.replace("RESOURCES", str(content))
        (tmp_path / name).write_text(times or text)
    assert reported(tmp_path) == found


@pytest.mark.slow
def test_many_alternatives_take_no_longer_than_their_number(tmp_path: Path) -> None:
    """Beyond a limit, each is judged without what all share; the findings are the same."""
    for number in range(60):
        (tmp_path / f"pool-{number}.yaml").write_text(POOL.replace("TYPE", "p5.48xlarge"))
    (tmp_path / "jobs.yaml").write_text(
        "---\n".join(job(f"name: job-{number}") for number in range(400))
    )
    (tmp_path / "bad.yaml").write_text(job("name: bad", "gpu"))
    assert reported(tmp_path) == [("bad.yaml", "SCH011", 11)]


LOCAL = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: tas-user-queue, namespace: a}
spec: {clusterQueue: tas}
"""


@pytest.mark.parametrize(
    ("job_in", "queue_in", "kustomized", "found"),
    [
        ("jobs", "tas", False, []),  # examples beside each other: the queue of the job is elsewhere
        ("all", "all", False, [("all/job.yaml", "REF001", 3)]),
        ("all/jobs", "all", False, [("all/jobs/job.yaml", "REF001", 3)]),
        ("jobs", "tas", True, [("jobs/job.yaml", "REF001", 3)]),
    ],
)
def test_a_queue_of_another_example_is_not_meant(
    job_in: str, queue_in: str, kustomized: bool, found: list[object], tmp_path: Path
) -> None:
    queued = job("name: a, labels: {kueue.x-k8s.io/queue-name: user-queue}")
    for folder, name, text in ((job_in, "job.yaml", queued), (queue_in, "queue.yaml", LOCAL)):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(text)
    if kustomized:
        text = KUSTOMIZATION.replace("RESOURCES", "jobs/job.yaml, tas/queue.yaml")
        (tmp_path / "kustomization.yaml").write_text(text)
    assert reported(tmp_path) == found


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: a}
spec:
  template:
    metadata: {labels: {control-plane: manager}}
    spec: {containers: [{name: manager, image: "busybox:1.37"}]}
"""
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager}\nspec: {template: {spec: {containers: []}}}\n"


@pytest.mark.parametrize(
    ("name", "kustomization", "found"),
    [
        ("fix.yaml", "{resources: [manager.yaml], patches: [{path: fix.yaml}]}", []),
        ("fix.yaml", "{resources: [manager.yaml], patchesStrategicMerge: [fix.yaml]}", []),
        (
            "manager_patch.yaml",
            "{resources: [manager.yaml]}",
            [],
        ),  # kept for later: the kustomization does not name it
        (
            "other.yaml",
            "{resources: [manager.yaml]}",
            [("other.yaml", "SCH003", 4), ("other.yaml", "SCH005", 4)],
        ),
    ],
)
def test_a_patch_is_no_object(
    name: str, kustomization: str, found: list[object], tmp_path: Path
) -> None:
    """The labels of the kustomization are selectors, so that the Deployment needs none of its own."""
    labels = "commonLabels: {app: a}\n"
    (tmp_path / "kustomization.yaml").write_text(
        labels
        + "".join(f"{part}\n" for part in kustomization[1:-1].replace("], ", "]\n").split("\n"))
    )
    (tmp_path / "manager.yaml").write_text(DEPLOYMENT)
    (tmp_path / name).write_text(PATCH)
    assert reported(tmp_path) == found


def test_a_selector_is_wanted_where_no_kustomization_adds_one(tmp_path: Path) -> None:
    (tmp_path / "manager.yaml").write_text(DEPLOYMENT)
    (tmp_path / "kustomization.yaml").write_text("resources: [manager.yaml]\n")
    assert reported(tmp_path) == [("manager.yaml", "SCH003", 4)]


def test_a_kustomization_alone_is_something_to_look_at(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [manager.yaml]\n")
    assert reported(tmp_path) == []


EKSCTL = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a, region: us-west-2, version: "1.35"}
nodeGroups: [{name: a, instanceType: m7i.2xlarge}]
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("autoModeConfig: {enabled: false}\n", []),
        ("", [("a.yaml", "HLT023", 1)]),
        ("outpost: {controlPlaneOutpostARN: arn}\n", []),  # there is no Auto Mode on Outposts
        (
            "autoModeConfig: {enabled: false}\nidentityProviders: [{type: oidc, name: a, issuerURL: a, clientID: a}]\n",
            [],
        ),
        (
            "autoModeConfig: {enabled: false}\nidentityProviders: [{type: ldap, name: a, issuerURL: a, clientID: a}]\n",
            [("a.yaml", "SCH004", 6)],
        ),
        (
            "autoModeConfig: {enabled: false}\nidentityProviders: [{name: a, issuerURL: a, clientID: a}]\n",
            [("a.yaml", "SCH003", 6)],
        ),
        (
            'autoModeConfig: {enabled: false}\nremoteNetworkConfig: {remoteNodeNetworks: [{cidrs: ["10.0.0.0/8"]}]}\n',
            [],
        ),
    ],
)
def test_what_eksctl_takes(text: str, found: list[object], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(EKSCTL + text)
    assert [(each[0], each[1], each[2]) for each in reported(tmp_path)] == found


def test_a_field_of_a_later_eksctl(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        f"{EKSCTL}autoModeConfig: {{enabled: false}}\nvpc: {{controlPlaneOnPrivateSubnets: true}}\n"
    )
    (found,) = lint([tmp_path], Options(today=date(2026, 11, 21))).diagnostics
    assert found.code == "SCH001"
    assert "v0.230.0" in found.help
    assert "later" in found.help


CLUSTER_QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: shared}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [COVERED]
    flavors: [{name: one, resources: [{name: cpu, nominalQuota: 9}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: shared, namespace: a}
spec: {clusterQueue: shared}
"""


def test_a_job_that_one_of_several_queues_takes_is_no_fault_of_the_others(tmp_path: Path) -> None:
    covered = "cpu, memory, nvidia.com/gpu"
    (tmp_path / "job.yaml").write_text(job("name: a, labels: {kueue.x-k8s.io/queue-name: shared}"))
    (tmp_path / "one.yaml").write_text(CLUSTER_QUEUE.replace("COVERED", "cpu, memory"))
    (tmp_path / "two.yaml").write_text(CLUSTER_QUEUE.replace("COVERED", covered))
    assert [each for each in reported(tmp_path) if each[1] == "QUE001"] == []
    (tmp_path / "two.yaml").write_text(CLUSTER_QUEUE.replace("COVERED", "cpu"))
    assert [each[0] for each in reported(tmp_path) if each[1] == "QUE001"] == [
        "one.yaml",
        "two.yaml",
    ]


def test_a_name_that_a_webhook_fills_in_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a, namespace: a}
spec:
  failurePolicy: {maxRestarts: 3, rules: [{action: FailJobSet}]}
  replicatedJobs:
  - name: a
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "busybox:1.37"}]}}}}
""")
    assert reported(tmp_path) == []


def test_a_disk_of_each_node_has_no_zone_and_many_readers(tmp_path: Path) -> None:
    text = """\
apiVersion: v1
kind: PersistentVolume
metadata: {name: cache}
spec:
  capacity: {storage: 100Gi}
  accessModes: [ReadWriteMany]
  csi: {driver: ebs.csi.aws.com, volumeHandle: HANDLE}
"""
    (tmp_path / "a.yaml").write_text(text.replace("HANDLE", "local-ebs://dev/xvdbz"))
    assert reported(tmp_path) == []
    (tmp_path / "a.yaml").write_text(text.replace("HANDLE", "vol-0a1b2c3d4e5f60718"))
    assert reported(tmp_path) == [("a.yaml", "PLC029", 7), ("a.yaml", "RUN030", 6)]


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-gpu-1, labels: {trainer.kubeflow.org/framework: torch}}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  template:
    spec:
      failurePolicy: {maxRestarts: 10}
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            backoffLimit: 0
            template:
              spec:
                containers: [{name: node, volumeMounts: [{name: dshm, mountPath: /dev/shm}]}]
                volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]
"""
PATCHED = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llama, namespace: a}
spec:
  runtimeRef: {name: torch-gpu-1}
  trainer: {image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]}
  runtimePatches:
  - manager: team.example.com/mounts
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    containers:
                    - name: node
                      volumeMounts:
                      - {name: cache, mountPath: /data}
                      - {name: cuda, mountPath: /usr/local/cuda}
                    volumes:
                    - {name: cache, emptyDir: {}}
                    - {name: cuda, emptyDir: {}}
"""


def test_what_a_patch_brings_is_reported_in_the_patch(tmp_path: Path) -> None:
    """The runtime, over which it is laid, has no such mount."""
    (tmp_path / "runtime.yaml").write_text(RUNTIME)
    (tmp_path / "job.yaml").write_text(PATCHED)
    line = PATCHED[: PATCHED.index("mountPath: /usr")].count("\n") + 1
    assert ("job.yaml", "RUN133", line) in reported(tmp_path)
    assert {file for file, code, _ in reported(tmp_path) if code == "RUN133"} == {"job.yaml"}


def test_an_init_container_of_a_job_is_the_jobs(tmp_path: Path) -> None:
    """Kinds with pods of their own have no runtime that people know of."""
    text = JOB.replace("NAME", "name: fetch").replace("RESOURCE", "nvidia.com/gpu")
    text += """\
      initContainers:
      - {name: code, image: "alpine/git:2.49", command: [git, clone, github.com/team/train, /code]}
"""
    queued = text.replace("namespace: a}", "namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}")
    (tmp_path / "job.yaml").write_text(queued)
    found = lint([tmp_path], Options(today=date(2026, 11, 21))).diagnostics
    assert [each.message for each in found if each.code == "RUN070"] == [
        "job `fetch` clones `github.com/team/train`, which git takes for a folder"
    ]
