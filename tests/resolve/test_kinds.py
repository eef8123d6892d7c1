"""What the API group of a job makes of it: its object, the pods in it, and back."""

from __future__ import annotations

import json
import shlex
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest
from builders import FSX, body_of, manifests_of, objects_of, plan_of, resolved, spec
from history.folder import write
from running import Command
from trainyard.catalog import load_catalog
from trainyard.core.jobs.launchers.launcher import launcher_named
from trainyard.core.jobs.launchers.spec import JobLauncher
from trainyard.eks.flux.plan import GitSource, HelmRelease, Stage
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.jobs.plan import FileSet, Runtime, TrainJob
from trainyard.eks.kueue.plan import QueueManager
from trainyard.eks.teams.plan import NetworkPolicy
from trainyard.judge.model.fit import quota_shortfall
from trainyard.judge.model.reading import Reading
from trainyard.lift import lift
from trainyard.output.manifest import ObjectRef
from trainyard.run.lower import lower
from trainyard.run.patching.apply import apply_patches
from trainyard.verify import verify
from trainyard.verify.schemas import DATA, file_name

BY_MPI: dict[str, Any] = {"launcher": {"mpi": {}}, "command": ["mpirun", "python", "t.py"]}
MPI: dict[str, Any] = {"kind": "MPIJob", **BY_MPI}
V1: dict[str, Any] = {"kind": "PyTorchJob"}
SET: dict[str, Any] = {"kind": "JobSet"}
SHARDS: dict[str, Any] = {"kind": "Job", "command": ["python", "shard.py"]}
ALONE: dict[str, Any] = {"kind": "Job", "nodes": 1}
RAY: dict[str, Any] = {
    "kind": "RayJob",
    "command": ["python", "train it.py", "--prompt", "a 'b' \"c\" $d"],
    "checkpoint": {"path": "/data/out", "every": "30m"},
}
ROLES: dict[str, Any] = {
    "roles": [{"name": "rollout", "nodes": 2, "command": ["python", "r.py"], "env": {"R": "1"}}]
}
EVERYTHING: dict[str, Any] = {
    "mounts": [{"storage": "data", "path": "/data"}],
    "checkpoint": {"path": "/data/out", "every": "30m", "signalFile": "/tmp/save-now"},
    "files": {"/etc/train.yaml": "epochs: ${EPOCHS}"},
    "env": {"TOKENIZERS_PARALLELISM": "false"},
    "secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}],
    "volumes": [{"name": "scratch", "path": "/scratch", "emptyDir": {"sizeLimit": "1Gi"}}],
    "initContainers": [{"name": "prepare", "command": ["prepare"]}],
    "labels": {"project": "llama"},
    "annotations": {"example.com/owner": "research"},
}
STORAGE = [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}]
KINDS = {
    "PyTorchJob": V1,
    "PyTorchJob of one node": {**V1, "nodes": 1},
    "PyTorchJob without retries": {**V1, "retries": 0},
    "MPIJob": MPI,
    "MPIJob of one node": {**MPI, "nodes": 1},
    "JobSet": SET,
    "JobSet with roles": {**SET, **ROLES, "nodes": 2},
    "Job": SHARDS,
    "Job of one node": ALONE,
    "Job of some nodes": {**SHARDS, "minNodes": 2},
    "RayJob": RAY,
    "RayJob of one node": {**RAY, "nodes": 1, "args": ["--epochs", "3"]},
}


def whole(job: dict[str, Any]) -> dict[str, Any]:
    """A spec whose job has a kind, and everything that a job may have."""
    return spec(job={**EVERYTHING, **job}, storage=STORAGE)


