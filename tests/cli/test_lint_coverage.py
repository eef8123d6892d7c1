"""What a run says of itself: what it judged, by what, and what it did not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import Command

from tests.policy.harness import builtin_rules

pytestmark = pytest.mark.needs("lint")

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: b}
spec: {restartPolicy: Never, containers: [{name: a, image: "busybox:1.37"}]}
"""
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: research, namespace: team-a}
spec: {clusterQueue: research}
"""
CHECK = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: a}\nspec: {controllerName: a}\n"
SEALED = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: a, namespace: b}\n"
LATER = "apiVersion: apps/v2\nkind: Deployment\nmetadata: {name: a, namespace: b}\n"
TEMPLATE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, {{ if .Name }}}\n"
BROKEN = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: [}}\n---\n{QUEUE}"
SPEC = "apiVersion: trainyard.dev/v1\nkind: Cluster\nmetadata: {name: a}\n"


def said(trainyard: Command, folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).write_text(text)
    return trainyard("lint", folder).err.splitlines()


@pytest.mark.parametrize(
    ("files", "first", "left"),
    [
        ({"a.yaml": QUEUE}, "clean: 1 object in 1 file: 1 by schema and ", []),
        ({"a.yaml": POD}, "clean: 1 object in 1 file: 1 by schema and ", []),
        ({"a.yaml": f"{QUEUE}---\n{CHECK}"}, "clean: 2 objects in 1 file: 2 by schema and ", []),
        (
            {"a.yaml": QUEUE, "b.yaml": SEALED},
            "nothing found in what was judged: 2 objects in 2 files",
            ["not judged: 1 SealedSecret (no schema, no rule)"],
        ),
        (
            {"a.yaml": LATER},
            "nothing found in what was judged: 1 object in 1 file: 1 by rules alone",
            ["not judged: the fields of 1 Deployment in apps/v2 (no schema of it)"],
        ),
        (
            {"a.yaml": SEALED},
            "nothing found in what was judged: 1 object in 1 file: none judged",
            ["not judged: 1 SealedSecret"],
        ),
        ({"a.yaml": QUEUE, "b.yaml": TEMPLATE}, "1 warning", ["not judged: 1 template"]),
        ({"a.yaml": BROKEN}, "1 error", ["1 object in 1 file", "not judged: what is no YAML in"]),
        (
            {"a.yaml": QUEUE, "b.yaml": SPEC},
            "nothing found in what was judged: 1 object",
            ["1 spec of Trainyard (`trainyard check` judges them)"],
        ),
        (
            {
                "a.yaml": QUEUE,
                "main.tf": "",
                "values.yaml": "a: 1\n",
                "train.py": "",
                "b.json": "{}",
            },
            "clean: 1 object",
            [
                "not read: 2 files of YAML or JSON without `apiVersion` and `kind`; "
                "2 files of other formats (1 .py, 1 .tf)"
            ],
        ),
        (
            {"a.yaml": QUEUE, "kustomization.yaml": "resources: [a.yaml]\n"},
            "clean: 1 object and 1 kustomization in 2 files",
            [],
        ),
        ({"kustomization.yaml": "resources: [a.yaml]\n"}, "clean: 1 kustomization in 1 file", []),
        (
            {"a.yaml": QUEUE, "b.yaml": QUEUE},
            "clean: 2 objects in 2 files",
            ["2 files with objects that other files have too"],
        ),
    ],
)
def test_the_summary(
    files: dict[str, str], first: str, left: list[str], trainyard: Command, tmp_path: Path
) -> None:
    lines = said(trainyard, tmp_path, files)
    assert lines[0].startswith(first)
    for part in left:
        assert part in "\n".join(lines)
    assert ("not judged" in "\n".join(lines)) == any(
        "not judged" in part or "spec of" in part for part in left
    )


OTHERS = ("py", "tf", "jsonnet", "libsonnet", "cue", "tpl", "gotmpl", "j2", "jinja", "jinja2")


def test_of_many_the_first_are_named(trainyard: Command, tmp_path: Path) -> None:
    queues = "---\n".join(
        QUEUE.replace("name: research", f"name: q{number}").replace("e: research", f"e: c{number}")
        for number in range(10)
    )
    files = {f"{number}.yaml": BROKEN for number in range(4)} | {"queues.yaml": queues}
    files |= {f"a.{end}": "" for end in OTHERS}
    text = "\n".join(said(trainyard, tmp_path, files))
    assert "0.yaml, " in text
    assert "2.yaml and more" in text
    assert "3.yaml" not in text
    assert "1 .jinja2, 1 .jsonnet, 1 .libsonnet, 1 .py and 2 more)" in text
    shown = ", ".join(f"ClusterQueue `c{number}`" for number in range(8))
    assert f"must exist elsewhere: {shown}, 3 more" in text


def test_a_value_without_a_word_has_no_name(trainyard: Command, tmp_path: Path) -> None:
    text = QUEUE.replace("namespace: team-a", "namespace: {{ _ }}")
    lines = said(trainyard, tmp_path, {"a.yaml": text})
    assert "not judged: 1 value to be filled in ({{ … }})" in lines


def test_pods_are_judged_by_the_rules_on_pods(trainyard: Command, tmp_path: Path) -> None:
    line, idle = said(trainyard, tmp_path, {"a.yaml": POD})
    assert "had nothing to look at: no " in idle
    assert line.endswith("rules on pods (1 Pod)")
    assert int(line.partition("schema and ")[2].partition(" ")[0]) > 20


JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: b}
spec: {runtimeRef: {name: torch}, trainer: {numNodes: 2, command: [torchrun, train.py]}}
"""


