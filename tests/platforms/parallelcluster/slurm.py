"""A real Slurm on this machine: its controller and a daemon for each node, with the partitions that were compiled.

Nodes say that they have the CPUs, memory and GPUs of their instance type (``SlurmdParameters=config_overrides``), and
all of them are this machine. Debian's ``slurm-wlm``; without it the tests say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from served import free_port
from trainyard.catalog import load_catalog

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue")
MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
WHY = f"Debian's package slurm-wlm is not installed: no {', '.join(MISSING)}"
_PERCENT = 95

CONFIGURATION = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/s/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,requeue_delay=0
GresTypes=gpu
MpiDefault=none
ReturnToService=2
KillWait=2
EnforcePartLimits=ALL
"""


class Slurm:
    """A controller that runs, and how to ask it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "SLURM_CONF": str(folder / "slurm.conf"),
            "HOME": str(folder / "home"),
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        }

    def ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm."""
        return subprocess.run(
            command,
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def submit(self, script: Path) -> str:
        """The id of a job that was taken; an AssertionError with what Slurm says where it was not."""
        said = self.ask("sbatch", "--parsable", str(script))
        assert said.returncode == 0, said.stderr
        return said.stdout.strip()

    def state(self, job: str) -> str:
        said = self.ask("scontrol", "show", "job", job, "--oneliner").stdout
        (state,) = [word for word in said.split() if word.startswith("JobState=")]
        return state.removeprefix("JobState=")

    def put_forward(self, job: str, *, seconds: int = 60) -> None:
        """Once a job is put back into its queue, let it start soon. It would wait for two minutes.

        Not within the second in which it was put back: slurmd takes no credential that is as old as the one that it
        revoked (Slurm 22.05, "Job credential revoked").
        """
        ends = time.monotonic() + seconds
        while "Restarts=0" in self.ask("scontrol", "show", "job", job, "--oneliner").stdout:
            assert time.monotonic() < ends, self._logs()
            time.sleep(0.2)
        self.wait(job, "PENDING")
        done = self.ask("scontrol", "update", f"JobId={job}", "StartTime=now+3")
        assert done.returncode == 0, done.stderr

    def wait(self, job: str, *states: str, seconds: int = 60) -> str:
        """The state of a job, once it is one of these."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            state = self.state(job)
            if state in states:
                return state
            time.sleep(0.2)
        raise AssertionError(f"{state} after {seconds} s: {self._logs()}")

    def _logs(self) -> str:
        return (self.folder / "slurmctld.log").read_text()[-2000:]


def nodes_of(queue: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """The compute resources of a queue: the names of their nodes, as ParallelCluster calls them, type and number."""
    for resource in queue["ComputeResources"]:
        kind = "st" if resource["MinCount"] else "dy"
        name = f"{queue['Name']}-{kind}-{resource['Name']}"
        yield name, resource["InstanceType"], resource["MaxCount"]


@contextmanager
def slurm(queues: list[Mapping[str, Any]], *, daemons: bool) -> Iterator[Slurm]:
    """A controller with these queues. ``daemons``: each node has one, so that jobs run; without, nodes are of a cloud
    and never come. Its folder has a short path: those of sockets have 108 characters at most (unix(7))."""
    with (
        TemporaryDirectory(prefix="slurm", dir="/tmp") as name,
        _running(Path(name), queues, daemons=daemons) as running,
    ):
        yield running


@contextmanager
def _running(folder: Path, queues: list[Mapping[str, Any]], *, daemons: bool) -> Iterator[Slurm]:
    for name in ("state", "s", "home", "bin"):
        (folder / name).mkdir(parents=True)
    for index in range(8):
        (folder / f"gpu{index}").touch()
    settings = [CONFIGURATION.format(folder=folder, port=free_port(), user=_user())]
    gres, started = [], []
    if not daemons:
        settings.append("ResumeProgram=/bin/true\nSuspendProgram=/bin/true\nSuspendTime=600\n")
    for queue in queues:
        names = []
        for name, kind, count in nodes_of(queue):
            instance = load_catalog().instance(kind)
            assert instance is not None
            memory = instance.memory_mib * _PERCENT // 100
            listed = f"{name}-[1-{count}]"
            names.append(listed)
            gpus = f" Gres=gpu:{instance.gpus}" if instance.gpus else ""
            what = f"CPUs={instance.vcpus} RealMemory={memory}{gpus}"
            if daemons:
                for number in range(1, count + 1):
                    address = f"NodeHostname=localhost NodeAddr=127.0.0.1 Port={free_port()}"
                    settings.append(f"NodeName={name}-{number} {address} {what}\n")
                    started.append(f"{name}-{number}")
            else:
                settings.append(f"NodeName={listed} State=CLOUD {what}\n")
            if instance.gpus:
                last = instance.gpus - 1
                gres.append(f"NodeName={listed} Name=gpu File={folder}/gpu[0-{last}]\n")
        settings.append(
            f"PartitionName={queue['Name']} Nodes={','.join(names)} MaxTime=INFINITE State=UP\n"
        )
    (folder / "slurm.conf").write_text("".join(settings))
    (folder / "gres.conf").write_text("".join(gres))
    running = Slurm(folder)
    processes = [_start(running, "slurmctld", "-D")]
    processes += [_start(running, "slurmd", "-D", "-N", name) for name in started]
    try:
        _answering(running, len(started))
        yield running
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _start(running: Slurm, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=running.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _answering(running: Slurm, daemons: int) -> None:
    """Wait until the controller answers and every daemon has told it of itself."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        said = running.ask("sinfo", "--noheader", "--Node", "--format=%N %t")
        idle = [line for line in said.stdout.splitlines() if line.endswith((" idle", " idle~"))]
        if said.returncode == 0 and len(idle) >= daemons:
            return
        time.sleep(0.2)
    raise AssertionError(f"{said.stdout}{said.stderr}{running._logs()}")
