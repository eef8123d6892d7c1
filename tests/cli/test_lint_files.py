"""Third-party files as they lie about: templates, other programs' YAML, retired and misspelt kinds."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from running import Command, environment
from trainyard.extensions.lint.linter import lint
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: research, namespace: team-a}
spec: {clusterQueue: research}
"""


def reported(folder: Path, *names: str) -> list[tuple[str, str, int, int]]:
    """Level, code, line and column of each finding of a folder, or of files of it by name."""
    paths = [folder / name for name in names] or [folder]
    return [
        (
            each.severity.name,
            each.code,
            each.span.line if each.span else 0,
            each.span.column if each.span else 0,
        )
        for each in lint(paths, Options(today=date(2026, 11, 21))).diagnostics
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("metadata:\n  labels:\n    {{ toYaml .Values.labels }}\n", (5, 5)),
        ("{{- if .Values.queues }}\nmetadata: {name: a}\n{{- end }}\n", (3, 1)),
    ],
)
def test_a_template_is_reported_once(text: str, place: tuple[int, int], tmp_path: Path) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    (tmp_path / "template.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\n{text}")
    assert reported(tmp_path) == [("WARNING", "LNT002", *place)]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("{{ .Values.teams.research }}", "$Values_teams_research"),
        ('{{ .Values.team | default "a" }}', "$Values_team_default_a"),
        ("{{ .Values.team }}-a", "$Values_team______-a"),
    ],
)
def test_an_expression_is_called_by_its_words(value: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "space.yaml").write_text(
        f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  namespace: {value}\n"
    )
    messages = [each.message for each in lint([tmp_path], Options(today=date(2026, 11, 21))).all()]
    assert messages == [f"a `Namespace` has no namespace, and `{shown}` is given"]


@pytest.mark.parametrize(
    "value", ["$N", "<N>", "<number of nodes>", "{{ N }}", '"{{ .Values.n }}"', "$(N)"]
)
def test_a_value_to_be_filled_in_is_unknown_and_the_rest_is_judged(
    value: str, tmp_path: Path, trainyard: Command
) -> None:
    (tmp_path / "job.yaml").write_text(
        f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: a, namespace: x}}
spec:
  parallelism: {value}
  template:
    spec:
      restartPolicy: Sometimes
      nodeSelector:
        node.kubernetes.io/instance-type: {value}
      containers:
      - name: a
        image: {value}
        resources:
          requests:
            cpu: {value}
"""
    )
    done = trainyard("lint", "job.yaml", cwd=tmp_path)
    assert done.out.count("error[") == 1
    assert "error[SCH004]" in done.out
    assert "job.yaml:8:22" in done.out
    assert "not judged: 4 values to be filled in" in done.err


@pytest.mark.parametrize("value", ["<N> or more", "up to <N>", '"{{ N }} or more"'])
def test_a_text_around_what_is_filled_in_stays_a_text(value: str, tmp_path: Path) -> None:
    """Whatever is put into it, it is no number."""
    (tmp_path / "job.yaml").write_text(
        f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: a, namespace: x}}
spec:
  parallelism: {value}
  template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: "a.test/a:1"}}]}}}}
"""
    )
    assert ("ERROR", "SCH002", 5, 16) in reported(tmp_path)


def test_variables_of_a_shell_are_not_to_be_filled_in(tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "pod.yaml").write_text(
        """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: x}
spec:
  containers:
  - {name: a, image: "a:1", command: [bash, -c, "cd $HOME && run <in >out"]}
"""
    )
    done = trainyard("lint", "pod.yaml", cwd=tmp_path)
    assert "filled in" not in done.out + done.err


