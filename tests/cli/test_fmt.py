"""``fmt``: former names of keys are reported at their place, and replaced there; all else stays as it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from builders import ROOT
from running import Command
from trainyard.extensions.authoring.renaming import rename
from trainyard.language.models.models import keys_of, model_at
from trainyard.language.models.renamed import RENAMED, as_before
from trainyard.language.places import Route
from trainyard.run.language.whole import language

HEAD = "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingCluster\nmetadata: {name: old}\n"
BEFORE = (
    HEAD
    + """spec:
  account: "111122223333"
  region: us-west-2
  health:
    repair: false   # by hand
  nodePools:
    - {name: gpu, instanceTypes: [g6.12xlarge], zones: [us-west-2a], nodes: 4, sharing: {timeSlicing: {replicas: 2}}}
  endedRuns: [earlier-0a1b2]
  jobDefaults: {retries: {process: 2, job: 4}, apiGroup: kubeflow.org}
  jobs:
    - name: ring  # the first
      apiGroup: kubeflow.org
      launcher: {mpi: {}}
      retries:
        # as often as a node fails
        process: 1   # in place

        job: 7   # of all
      secrets: [{env: A, secret: b, key: c}]
      gracePeriod: 5m
      done: true
      torch: "2.8"
---
apiVersion: v1
kind: ConfigMap
spec: {jobs: [{done: true}]}
"""
)
AFTER = (
    HEAD
    + """spec:
  account: "111122223333"
  region: us-west-2
  health:
    nodeRepair: false   # by hand
  nodePools:
    - {name: gpu, instanceTypes: [g6.12xlarge], zones: [us-west-2a], nodes: 4, gpuSharing: {timeSlicing: {replicas: 2}}}
  completedRuns: [earlier-0a1b2]
  jobDefaults: {maxRestarts: 2, retries: 4, kind: PyTorchJob}
  jobs:
    - name: ring  # the first
      kind: MPIJob
      launcher: {mpi: {}}
      # as often as a node fails
      maxRestarts: 1   # in place

      retries: 7   # of all
      secretEnv: [{env: A, secret: b, key: c}]
      terminationGracePeriod: 5m
      completed: true
      torchVersion: "2.8"
