"""HyperPodPyTorchJobs: what is written of them, what the models of HyperPod's client say of it, and what is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import ROOT
from history.folder import write
from running import Command
from trainyard.catalog import hyperpod
from trainyard.eks.jobs.kind import ASKED
from trainyard.eks.jobs.kinds import kind_of_object, kinds, kinds_of_eks
from trainyard.eks.jobs.plan import Operator, Runtime, TrainJob
from trainyard.eks.third_party_workloads.resources import job_resources
from trainyard.extensions.hyperpod.jobs.kind import RESUMED
from trainyard.extensions.hyperpod.jobs.kinds.hyperpod_pytorch_job import KIND, OPERATOR
from trainyard.lift import kinds as readers
from trainyard.run.outcome import Compilation
from trainyard.verify.formats import lifted
from trainyard.verify.schemas import DATA, file_name

from tests.platforms.hyperpod.clusters import errors, files, spec
from tests.platforms.hyperpod.test_governance import governed
from tests.platforms.passes import codes, compiled

PYTHON = ROOT / ".venv-hyperpod" / "bin" / "python"
MODELS = Path(__file__).with_name("models.py")
JOB: dict[str, Any] = {
    "kind": "HyperPodPyTorchJob",
    "command": ["hyperpodrun", "t.py"],
    "torchVersion": "2.7",
}


def operated(**job: Any) -> dict[str, Any]:
    """The small cluster with task governance, and its job as one of the training operator."""
    pool = job.pop("pool_parts", {})
    eks = job.pop("eks", None)
    parts = {"eks": eks} if eks else {}
    return governed(job={**JOB, **job}, pool=pool, **parts)


def job_of(done: Compilation) -> dict[str, Any]:
    """The object of the job."""
    [text] = [text for path, text in files(done).items() if path.startswith("jobs/")]
    body: dict[str, Any] = yaml.safe_load(text)
    return body


FORMS: list[dict[str, Any]] = [
    operated(),
    operated(minNodes=2),
    operated(timeout=None, retries=0),
    operated(maxRestarts=3, command=["bash", "-c", "exec hyperpodrun --nnodes=3 t.py"]),
    operated(nodes=1, env={"PET_NPROC_PER_NODE": "4"}),
]


@pytest.mark.parametrize("data", FORMS)
def test_what_is_written_reads_back(data: dict[str, Any], tmp_path: Path) -> None:
    done = compiled(data, tmp_path)
    assert errors(done) == []
    assert done.plan is not None
    read = lifted(done.artifacts, closed=True)
    for node in (TrainJob, Runtime):
        assert read.of(node) == done.plan.of(node)
        assert done.plan.of(node)


def test_the_operator_counts_restarts_over_the_whole_run(tmp_path: Path) -> None:
    body = job_of(compiled(operated(retries=7, timeout="48h"), tmp_path))
    assert body["spec"]["runPolicy"] == {
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": -1,
        "activeDeadlineSeconds": 172800,
        "jobMaxRetryCount": 7,
        "restartPolicy": {"evalPeriodSeconds": 172800, "maxFullJobRestarts": 7},
    }
    assert body["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent"


def test_a_job_without_an_end_has_its_restarts_counted_all_the_same(tmp_path: Path) -> None:
    body = job_of(compiled(operated(timeout=None, maxRestarts=3), tmp_path))
    policy = body["spec"]["runPolicy"]["restartPolicy"]
    assert policy["evalPeriodSeconds"] == 10_000_000
    assert policy["numRestartBeforeFullJobRestart"] == 3
    assert "activeDeadlineSeconds" not in body["spec"]["runPolicy"]


def test_pods_have_what_hyperpodrun_reads_and_no_restart_policy(tmp_path: Path) -> None:
    body = job_of(compiled(operated(), tmp_path))
    [replica] = body["spec"]["replicaSpecs"]
    assert (replica["name"], replica["replicas"]) == ("pods", 3)
    pod = replica["template"]["spec"]
    assert "restartPolicy" not in pod
    [container] = pod["containers"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    assert {name: env[name] for name in env if name.startswith("PET_")} == {
        "PET_NNODES": "3",
        "PET_NPROC_PER_NODE": "8",
        "PET_RDZV_BACKEND": "hyperpod",
    }


def test_an_elastic_job_starts_with_its_fewest_nodes(tmp_path: Path) -> None:
    """The operator asks Kueue for the others, so that the annotation of Kueue's own partial admission is not there."""
    done = compiled(operated(minNodes=2), tmp_path)
    body = job_of(done)
    assert body["spec"]["elasticPolicy"] == {
        "minReplicas": 2,
        "maxReplicas": 3,
        "replicaIncrementStep": 1,
        "gracefulShutdownTimeoutInSeconds": 300,
    }
    [replica] = body["spec"]["replicaSpecs"]
    assert (replica["replicas"], replica["maxReplicas"]) == (2, 3)
    assert "kueue.x-k8s.io/job-min-parallelism" not in body["metadata"]["annotations"]
    assert done.plan is not None
    [job] = done.plan.of(TrainJob)
    assert (job.nodes, job.least_nodes) == (3, 2)
    assert "2 at first, up to 3" in [each.value for each in done.plan.derived]