@pytest.mark.parametrize("job", KINDS.values(), ids=KINDS)
class TestEveryKind:
    def test_what_is_written_reads_back(self, job: dict[str, Any]) -> None:
        plan = plan_of(whole(job))
        lifted = lift(objects_of(plan), closed=True)
        for kind in (TrainJob, Runtime, FileSet):
            assert lifted.of(kind) == plan.of(kind)

    def test_what_is_written_is_sound(self, job: dict[str, Any]) -> None:
        plan = plan_of(whole(job))
        external = frozenset(starmap(ObjectRef, plan.external))
        assert verify(objects_of(plan), external=external) == []

    def test_kueue_queues_it_and_owns_suspend(self, job: dict[str, Any]) -> None:
        plan = plan_of(whole(job))
        (node,) = plan.of(TrainJob)
        body = body_of(objects_of(plan), node.kind, node.name)
        assert body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpu"
        assert "suspend" not in json.dumps(body["spec"])

    def test_flux_neither_prunes_it_nor_fills_in(self, job: dict[str, Any]) -> None:
        data = spec(job={**job, "annotations": {"example.com/line": "${HOME}"}})
        data["spec"]["jobs"][0].pop("checkpoint", None)
        (node,) = plan_of(data).of(TrainJob)
        metadata = body_of(manifests_of(data), node.kind, node.name)["metadata"]
        assert metadata["annotations"]["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
        key = "kustomize.toolkit.fluxcd.io/substitute"
        assert metadata["annotations"][key] == "disabled"

    def test_rules_see_what_its_pods_ask_for(self, job: dict[str, Any]) -> None:
        lifted = lift(objects_of(plan_of(whole(job))), closed=True)
        (work,) = Reading(lifted, load_catalog()).works
        assert work.accelerator == ("nvidia.com/gpu", 8)
        assert work.claims == {"data"}
        assert [pool.name for pool in work.pools] == ["gpu"]
        assert work.main is not None
        saves = {**EVERYTHING, **job}["checkpoint"]
        assert bool(work.main.pre_stop) == ("signalFile" in saves)


class TestPyTorchJob:
    def test_one_master_and_the_rest_are_workers(self) -> None:
        body = body_of(manifests_of(spec(job=V1)), "PyTorchJob")
        replicas = body["spec"]["pytorchReplicaSpecs"]
        assert body["apiVersion"] == "kubeflow.org/v1"
        assert [(role, part["replicas"]) for role, part in replicas.items()] == [
            ("Master", 1),
            ("Worker", 3),
        ]
        assert replicas["Master"]["template"] == replicas["Worker"]["template"]
        assert body["spec"]["nprocPerNode"] == "8"

    def test_ranks_meet_at_the_master_by_its_host_name(self) -> None:
        """The name of the pod, which its own kernel knows before any record of DNS has spread."""
        plan = plan_of(spec(job=V1))
        (job,) = plan.of(TrainJob)
        values = {variable.name: variable.value for variable in job.env}
        assert values["PET_RDZV_ENDPOINT"] == f"{job.name}-master-0:29500"

    def test_retries_count_pods(self) -> None:
        """Three gangs of four pods (training-operator v1.9.4, PastBackoffLimit)."""
        body = body_of(manifests_of(spec(job=V1)), "PyTorchJob")
        assert body["spec"]["runPolicy"] == {"cleanPodPolicy": "Running", "backoffLimit": 12}
        policies = {part["restartPolicy"] for part in body["spec"]["pytorchReplicaSpecs"].values()}
        assert policies == {"OnFailure"}

    def test_without_retries_a_failure_ends_it(self) -> None:
        job = {**V1, "retries": 0, "timeout": "2h"}
        body = body_of(manifests_of(spec(job=job)), "PyTorchJob")
        master = body["spec"]["pytorchReplicaSpecs"]["Master"]
        assert master["restartPolicy"] == "Never"
        assert body["spec"]["runPolicy"]["backoffLimit"] == 0
        assert body["spec"]["runPolicy"]["activeDeadlineSeconds"] == 7200

    def test_both_roles_are_placed_together(self) -> None:
        pool = {"nodes": 8, "topology": "network"}
        body = body_of(manifests_of(spec(pool=pool, job=V1)), "PyTorchJob")
        groups = {
            part["template"]["metadata"]["annotations"]["kueue.x-k8s.io/podset-group-name"]
            for part in body["spec"]["pytorchReplicaSpecs"].values()
        }
        assert groups == {"nodes"}


class TestMpiJob:
    def test_it_is_the_version_that_kueue_queues(self) -> None:
        body = body_of(manifests_of(spec(job=MPI)), "MPIJob")
        assert body["apiVersion"] == "kubeflow.org/v2beta1"
        assert body["spec"]["runLauncherAsWorker"] is True
        assert body["spec"]["slotsPerWorker"] == 8
        replicas = body["spec"]["mpiReplicaSpecs"]
        assert {role: part["replicas"] for role, part in replicas.items()} == {
            "Worker": 3,
            "Launcher": 1,
        }

    def test_keys_are_copied_from_the_operators_volume(self) -> None:
        body = body_of(manifests_of(spec(job=MPI)), "MPIJob")
        for part in body["spec"]["mpiReplicaSpecs"].values():
            (copies,) = part["template"]["spec"]["initContainers"]
            assert copies["volumeMounts"][0]["name"] == "ssh-auth"
            assert copies["volumeMounts"][0]["mountPath"] == body["spec"]["sshAuthMountPath"]


class TestJobSet:
    def test_it_is_what_trainer_would_make(self) -> None:
        """The same failure policy, pods and host names; the variables that Trainer sets stand in it."""
        trained = body_of(manifests_of(spec()), "ClusterTrainingRuntime")
        template = trained["spec"]["template"]["spec"]
        body = body_of(manifests_of(spec(job=SET)), "JobSet")
        assert body["spec"]["failurePolicy"] == template["failurePolicy"]
        job = body["spec"]["replicatedJobs"][0]["template"]["spec"]
        assert (job["completions"], job["parallelism"]) == (4, 4)
        assert job["completionMode"] == "Indexed"
        (container,) = job["template"]["spec"]["containers"]
        env = {item["name"]: item for item in container["env"]}
        name = body["metadata"]["name"]
        host = f"{name}-node-0-0.{name}.training.svc.cluster.local"
        assert env["PET_MASTER_ADDR"]["value"] == host
        assert env["PET_NNODES"]["value"] == "4"
        assert env["PET_NPROC_PER_NODE"]["value"] == "8"
        path = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
        assert env["PET_NODE_RANK"]["valueFrom"] == {"fieldRef": {"fieldPath": path}}

    def test_roles_are_part_of_the_gang(self) -> None:
        data = spec(job={**SET, **ROLES, "nodes": 2})
        (job,) = plan_of(data).of(TrainJob)
        assert job.nodes == 4
        body = body_of(manifests_of(data), "JobSet")
        assert body["spec"]["successPolicy"] == {
            "operator": "All",
            "targetReplicatedJobs": ["node"],
        }
        node, rollout = body["spec"]["replicatedJobs"]
        assert node["template"]["spec"]["parallelism"] == 2
        assert rollout["template"]["spec"]["parallelism"] == 2
        (container,) = rollout["template"]["spec"]["template"]["spec"]["containers"]
        assert container["command"] == ["python", "r.py"]
        env = {item["name"]: item.get("value") for item in container["env"]}
        name = body["metadata"]["name"]
        host = f"{name}-rollout-0-0.{name}.training.svc.cluster.local"
        assert (env["ROLLOUT_HOST"], env["R"]) == (host, "1")
        (main,) = node["template"]["spec"]["template"]["spec"]["containers"]
        assert container["resources"] == main["resources"]


class TestPlainJob:
    def test_several_pods_are_retried_one_by_one(self) -> None:
        body = body_of(manifests_of(spec(job=SHARDS)), "Job")
        assert body["spec"]["completionMode"] == "Indexed"
        assert body["spec"]["completions"] == body["spec"]["parallelism"] == 4
        assert body["spec"]["backoffLimitPerIndex"] == 10
        assert "backoffLimit" not in body["spec"]

    def test_pods_that_do_not_talk_take_no_efa(self) -> None:
        body = body_of(manifests_of(spec(job=SHARDS)), "Job")
        (container,) = body["spec"]["template"]["spec"]["containers"]
        assert "vpc.amazonaws.com/efa" not in container["resources"]["limits"]
        assert "NCCL_NET" not in json.dumps(container.get("env", []))

    def test_some_pods_may_start_before_the_others(self) -> None:
        """Kueue lowers `parallelism` of what it admits in part, and refuses every edit of it: Flux applies it once."""
        body = body_of(manifests_of(spec(job={**SHARDS, "minNodes": 2})), "Job")
        annotations = body["metadata"]["annotations"]
        assert annotations["kueue.x-k8s.io/job-min-parallelism"] == "2"
        assert annotations["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent"
        assert body["spec"]["completions"] == 4

    def test_a_bound_that_binds_nothing_changes_nothing(self) -> None:
        (job,) = plan_of(spec(job={**SHARDS, "minNodes": 4})).of(TrainJob)
        assert job == plan_of(spec(job=SHARDS)).of(TrainJob)[0]

    def test_one_pod_meets_itself(self) -> None:
        (job,) = plan_of(spec(job=ALONE)).of(TrainJob)
        values = {variable.name: variable.value for variable in job.env}
        assert values["PET_RDZV_ENDPOINT"] == "localhost:29500"
        body = body_of(manifests_of(spec(job=ALONE)), "Job")
        assert body["spec"]["backoffLimit"] == 10
        assert "completions" not in body["spec"]


class TestRayJob:
    def spec_of(self, **job: Any) -> dict[str, Any]:
        body: dict[str, Any] = body_of(
            manifests_of(spec(job={**SHARDS, "kind": "RayJob", **job})), "RayJob"
        )["spec"]
        return body

    def test_the_command_runs_on_the_head_word_for_word(self) -> None:
        words = ["python", "a b.py", "$X", "it's", 'say "x"']
        body = self.spec_of(command=words, args=["--last"])
        assert shlex.split(body["entrypoint"]) == [*words, "--last"]
        assert body["submissionMode"] == "HTTPMode"
        for group in groups_of(body):
            (container,) = group["template"]["spec"]["containers"]
            assert "command" not in container
            assert "args" not in container

    def test_the_cluster_goes_with_its_job(self) -> None:
        """Kueue refuses another one (kueue v0.19.2, rayjob_webhook.go)."""
        body = self.spec_of()
        assert body["shutdownAfterJobFinishes"] is True
        assert "enableInTreeAutoscaling" not in body["rayClusterSpec"]
        assert "clusterSelector" not in body

    def test_nodes_are_workers_and_the_head_is_beside_them(self) -> None:
        body = self.spec_of()
        (workers,) = body["rayClusterSpec"]["workerGroupSpecs"]
        sizes = [workers[key] for key in ("replicas", "minReplicas", "maxReplicas")]
        assert sizes == [4, 4, 4]
        head, worker = map(limits_of, groups_of(body))
        alone = limits_of(
            body_of(manifests_of(spec(job=SHARDS)), "Job")["spec"]
        )  # a plain Job takes all that a node has
        assert head == {"cpu": "2", "memory": "8Gi"}
        assert worker["nvidia.com/gpu"] == "8"
        assert worker["vpc.amazonaws.com/efa"] == "4"
        assert int(alone["cpu"]) - int(worker["cpu"]) == 2
        assert int(alone["memory"][:-2]) - int(worker["memory"][:-2]) == 8
        starts = body["rayClusterSpec"]["headGroupSpec"]["rayStartParams"]
        assert starts == {"num-cpus": "0"}

    def test_a_quota_of_its_nodes_holds_the_head_too(self) -> None:
        quota = [{"pool": "gpu", "nodes": 4}]
        queue = [{"name": "q", "namespaces": ["training"], "quota": quota}]
        data = spec(queues=queue, job={**SHARDS, "kind": "RayJob"})
        lifted = lift(objects_of(plan_of(data)), closed=True)
        world = Reading(lifted, load_catalog())
        (work,) = world.works
        assert quota_shortfall(work, world) is None
        full = limits_of(body_of(manifests_of(spec(job=SHARDS)), "Job")["spec"])
        own = {"resources": {"cpu": int(full["cpu"])}}
        data = spec(queues=queue, job={**SHARDS, "kind": "RayJob", **own})
        lifted = lift(objects_of(plan_of(data)), closed=True)
        world = Reading(lifted, load_catalog())
        shortfall = quota_shortfall(world.works[0], world)
        assert shortfall is not None
        assert shortfall.quota.resource == "cpu"

    def test_the_head_lands_on_any_host_of_the_pool(self) -> None:
        pool = {"nodes": 8, "topology": "network"}
        data = spec(pool=pool, job={**SHARDS, "kind": "RayJob"})
        body = body_of(manifests_of(data), "RayJob")["spec"]
        head, worker = (group["template"]["metadata"]["annotations"] for group in groups_of(body))
        assert head["kueue.x-k8s.io/podset-unconstrained-topology"] == "true"
        assert "kueue.x-k8s.io/podset-preferred-topology" in worker
        assert "kueue.x-k8s.io/podset-preferred-topology" not in head

    def test_each_retry_is_a_new_cluster(self) -> None:
        assert self.spec_of()["backoffLimit"] == 3
        body = self.spec_of(retries=0, timeout="2h")
        assert (body["backoffLimit"], body["activeDeadlineSeconds"]) == (0, 7200)

    def test_flux_applies_it_once(self) -> None:
        """Kueue writes into `workerGroupSpecs`, which has no list type: server-side apply would replace all of it."""
        manifests = manifests_of(spec(job={**SHARDS, "kind": "RayJob"}))
        annotations = body_of(manifests, "RayJob")["metadata"]["annotations"]
        assert annotations["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent"
        schema = json.loads((DATA / file_name("ray.io", "v1", "RayJob")).read_text())
        cluster = schema["schema"]["properties"]["spec"]["properties"]["rayClusterSpec"]
        assert "list" not in cluster["properties"]["workerGroupSpecs"]

    def test_init_containers_of_the_head_ask_for_no_more_than_it(self) -> None:
        body = self.spec_of(initContainers=[{"name": "a", "command": ["x"]}])
        pod = body["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
        (container,) = pod["initContainers"]
        assert container["resources"]["limits"] == {"cpu": "2", "memory": "8Gi"}

    def test_its_operator_comes_with_it_and_reaches_the_head(self) -> None:
        job = {**SHARDS, "kind": "RayJob", "namespace": "team-a"}
        plan = plan_of(spec(namespaces=[{"name": "team-a"}], job=job))
        release = plan.named(HelmRelease, "kuberay-operator", "flux-system")
        assert release is not None
        assert release.stays
        policy = plan.named(NetworkPolicy, "training", "team-a")
        assert policy is not None
        (own, operator) = policy.ingress or ()
        assert own.ports == ()
        assert operator.ports == (("TCP", 8265),)
        assert plan_of(spec()).named(HelmRelease, release.name, "flux-system") is None

    @pytest.mark.parametrize(
        ("job", "code"),
        [
            ({"launcher": {"torchrun": {}}}, "RES161"),
            ({"timeout": "1h", "retries": 2}, "RES201"),
            ({"command": ["torchrun", "train.py"]}, "RES202"),
            ({"command": ["python", "t.py", "$(CHECKPOINT_DIR)"]}, "RES203"),
            ({"minNodes": 2}, "RES164"),
            (ROLES, "RES167"),
            ({"processesPerNode": 4}, "RES130"),
        ],
    )
    def test_what_it_cannot_carry_is_an_error(self, job: dict[str, Any], code: str) -> None:
        assert codes(spec(job={**SHARDS, "kind": "RayJob", **job})) == [code]

    def test_with_a_timeout_it_is_tried_once_unless_somebody_says_otherwise(self) -> None:
        """KubeRay counts the time of each try by itself."""

        def tries(**job: str) -> list[int | None]:
            plan = plan_of(spec(job={**SHARDS, "kind": "RayJob", **job}))
            return [runtime.max_restarts for runtime in plan.of(Runtime) if runtime.kind]

        assert tries(timeout="1h") == [0]
        assert tries() != [0]


def groups_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The head of a RayJob's cluster, and its workers."""
    cluster = body["rayClusterSpec"]
    return [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]


def limits_of(group: dict[str, Any]) -> dict[str, str]:
    """What the container of a pod template is limited to."""
    (container,) = group["template"]["spec"]["containers"]
    limits: dict[str, str] = container["resources"]["limits"]
    return limits


def frameworks(data: dict[str, Any]) -> tuple[str, ...]:
    manager = plan_of(data).one(QueueManager)
    assert manager is not None
    return manager.frameworks


class TestOperators:
    def test_a_cluster_without_such_jobs_has_none(self) -> None:
        plan = plan_of(spec(jobs=[]))
        assert plan.of(GitSource) == ()
        assert "kubeflow.org/pytorchjob" not in frameworks(spec())

    def test_upstreams_manifests_are_taken_at_the_commit_of_the_release(self) -> None:
        plan = plan_of(spec(job=V1))
        (source,) = plan.of(GitSource)
        folder = load_catalog().newest_release.git("training-operator")
        assert (source.url, source.commit) == (folder.url, folder.commit)
        stage = plan.named(Stage, "training-operator", "flux-system")
        assert stage is not None
        assert (stage.path, stage.source) == (folder.path, source.name)

    def test_nothing_of_them_is_ever_deleted(self) -> None:
        """With their CRDs every job of the kind would go."""
        for job in (V1, MPI):
            plan = plan_of(spec(job=job))
            (source,) = plan.of(GitSource)
            stage = plan.named(Stage, source.name, "flux-system")
            assert stage is not None
            assert not stage.prune

    def test_kueue_heeds_the_kinds_of_the_spec(self) -> None:
        assert frameworks(spec(job=V1))[-1] == "kubeflow.org/pytorchjob"
        assert frameworks(spec(job=MPI))[-1] == "kubeflow.org/mpijob"
        ray = {**SHARDS, "kind": "RayJob"}
        assert frameworks(spec(job=ray))[-1] == "ray.io/rayjob"

    def test_teams_may_end_their_runs(self) -> None:
        data = spec(
            namespaces=[{"name": "team-a", "group": "team-a"}], job={**V1, "namespace": "team-a"}
        )
        role = body_of(manifests_of(data), "Role", "training-users")
        rules = {tuple(rule["resources"]): rule["verbs"] for rule in role["rules"]}
        assert "delete" in rules["mpijobs", "pytorchjobs"]


def codes(data: dict[str, Any]) -> list[str]:
    return sorted(fault.code for fault in resolved(data)[1])


@pytest.mark.parametrize(
    ("job", "code"),
    [
        ({**SET, **BY_MPI}, "RES161"),
        ({"kind": "Job", **BY_MPI}, "RES161"),
        ({**V1, **BY_MPI}, "RES161"),
        ({"kind": "Pod"}, "RES271"),
        ({**V1, "launcher": {"jax": {}}, "command": ["python", "t.py"]}, "RES161"),
        ({**SET, "timeout": "1h"}, "RES162"),
        ({"kind": "Job"}, "RES163"),
        (ROLES, "RES167"),
        ({**SET, "roles": [{"name": "node", "command": ["x"]}]}, "RES009"),
    ],
)
def test_what_a_kind_cannot_do_is_an_error(job: dict[str, Any], code: str) -> None:
    assert codes(spec(job=job)) == [code]


ALL = "write one of `TrainJob`, `PyTorchJob`, `MPIJob`, `JobSet`, `Job`, `RayJob`"


@pytest.mark.parametrize(
    ("kind", "help"),
    [
        ("PytorchJob", "did you mean `PyTorchJob`?"),
        ("RayJobs", "did you mean `RayJob`?"),
        ("Jobs", "did you mean `Job`?"),
        ("TFJob", ALL),
        ("Deployment", ALL),
    ],
)
def test_a_kind_that_is_like_another_by_its_end_alone_is_not_meant(kind: str, help: str) -> None:
    (found,) = resolved(spec(job={"kind": kind}))[1]
    assert (found.code, found.help) == ("RES271", help)


@pytest.mark.parametrize("kind", sorted(kinds().keys() - {"HyperPodPyTorchJob"}))
@pytest.mark.parametrize("launcher", JobLauncher.model_fields)
def test_each_kind_has_a_launcher_or_refuses_it(kind: str, launcher: str) -> None:
    field = JobLauncher.model_fields[launcher]
    assert field.examples
    said = {field.alias or launcher: field.examples[0]}
    refused = "RES161" in codes(spec(job={"kind": kind, "launcher": said}))
    assert refused is (launcher_named(launcher).framework not in kinds()[kind].launchers)


class TestMigration:
    @pytest.fixture
    def folder(self, tmp_path: Path, trainyard: Command) -> Path:
        """A cluster of which a PyTorchJob was submitted."""
        write(tmp_path, spec(jobDefaults=V1))
        assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
        return tmp_path

    @pytest.mark.slow
    def test_a_run_never_becomes_another_kind(self, folder: Path, trainyard: Command) -> None:
        write(folder, spec())
        done = trainyard("check", "spec.yaml", cwd=folder)
        assert done.code == 1
        assert "error[CHG026]: job `train` was submitted as PyTorchJob" in done.out
        assert "kubectl delete pytorchjob train-" in done.out

    def test_its_operator_stays_as_long_as_it_runs(self, folder: Path, trainyard: Command) -> None:
        write(folder, spec(job={"rerun": 1}))
        done = trainyard("check", "spec.yaml", cwd=folder)
        assert "error[CHG001]: operator `training-operator` leaves" in done.out

    @pytest.mark.slow
    def test_after_its_end_the_job_runs_again_as_a_train_job(
        self, folder: Path, trainyard: Command
    ) -> None:
        (run,) = (folder / "generated/lab/runs").glob("*.json")
        name = json.loads(run.read_text())["object"]
        write(folder, spec(job={"rerun": 1}, completedRuns=[name]))
        assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
        jobs = folder / "generated/lab/jobs"
        assert [path.name.split("-")[0] for path in jobs.glob("*job-*")] == ["training.trainjob"]

    @pytest.mark.slow
    def test_a_finished_run_is_not_started_again(self, folder: Path, trainyard: Command) -> None:
        write(folder, spec(jobDefaults=V1, job={"completed": True}))
        assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
        write(folder, spec(job={"completed": True}))
        assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
        assert list((folder / "generated/lab/jobs").glob("*job-*")) == []
        write(folder, spec())
        done = trainyard("check", "spec.yaml", cwd=folder)
        assert "error[RES030]: job `train` has ended" in done.out

    @pytest.mark.slow
    @pytest.mark.parametrize("job", [SET, SHARDS, ALONE, MPI, {**SHARDS, "kind": "RayJob"}])
    def test_a_job_of_any_kind_runs_once(
        self, tmp_path: Path, trainyard: Command, job: dict[str, Any]
    ) -> None:
        write(tmp_path, spec(job=job))
        assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
        write(tmp_path, spec(job={**job, "env": {"A": "1"}}))
        done = trainyard("check", "spec.yaml", cwd=tmp_path)
        assert "error[RES030]: job `train` was submitted as" in done.out
        write(tmp_path, spec(job={**job, "env": {"A": "1"}, "rerun": 1}))
        assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
        assert len(list((tmp_path / "generated/lab/runs").glob("*.json"))) == 2


def test_a_patch_of_the_spec_renames_a_job_of_any_kind() -> None:
    patch = {
        "target": {"kind": "PyTorchJob"},
        "patch": {"spec": {"runPolicy": {"ttlSecondsAfterFinished": 600}}},
    }
    plan = plan_of(spec(job=V1, patches=[patch]))
    (before,) = plan.of(TrainJob)
    patched, _, faults = apply_patches(plan, list(lower(plan)))
    assert faults == []
    (job,) = patched.of(TrainJob)
    assert job.name != before.name
    (runtime,) = patched.of(Runtime)
    assert runtime.name == job.runtime == job.name
    assert job.patched != ()