---
apiVersion: v1
kind: ConfigMap
spec: {jobs: [{done: true}]}
"""
)

JOB = "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: a}\nspec: {done: true}\n"


def test_every_former_key_is_replaced_where_it_stands() -> None:
    text, found = rename(BEFORE)
    assert text == AFTER
    assert (found[0].line, found[0].column) == (8, 5)
    assert len(found) == 13
    assert rename(text) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1\n",
        "- a\n",
        "--- \n--- a\n",
        "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingCluster\n",
    ],
)
def test_a_document_without_a_spec_stays(text: str) -> None:
    assert rename(text) == (text, [])


@pytest.mark.parametrize(
    ("job", "renamed"),
    [
        (
            "apiGroup: kubeflow.org\n  launcher: {torchrun: {}}",
            "kind: PyTorchJob\n  launcher: {torchrun: {}}",
        ),
        ("apiGroup: kubeflow.org\n  launcher: {mpi: {}}", "kind: MPIJob\n  launcher: {mpi: {}}"),
        ("apiGroup: example.org", "kind: example.org"),
        ("apiGroup: [batch]", "kind: [batch]"),
        ("retries: {job: 3, often: true}", "retries: 3\n  often: true"),
        ("retries:\n    job: 3\n    often: true", "retries: 3\n  often: true"),
    ],
)
def test_values_that_change_with_their_key(job: str, renamed: str) -> None:
    head = JOB.partition("spec:")[0]
    assert rename(f"{head}spec:\n  {job}\n")[0] == f"{head}spec:\n  {renamed}\n"


def test_a_document_of_its_own_is_a_job() -> None:
    assert rename(JOB)[0] == JOB.replace("done", "completed")


def test_it_reports_without_fix_and_writes_with_it(tmp_path: Path, trainyard: Command) -> None:
    file = tmp_path / "specs" / "old.yaml"
    file.parent.mkdir()
    file.write_bytes(BEFORE.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    done = trainyard("fmt", cwd=tmp_path)
    assert done.code == 1
    assert "specs/old.yaml:8:5: `repair` is called `nodeRepair`\n" in done.out
    assert file.read_bytes() == BEFORE.replace("\n", "\r\n").encode()
    assert trainyard("fmt", "--fix", cwd=tmp_path).code == 0
    assert b"nodeRepair: false   # by hand\r\n" in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(file.parent) == ["old.yaml"]
    assert trainyard("fmt", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a: [ # trainyard.dev/", "bad.yaml: not YAML"),
        (b"a: \xff # trainyard.dev/", "`bad.yaml` is not UTF-8"),
        (None, "is no file"),
    ],
)
def test_what_cannot_be_read_is_said(
    text: bytes | None, said: str, tmp_path: Path, trainyard: Command
) -> None:
    if text is not None:
        (tmp_path / "bad.yaml").write_bytes(text)
    done = trainyard("fmt", "bad.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_file_of_others_is_left_alone(tmp_path: Path, trainyard: Command) -> None:
    """A ConfigMap may have keys of those names, and need not be YAML: it may be a template."""
    (tmp_path / "values.yaml").write_text("jobs: [{done: true}]\nname: {{ .Values.name }}\n")
    done = trainyard("fmt", "--fix", "values.yaml", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "every key has its name\n", "")


def test_line_ends_and_byte_order_mark_stay(tmp_path: Path, trainyard: Command) -> None:
    file = tmp_path / "job.yaml"
    for mark in (b"", b"\xef\xbb\xbf"):
        file.write_bytes(mark + JOB.encode())
        assert trainyard("fmt", "--fix", "job.yaml", cwd=tmp_path).code == 0
        assert file.read_bytes() == mark + JOB.replace("done", "completed").encode()


def test_a_file_that_cannot_be_replaced_stays_as_it_is(tmp_path: Path, trainyard: Command) -> None:
    """A temporary file beside it would have a longer name than there may be."""
    file = tmp_path / f"{'a' * 245}.yaml"
    file.write_text(JOB)
    done = trainyard("fmt", "--fix", file.name, cwd=tmp_path)
    assert done.code == 2
    assert done.err == f"trainyard: cannot write `{file.name}`: file name too long\n"
    assert file.read_text() == JOB
    assert os.listdir(tmp_path) == [file.name]


@pytest.mark.parametrize("section", RENAMED)
def test_every_name_of_today_is_a_key_and_no_former_one_is(section: str) -> None:
    keys = [key.removesuffix("[]") for key in section.split(".") if key]
    path = Route(("spec", *(keys if keys != ["jobDefaults"] else ["jobs"])))
    model = model_at(language(), path)
    assert model is not None
    known = keys_of(model)
    for former, name in RENAMED[section].items():
        assert name in known
        assert former not in known


@pytest.mark.parametrize("key", ["gracePeriod: 5m", "done: true", "retries: {process: 3, job: 10}"])
def test_a_former_key_is_an_error_that_says_the_name_of_today(
    key: str, tmp_path: Path, trainyard: Command
) -> None:
    spec = (ROOT / "specs/starter.yaml").read_text()
    (tmp_path / "spec.yaml").write_text(spec.replace("{name: hello,", f"{{name: hello, {key},"))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "`trainyard fmt --fix`" in done.out


def test_a_renamed_key_asks_for_no_other_run() -> None:
    """Runs were noted by the words of their jobs: those of today are compared with them under their former names."""
    now = {
        "name": "a", "kind": "RayJob", "maxRestarts": 3, "retries": 10, "completed": True,
        "terminationGracePeriod": "5m", "secretEnv": [], "torchVersion": "2.8",
    }  # fmt: skip
    assert as_before(now) == {
        "name": "a", "apiGroup": "ray.io", "retries": {"process": 3, "job": 10}, "done": True,
        "gracePeriod": "5m", "secrets": [], "torch": "2.8",
    }  # fmt: skip
    assert as_before({"retries": 10}) == {"retries": {"job": 10}}
    assert as_before({"maxRestarts": 3}) == {"retries": {"process": 3}}
    assert as_before({"retries": {"job": 3, "process": 1}}) == {"retries": {"job": 3, "process": 1}}


def test_it_reads_the_files_that_check_reads(tmp_path: Path, trainyard: Command) -> None:
    """Neither hidden files nor the output."""
    specs = tmp_path / "specs"
    output = specs / "generated" / "lab"
    output.mkdir(parents=True)
    (output / ".manifest.json").write_text('{"trainyard": "0.1.0"}')
    (output / "old.yaml").write_text(BEFORE)
    (specs / ".hidden.yaml").write_text(BEFORE)
    (specs / "job.yaml").write_text(JOB)
    done = trainyard("fmt", cwd=tmp_path)
    assert done.code == 1
    assert done.out.splitlines() == [
        "specs/job.yaml:4:8: `done` is called `completed`",
        "1 key in 1 file: `trainyard fmt --fix` renames it",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_read_is_reported(tmp_path: Path, trainyard: Command) -> None:
    closed = tmp_path / "specs" / "closed"
    closed.mkdir(parents=True)
    closed.chmod(0)
    done = trainyard("fmt", cwd=tmp_path)
    assert done.code == 2
    assert "`specs/closed`" in done.err