def test_braces_inside_a_value_are_no_template(tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text(
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {text: "{{ .x }}"}\n'
    )
    assert reported(tmp_path) == []


def test_the_templates_of_a_folder_are_one_finding(tmp_path: Path) -> None:
    for name in ("one/a.yaml", "one/b.yaml", "one/c.yaml", "two/a.yaml", "two/b.yaml", "a.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("apiVersion: v1\nkind: ConfigMap\n{{ toYaml .Values }}\n")
    found = lint([tmp_path], Options(today=date(2026, 11, 21))).diagnostics
    assert [
        (each.code, str(Path(each.span.file.name).relative_to(tmp_path)), each.notes)
        for each in found
        if each.span is not None
    ] == [
        ("LNT002", "a.yaml", ()),
        ("LNT002", "one/a.yaml", ("2 more files of this folder are",)),
        ("LNT002", "two/a.yaml", ("1 more file of this folder is",)),
    ]


def test_an_object_whose_api_version_is_null_is_judged_as_meant(tmp_path: Path) -> None:
    job = "apiVersion:\nkind: TrainJob\nmetadata: {name: a}\nspec: {trainerr: {}}\n"
    (tmp_path / "a.yaml").write_text(f"{QUEUE}---\n{job}")
    assert [each[1] for each in reported(tmp_path)] == ["SCH010", "SCH001", "SCH003"]


def test_files_with_the_same_objects_are_judged_with_those_that_do_not_contradict(
    tmp_path: Path,
) -> None:
    """Each of two pairs is judged with the first of the other; what is found in that is found once."""
    other = QUEUE.replace("name: research", "name: other")
    texts = {"a1": QUEUE, "a2": QUEUE, "b1": other.replace("clusterQueue", "queue"), "b2": other}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    assert [each[1:3] for each in reported(tmp_path)] == [("SCH001", 4)]


LONG_KEY = f'{{"apiVersion": "v1", "{"k" * 2000}": 1}}\n'


@pytest.mark.parametrize(
    "text",
    [
        "Resources: {cpu: !limit 4}\n",
        "services:\n  web: {image: nginx, ports: [22:22]}\n",
        "replicas: 3\nimage: {tag: latest}\n",
        "on: {push: {}}\njobs: {build: {runs-on: ubuntu}}\n",
        # JSON that is no YAML: a key that is too long for one, and values by line
        LONG_KEY,
        '{"Resources": {"a": 1}}\n{"Resources": {"a": 2}}\n',
        '{"resource": {"type": "aws_a"}}\n{"resource": {"type": "aws_b"}}\n',
    ],
)
@pytest.mark.parametrize("by_name", [False, True])
def test_yaml_of_other_programs_is_left_alone(text: str, by_name: bool, tmp_path: Path) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    (tmp_path / "other.yaml").write_text(text)
    assert reported(tmp_path, *(["queue.yaml", "other.yaml"] if by_name else [])) == []


def test_values_are_read_as_kubernetes_reads_them(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("""\
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: b}
spec:
  suspend: no
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: a, image: "busybox:1.37", args: [22:30], env: [{name: A, value: yes}]}
      volumes: [{name: s, configMap: {name: s, defaultMode: 0755}}, {name: t, emptyDir: {sizeLimit: 08}}]
""")
    assert reported(tmp_path) == [("ERROR", "YML009", 11, 101), ("ERROR", "SCH002", 10, 80)]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("apiVersion: karpenter.sh/v1\n", "apiVersion: karpenter.k8s.aws/v1\n", (1, 13)),
        ("apiVersion: karpenter.sh/v1\n", "apiVersion: karpenter.sh/v1beta1\n", (1, 13)),
        ("apiVersion: karpenter.sh/v1\n", "apiVersion: karpenter.sh\n", (1, 13)),
        ("apiVersion: karpenter.sh/v1\n", "apiVersion: karpenter.io/v1\n", (1, 13)),
        ("apiVersion: karpenter.sh/v1\n", "", (1, 1)),
        ("kind: NodePool", "kind: Nodepool", (2, 7)),
    ],
)
def test_a_kind_that_nobody_serves_is_judged_as_what_it_is_meant_to_be(
    old: str, new: str, place: tuple[int, int], tmp_path: Path
) -> None:
    pool = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: p5}
