"""Open MPI by Trainer's policy ``mpi``: mpirun in the first pod, SSH servers in the others.

Trainer makes a Secret with the keys of a job and a ConfigMap with its hosts, mounts both, and gives mpirun its
variables (trainer v2.3.0, pkg/runtime/framework/plugins/mpi). The pod of mpirun is a node like the others
(``runLauncherAsNode``), so that a job has as many pods, and asks for as much, as it has nodes. The lines of shell were
observed with Open MPI 4.1.4 and OpenSSH 9.2 (Debian 12), on two hosts.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import Launcher
from trainyard.core.jobs.launchers.mpi.spec import Mpi
from trainyard.core.jobs.starters import first_named
from trainyard.core.jobs.variables import variable
from trainyard.core.pods.plan import Container, EnvVar, Mount, Pod, ReplicatedJob, Volume
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

NODE, LAUNCHER_JOB = "node", "launcher"
# trainer v2.3.0, pkg/constants: the volumes that Trainer adds, and where it mounts that of the hosts.
_KEYS_VOLUME, _HOSTS_VOLUME, _HOSTS = "mpi-ssh-auth", "mpi-hostfile", "/etc/mpi"
_KEYS = "/etc/mpi-ssh"
_SSH_VOLUME, _SSH = "mpi-ssh", "/root/.ssh"
# sshd(8) starts sessions of other users as root alone, and the keys are in root's home, whatever user the image has.
_ROOT = 0
_GROUP = "kueue.x-k8s.io/podset-group-name"
_PLACED = ("kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology")
_STARTERS = ("mpirun", "mpiexec", "orterun", "prterun", "horovodrun", "deepspeed")
_TORCHRUN = ("torchrun", "torch.distributed.run")
_SHELLS = ("sh", "bash", "dash")


class OpenMpi(Launcher):
    """mpirun on every node of the job."""

    framework = "mpi"
    volumes = (_SSH_VOLUME, _KEYS_VOLUME, _HOSTS_VOLUME)

    def check(self, context: Context, job: Job) -> None:
        self.check_ignored(context, job, "torchVersion", "maxRestarts")
        _check_command(context, job)
        _check_names(context, job)
        _check_paths(context, job)

    def settings(self, job: Job) -> Mapping[str, str | int | bool]:
        return {
            "mpiImplementation": "OpenMPI",
            "runLauncherAsNode": True,
            "sshAuthMountPath": _KEYS,
        }

    def jobs(
        self, context: Context, job: Job, pod: Pod, asked: Mapping[str, Quantity]
    ) -> tuple[ReplicatedJob, ...]:
        """The pod of mpirun, and the others; a job of one node has the first alone.

        With both, Trainer makes at least one of each, for any ``numNodes``.
        """
        pod = _with_keys(job, pod, asked)
        if job.spec.nodes == 1:
            return (_replicated(job, LAUNCHER_JOB, pod),)
        if not pod.annotations.keys().isdisjoint(_PLACED):
            annotations = {**pod.annotations, _GROUP: self.framework}
            pod = replace(pod, annotations=annotations)
        return (_replicated(job, NODE, _serving(job, pod)), _replicated(job, LAUNCHER_JOB, pod))

    def decisive(self, job: Job) -> tuple[str, ...]:
        """The SSH servers never end: mpirun's end is that of the job."""
        return (LAUNCHER_JOB,)

    def environment(self, context: Context, job: Job) -> list[EnvVar]:
        why = "mpirun refuses to run as root unless it is confirmed"
        source = "Open MPI 4.1.6, orte/orted/orted_submit.c"
        variables = []
        for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
            variables += variable(context, job, name, "1", why, source)
        return variables

    def explain(self, context: Context, job: Job) -> None:
        spec = job.spec
        others = spec.nodes - 1
        context.derive(
            job.target,
            "launcher.pods",
            f"1 with mpirun and a node's ranks, {others} with sshd",
            "the pod of mpirun counts as a node: quota and gang are those of the nodes",
            "trainer v2.3.0, mpi plugin: runLauncherAsNode",
        )
        context.derive(
            job.target,
            "launcher.hosts",
            f"{_HOSTS}/hostfile",
            "Trainer writes each node with a slot for each process: mpirun needs no `-np`",
            "trainer v2.3.0, mpi plugin",
        )
        context.derive(
            job.target,
            "launcher.ssh",
            f"{_SSH}, port {_mpi(job).ssh_port}",
            "SSH refuses the keys as a Secret mounts them, readable for a group: they are copied",
            "OpenSSH authfile.c sshkey_perm_ok; trainer v2.3.0, MPISSHPrivateKeyFileMode",
        )
        context.derive(
            job.target,
            "launcher.environment",
            f"{_SSH}/environment",
            "ranks that SSH starts get the variables of their pod: mpirun needs no `-x`",
            "sshd_config(5), PermitUserEnvironment",
        )


def _mpi(job: Job) -> Mpi:
    launcher = job.spec.launcher
    if launcher is not None:
        given = launcher.mpi
    else:
        given = None
    return given or Mpi.model_construct(ssh_port=2222, sshd="/usr/sbin/sshd")


def _replicated(job: Job, name: str, pod: Pod) -> ReplicatedJob:
    launches = name == LAUNCHER_JOB
    after: tuple[str, ...] = ()
    if launches and job.spec.nodes > 1:
        after = (NODE,)
    return ReplicatedJob(
        at=job.at,
        name=name,
        step="trainer" if launches else None,
        pod=pod,
        backoff_limit=0,
        ready_after=after,
    )


