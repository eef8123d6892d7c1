"""Objects of the adopter's own, from files beside the spec: written, ordered, verified and judged with the rest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import spec
from running import Command
from trainyard.language.diagnostics import Diagnostic
from trainyard.output.manifest import Manifest
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options, Outcome

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: monitoring}\n"
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: dashboards
  namespace: monitoring
data:
  a: b
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: grafana, namespace: monitoring}
spec:
  selector: {matchLabels: {app: grafana}}
  template:
    metadata: {labels: {app: grafana}}
    spec:
      containers:
        - name: grafana
          image: registry.example/grafana:12.1.0
          envFrom:
            - secretRef: {name: login}
            - configMapRef: {name: dashboards}
"""
MONITOR = """\
apiVersion: grafana.integreatly.org/v1
kind: GrafanaDashboard
metadata: {name: grafana, namespace: monitoring}
spec: {endpoints: []}
"""


def outcome(folder: Path, files: dict[str, str], **parts: Any) -> Outcome:
    """What comes of a spec in ``specs/`` that includes ``own/`` beside it, with those files in it."""
    parts = {"include": ["own"], **parts}
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "specs" / "own").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / "specs" / "own" / name).write_text(text)
    text = yaml.safe_dump(spec(**parts), sort_keys=False)
    (folder / "specs" / "cluster.yaml").write_text(text)
    return check([folder / "specs"], Options(output=folder / "generated"))


def done_of(folder: Path, files: dict[str, str], **parts: Any) -> Compilation:
    found = outcome(folder, files, **parts)
    assert [str(each) for each in found.diagnostics] == []
    (done,) = found.compilations
    return done


def places(found: list[Diagnostic]) -> list[tuple[str, str, int]]:
    """Code, file and line of each finding that is no note."""
    return [
        (each.code, Path(each.span.file.name).name, each.span.line)
        for each in found
        if each.span is not None and each.severity.name != "NOTE"
    ]


def written(done: Compilation) -> dict[str, Manifest]:
    return {each.path: each for each in done.manifests if each.path.startswith("include")}


def stages(done: Compilation) -> dict[str, Any]:
    return {
        each.ref.name: each.body["spec"]
        for each in done.manifests
        if each.ref.kind == "Kustomization"
    }


def test_objects_are_written_as_they_are(tmp_path: Path) -> None:
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, "b.yaml": f"{MAP}---\n{DEPLOYMENT}"})
    found = written(done)
    assert {path: each.body for path, each in found.items()} == {
        "include/namespace-monitoring.yaml": yaml.safe_load(NAMESPACE),
        "include/monitoring.configmap-dashboards.yaml": yaml.safe_load(MAP),
        "include/monitoring.deployment.apps-grafana.yaml": yaml.safe_load(DEPLOYMENT),
    }


def test_nothing_included_changes_nothing(tmp_path: Path) -> None:
    done = done_of(tmp_path, {}, include=None)
    assert not any("include" in name for name in stages(done))
    more = done_of(tmp_path, {"a.yaml": NAMESPACE})
    paths = {each.path: each.body for each in done.manifests}
    after = {each.path: each.body for each in more.manifests}
    new = {"flux/kustomization-trainyard-include.yaml", *written(more)}
    assert after.keys() - paths.keys() == new
    assert {path: after[path] for path in paths} == paths


def test_rights_of_what_is_included_are_no_finding(tmp_path: Path, trainyard: Command) -> None:
    """It may be of any kind, so Flux applies it with all rights: no patch took an account away (ACC051)."""
    outcome(tmp_path, {"a.yaml": NAMESPACE})
    done = trainyard("check", "specs", cwd=tmp_path)
    assert "ACC051" not in done.out + done.err


def test_they_come_after_the_controllers_and_nothing_waits_for_them(tmp_path: Path) -> None:
    found = stages(done_of(tmp_path, {"a.yaml": NAMESPACE}))
    own = found["trainyard-include"]
    assert own["dependsOn"] == [{"name": "trainyard-controllers"}]
    assert own["path"].endswith("/include")
    waiting = [
        name
        for name, each in found.items()
        if {"name": "trainyard-include"} in each.get("dependsOn", [])
    ]
    assert waiting == []


def test_kinds_that_a_chart_brings_come_after_the_chart(tmp_path: Path) -> None:
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, "b.yaml": MONITOR})
    found = stages(done)
    custom = found["trainyard-include-custom"]
    assert custom["dependsOn"] == [{"name": "trainyard-include"}]
    assert found["trainyard-include"]["wait"] is True
    assert (
        "include-custom/monitoring.grafanadashboard.grafana.integreatly.org-grafana.yaml"
        in written(done)
    )
    assert places(done.diagnostics) == [("SCH014", "b.yaml", 2)]