spec:
  limits: {nvidia.com/gpu: 32}
  template:
    spec:
      expireAfter: Never
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: p5}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: p5}
spec: {nodeLabels: {karpenter.sh/nodepool: p5}}
"""
    (tmp_path / "pool.yaml").write_text(pool.replace(old, new))
    assert reported(tmp_path) == [("ERROR", "SCH010", *place)]


@pytest.mark.parametrize(
    "kind",
    [
        "karpenter.sh/v2\nkind: NodePool",
        "kueue.x-k8s.io/v1\nkind: ClusterQueue",
        "apps/v2\nkind: StatefulSet",
        "apps/v1\nkind: ControllerRevision",
        "monitoring.coreos.com/v1\nkind: Alertmanager",
        "kueue.x-k8s.io/v1beta2\nkind: Workload",
        "batch.volcano.example/v1\nkind: Job",
        "eks.amazonaws.com/v1alpha1\nkind: NodeDiagnostic",
        "kustomize.config.k8s.io/v1beta1\nkind: Kustomization",
        "bitnami.com/v1alpha1\nkind: SealedSecret",
        "monitoring.rhobs/v1\nkind: ServiceMonitor",
    ],
)
def test_a_kind_that_may_exist_is_unknown(kind: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"apiVersion: {kind}\nmetadata: {{name: a, namespace: b}}\n")
    assert reported(tmp_path) == []


@pytest.mark.parametrize("version", ["v9", "v1beta1", "v" + "9" * 5000], ids=lambda name: name[:9])
def test_a_version_that_cannot_come_next_does_not_exist(version: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        f"apiVersion: apps/{version}\nkind: Deployment\nmetadata: {{name: a, namespace: b}}\n"
        "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
        "spec: {containers: [{name: a, image: 'a:1', resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}\n"
    )
    assert reported(tmp_path) == [("ERROR", "SCH010", 1, 13)]


def test_a_value_that_sed_puts_in_is_judged_by_nobody(tmp_path: Path) -> None:
    resources = "resources: {limits: {cpu: PLACEHOLDER_CORES}}"
    pods = f"rayStartParams: {{}}, template: {{spec: {{containers: [{{name: a, image: a, {resources}}}]}}}}"
    head = pods.replace("PLACEHOLDER_CORES", "two")
    group = f"groupName: a, replicas: PLACEHOLDER_NODES, {pods}"
    (tmp_path / "a.yaml").write_text(f"""\
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: a, namespace: b}}
spec:
  headGroupSpec: {{{head}}}
  workerGroupSpecs: [{{{group}}}]
""")
    assert [each[:3] for each in reported(tmp_path) if each[0] == "ERROR"] == [
        ("ERROR", "SCH006", 5)
    ]


def test_training_jobs_of_other_operators_are_said_to_be_unread(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: ray.io/v1\nkind: RayCronJob\nmetadata: {name: a, namespace: b}\nspec: {}\n"
        "---\napiVersion: ray.io/v1\nkind: RayCronJob\nmetadata: {name: c, namespace: b}\nspec: {}\n"
    )
    assert reported(tmp_path) == [("NOTE", "LNT003", 2, 7)]


def test_what_is_no_job_of_their_operators_is_none(tmp_path: Path) -> None:
    notebook = (
        "apiVersion: kubeflow.org/v1\nkind: Notebook\nmetadata: {name: a, namespace: b}\nspec: {}\n"
    )
    (tmp_path / "a.yaml").write_text(notebook)
    assert reported(tmp_path) == []


def test_one_fault_behind_an_alias_is_one_fault(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("""\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: b}
spec:
  containers:
  - name: a
    image: "busybox:1.37"
    resources: {limits: &a {nvidia.com: 1}, requests: *a}
""")
    assert reported(tmp_path) == [("ERROR", "SCH011", 8, 29)]


def test_two_loose_ends_are_one_name_written_in_two_ways(tmp_path: Path) -> None:
    """What is merely absent may be elsewhere."""
    flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: reserved-h100}\n"
    queue = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: NAME, resources: [{name: cpu, nominalQuota: 1}]}]}]
"""
    for name, found in (("reserved-h10", [("ERROR", "REF001", 6, 63)]), ("spot", [])):
        (tmp_path / "a.yaml").write_text(queue.replace("NAME", name) + f"---\n{flavor}")
        assert reported(tmp_path) == found


NODES = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: NAMED}, requirements: []}}}
---
"""
CLASS = """\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: NAME}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260714}]
  subnetSelectorTerms: [{id: subnet-0a1b2c3d4e5f60718}]
  securityGroupSelectorTerms: [{id: sg-0a1b2c3d4e5f60718}]
---
"""


@pytest.mark.parametrize(
    ("named", "there", "found"),
    [
        ("default", ["gpu"], [("ERROR", "REF001", 4, 93)]),  # the one that is there is meant
        ("p5", ["p5-reserved", "default"], [("ERROR", "REF001", 4, 93)]),
        ("default", ["gpu", "cpu"], []),  # it may be elsewhere
        ("shared", [], []),
    ],
)
def test_a_class_stands_beside_its_pool(
    named: str, there: list[str], found: list[object], tmp_path: Path
) -> None:
    used = (
        NODES.replace("NAMED", "default").replace("name: a", "name: b")
        if "default" in there
        else ""
    )
    text = (
        NODES.replace("NAMED", named)
        + used
        + "".join(CLASS.replace("NAME", each) for each in there)
    )
    (tmp_path / "a.yaml").write_text(text)
    assert reported(tmp_path) == found


def test_a_runtime_that_trainer_brings_is_no_loose_end(tmp_path: Path) -> None:
    runtime = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-distributed-efa-1}
spec:
  mlPolicy: {torch: {}}
  template:
    spec:
      failurePolicy: {maxRestarts: 1}
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {spec: {containers: [{name: node, image: "busybox:1.37"}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: a}
spec: {runtimeRef: {name: NAME}, trainer: {numNodes: 1, image: "busybox:1.37"}}
"""
    for name, found in (
        ("torch-distributed", []),
        ("torch-distributed-efa", [("ERROR", "REF001", 18, 27)]),
    ):
        (tmp_path / "a.yaml").write_text(runtime.replace("NAME", name))
        assert reported(tmp_path) == found