@pytest.mark.slow
@pytest.mark.skipif(
    not PYTHON.exists(), reason="sagemaker-hyperpod is not installed: run `make hyperpod`"
)
class TestModels:
    def said(self, body: dict[str, Any], folder: Path) -> subprocess.CompletedProcess[str]:
        file = folder / "job.json"
        file.write_text(json.dumps(body))
        command = [str(PYTHON), str(MODELS), str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    @pytest.mark.parametrize("data", FORMS)
    def test_the_client_reads_what_is_written(self, data: dict[str, Any], tmp_path: Path) -> None:
        body = job_of(compiled(data, tmp_path))
        run = self.said(body, tmp_path)
        assert run.returncode == 0, run.stderr
        assert json.loads(run.stdout) == body["spec"]

    @pytest.mark.parametrize(
        ("key", "value"), [("backoffLimit", 3), ("jobMaxRetryCount", "many"), ("restartPolicy", {})]
    )
    def test_the_client_refuses_what_is_wrong(self, key: str, value: Any, tmp_path: Path) -> None:
        body = job_of(compiled(operated(), tmp_path))
        body["spec"]["runPolicy"][key] = value
        run = self.said(body, tmp_path)
        assert run.returncode != 0
        assert "ValidationError" in run.stderr


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (spec(job=JOB), "RES331", "spec.jobs[0].kind"),
        (operated(command=["torchrun", "t.py"]), "RES332", "spec.jobs[0].command"),
        (operated(command=["bash", "run.sh"]), "RES333", "spec.jobs[0].command"),
        (operated(torchVersion="2.12"), "RES334", "spec.jobs[0].torchVersion"),
        (operated(torchVersion="2.3"), "RES334", "spec.jobs[0].torchVersion"),
        (
            operated(torchVersion=None, image="pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime"),
            "RES334",
            "spec.jobs[0].image",
        ),
        (
            operated(minNodes=2, pool_parts={"capacity": {"spot": {}}}),
            "RES335",
            "spec.jobs[0].minNodes",
        ),
        (operated(eks={"version": "1.34"}), "RES329", "spec.platform.eks.version"),
        (operated(eks={"version": "1.27"}), "RES322", "spec.platform.eks.version"),
        (operated(launcher={"torchrun": {}}), "RES161", "spec.jobs[0].kind"),
        (operated(nodes=4), "QUE031", "spec.jobs[0].nodes"),
        (operated(minNodes=2, nodes=4), "QUE031", "spec.jobs[0].nodes"),
        (operated(minNodes=2, nodes=8), "LIM035", "spec.jobs[0].nodes"),
        (
            operated(command=["hyperpodrun", "--nnodes=2:3", "t.py"]),
            "RES336",
            "spec.jobs[0].command",
        ),
        (
            operated(command=["hyperpodrun", "--nproc-per-node=4", "t.py"]),
            "RUN011",
            "spec.jobs[0].command[1]",
        ),
    ],
)
def test_what_does_not_fit_is_found_at_its_line(
    data: dict[str, Any], code: str, place: str, tmp_path: Path
) -> None:
    if data["spec"]["jobs"][0]["torchVersion"] is None:
        del data["spec"]["jobs"][0]["torchVersion"]
    assert (code, place) in codes(data, tmp_path)


@pytest.mark.parametrize(
    "job",
    [
        {"torchVersion": "2.4"},
        {"torchVersion": "2.7"},
        {"command": ["hyperpodrun", "--nnodes=3:3", "t.py"]},
        {"command": ["bash", "-c", "pip list && exec hyperpodrun t.py"]},
        {"minNodes": 2, "nodes": 3},
    ],
)
def test_what_fits_is_taken(job: dict[str, Any], tmp_path: Path) -> None:
    assert codes(operated(**job), tmp_path) == []


def test_a_job_that_may_grow_beyond_its_quota_starts_all_the_same(tmp_path: Path) -> None:
    assert errors(compiled(operated(minNodes=2, nodes=4), tmp_path)) == []


def test_eks_alone_does_not_run_it(tmp_path: Path) -> None:
    data = spec(job=JOB)
    data["spec"]["platform"] = {"eks": {}}
    assert ("RES271", "spec.jobs[0].kind") in codes(data, tmp_path)


def test_kubernetes_is_the_newest_that_the_operator_takes(tmp_path: Path) -> None:
    """And no finding asks for a newer one."""
    done = compiled(operated(), tmp_path)
    made = yaml.safe_load(files(done)["bootstrap/eksctl.yaml"])
    assert made["metadata"]["version"] == hyperpod.operated_kubernetes()[-1] == "1.33"
    assert codes(operated(), tmp_path) == []
    other = yaml.safe_load(files(compiled(governed(), tmp_path))["bootstrap/eksctl.yaml"])
    assert other["metadata"]["version"] == hyperpod.kubernetes()[-1] == "1.34"