def definition(schema: Any) -> str:
    """A CustomResourceDefinition of GrafanaDashboard."""
    names = {
        "kind": "GrafanaDashboard",
        "plural": "grafanadashboards",
        "singular": "grafanadashboard",
        "listKind": "GrafanaDashboardList",
    }
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "grafanadashboards.grafana.integreatly.org"},
        "spec": {
            "group": "grafana.integreatly.org",
            "names": names,
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    return yaml.safe_dump(body)


STRICT = {
    "openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {"endpoints": {"type": "array", "items": {"type": "object"}}},
            }
        },
    }
}


def test_an_included_definition_makes_its_kind_known(tmp_path: Path) -> None:
    files = {"a.yaml": NAMESPACE, "b.yaml": MONITOR, "crd.yaml": definition(STRICT)}
    done = done_of(tmp_path, files)
    assert "trainyard-include-custom" not in stages(done)


def test_an_included_definition_verifies_its_objects(tmp_path: Path) -> None:
    wrong = MONITOR.replace("endpoints", "endpoint")
    files = {"a.yaml": NAMESPACE, "b.yaml": wrong, "crd.yaml": definition(STRICT)}
    found = done_of(tmp_path, files).diagnostics
    assert places(found) == [("SCH001", "b.yaml", 4)]
    assert found[0].help == "did you mean `endpoints`?"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        "x",
        {"openAPIV3Schema": {"type": 5}},
        {"openAPIV3Schema": {"type": "text"}},
        {"openAPIV3Schema": {"properties": {"spec": {"properties": []}}}},
        {"openAPIV3Schema": {"x-kubernetes-unheard-of": True}},
    ],
)
def test_objects_of_a_definition_that_cannot_be_read_are_not_verified(
    tmp_path: Path, schema: Any
) -> None:
    files = {"a.yaml": NAMESPACE, "b.yaml": MONITOR, "crd.yaml": definition(schema)}
    found = places(done_of(tmp_path, files).diagnostics)
    assert found == [("SCH014", "b.yaml", 2), ("SCH014", "crd.yaml", 2)]


def test_a_finding_points_at_the_file_and_line(tmp_path: Path) -> None:
    wrong = DEPLOYMENT.replace("matchLabels", "matchLabel")
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, "b.yaml": f"{MAP}---\n{wrong}"})
    line = f"{MAP}---\n{wrong}".splitlines().index("  selector: {matchLabel: {app: grafana}}") + 1
    assert ("SCH001", "b.yaml", line) in places(done.diagnostics)


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: bench, namespace: training, labels: {kueue.x-k8s.io/queue-name: gpu}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/bench:latest
          resources: {limits: {nvidia.com/gpu: 99}}