def test_what_a_cluster_wide_runtime_uses_is_used(tmp_path: Path) -> None:
    claim = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: checkpoint, namespace: a}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1200Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: a}
spec:
  containers: [{name: a, image: "busybox:1.37"}]
  volumes: [{name: a, persistentVolumeClaim: {claimName: checkpoints}}]
"""
    runtime = """\
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-1}
spec:
  mlPolicy: {torch: {}}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec:
              template:
                spec:
                  containers: [{name: node, image: "busybox:1.37", volumeMounts: [{name: data, mountPath: /data}]}]
                  volumes: [{name: data, persistentVolumeClaim: {claimName: checkpoint}}]
"""
    for text, found in ((claim, [("ERROR", "REF001", 11, 58)]), (claim + runtime, [])):
        (tmp_path / "a.yaml").write_text(text)
        assert reported(tmp_path) == found


def test_two_clusters_of_eksctl_in_one_folder(tmp_path: Path) -> None:
    """Each is judged, and what runs in either of them is held against neither."""
    config = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: NAME, region: REGION, version: "1.35"}
autoModeConfig: {enabled: false}
managedNodeGroups: [{name: system, instanceType: m7i.2xlarge, minSize: 1, maxSize: MOST, desiredCapacity: 2}]
"""
    pool = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 64}
  template:
    spec:
      expireAfter: Never
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g6e.48xlarge]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}
"""
    (tmp_path / "pool.yaml").write_text(pool)
    for name, region, most in (("east", "us-east-1", "1"), ("west", "us-west-2", "3")):
        text = config.replace("NAME", name).replace("REGION", region).replace("MOST", most)
        (tmp_path / f"{name}.yaml").write_text(text)
    assert reported(tmp_path) == [("ERROR", "LIM012", 5, 104)]
    assert reported(tmp_path, "east.yaml") == reported(tmp_path)


FIRST = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("apiVersion: v1\nmetadata: {name: b}\n", 1, "a document has no `kind`"),
        ("{apiVersion: v1, kind: , metadata: {name: b}}\n", 18, "a document has no `kind`"),
        ("{apiVersion: v1, kind: '', spec: {}}\n", 18, "a document has no `kind`"),
        ("{apiVersion: v1, kind: [Pod], metadata: {}}\n", 18, "`kind` is a list, not text"),
        ("{apiVersion: v1, kind: 4, metadata: {}}\n", 18, "`kind` is the number `4`, not text"),
        (
            "{apiVersion: 1, kind: Pod, metadata: {}}\n",
            2,
            "`apiVersion` is the number `1`, not text",
        ),
        ("{kind: Foo, metadata: {name: b}}\n", 2, "a `Foo` has no `apiVersion`"),
        ("{kind: Item, metadata: {name: b}}\n", 2, "an `Item` has no `apiVersion`"),
        ("7\n", 1, "a document that is the number `7`, not an object"),
        ("true\n", 1, "a document that is the boolean `true`, not an object"),
        ("{metadata: {name: b}, spec: {}}\n", 2, "a document has neither `apiVersion` nor `kind`"),
        ("- {apiVersion: v1, kind: Pod}\n", 1, "a list of objects is no document"),
        ("WARNING\n", 1, "a document that is text, not an object"),
        (
            "{apiVersion: v1, kind: List, items: [{apiVersion: v1, metadata: {}}]}\n",
            39,
            "a document has no `kind`",
        ),
    ],
)
def test_a_document_without_a_usable_kind_is_reported(
    text: str, column: int, message: str, trainyard: Command, tmp_path: Path
) -> None:
    """kubectl refuses it, so it is not passed over in silence."""
    (tmp_path / "a.yaml").write_text(FIRST + text)
    done = trainyard("lint", "--format", "json", "a.yaml", cwd=tmp_path)
    (found,) = json.loads(done.out)["diagnostics"]
    place = found["place"]
    assert (found["code"], found["message"], place["line"], place["column"]) == (
        "LNT004",
        message,
        5,
        column,
    )
    assert found["help"]
    assert done.code == 1


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
        "kind: Deployment\nspec: {replicas: 1}\n",
        "kind: Foo\nname: b\n",
        "apiVersion: 1\nkind: Pod\n",
        "metadata: {labels: {a: b}}\nspec: {}\n",
        "$patch: replace\napiVersion: v1\nkind: Pod\n",
        # kubectl passes over an empty document
        "null\n",
        "~\n---\n",
        "apiVersion: 1\ndatasources: [{name: Prometheus}]\n",
        "- {op: add, path: /a}\n",
        "replicas: 2\n",
    ],
)
def test_what_may_be_of_another_format_is_left_alone(
    text: str, trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(FIRST + text)
    assert trainyard("lint", "a.yaml", cwd=tmp_path).code == 0


def test_a_patch_needs_no_kind_where_it_has_a_target(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FIRST.removesuffix("---\n"))
    (tmp_path / "patch.yaml").write_text("apiVersion: v1\nmetadata: {labels: {a: b}}\n")
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [a.yaml]\npatches: [{path: patch.yaml, target: {kind: Namespace}}]\n"
    )
    assert trainyard("lint", ".", cwd=tmp_path).code == 0
    (tmp_path / "kustomization.yaml").unlink()
    assert "LNT004" in trainyard("lint", ".", cwd=tmp_path).out


def test_names_in_capitals_are_read(trainyard: Command, tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: A%d}\n"
    for number, name in enumerate(("A.YAML", "B.YML", "C.JSON")):
        (tmp_path / name).write_text(text % number)
    assert trainyard("lint", ".", cwd=tmp_path).out.count("error[NAM001]") == 3


@pytest.mark.slow
def test_standard_input_is_linted(tmp_path: Path) -> None:
    """As `helm template … | trainyard lint -` does."""
    done = subprocess.run(
        [sys.executable, "-m", "trainyard", "lint", "-"],
        input=FIRST.replace("name: a", "name: A"),
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "--> <stdin>:3:18" in done.stdout
    assert done.returncode == 1


CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: a}
spec: {accessModes: [ReadWriteOnce], storageClassName: gp3, resources: {requests: {storage: 1Gi}}}
"""
USES_CLAIM = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: b}
spec:
  containers: [{name: web, image: "a.test/web:1", volumeMounts: [{name: d, mountPath: /d}]}]
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
"""


def test_a_claim_in_another_namespace_than_its_pod(tmp_path: Path) -> None:
    """At the claim, where nothing of its own namespace refers to it."""
    (tmp_path / "claim.yaml").write_text(CLAIM)
    (tmp_path / "pod.yaml").write_text(USES_CLAIM)
    done = lint([tmp_path], Options(today=date(2026, 11, 23)))
    (fault,) = [each for each in done.all() if each.code == "REF001"]
    assert (
        fault.message == "nothing here refers to claim `data`, and pods of namespace `b` want one"
    )
    assert fault.help == "write `namespace: b`"
    (tmp_path / "own.yaml").write_text(USES_CLAIM.replace("namespace: b", "namespace: a"))
    done = lint([tmp_path], Options(today=date(2026, 11, 23)))
    assert "nothing here refers" not in "".join(each.message for each in done.all())


def test_a_link_to_nothing_stops_no_folder(tmp_path: Path) -> None:
    """It is said, and the other files are judged; a link that is named is all that there is to judge."""
    (tmp_path / "a.yaml").symlink_to("nowhere")
    (tmp_path / "b.yaml").write_text(QUEUE.replace("research}\n", "research, x: 1}\n", 1))
    assert [(level, code) for level, code, *_ in reported(tmp_path)] == [
        ("WARNING", "YML020"),
        ("ERROR", "SCH001"),
    ]
    assert reported(tmp_path, "a.yaml")[0][:2] == ("ERROR", "YML020")


def test_of_a_key_that_is_set_twice_the_last_value_is_judged(tmp_path: Path) -> None:
    """As readers of YAML and JSON take it."""
    for first, last in (("a:latest", "a:1"), ("a:1", "a:latest")):
        pod = (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: x}\n"
            f'spec: {{containers: [{{name: a, image: "{first}", image: "{last}"}}]}}\n'
        )
        (tmp_path / "pod.yaml").write_text(pod)
        codes = [code for _, code, *_ in reported(tmp_path)]
        assert codes == ["YML001", *(["RUN077"] if last == "a:latest" else [])]