def test_rules_without_objects_and_jobs_known_in_part_are_counted(
    trainyard: Command, tmp_path: Path
) -> None:
    lines = said(trainyard, tmp_path, {"a.yaml": JOB})
    assert "known in part: 1 job without a runtime in the set" in lines
    (idle,) = [line for line in lines if "nothing to look at" in line]
    assert "NodePool (" in idle
    assert "no job" not in idle


def test_quiet_says_nothing(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SEALED)
    assert trainyard("lint", "-q", tmp_path).err == ""


def test_what_must_exist_elsewhere_is_named_once(trainyard: Command, tmp_path: Path) -> None:
    pod = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: x}}
spec:
  priorityClassName: high
  serviceAccountName: default
  containers: [{{name: a, image: "a:1", envFrom: [{{configMapRef: {{name: $MAP}}}}]}}]
  volumes: [{{name: d, persistentVolumeClaim: {{claimName: data}}}}]
"""
    files = {f"{name}.yaml": pod.format(name=name) for name in "ab"}
    lines = said(trainyard, tmp_path, files)
    (line,) = [line for line in lines if line.startswith("must exist")]
    assert line == ("must exist elsewhere: PersistentVolumeClaim `x/data`, PriorityClass `high`")


def test_rules_are_counted_where_they_run(trainyard: Command, tmp_path: Path) -> None:
    """A rule on jobs or pools runs on objects and on what stands alone: it counts for both."""
    files = {"a.yaml": QUEUE, "stack.yaml": "Resources: {Q: {Type: AWS::SQS::Queue}}\n"}
    line = " ".join(said(trainyard, tmp_path, files))
    on_objects = int(re.findall(r"by schema and ([0-9]+) rules", line)[0])
    on_resources = int(re.findall(r"by structure and ([0-9]+) rules", line)[0])
    rules = builtin_rules()
    assert on_objects < len(rules) < on_objects + on_resources
    of_objects = [rule for rule in rules if any("apiVersion:" in text for text in rule.fails)]
    assert len(of_objects) > 200
    assert on_objects >= len(of_objects)
    of_templates = [
        rule for rule in rules if rule.subject.__module__ == "trainyard.core.cloud.plan"
    ]
    assert len(of_templates) > 10
    assert on_objects <= len(rules) - len(of_templates)
