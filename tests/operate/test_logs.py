"""``logs`` prints what the pods of a run log, by rank."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import data_of, dumped, spec
from running import Command
from trainyard.eks.jobs.kinds import kind_called

from operate.server import Cluster, serving
from operate.test_status import EARLIER, FLUX, PODS, TRAINJOBS, cluster, lab, pod

__all__ = ["cluster", "lab"]  # fixtures
pytestmark = pytest.mark.slow


@pytest.fixture
def logging(cluster: Cluster) -> Cluster:
    """Eleven nodes, in another order than that of their ranks, of which one was restarted."""
    run = cluster.lists[TRAINJOBS][0]
    for number in (10, 0, 2, 1):
        made = pod(run, number)
        made["metadata"]["creationTimestamp"] = run["metadata"]["creationTimestamp"]
        made["spec"] = {"containers": [{"name": "sidecar"}, {"name": "node"}]}
        made["status"]["containerStatuses"] = [{"name": "node", "restartCount": int(number == 2)}]
        cluster.lists[PODS].append(made)
        cluster.texts[f"{PODS}/node-{number}/log"] = f"first {number}\nlast {number}\n"
    return cluster


def test_all_ranks_in_their_order(trainyard: Command, lab: Path, logging: Cluster) -> None:
    done = trainyard("logs", "train", "lab.yaml", "--tail", "2", cwd=lab)
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        f"[{rank}] {which} {rank}" for rank in (0, 1, 2, 10) for which in ("first", "last")
    ]
    assert logging.asked[-1] == f"{PODS}/node-10/log?container=node&tailLines=2"


def test_one_rank_and_the_container_before(trainyard: Command, lab: Path, logging: Cluster) -> None:
    done = trainyard("logs", "train", "lab.yaml", "--rank", "2", "--previous", cwd=lab)
    assert done.out == "first 2\nlast 2\n"
    assert "previous=true" in logging.asked[-1]
    trainyard("logs", "train", "lab.yaml", "--rank", "0", "--follow", cwd=lab)
    assert "follow=true" in logging.asked[-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("trian",), "error[CLU012]: the spec has no job `trian`\n  = help: did you mean `train`?"),
        (("train", "--rank", "4"), "error[CLU014]"),
        (("train", "--rank", "0", "--previous"), "error[CLU015]"),
        (("train", "--follow"), "add `--rank 0`"),
    ],
)
def test_bad_input(
    trainyard: Command, lab: Path, logging: Cluster, words: tuple[str, ...], said: str
) -> None:
    job, *options = words
    done = trainyard("logs", job, "lab.yaml", *options, cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_the_one_cluster_that_has_the_job_is_found(
    trainyard: Command, lab: Path, logging: Cluster
) -> None:
    """Of several specs; where none has it, or several do, that is said."""
    for name, job in (("other", "fine-tune"), ("third", "evaluate")):
        text = dumped(spec(name=name, job={"name": job}))
        (lab / f"{name}.yaml").write_text(text)
    done = trainyard("logs", "train", ".", "--tail", "2", cwd=lab)
    assert done.code == 0, done.err
    assert done.out.startswith("[0] first 0\n")
    done = trainyard("logs", "trian", ".", cwd=lab)
    assert "error[CLU012]: no spec of 3 clusters has a job `trian`" in done.err
    assert "did you mean `train`?" in done.err
    (lab / "third.yaml").write_text(dumped(spec(name="third")))
    for command in ("logs", "debug"):
        done = trainyard(command, "train", ".", cwd=lab)
        assert (done.code, "error[CLU009]" in done.err) == (2, True)
        assert "2 clusters, and a context is one: lab, third" in done.err


def test_a_job_without_pods_or_run(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    assert "has no pods" in trainyard("logs", "train", "lab.yaml", cwd=lab).err
    cluster.lists[TRAINJOBS] = []
    assert "has no run" in trainyard("logs", "train", "lab.yaml", cwd=lab).err


def test_pods_of_ray_have_names_in_place_of_ranks(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are found by the name that Ray gives its cluster; before it has one there are none."""
    job = {"kind": "RayJob", "command": ["python", "train.py"]}
    (tmp_path / "lab.yaml").write_text(dumped(spec(job=job)))
    assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
    (file,) = tmp_path.glob("generated/lab/jobs/*.rayjob-*.yaml")
    run = data_of(file.read_text())
    run["metadata"] |= {"uid": "u1", "creationTimestamp": EARLIER}
    found = Cluster()
    found.lists = {f"/apis/{run['apiVersion']}/namespaces/training/rayjobs": [run]}
    found.single = {FLUX: {"spec": {"path": "./generated/lab/flux"}}, "/apis": {"groups": []}}
    labels = {"ray.io/cluster": "train-raycluster", "ray.io/node-type": "worker"}
    made = {"name": "worker-a", "labels": labels, "creationTimestamp": EARLIER}
    spec_of_pod = {"containers": [{"name": "worker"}]}
    found.lists[PODS] = [{"metadata": made, "spec": spec_of_pod}]
    found.texts[f"{PODS}/worker-a/log"] = "step 1\n"
    with serving(found, tmp_path) as kubeconfig:
        where = "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION"
        monkeypatch.setattr(where, str(kubeconfig))
        done = trainyard("logs", "train", "lab.yaml", cwd=tmp_path)
        assert "error[CLU013]" in done.err
        run["status"] = {"rayClusterName": "train-raycluster"}
        done = trainyard("logs", "train", "lab.yaml", cwd=tmp_path)
        assert (done.code, done.out) == (0, "[worker-a] step 1\n"), done.err
        done = trainyard("logs", "train", "lab.yaml", "--rank", "0", cwd=tmp_path)
        assert "its pods have no ranks" in done.err
        # The kubelet has not said anything of its containers.
        done = trainyard("logs", "train", "lab.yaml", "--previous", cwd=tmp_path)
        assert "error[CLU015]" in done.err
        # A sidecar that was restarted is not what is asked for.
        restarted = [{"name": "sidecar", "restartCount": 2}, {"name": "worker", "restartCount": 0}]
        found.lists[PODS][0]["status"] = {"containerStatuses": restarted}
        done = trainyard("logs", "train", "lab.yaml", "--previous", cwd=tmp_path)
        assert "error[CLU015]" in done.err