"""


def test_policies_judge_them(tmp_path: Path) -> None:
    done = done_of(tmp_path, {"job.yaml": JOB})
    found = places(done.diagnostics)
    assert ("RUN013", "job.yaml", 10) in found
    assert ("LIM001", "job.yaml", 11) in found


def test_pod_security_is_asked_of_their_pods(tmp_path: Path) -> None:
    space = NAMESPACE.replace(
        "{name: monitoring}",
        "{name: monitoring, labels: {pod-security.kubernetes.io/enforce: restricted}}",
    )
    done = done_of(tmp_path, {"a.yaml": space, "b.yaml": MAP, "c.yaml": DEPLOYMENT})
    found = places(done.diagnostics)
    assert found
    assert {file for _, file, _ in found} == {"c.yaml"}


def test_references_among_all_are_followed(tmp_path: Path) -> None:
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, "c.yaml": DEPLOYMENT})
    line = DEPLOYMENT.splitlines().index("            - configMapRef: {name: dashboards}") + 1
    assert places(done.diagnostics) == [("REF001", "c.yaml", line)]
    alone = done_of(tmp_path, {"a.yaml": MAP, "c.yaml": MAP.replace("dashboards", "x")})
    assert ("REF002", "a.yaml", 5) in places(alone.diagnostics)


def test_an_object_that_trainyard_writes_too_is_refused(tmp_path: Path) -> None:
    queue = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: gpu}\nspec: {}\n"
    )
    done = done_of(tmp_path, {"a.yaml": queue})
    faults = [each for each in done.diagnostics if each.code == "NAM005"]
    assert [place[:2] for place in places(faults)] == [("NAM005", "a.yaml")]
    assert "queues/clusterqueue-gpu.yaml" in faults[0].message
    assert "include/clusterqueue.kueue.x-k8s.io-gpu.yaml" in faults[0].message
    # The copy is the adopter's, also of what is written after it.
    space = NAMESPACE.replace("monitoring", "training")
    done = done_of(tmp_path, {"a.yaml": space})
    faults = [each for each in done.diagnostics if each.code == "NAM005"]
    assert [place[:2] for place in places(faults)] == [("NAM005", "a.yaml")]


def test_flux_fills_in_nothing(tmp_path: Path) -> None:
    text = MAP.replace("a: b", "a: ${HOME}")
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, "b.yaml": text})
    body = written(done)["include/monitoring.configmap-dashboards.yaml"].body
    assert body["metadata"]["annotations"] == {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}
    assert body["data"] == {"a": "${HOME}"}


def test_patches_reach_them(tmp_path: Path) -> None:
    patch = {"target": {"kind": "ConfigMap", "name": "dashboards"}, "patch": {"data": {"a": "c"}}}
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, "b.yaml": MAP}, patches=[patch])
    manifest = written(done)["include/monitoring.configmap-dashboards.yaml"]
    assert manifest.body["data"] == {"a": "c"}
    assert manifest.origin(("data", "a"))[:2] == ("spec", "patches")
    assert manifest.origin(("metadata", "name"))[:2] == ("spec", "include")


def test_a_list_is_its_items(tmp_path: Path) -> None:
    items = [yaml.safe_load(NAMESPACE), yaml.safe_load(MAP)]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    assert len(written(done_of(tmp_path, {"a.yaml": text}))) == 2


def test_yaml_is_read_as_kubectl_reads_it(tmp_path: Path) -> None:
    text = MAP.replace("data:\n  a: b", "data: {a: 'no'}\nimmutable: yes")
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, "b.yaml": text})
    body = written(done)["include/monitoring.configmap-dashboards.yaml"].body
    assert body["immutable"] is True


# --- paths


def test_a_path_is_relative_to_the_file_that_has_it(tmp_path: Path) -> None:
    base = {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingClusterBase",
        "spec": {"include": ["own"]},
    }
    (tmp_path / "bases" / "own").mkdir(parents=True)
    (tmp_path / "bases" / "own" / "a.yaml").write_text(NAMESPACE)
    (tmp_path / "bases" / "base.yaml").write_text(yaml.safe_dump(base))
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    data = {**spec(), "extends": "../bases/base.yaml"}
    (tmp_path / "specs" / "cluster.yaml").write_text(yaml.safe_dump(data))
    found = check([tmp_path / "specs"], Options(output=tmp_path / "generated"))
    assert found.diagnostics == []
    assert list(written(found.compilations[0])) == ["include/namespace-monitoring.yaml"]


def refused(found: Outcome) -> list[tuple[str, str]]:
    return [
        (each.code, Path(each.span.file.name).name if each.span else "")
        for each in found.diagnostics
    ]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("nowhere", "YML046"),
        ("empty", "YML046"),
        ("../../outside.yaml", "YML047"),
        ("link.yaml", "YML047"),
        ("linked", "YML047"),
    ],
)
def test_paths_that_lead_to_nothing_or_out_of_the_repository(
    tmp_path: Path, path: str, code: str
) -> None:
    folder = tmp_path / "repository"
    (folder / "specs" / "empty").mkdir(parents=True)
    (folder / "specs" / "linked").mkdir()
    (tmp_path / "outside.yaml").write_text(NAMESPACE)
    for name in ("link.yaml", "linked/a.yaml"):
        (folder / "specs" / name).symlink_to(tmp_path / "outside.yaml")
    if path == "../../outside.yaml":
        (folder / "specs" / "link.yaml").unlink()
        (folder / "specs" / "linked" / "a.yaml").unlink()
    found = outcome(folder, {}, include=[path])
    assert (code, "cluster.yaml") in refused(found)


def test_an_absolute_path_is_refused(tmp_path: Path) -> None:
    found = outcome(tmp_path, {"a.yaml": NAMESPACE}, include=[str(tmp_path / "specs" / "own")])
    assert ("YML047", "cluster.yaml") in refused(found)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\n", "YML048"),
        ("- a\n", "YML048"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../../x}\n", "YML048"),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n",
            "YML048",
        ),
        (
            "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: x}\nspec: {}\n",
            "YML048",
        ),
        ('apiVersion: v1\nkind: "../../x"\nmetadata: {name: x}\n', "YML048"),
        ('apiVersion: v1\nkind: "A\\nB"\nmetadata: {name: x}\n', "YML048"),
        (f"apiVersion: v1\nkind: {'K' * 64}\nmetadata: {{name: x}}\n", "YML048"),
        ('apiVersion: "../v1"\nkind: A\nmetadata: {name: x}\n', "YML048"),
        ("apiVersion: v1\nkind: A\nmetadata: {name: x, namespace: ../y}\n", "YML048"),
        (f"apiVersion: v1\nkind: A\nmetadata: {{name: {'x' * 254}}}\n", "YML048"),
        ("a: [\n", "YML002"),
        ("a: 1\na: 2\n", "YML001"),
    ],
)
def test_what_is_no_object_is_refused_at_its_place(tmp_path: Path, text: str, code: str) -> None:
    found = outcome(tmp_path, {"a.yaml": text})
    assert (code, "a.yaml") in refused(found)


def test_a_path_that_is_no_text_is_left_to_the_spec(tmp_path: Path) -> None:
    found = outcome(tmp_path, {"a.yaml": NAMESPACE}, include=["own", 7, {"a": "b"}])
    assert [(each.code, str(each.at)) for each in found.all()] == [
        ("SPC005", "spec.include[1]"),
        ("SPC005", "spec.include[2]"),
    ]


def test_what_is_hidden_or_no_yaml_is_not_included(tmp_path: Path) -> None:
    broken = {".b.yaml": "a: [\n", "notes.txt": "a: [\n"}
    done = done_of(tmp_path, {"a.yaml": NAMESPACE, **broken})
    assert [each for each in written(done) if "include/" in each] == [
        "include/namespace-monitoring.yaml"
    ]


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "specs" / "own").mkdir(parents=True)
    os.mkfifo(tmp_path / "specs" / "own" / "a.yaml")
    assert "YML022" in {code for code, _ in refused(outcome(tmp_path, {}))}


def test_a_manifest_beside_specs_that_nobody_includes_is_no_spec(tmp_path: Path) -> None:
    found = outcome(tmp_path, {"a.yaml": NAMESPACE}, include=None)
    assert ("YML031", "a.yaml") in refused(found)


@pytest.mark.slow
def test_compile_writes_and_removes_them(tmp_path: Path, trainyard: Command) -> None:
    outcome(tmp_path, {"a.yaml": NAMESPACE})
    done = trainyard("compile", "specs", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    path = tmp_path / "generated" / "lab" / "include" / "namespace-monitoring.yaml"
    assert yaml.safe_load(path.read_text()) == yaml.safe_load(NAMESPACE)
    again = trainyard("compile", "--check", "specs", cwd=tmp_path)
    assert again.code == 0, again.out + again.err
    outcome(tmp_path, {}, include=None)
    (tmp_path / "specs" / "own" / "a.yaml").unlink()
    assert trainyard("compile", "specs", cwd=tmp_path).code == 0
    assert not path.exists()


BROKEN: list[dict[str, Any]] = [
    {"metadata": {"name": "x", "labels": None, "annotations": "x"}},
    {"metadata": {"name": "x", "labels": [1], "namespace": 5}, "spec": "x"},
    {"metadata": {"name": "x"}, "spec": {"template": {"spec": {"containers": [None]}}}},
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
        ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"),
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("eksctl.io/v1alpha5", "ClusterConfig"),
        ("apps/v1", "Deployment"),
        ("v1", "Namespace"),
    ],
)
def test_objects_of_any_form_are_judged_and_crash_nothing(
    tmp_path: Path, api_version: str, kind: str
) -> None:
    patch = {
        "target": {"kind": kind, "labelSelector": "!team"},
        "patch": {"metadata": {"labels": {"team": "${TEAM}"}}},
    }
    for broken in BROKEN:
        body = {"apiVersion": api_version, "kind": kind, **broken}
        files = {"a.yaml": yaml.safe_dump(body)}
        found = done_of(tmp_path, files, patches=[patch])
        assert places(found.diagnostics)


def test_a_secret_in_an_included_object_is_reported_in_its_file(tmp_path: Path) -> None:
    secret = NAMESPACE + "---\napiVersion: v1\nkind: Secret\n"
    secret += "metadata: {name: db, namespace: monitoring}\nstringData:\n  key: x\n"
    monitor = MONITOR.replace("endpoints: []", "apiKey: abc0123")
    found = done_of(tmp_path, {"a.yaml": secret, "b.yaml": monitor}).diagnostics
    secrets = [each for each in found if each.code == "ACC014"]
    assert places(secrets) == [("ACC014", "a.yaml", 9), ("ACC014", "b.yaml", 4)]
    assert [each.message for each in secrets] == [
        "the value of `key` is in git, in Secret `db`",
        "the value of `apiKey` is in git, in GrafanaDashboard `grafana`",
    ]