def _with_keys(job: Job, pod: Pod, asked: Mapping[str, Quantity]) -> Pod:
    """The pod with the keys of the job where SSH takes them, and SSH configured for the other pods."""
    at = job.at / "launcher"
    mount = Mount(_SSH_VOLUME, _SSH)
    share = {name: asked[name] for name in ("cpu", "memory")}
    copies = Container(
        at=at,
        name=_SSH_VOLUME,
        image=job.spec.image,
        command=("/bin/sh", "-c", _copying(_mpi(job))),
        requests=share,
        limits=share,
        mounts=(Mount(_KEYS_VOLUME, _KEYS, read_only=True), mount),
        run_as_user=_ROOT,
        origins={"image": job.at / "image"},
    )
    containers = [
        replace(container, mounts=(*container.mounts, mount), run_as_user=_ROOT)
        for container in pod.containers
    ]
    return replace(
        pod,
        init_containers=(copies, *pod.init_containers),
        containers=tuple(containers),
        volumes=(*pod.volumes, Volume(_SSH_VOLUME, "emptyDir")),
        origins={**pod.origins, f"volumes.{_SSH_VOLUME}": at},
    )


def _copying(mpi: Mpi) -> str:
    """Line of shell: keys that only root reads, and a client that asks nobody about hosts made a moment ago."""
    options = (
        "Host *",
        f"  Port {mpi.ssh_port}",
        "  StrictHostKeyChecking no",
        "  UserKnownHostsFile /dev/null",
        "  LogLevel ERROR",
    )
    lines = shlex.join(options)
    return (
        f"umask 077 && cp {_KEYS}/id_rsa {_KEYS}/authorized_keys {_SSH}/ && "
        f"printf '%s\\n' {lines} > {_SSH}/config"
    )


def _serving(job: Job, pod: Pod) -> Pod:
    """The pod of a node that mpirun reaches: the image of the job, and in it the SSH server."""
    containers = [
        replace(
            container,
            image=job.spec.image,
            command=("/bin/sh", "-c", _server(_mpi(job))),
            origins={
                **container.origins,
                "image": job.at / "image",
                "command": job.at / "launcher",
            },
        )
        for container in pod.containers
    ]
    return replace(pod, containers=tuple(containers))


def _server(mpi: Mpi) -> str:
    """Line of shell: a server that takes the job's keys alone, and gives sessions the variables of the pod."""
    options = (
        f"HostKey={_SSH}/id_rsa",
        f"AuthorizedKeysFile={_SSH}/authorized_keys",
        "PasswordAuthentication=no",
        "PermitUserEnvironment=yes",
        "StrictModes=no",
        "PidFile=none",
    )
    given = " ".join(f"-o {option}" for option in options)
    sshd = shlex.quote(mpi.sshd)
    return (
        f"umask 077 && mkdir -p /run/sshd && env > {_SSH}/environment && "
        f"exec {sshd} -D -e -f /dev/null -p {mpi.ssh_port} {given}"
    )


# --- checks


def _check_command(context: Context, job: Job) -> None:
    """mpirun runs in one pod; other programs of that pod run only there."""
    spec = job.spec
    words = [*spec.command, *spec.args]
    line = "\n".join(words)
    place = job.at / "command"
    torchrun = first_named(words, _TORCHRUN)
    if torchrun is not None:
        context.fault(
            "RES131",
            f"job `{job.spec.name}` has the launcher `mpi`, and its command starts `{torchrun}`, which only the first "
            "of its nodes would run",
            place,
            "remove `launcher`, or start the program by `mpirun`",
        )
        return
    program = posixpath.basename(words[0])
    starts_itself = program in _SHELLS or _starts(line)
    if job.spec.nodes > 1 and not starts_itself:
        context.doubt(
            "RES131",
            f"job `{job.spec.name}` has the launcher `mpi`, "
            f"and its command starts no {listed(_STARTERS[:2])}: only "
            "the first of its nodes runs the program",
            place,
            f"write `mpirun` before `{words[0]}`",
        )


def _starts(line: str) -> bool:
    return any(name in line for name in _STARTERS)


def _check_names(context: Context, job: Job) -> None:
    """core/v1 PodSpec: names are unique, also those of what Trainer adds."""
    volumes = [volume.name for volume in job.spec.volumes]
    containers = [container.name for container in job.spec.init_containers]
    items = [
        ("volume", "volumes", volumes, OpenMpi.volumes),
        ("container", "initContainers", containers, (_SSH_VOLUME,)),
    ]
    for what, key, given, reserved in items:
        for index, name in enumerate(given):
            if name in reserved:
                context.fault(
                    "RES009",
                    f"{what} `{name}` of job `{job.spec.name}` is the name of one that every pod of `mpi` has",
                    job.at / key / index / "name",
                    "rename it",
                )


def _check_paths(context: Context, job: Job) -> None:
    """The API server refuses a pod with two mounts at one path."""
    for path, place in _paths(job):
        folder = posixpath.normpath(path)
        if folder in (_SSH, _KEYS, _HOSTS):
            context.fault(
                "RES031",
                f"job `{job.spec.name}` mounts something at `{path}`, where the launcher `mpi` has its keys or hosts",
                job.at / place,
                "write another path",
            )


def _paths(job: Job) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Where the job mounts something, and the place of that below the job."""
    for index, mount in enumerate(job.spec.mounts):
        yield (mount.path, ("mounts", index, "path"))
    for index, volume in enumerate(job.spec.volumes):
        yield (volume.path, ("volumes", index, "path"))


LAUNCHER = OpenMpi()
