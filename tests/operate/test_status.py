"""``status`` says how the jobs of a spec are, from what an API server answers, and why where it cannot ask one."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders import FSX, data_of, dumped, spec
from running import Command
from served import free_port
from trainyard.extensions.operate.api import Api, Context

from operate.server import Cluster, kubeconfig, serving

pytest.importorskip("kubernetes")
pytestmark = pytest.mark.slow

TRAINJOBS = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/training/trainjobs"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/training/jobsets"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/training/workloads"
PODS = "/api/v1/namespaces/training/pods"
FLUX = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/trainyard"
EARLIER, LATER = "2026-11-25T11:05:17Z", "2026-11-25T12:05:17Z"


@pytest.fixture
def lab(tmp_path: Path, trainyard: Command) -> Path:
    (tmp_path / "lab.yaml").write_text(dumped(spec()))
    done = trainyard("compile", "lab.yaml", cwd=tmp_path)
    assert done.code == 0, done.err
    return tmp_path


@pytest.fixture
def cluster(lab: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """The cluster ``lab`` after Flux has applied it, before Kueue has seen the job."""
    with applied(lab, monkeypatch) as found:
        yield found


@contextmanager
def applied(lab: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """The cluster of what was compiled in a folder."""
    found = Cluster()
    (file,) = lab.glob("generated/lab/jobs/*.trainjob-*.yaml")
    body = data_of(file.read_text())
    namespace = body["metadata"]["namespace"]
    assert namespace == "training", namespace
    body["metadata"] |= {"uid": "u1", "creationTimestamp": EARLIER}
    found.lists = {TRAINJOBS: [body], JOBSETS: [jobset(body, 0)], WORKLOADS: [], PODS: []}
    found.single = {
        FLUX: {"spec": {"path": "./generated/lab/flux"}},
        "/apis": {
            "groups": [
                {
                    "name": "kueue.x-k8s.io",
                    "preferredVersion": {"groupVersion": "kueue.x-k8s.io/v1beta2"},
                }
            ]
        },
    }
    with serving(found, lab) as file:
        monkeypatch.setenv("KUBECONFIG", str(file))
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))
        yield found


def owned(name: str, uid: str, **more: Any) -> dict[str, Any]:
    owner = {"uid": uid, "controller": True}
    return {
        "metadata": {"name": name, "creationTimestamp": EARLIER, "ownerReferences": [owner]},
        **more,
    }


def jobset(job: dict[str, Any], restarts: int) -> dict[str, Any]:
    return owned(job["metadata"]["name"], "u1", status={"restarts": restarts})


def condition(type: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {
        "type": type,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": LATER,
    }


def workload(
    *conditions: dict[str, str], name: str = "w1", uid: str = "u1", **spec: Any
) -> dict[str, Any]:
    pod_sets = [{"name": "node", "count": 4}]
    queue = spec.pop("queueName", "gpu")
    return owned(
        name,
        uid,
        spec={"podSets": pod_sets, "queueName": queue, "priority": 1, **spec},
        status={"conditions": list(conditions), "accumulatedPastExecutionTimeSeconds": 7200},
    )


def pod(job: dict[str, Any], number: int, phase: str = "Running") -> dict[str, Any]:
    labels = {
        "jobset.sigs.k8s.io/jobset-name": job["metadata"]["name"],
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
        "batch.kubernetes.io/job-completion-index": str(number),
    }
    return {"metadata": {"name": f"node-{number}", "labels": labels}, "status": {"phase": phase}}


def asked(trainyard: Command, lab: Path, *more: str) -> dict[str, Any]:
    done = trainyard("status", "lab.yaml", "--format", "json", *more, cwd=lab)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def only(trainyard: Command, lab: Path) -> dict[str, Any]:
    (job,) = asked(trainyard, lab)["jobs"]
    assert isinstance(job, dict)
    return job


def queue_of(cluster: Cluster) -> str:
    return str(cluster.lists[TRAINJOBS][0]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"])


def test_a_job_waits_with_its_place_and_the_words_of_kueue(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    queue = queue_of(cluster)
    cluster.lists[WORKLOADS] = [
        workload(
            condition("QuotaReserved", "False", "WaitingForQuota", "insufficient unused quota"),
            queueName=queue,
        ),
        workload(name="w0", uid="another", queueName=queue, priority=9),
    ]
    job = only(trainyard, lab)
    assert job["name"] == "train"
    assert job["state"] == "waiting"
    assert job["place"] == {"number": 2, "total": 2, "queue": queue, "by": "order"}
    assert job["kueue"] == "insufficient unused quota"
    assert job["why"] == "other jobs hold the quota that it needs"
    assert (job["attempts"], job["cost"]["usd"] > 0) == (0, True)
    text = trainyard("status", "lab.yaml", cwd=lab).out
    assert "Kueue: insufficient unused quota" in text
    assert "2 of 2" in text


def test_a_preempted_job_waits_again(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    preempted = condition("Evicted", "True", "Preempted", "Preempted to accommodate a workload")
    waits = condition("QuotaReserved", "False", "Pending", "no quota")
    cluster.lists[WORKLOADS] = [workload(preempted, waits, queueName=queue_of(cluster))]
    cluster.lists[WORKLOADS][0]["status"]["schedulingStats"] = {
        "evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 1}]
    }
    job = only(trainyard, lab)
    assert (job["state"], job["attempts"]) == ("waiting", 1)
    assert job["kueue"] == "Preempted to accommodate a workload; no quota"


def test_admitted_running_failed_and_done(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    run = cluster.lists[TRAINJOBS][0]
    admitted = (condition("QuotaReserved", "True"), condition("Admitted", "True"))
    cluster.lists[WORKLOADS] = [workload(*admitted)]
    cluster.lists[PODS] = [pod(run, 0), pod(run, 1, "Pending")]
    job = only(trainyard, lab)
    assert (job["state"], job["nodes"]) == ("admitted", {"running": 1, "wanted": 4})

    cluster.lists[PODS] = [pod(run, number) for number in range(4)]
    cluster.lists[JOBSETS] = [jobset(run, 2)]
    job = only(trainyard, lab)
    assert (job["state"], job["attempts"], job["object"]) == ("running", 3, run["metadata"]["name"])

    run["status"] = {"conditions": [condition("Failed", "True")]}
    assert only(trainyard, lab)["state"] == "failed"
    run["status"] = {"conditions": [condition("Complete", "True")]}
    done = only(trainyard, lab)
    # Two hours of earlier attempts, and this one, which ended as it was admitted: 4 nodes, each at one price.
    assert done["state"] == "done"
    assert done["cost"]["usd"] > 0


@pytest.fixture
def saving(tmp_path: Path, trainyard: Command) -> Path:
    """A folder with a job whose checkpoints an exporter watches."""
    job = {
        "mounts": [{"storage": "data", "path": "/data"}],
        "checkpoint": {"path": "/data/run", "every": "30m"},
    }
    storage = [{"name": "data", "fsxLustre": {"existing": FSX}}]
    watched = spec(monitoring={}, storage=storage, job=job)
    (tmp_path / "lab.yaml").write_text(dumped(watched))
    assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
    return tmp_path


EXPORTER = {
    "name": "exporter-1",
    "labels": {
        "app.kubernetes.io/name": "checkpoint-exporter",
        "app.kubernetes.io/instance": "train",
    },
}
SAVED: dict[str, tuple[str | None, str, bool]] = {
    "saved": ("starting\nlast write: 1764072317", " ago (the spec says one every 30m)", True),
    "nothing yet": ("last write: 0", "none yet (the spec says one every 30m)", False),
    "unreadable": ("/storage/run: permission denied", "unknown (the spec says", False),
    "no exporter": (None, "unknown (the spec says", False),
}


@pytest.mark.parametrize(("printed", "shown", "known"), SAVED.values(), ids=SAVED)
def test_the_last_checkpoint_is_what_the_exporter_prints(
    trainyard: Command,
    saving: Path,
    monkeypatch: pytest.MonkeyPatch,
    printed: str | None,
    shown: str,
    known: bool,
) -> None:
    with applied(saving, monkeypatch) as cluster:
        if printed is not None:
            cluster.lists[PODS] = [{"metadata": EXPORTER}]
            cluster.texts[f"{PODS}/exporter-1/log"] = printed
        text = trainyard("status", "lab.yaml", cwd=saving).out
        assert "last checkpoint: " in text
        assert shown in text
        ago = only(trainyard, saving)["checkpoint"]["secondsAgo"]
        assert (ago is not None) is known
        if known:
            assert cluster.asked[-1] == f"{PODS}/exporter-1/log?tailLines=1"


def test_who_may_not_read_logs_sees_the_rest(
    trainyard: Command, saving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with applied(saving, monkeypatch) as cluster:
        cluster.lists[PODS] = [{"metadata": EXPORTER}]
        cluster.refused[f"{PODS}/exporter-1/log"] = 403
        assert "last checkpoint: unknown" in trainyard("status", "lab.yaml", cwd=saving).out


def test_what_is_not_applied_and_what_the_spec_does_not_ask_for(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    cluster.lists[TRAINJOBS][0]["metadata"]["name"] = "train-00000"
    found = asked(trainyard, lab)
    assert [job["state"] for job in found["jobs"]] == ["not applied"]
    assert [job["object"] for job in found["notInSpec"]] == ["train-00000"]
    assert "not in the spec: 1 waiting" in trainyard("status", "lab.yaml", cwd=lab).out


def test_another_cluster_is_not_asked(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    cluster.single[FLUX] = {"spec": {"path": "./generated/prod/flux"}}
    done = trainyard("status", "lab.yaml", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert "error[CLU006]" in done.err
    assert "Flux applies `prod` in it" in done.err


def test_without_rights_on_flux_the_context_is_the_proof(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    cluster.refused[FLUX] = 403
    found = trainyard("status", "lab.yaml", cwd=lab)
    assert found.code == 0
    assert "note[CLU007]" in found.err
    assert "(context local, which may be another cluster)" in found.out


@pytest.mark.parametrize("command", ["status", "drift", "logs train"])
def test_a_cluster_without_anything_of_ours_is_not_asked(
    command: str, trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    del cluster.single[FLUX]
    name, *words = command.split()
    done = trainyard(name, *words, "lab.yaml", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert "error[CLU030]" in done.err


def test_a_kustomization_that_hangs_is_named(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    def late(name: str, reason: str, message: str) -> dict[str, Any]:
        conditions = [condition("Ready", "False", reason, message)]
        return {"metadata": {"name": name}, "status": {"conditions": conditions}}

    ready = {
        "metadata": {"name": "trainyard-crds"},
        "status": {"conditions": [condition("Ready", "True")]},
    }
    cluster.lists[FLUX.rpartition("/")[0]] = [
        late("trainyard-jobs", "DependencyNotReady", "dependency 'trainyard-queues' is not ready"),
        late("trainyard-queues", "HealthCheckFailed", "timeout waiting for: ClusterQueue/a\nmore"),
        late("of-others", "Failed", "x"),
        ready,
    ]
    out = trainyard("status", "lab.yaml", cwd=lab).out
    assert out.endswith(
        "not applied by Flux, and what comes after it waits:\n"
        "  Kustomization trainyard-queues: HealthCheckFailed: timeout waiting for: ClusterQueue/a\n"
        "  Kustomization trainyard-jobs: DependencyNotReady: dependency 'trainyard-queues' is not ready\n"
    )
    found = asked(trainyard, lab)
    assert [each["name"] for each in found["hanging"]] == ["trainyard-queues", "trainyard-jobs"]
    cluster.refused[FLUX.rpartition("/")[0]] = 403
    assert asked(trainyard, lab)["hanging"] == []


@pytest.mark.parametrize(("status", "code"), [(401, "CLU004"), (403, "CLU005"), (500, "CLU008")])
def test_what_the_server_refuses_is_reported(
    trainyard: Command, lab: Path, cluster: Cluster, status: int, code: str
) -> None:
    cluster.refused[TRAINJOBS] = status
    done = trainyard("status", "lab.yaml", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert f"error[{code}]" in done.err
    assert "no rights on" in done.err


def _with(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))


def test_without_a_cluster(trainyard: Command, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, lab / "no-such-file")
    assert "error[CLU001]" in trainyard("status", "lab.yaml", cwd=lab).err
    _with(monkeypatch, kubeconfig(lab, f"http://127.0.0.1:{free_port()}"))
    done = trainyard("status", "lab.yaml", cwd=lab)
    assert done.code == 2
    assert "error[CLU002]" in done.err
    done = trainyard("status", "lab.yaml", "--context", "loca", cwd=lab)
    assert "did you mean `local`?" in done.err


def test_a_server_that_does_not_answer_in_time(
    trainyard: Command, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainyard.extensions.operate.api.READ_SECONDS", 0.05)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        _with(monkeypatch, kubeconfig(lab, f"http://127.0.0.1:{silent.getsockname()[1]}"))
        done = trainyard("status", "lab.yaml", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert "error[CLU002]: the server of context `local`" in done.err
    assert "does not answer in time" in done.err


@pytest.mark.parametrize("answer", ["<html>log in</html>", "[]", '"ok"'])
def test_what_is_no_api_of_kubernetes(
    trainyard: Command, lab: Path, cluster: Cluster, answer: str
) -> None:
    cluster.texts[FLUX] = answer
    done = trainyard("status", "lab.yaml", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert "error[CLU008]: the server of context `local`" in done.err
    assert "answers no object in JSON" in done.err


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (b'{"kind": "Status", "message": "no  rights"}', "no rights"),
        (b"<html>\n  bad gateway\n</html>", "<html> bad gateway </html>"),
        (b"[]", "HTTP 502"),
        (b"{}", "HTTP 502"),
    ],
)
def test_what_a_refusal_says(said: bytes, message: str) -> None:
    api = Api(None, Context("local", "local", "http://127.0.0.1"))
    found = api._refusal("GET /apis", 502, said).diagnostic.message
    assert found == f"GET /apis fails with HTTP 502: {message}"


@pytest.mark.usefixtures("cluster")
def test_a_context_is_taken_by_its_name(trainyard: Command, lab: Path) -> None:
    assert trainyard("status", "lab.yaml", "--context", "local", cwd=lab).code == 0


def test_the_context_of_another_cluster_of_eks(
    trainyard: Command, lab: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    del cluster.single[FLUX]
    url = data_of((lab / "kubeconfig").read_text())["clusters"][0]["cluster"]["server"]
    arn = "arn:aws:eks:us-west-2:111122223333:cluster"
    _with(monkeypatch, kubeconfig(lab, url, f"{arn}/other"))
    assert "error[CLU006]" in trainyard("status", "lab.yaml", cwd=lab).err
    for known in (f"{arn}/lab", "lab.us-west-2.eksctl.io"):
        _with(monkeypatch, kubeconfig(lab, url, known))
        assert asked(trainyard, lab)["proven"] is True
    for other in ("other.us-west-2.eksctl.io", "lab.us-east-1.eksctl.io"):
        _with(monkeypatch, kubeconfig(lab, url, other))
        done = trainyard("status", "lab.yaml", cwd=lab)
        assert (done.code, done.out) == (2, "")
        assert f"it is `{other}`" in done.err
    cluster.refused[FLUX] = 500
    assert "error[CLU008]" in trainyard("status", "lab.yaml", cwd=lab).err


def test_one_cluster_that_is_no_slurm(trainyard: Command) -> None:
    root = Path(__file__).parents[2]
    done = trainyard("status", "specs/starter.yaml", "specs/two-teams.yaml", cwd=root)
    assert (done.code, "error[CLU009]" in done.err) == (2, True)
    done = trainyard("status", "specs/jakarta-slurm.yaml", cwd=root)
    assert (done.code, "error[CLU010]" in done.err, "squeue" in done.err) == (2, True, True)


@pytest.mark.usefixtures("cluster")
def test_a_spec_in_error_asks_nobody(trainyard: Command, lab: Path) -> None:
    (lab / "lab.yaml").write_text(dumped(spec(pool={"instanceTypes": ["p4d.none"]})))
    for command in (["status"], ["drift"], ["logs", "train"], ["debug", "train"]):
        done = trainyard(*command, "lab.yaml", cwd=lab)
        assert (done.code, done.out) == (1, ""), command
        assert "error[RES005]" in done.err


def test_a_team_that_may_read_its_kinds_alone(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    """Its Role names those of the spec, and Kueue's Workloads; whatever else there may be is not its own."""
    cluster.refused = {"/apis/ray.io/": 403, "/apis/batch/": 403, "/apis/kubeflow.org/": 403}
    assert only(trainyard, lab)["state"] == "waiting"
    cluster.refused = {"/apis/ray.io/": 500}
    assert "error[CLU008]" in trainyard("status", "lab.yaml", cwd=lab).err