def test_the_operator_gets_its_role_and_its_way_to_the_pods(tmp_path: Path) -> None:
    texts = files(compiled(operated(), tmp_path))
    stack = yaml.safe_load(texts["bootstrap/stacks/hyperpod.yaml"])["Resources"]
    role = stack["OperatorRole"]["Properties"]
    assert role["ManagedPolicyArns"] == [
        "arn:aws:iam::aws:policy/AmazonSageMakerHyperPodTrainingOperatorAccess"
    ]
    association = stack["OperatorAssociation"]["Properties"]
    assert association["Namespace"] == "aws-hyperpod"
    assert association["ServiceAccount"] == "hp-training-operator-controller-manager"
    policies = [yaml.safe_load(text) for path, text in texts.items() if "networkpolicy" in path]
    rules = [rule for policy in policies for rule in policy["spec"].get("ingress", [])]
    names = {"kubernetes.io/metadata.name": "aws-hyperpod"}
    from_operator = [
        rule
        for rule in rules
        if {"namespaceSelector": {"matchLabels": names}} in rule.get("from", [])
    ]
    assert from_operator
    assert all(rule["ports"] == [{"protocol": "TCP", "port": 8080}] for rule in from_operator)


def test_without_such_a_job_nothing_of_the_operator_is_there(tmp_path: Path) -> None:
    done = compiled(governed(), tmp_path)
    assert [path for path, text in files(done).items() if OPERATOR in text] == []
    assert "OperatorRole" not in files(done)["bootstrap/stacks/hyperpod.yaml"]
    assert done.plan is not None
    assert {each.name for each in done.plan.of(Operator)} == {RESUMED.operator}


def test_the_bootstrap_installs_it_once_nodes_are_there(tmp_path: Path, trainyard: Command) -> None:
    write(tmp_path, operated())
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    folder = tmp_path / "generated" / "lab" / "bootstrap"
    script = folder / "hyperpod" / "up.sh"
    listed = subprocess.run(
        ["bash", str(script), "--list"], capture_output=True, text=True, check=True
    )
    steps = [line.split()[0] for line in listed.stdout.splitlines()]
    assert steps.index("operator") > steps.index("accept") > steps.index("cluster")
    text = script.read_text()
    assert text.index("add_on cert-manager") < text.index(f"add_on {OPERATOR}")
    assert "Key=SageMaker,Value=true" in text
    assert f"{KIND.plural}.{KIND.group}" in (folder / "down.sh").read_text()


def test_it_runs_once(tmp_path: Path, trainyard: Command) -> None:
    write(tmp_path, operated())
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    write(tmp_path, operated(env={"A": "1"}))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "error[RES030]: job `train` was submitted as" in done.out
    write(tmp_path, governed())
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "error[CHG026]" in done.out
    assert "kubectl delete hyperpodpytorchjob train-" in done.out


@pytest.mark.slow
def test_what_runs_it_must_stay(tmp_path: Path, trainyard: Command) -> None:
    """The operator, as long as a run of it may be there; that of PyTorchJobs is HyperPod's own chart, which stays."""
    write(tmp_path, operated())
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    without = operated()
    without["spec"]["jobs"] = []
    write(tmp_path, without)
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert f"error[CHG001]: operator `{OPERATOR}` leaves" in done.out

    other = tmp_path / "other"
    other.mkdir()
    write(other, governed())
    assert trainyard("compile", "spec.yaml", cwd=other).code == 0
    without = governed()
    without["spec"]["jobs"] = []
    write(other, without)
    assert "operator `" not in trainyard("check", "spec.yaml", cwd=other).out


def test_the_record_says_all_that_is_asked_of_a_kind() -> None:
    assert [name for name in ASKED if name not in vars(type(KIND))] == []
    assert kind_of_object(KIND.group, KIND.kind) is KIND
    assert KIND.name in kinds()
    assert KIND.name not in kinds_of_eks()
    assert [kind.name for kind in kinds().values() if kind.place == KIND.place] == [KIND.name]
    data = json.loads((DATA / file_name(*KIND.api.split("/"), KIND.kind)).read_text())
    assert f"{data['project']}/{data['release']}" == KIND.crd
    assert f"{KIND.group}/{KIND.kind}" in readers()
    assert f"{KIND.plural}.{KIND.group}" not in job_resources()
    assert f"{KIND.plural}.{KIND.group}" in job_resources([OPERATOR])


def test_its_pages_have_it() -> None:
    assert f"| `{KIND.name}` |" in (ROOT / "docs/kinds.md").read_text()
    assert f"`{KIND.name}`" in (ROOT / "docs/bounds.md").read_text()
