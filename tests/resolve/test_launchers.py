"""What a launcher makes of a job: its runtime, its pods and their variables, and back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from builders import (
    FSX,
    OLD_TRAINER,
    body_of,
    components,
    job_of,
    manifests_of,
    plan_of,
    resolved,
    shape_faults,
    spec,
)
from trainyard.core.pods.plan import ReplicatedJob
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.lift import lift
from trainyard.plan.base import content
from trainyard.run.lower import lower
from trainyard.verify.formats import objects

MPI: dict[str, Any] = {"launcher": {"mpi": {}}, "command": ["mpirun", "python", "t.py"]}
SAVES: dict[str, Any] = {
    "storage": [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}]
}


def runtime_of(data: dict[str, Any]) -> Runtime:
    (runtime,) = plan_of(data).of(Runtime)
    return runtime


def jobset_of(data: dict[str, Any]) -> dict[str, Any]:
    """The template of the only runtime."""
    body = body_of(manifests_of(data), "ClusterTrainingRuntime")
    template: dict[str, Any] = body["spec"]["template"]["spec"]
    return template


def script(job: ReplicatedJob, container: str) -> str:
    """The line of shell that a container of a replicated job runs."""
    known = {one.name: one for one in (*job.pod.init_containers, *job.pod.containers)}
    return known[container].command[-1]


def codes(data: dict[str, Any]) -> list[str]:
    return sorted(fault.code for fault in resolved(data)[1])


def test_containers_of_mpi_run_as_root_whatever_user_the_image_has() -> None:
    """An image of the spec has a user of its own."""
    for job in runtime_of(spec(job=MPI)).jobs:
        containers = (*job.pod.init_containers, *job.pod.containers)
        assert [container.run_as_user for container in containers] == [0, 0]
    for replicated in jobset_of(spec(job=MPI))["replicatedJobs"]:
        pod = replicated["template"]["spec"]["template"]["spec"]
        for container in (*pod["initContainers"], *pod["containers"]):
            assert container["securityContext"]["runAsUser"] == 0


def test_without_a_launcher_a_job_is_torchruns() -> None:
    written = spec(job={"launcher": {"torchrun": {}}})
    assert content(runtime_of(spec())) == content(runtime_of(written))
    assert job_of(spec()).name == job_of(written).name


@pytest.mark.parametrize("launcher", [{}, {"torchrun": {}, "mpi": {}}])
def test_a_job_has_one_launcher(launcher: dict[str, Any]) -> None:
    (fault,) = shape_faults(spec(job={"launcher": launcher}))
    assert "write exactly one of" in fault.help


class TestMpi:
    def test_mpirun_is_in_the_pod_of_a_node(self) -> None:
        """Four nodes are three pods with sshd and one with mpirun (trainer v2.3.0, runLauncherAsNode)."""
        runtime = runtime_of(spec(job=MPI))
        node, launcher = runtime.jobs
        assert (node.name, launcher.name) == ("node", "launcher")
        assert (node.step, launcher.step) == (None, "trainer")
        assert launcher.ready_after == ("node",)
        assert runtime.decisive == ("launcher",)
        assert runtime.settings["runLauncherAsNode"] is True
        assert job_of(spec(job=MPI)).nodes == 4

    def test_one_node_is_one_pod(self) -> None:
        """With both jobs Trainer would make one pod of each."""
        (launcher,) = runtime_of(spec(job={**MPI, "nodes": 1})).jobs
        assert (launcher.name, launcher.ready_after) == ("launcher", ())

    def test_all_pods_get_the_same_of_a_node(self) -> None:
        data = spec(
            job={
                **MPI,
                "mounts": [{"storage": "data", "path": "/data"}],
                "checkpoint": {"path": "/data/run", "signalFile": "/tmp/save"},
            },
            **SAVES,
        )
        node, launcher = runtime_of(data).jobs
        assert node.pod.volumes == launcher.pod.volumes
        assert node.pod.grace_seconds == launcher.pod.grace_seconds == 300
        for job in (node, launcher):
            (container,) = job.pod.containers
            assert container.pre_stop
            assert "/dev/shm" in {mount.path for mount in container.mounts}
        assert [patch.job for patch in job_of(data).patches] == ["node", "launcher"]

    def test_patches_of_one_manager_are_one_entry(self) -> None:
        """trainer.kubeflow.org/v1alpha1: runtimePatches is a list by manager."""
        data = spec(job={**MPI, "mounts": [{"storage": "data", "path": "/d"}]}, **SAVES)
        (patch,) = body_of(manifests_of(data), "TrainJob")["spec"]["runtimePatches"]
        jobs = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
        assert [job["name"] for job in jobs] == ["node", "launcher"]

    def test_nodes_run_the_image_of_the_job(self) -> None:
        """Trainer gives image and command of the TrainJob to the job of step `trainer` alone."""
        node, launcher = runtime_of(spec(job=MPI)).jobs
        assert node.pod.containers[0].image == "registry.test/train:1.0"
        assert launcher.pod.containers[0].image is None

    def test_keys_are_copied_to_where_ssh_takes_them(self) -> None:
        runtime = runtime_of(spec(job=MPI))
        assert runtime.settings["sshAuthMountPath"] == "/etc/mpi-ssh"
        for job in runtime.jobs:
            copies = script(job, "mpi-ssh")
            assert copies.startswith("umask 077 && cp /etc/mpi-ssh/id_rsa ")
            (volume,) = [one for one in job.pod.volumes if one.name == "mpi-ssh"]
            assert volume.type == "emptyDir"

    def test_server_and_client_agree_on_the_port(self) -> None:
        mpi = {"mpi": {"sshPort": 2200, "sshd": "/opt/my sshd"}}
        node, launcher = runtime_of(spec(job={**MPI, "launcher": mpi})).jobs
        assert "'  Port 2200'" in script(launcher, "mpi-ssh")
        assert "exec '/opt/my sshd' -D -e -f /dev/null -p 2200 " in script(node, "node")

    def test_ranks_by_ssh_get_the_variables_of_their_pod(self) -> None:
        node, _ = runtime_of(spec(job=MPI)).jobs
        server = script(node, "node")
        assert "env > /root/.ssh/environment && exec " in server
        assert "PermitUserEnvironment=yes" in server

    def test_processes_are_slots(self) -> None:
        assert job_of(spec(job=MPI)).processes == 8
        assert job_of(spec(job={**MPI, "processesPerNode": 96})).processes == 96

    def test_no_variable_of_torchrun(self) -> None:
        names = {variable.name for variable in job_of(spec(job=MPI)).env}
        assert {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"} <= names
        assert not [name for name in names if name.startswith(("PET_", "TORCH_"))]

    def test_own_variables_win(self) -> None:
        env = {"OMPI_ALLOW_RUN_AS_ROOT": "0"}
        variables = job_of(spec(job={**MPI, "env": env})).env
        assert [one.value for one in variables if one.name in env] == ["0"]

    def test_retries_of_processes_change_no_run(self) -> None:
        plain = job_of(spec(job={**MPI, "retries": 4}))
        other = job_of(spec(job={**MPI, "retries": 4, "maxRestarts": 9}))
        assert plain.name == other.name

    def test_both_pod_sets_are_placed_as_one_group(self) -> None:
        """Kueue places the pod sets of a group in one domain (kueue v0.19.2, podset-group-name)."""
        placed = {"nodes": 4, "topology": "network"}
        for job in runtime_of(spec(pool=placed, job=MPI)).jobs:
            assert job.pod.annotations["kueue.x-k8s.io/podset-group-name"] == "mpi"
        alone = {**MPI, "topology": {"required": "hostname"}, "nodes": 1}
        (launcher,) = runtime_of(spec(pool=placed, job=alone)).jobs
        assert "kueue.x-k8s.io/podset-group-name" not in launcher.pod.annotations

    def test_without_a_topology_there_is_no_group(self) -> None:
        for job in runtime_of(spec(job=MPI)).jobs:
            assert "kueue.x-k8s.io/podset-group-name" not in job.pod.annotations

    def test_the_job_ends_with_mpirun(self) -> None:
        assert jobset_of(spec(job=MPI))["successPolicy"] == {
            "operator": "All",
            "targetReplicatedJobs": ["launcher"],
        }

    def test_what_is_read_back_is_what_was_planned(self) -> None:
        plan = plan_of(spec(job=MPI))
        read = lift(objects(lower(plan)), closed=True)
        for kind in (Runtime, TrainJob):
            assert list(read.of(kind)) == list(plan.of(kind))

    def test_a_shell_may_start_mpirun_anywhere(self) -> None:
        assert codes(spec(job={**MPI, "command": ["bash", "run.sh"]})) == []
        assert codes(spec(job={**MPI, "nodes": 1, "command": ["python", "t.py"]})) == []


JAX: dict[str, Any] = {"launcher": {"jax": {}}, "command": ["python", "train.py"]}


class TestJax:
    def test_one_process_a_node(self) -> None:
        """Trainer heeds no ``numProcPerNode`` of JAX (trainer v2.3.0, jax plugin)."""
        job = job_of(spec(job=JAX))
        assert (job.nodes, job.processes) == (4, None)
        runtime = runtime_of(spec(job=JAX))
        assert (runtime.framework, runtime.settings) == ("jax", {})
        assert [(one.name, one.step) for one in runtime.jobs] == [("node", "trainer")]
        assert runtime.decisive == ()

    def test_shared_memory_is_that_of_all_devices(self) -> None:
        (jax,), (torch,) = runtime_of(spec(job=JAX)).jobs, runtime_of(spec()).jobs
        assert jax.pod.volumes == torch.pod.volumes

    def test_variables_are_trainers(self) -> None:
        names = [variable.name for variable in job_of(spec(job=JAX)).env]
        assert names == ["NCCL_NET"]

    def test_on_cpus(self) -> None:
        cpu = {"instanceTypes": ["m7i.8xlarge"]}
        job = job_of(spec(pool=cpu, job=JAX))
        assert (job.env, job.processes) == ((), None)
        assert "nvidia.com/gpu" not in job.limits

    def test_devices_are_the_ranks_of_a_model(self) -> None:
        """One process on each node computes on all accelerators."""
        model = {"parameters": 8e9, "parallel": {"tensor": 8, "data": 4}}
        assert codes(spec(job={**JAX, "model": model})) == []

    def test_trainer_before_2_2_has_none(self) -> None:
        data = spec(job=JAX, components=components(trainer=OLD_TRAINER))
        assert "RES132" in codes(data)

    def test_what_is_read_back_is_what_was_planned(self) -> None:
        plan = plan_of(spec(job=JAX))
        read = lift(objects(lower(plan)), closed=True)
        for kind in (Runtime, TrainJob):
            assert list(read.of(kind)) == list(plan.of(kind))


NCCL: dict[str, Any] = {"nodes": 2, "image": None, "command": None, "launcher": {"ncclTest": {}}}
H100 = {"instanceTypes": ["p5.48xlarge"]}
ROW = "{:>12} {:>12} float sum -1 100.0 1.0 {:>8} 0 100.0 1.0 {:>8} 0"


def variables_of(data: dict[str, Any]) -> dict[str, str | None]:
    return {one.name: one.value for one in job_of(data).env}


def run_test(folder: Path, busbw: str, verdict: str = "0 OK") -> tuple[int, str]:
    """The script of the job, with stand-ins for what the image has. Exit code and output."""
    rows = [ROW.format(8388608, 2097152, "3.00", "3.00"), ROW.format(1, 1, busbw, "9")]
    perf = "\n".join([*rows, f"# Out of bounds values : {verdict}"])
    programs = {
        "mpirun": 'while [[ $1 == -* ]]; do shift 2; done; exec "$@"',
        "fi_info": "echo 'provider: efa'",
        "all_reduce_perf": f"cat <<'END'\n{perf}\nEND",
    }
    for name, text in programs.items():
        program = folder / name
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)
    job = job_of(spec(pool=H100, job=NCCL))
    variables = {one.name: one.value or "" for one in job.env}
    path = f"{folder}:{os.environ['PATH']}"
    script = job.command[-1].replace("/tmp/", f"{folder}/")
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        env={**variables, "PATH": path, "LD_LIBRARY_PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


class TestNcclTest:
    def test_two_lines_are_enough(self) -> None:
        job = job_of(spec(pool=H100, job=NCCL))
        assert job.image is not None
        assert job.image.startswith("public.ecr.aws/hpc-cloud/nccl-tests:cuda")
        assert job.command[:2] == ("/bin/bash", "-c")
        assert (job.nodes, job.processes) == (2, 8)

    @pytest.mark.parametrize(
        ("pool", "nodes", "expected", "least"),
        [
            ("p5.48xlarge", 2, "487.09", "365.317"),  # measured
            ("p5.48xlarge", 4, "400", "300"),  # 3200 Gbit/s
            ("p4d.24xlarge", 2, "50", "37.5"),
        ],
    )
    def test_what_is_expected_of_a_type(
        self, pool: str, nodes: int, expected: str, least: str
    ) -> None:
        job = {**NCCL, "nodes": nodes}
        found = variables_of(spec(pool={"instanceTypes": [pool]}, job=job))
        assert found["NCCL_TEST_EXPECTED"] == expected
        assert found["NCCL_TEST_AT_LEAST"] == least

    def test_own_expectation_and_share(self) -> None:
        launcher = {"ncclTest": {"busBandwidth": 20, "share": 0.9}}
        pool = {"instanceTypes": ["g6e.48xlarge"]}
        found = variables_of(spec(pool=pool, job={**NCCL, "launcher": launcher}))
        assert found["NCCL_TEST_AT_LEAST"] == "18"

    def test_messages_fit_the_memory_of_the_gpus(self) -> None:
        small = variables_of(spec(job=NCCL))
        large = variables_of(spec(pool=H100, job=NCCL))
        assert small["NCCL_TEST_MESSAGE"] == str(2 * 1024**3)
        assert large["NCCL_TEST_MESSAGE"] == str(16 * 1024**3)

    def test_it_is_not_retried(self) -> None:
        assert runtime_of(spec(pool=H100, job=NCCL)).max_restarts == 0
        asked = {**NCCL, "retries": 2}
        assert runtime_of(spec(pool=H100, job=asked)).max_restarts == 2

    def test_an_image_of_ones_own_knows_its_libraries(self) -> None:
        job = {**NCCL, "image": "registry.test/nccl:1"}
        assert "LD_LIBRARY_PATH" not in variables_of(spec(pool=H100, job=job))
        assert "LD_LIBRARY_PATH" in variables_of(spec(pool=H100, job=NCCL))

    def test_other_jobs_still_need_image_and_command(self) -> None:
        faults = shape_faults(spec(job={**MPI, "image": None, "command": None}))
        assert [fault.message for fault in faults] == ["`image` is missing", "`command` is missing"]

    def test_the_job_ends_well_at_what_is_asked(self, tmp_path: Path) -> None:
        code, out = run_test(tmp_path, "365.4")
        assert code == 0
        assert "EFA: 1 interfaces" in out
        assert out.endswith("bus bandwidth 365.4 GB/s, expected 487.09, at least 365.317\n")

    def test_the_job_fails_below_it(self, tmp_path: Path) -> None:
        """The bus bandwidth of the largest message counts, out of place."""
        code, out = run_test(tmp_path, "365.3")
        assert code == 1
        assert "bus bandwidth 365.3 GB/s" in out

    def test_the_job_fails_with_wrong_sums(self, tmp_path: Path) -> None:
        code, out = run_test(tmp_path, "480.0", "3 FAILED")
        assert code == 1
        assert "bus bandwidth" not in out