def test_without_kueue_nothing_says_why_it_waits(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    cluster.single["/apis"] = {"groups": None}
    job = only(trainyard, lab)
    assert (job["state"], job["place"], job["cost"]) == ("waiting", None, None)


def test_an_owner_that_is_no_controller_is_of_no_run(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    held = workload(condition("QuotaReserved", "True"), condition("Admitted", "True"))
    cluster.lists[WORKLOADS] = [held]
    assert only(trainyard, lab)["state"] == "admitted"
    held["metadata"]["ownerReferences"].insert(0, {"uid": "queue"})
    assert only(trainyard, lab)["state"] == "admitted"
    held["metadata"]["ownerReferences"][1]["controller"] = False
    assert only(trainyard, lab)["state"] == "waiting"


def test_without_jobs_there_is_no_table(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    cluster.lists[TRAINJOBS] = []
    (lab / "lab.yaml").write_text(dumped(spec(jobs=[])))
    done = trainyard("status", "lab.yaml", cwd=lab)
    assert (done.code, done.out) == (0, "lab: no jobs (context local)\n")


def test_a_run_of_an_earlier_pool_has_no_cost(
    trainyard: Command, lab: Path, cluster: Cluster
) -> None:
    cluster.lists[TRAINJOBS][0]["metadata"]["name"] = "train-00000"
    cluster.lists[WORKLOADS] = [workload()]
    (other,) = asked(trainyard, lab)["notInSpec"]
    assert (other["cost"]["usd"], other["cost"]["how"]) == (None, "its pool is not known")
    assert "unknown: its pool is not known" in trainyard("status", "lab.yaml", cwd=lab).out


RESERVED = {
    "capacity": {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]}}
}


@pytest.mark.parametrize(
    ("region", "pool", "shown"),
    [
        ("sa-east-1", {"instanceTypes": ["p4d.24xlarge"]}, "price of us-east-1)"),
        (
            "us-east-2",
            {"instanceTypes": ["hpc6a.48xlarge"], "zones": ["us-east-2b"], "nodes": 4},
            "unknown: no price is known",
        ),
    ],
)
def test_the_price_of_another_region_and_none(
    trainyard: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    region: str,
    pool: dict[str, Any],
    shown: str,
) -> None:
    data = spec(region=region, pool={"zones": [f"{region}a"], **pool})
    (tmp_path / "lab.yaml").write_text(dumped(data))
    assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
    with applied(tmp_path, monkeypatch) as cluster:
        cluster.lists[WORKLOADS] = [workload()]
        assert shown in trainyard("status", "lab.yaml", cwd=tmp_path).out


def test_a_job_that_waits_has_what_the_spec_lets_expect(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a job that runs it is not said any more."""
    jobs = [
        {"name": name, "nodes": 3, "image": "r.test/t:1", "command": ["t"], "timeout": "1h"}
        for name in ("first", "second")
    ]
    (tmp_path / "lab.yaml").write_text(dumped(spec(jobs=jobs)))
    assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
    bodies = [data_of(file.read_text()) for file in sorted(tmp_path.glob("generated/lab/jobs/*"))]
    for number, body in enumerate(bodies):
        body["metadata"] |= {"uid": f"u{number}", "creationTimestamp": EARLIER}
    found = Cluster()
    found.lists = {TRAINJOBS: bodies, JOBSETS: [], WORKLOADS: [], PODS: []}
    versions = {"groupVersion": "kueue.x-k8s.io/v1beta2"}
    groups = [{"name": "kueue.x-k8s.io", "preferredVersion": versions}]
    found.single = {FLUX: {"spec": {"path": "./generated/lab/flux"}}, "/apis": {"groups": groups}}
    with serving(found, tmp_path) as file:
        _with(monkeypatch, file)
        forecasts = [job["forecast"] for job in asked(trainyard, tmp_path)["jobs"]]
        for name, other, forecast in zip(
            ("first", "second"), ("second", "first"), forecasts, strict=True
        ):
            assert forecast == (
                f"fits only if it is admitted before `{other}`; helps: 2 more nodes of quota for "
                f"queue `gpu` in `gpu`, or `nodes: 1` for `{name}`"
            )
        admitted = (condition("QuotaReserved", "True"), condition("Admitted", "True"))
        found.lists[WORKLOADS] = [workload(*admitted, uid="u0")]
        text = trainyard("status", "lab.yaml", cwd=tmp_path).out
        assert [line.strip() for line in text.splitlines() if "by the spec" in line] == [
            f"by the spec: {forecasts[1]}"
        ]


def test_a_real_api_server_is_asked(
    trainyard: Command, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRAINYARD_KUBECONFIG names a test API server: whatever runs in it, the answer is a status or says why not."""
    file = os.environ.get("TRAINYARD_KUBECONFIG")
    if not file:
        pytest.skip("TRAINYARD_KUBECONFIG names no kubeconfig of a test API server")
    _with(monkeypatch, Path(file))
    done = trainyard("status", "lab.yaml", cwd=lab)
    assert done.code == 0 or "error[CLU006]" in done.err