def test_ranks_of_each_kind() -> None:
    replica = "training.kubeflow.org/replica-index"
    role = "training.kubeflow.org/replica-type"
    both = frozenset(("master", "worker"))
    torch = kind_called("PyTorchJob").run_pods
    assert torch.rank({role: "master", replica: "0"}, both) == 0
    assert torch.rank({role: "worker", replica: "0"}, both) == 1
    mpi = kind_called("MPIJob").run_pods
    labels = {"training.kubeflow.org/job-role": "worker", replica: "1"}
    assert mpi.rank(labels, frozenset(("launcher", "worker"))) == 1
    node = {"jobset.sigs.k8s.io/replicatedjob-name": "node"}
    index = "batch.kubernetes.io/job-completion-index"
    train = kind_called("TrainJob").run_pods
    assert train.rank({**node, index: "3"}, frozenset(("node",))) == 3
    assert train.rank({**node, index: "3"}, frozenset(("launcher", "node"))) == 4
    assert kind_called("Job").run_pods.rank({}, frozenset()) == 0
    assert kind_called("RayJob").run_pods.rank({"ray.io/node-type": "worker"}, frozenset()) is None


UNRELATED = {
    "in error": dumped(spec(name="other", job={"name": "large", "nodes": 4000})),
    "of no form": "a: [\n",
    "of an unknown key": dumped(spec(name="other", job={"name": "large"}, nothing=1)),
}


@pytest.mark.parametrize("fault", UNRELATED)
def test_what_another_spec_has_wrong_is_in_the_way_of_no_question(
    fault: str, trainyard: Command, lab: Path, logging: Cluster
) -> None:
    (lab / "other.yaml").write_text(UNRELATED[fault])
    assert trainyard("check", ".", cwd=lab).code != 0
    done = trainyard("logs", "train", ".", "--tail", "2", cwd=lab)
    assert done.code == 0, done.err
    assert done.out.startswith("[0] first 0\n")
    done = trainyard("explain", "job/train", "--in", ".", cwd=lab)
    assert done.code == 0, done.err
    for command in ("status", "drift"):
        done = trainyard(command, "lab.yaml", cwd=lab)
        assert "other.yaml" not in done.err
        assert "large" not in done.out + done.err


def test_what_its_own_spec_has_wrong_is_said(
    trainyard: Command, lab: Path, logging: Cluster
) -> None:
    (lab / "lab.yaml").write_text(dumped(spec(job={"nodes": 4000})))
    done = trainyard("logs", "train", ".", cwd=lab)
    assert done.code == 1
    assert "lab.yaml" in done.err
