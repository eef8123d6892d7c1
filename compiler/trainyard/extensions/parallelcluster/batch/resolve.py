"""Jobs: from ten lines to a batch script with everything said."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainyard.core.jobs.binding import is_under, resolve_jobs
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.jobs.plan import SPEC_NAME
from trainyard.core.jobs.retrying import derived_retries
from trainyard.core.jobs.settled import SettledJob, checked_jobs, places, settle
from trainyard.core.pods.plan import EFA, NEURON, EnvVar
from trainyard.core.secrets.spec import SecretsSection
from trainyard.core.secrets.taken import check_key, check_namespace
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.extensions.parallelcluster.accounts.accounts import account_of
from trainyard.extensions.parallelcluster.batch.bounds import check_script
from trainyard.extensions.parallelcluster.batch.kind import BATCH, RUN
from trainyard.extensions.parallelcluster.batch.plan import BatchJob, BindMount, StoredValue
from trainyard.extensions.parallelcluster.notifications.topics import topics_of
from trainyard.extensions.parallelcluster.partitions.partitions import partition_of
from trainyard.extensions.parallelcluster.partitions.plan import PARTITION
from trainyard.extensions.parallelcluster.settings.spec import ClusterSection
from trainyard.extensions.parallelcluster.shared_storage.resolve import mount_dir_of, mountable
from trainyard.language.places import Route
from trainyard.language.units import Duration, Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

KILL_WAIT = 300
"""Seconds between SIGTERM and SIGKILL of a job that is cancelled (``KillWait`` of the cluster)."""
_SIGNALS = "Slurm documentation, sbatch --signal and slurm.conf KillWait"
_PORTS = 10000
_QUIET, _LEAST_QUIET = 3600, 1800


def resolve(context: Context) -> Iterator[PlanItem]:
    """Every job, the memory of its model, and its checkpoints."""
    for job in checked_jobs(context):
        check_script(context, job)
        _check_priority(context, job)
    for job in context.once(resolve_jobs):
        settled = settle(context, job)
        yield _batch_job(context, settled)
        yield from settled.items()


def _check_priority(context: Context, job: Job) -> None:
    if job.spec.priority is None or ClusterSection.of(context.spec).own.accounting is not None:
        return
    context.fault(
        "RES308",
        f"job `{job.spec.name}` has priority `{job.spec.priority}`, and Slurm has priorities only with accounting",
        job.at / "priority",
        "add `accounting` to the platform, or remove it: jobs of a queue then start in their order",
        source="Slurm documentation, qos.html: QOS are kept in the accounting database",
    )


def _retries(context: Context, job: Job) -> int:
    return context.settle(
        job.target,
        "retries",
        job.spec.retries,
        derived_retries(job),
        "how often the job is put back into its queue after it failed",
        "Slurm documentation, scontrol requeue",
        at=job.at / "retries",
    )


def _batch_job(context: Context, settled: SettledJob) -> BatchJob:
    job, asked = settled.job, settled.asked
    spec = job.spec
    storages = context.once(resolve_storage)
    launcher_of(job).explain(context, job)
    retries = _retries(context, job)
    variables, stored = _variables(context, settled)
    partitions = tuple(partition_of(context, pool, job.queue) for pool in job.pools)
    account = account_of(context, job.queue, job.pool)
    # A node of a partition with EFA has all of its devices, and no directive asks for them.
    said = {name: amount for name, amount in asked.items() if name != EFA}
    unnamed = BatchJob(
        at=job.at,
        name=spec.name,
        namespace=job.namespace,
        kind=BATCH.name,
        queue=job.queue.name,
        priority=spec.priority,
        nodes=spec.nodes,
        processes=settled.processes,
        image=spec.image,
        command=tuple(map(_plain, (*spec.command, *spec.args))),
        program=len(spec.command),
        env=variables,
        requests=said,
        limits=said,
        selector={PARTITION: partitions[0]},
        labels={SPEC_NAME: spec.name},
        deadline=spec.timeout.seconds if spec.timeout else None,
        source_name=spec.name,
        pool=job.pool.name,
        fallbacks=tuple(other.name for other in job.others),
        rerun=spec.rerun,
        partitions=partitions,
        account=account,
        qos=spec.priority,
        exclusive=_takes_whole_nodes(job, asked),
        retries=retries,
        requeue=True,
        stop_signal=_stop_signal(context, settled),
        rendezvous=_rendezvous(context, settled),
        stored=stored,
        mounts=tuple(_mounts(context, job, storages)),
        files={path: _whole_lines(text) for path, text in spec.files.items()},
        working_dir=spec.working_dir or "",
        output=_output(context, job, storages),
        told=topics_of(context, job.namespace),
        quiet=_quiet(context, job),
        saved=_saved(context, job, storages),
        origins=_places(job),
    )
    return _named(context, job, unnamed)


def _named(context: Context, job: Job, unnamed: BatchJob) -> BatchJob:
    """A job by the name under which `jobs.sh` submits it, with a comment that people find it by."""
    spec = job.spec
    name = f"{spec.name}-{_digest(job)}"
    context.derive(
        job.target,
        "name",
        name,
        "carries a hash of what the spec says of it: `jobs.sh` submits each name once",
    )
    again = f", run {spec.rerun}" if spec.rerun else ""
    comment = f"trainyard {context.name}/{job.namespace}/{spec.name} in {job.queue.name}{again}"
    return replace(unnamed, name=name, comment=comment)


def _plain(word: str) -> str:
    """A word without the `$$` by which Kubernetes writes a `$`, where none of a variable or of another `$` follows."""
    return re.sub(r"(\$\$)(?![$(])|\$\$", lambda found: "$" if found[1] else "$$", word)


def _whole_lines(text: str) -> str:
    """A text as a here-document gives it: its last line ends too."""
    return text if text.endswith("\n") else f"{text}\n"


def _takes_whole_nodes(job: Job, asked: Mapping[str, Quantity]) -> bool:
    """Whether nothing of a node is left for another job: all of its accelerators, or of its CPUs.

    Slurm counts no Neuron devices, so that two jobs on a node would both take the first: ParallelCluster tells it of
    NVIDIA's GPUs alone (aws-parallelcluster-cookbook, slurm config generator, ``_get_min_gpu_count_and_type``).
    """
    share = job.pool.share
    if NEURON in asked:
        return True
    if share.resource:
        return share.resource in asked and asked[share.resource].value >= share.accelerators
    return asked["cpu"].value >= share.cpu


def _stop_signal(context: Context, settled: SettledJob) -> int | None:
    """How long before its end a job is told; one that is cancelled has the time of the cluster."""
    job = settled.job
    given = job.spec.termination_grace_period
    if given is not None and given.seconds > KILL_WAIT:
        context.doubt(
            "RES309",
            f"job `{job.spec.name}` has {given} to save before its time is over, and {Duration(KILL_WAIT)} when it is "
            "cancelled",
            job.at / "terminationGracePeriod",
            f"write `{Duration(KILL_WAIT)}` or less, or `customSlurmSettings: {{KillWait: {given.seconds}}}` of the "
            "platform",
            source=_SIGNALS,
        )
    return settled.grace if job.spec.timeout is not None else None


def _rendezvous(context: Context, settled: SettledJob) -> tuple[tuple[str, str], ...]:
    """The variables that the script works out: Slurm knows the nodes of a job when it starts.

    torchrun reads each of its options from PET_*. The port is the job's own: jobs may share a node.
    """
    variables = launcher_of(settled.job).rendezvous(context, settled.job, RUN)
    found = [(variable.name, variable.value or "") for variable in variables]
    if not found:
        return ()
    port = "$((20000 + SLURM_JOB_ID % 10000))"
    counted = (
        # Not by `head`: of some 150 nodes it would close the pipe before all names are in it.
        ("MASTER_ADDR", '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)'),
        ("MASTER_PORT", port),
        ("PET_NNODES", "$SLURM_JOB_NUM_NODES"),
        ("PET_NPROC_PER_NODE", str(settled.processes)),
    )
    return (*counted, *found)


def _variables(
    context: Context, settled: SettledJob
) -> tuple[tuple[EnvVar, ...], tuple[StoredValue, ...]]:
    """The variables of the program, and those whose values are kept in Secrets Manager."""
    plain, stored = [], []
    for variable in settled.environment:
        if variable.secret is None:
            plain.append(variable)
            continue
        found = _stored(context, settled.job, variable)
        if found is not None:
            stored.append(found)
    return tuple(plain), tuple(stored)


def _stored(context: Context, job: Job, variable: EnvVar) -> StoredValue | None:
    """Where the value of a variable is kept; a fault for a Secret that only Kubernetes would have."""
    index = next(
        index for index, given in enumerate(job.spec.secret_env) if given.env == variable.name
    )
    at = job.at / "secretEnv" / index
    declared = {secret.name: secret for secret in SecretsSection.of(context.spec).secrets}
    secret = declared.get(variable.secret or "")
    if secret is None:
        context.fault(
            "RES310",
            f"variable `{variable.name}` of job `{job.spec.name}` is of Secret `{variable.secret}`, and without "
            "Kubernetes there are none",
            at / "secret",
            "declare it under `secrets:`, by the name that it has in Secrets Manager",
        )
        return None
    if not check_namespace(context, secret, job.spec.name, job.namespace, at / "secret"):
        return None
    key = variable.key or ""
    if not check_key(context, secret, key, at / "key"):
        return None
    kept = secret.secrets_manager
    if kept.keys:
        key = kept.keys[key]
    return StoredValue(name=variable.name, secret=kept.existing.name, key=key)


def _mounts(context: Context, job: Job, storages: Mapping[str, Storage]) -> Iterator[BindMount]:
    for index, mount in enumerate(job.spec.mounts):
        storage = storages.get(mount.storage)
        at = job.at / "mounts" / index / "storage"
        if storage is not None and mountable(context, storage, at, job.spec.name):
            yield BindMount(mount_dir_of(context, storage), mount.path, mount.read_only)


def _output(context: Context, job: Job, storages: Mapping[str, Storage]) -> str:
    """The folder of the job's output: in its checkpoints' storage where it has one, which outlives the cluster, or the
    first that it may write to, or the home of who submits it."""
    folder = "logs"
    why = "a folder of who submits it, on the head node's volume"
    saves = job.spec.checkpoint
    mounts = [mount for mount in job.spec.mounts if not mount.read_only]
    if saves is not None:
        mounts = [mount for mount in mounts if is_under(saves.path, mount.path)] or mounts
    for mount in mounts:
        storage = storages.get(mount.storage)
        if storage is not None and storage.spec.s3 is None:
            folder = f"{mount_dir_of(context, storage)}/logs"
            why = f"on storage {mount.storage}, which outlives the cluster"
            break
    context.derive(
        job.target, "output", f"{folder}/%x-%j.out", why, "Slurm documentation, sbatch --output"
    )
    return folder


def _quiet(context: Context, job: Job) -> int:
    """After how many seconds without a line and a checkpoint a job is said to hang."""
    saves = job.spec.checkpoint
    seconds = _QUIET
    if saves is not None and saves.every is not None:
        seconds = max(2 * saves.every.seconds, _LEAST_QUIET)
    if topics_of(context, job.namespace):
        context.derive(
            job.target,
            "quiet",
            str(Duration(seconds)),
            "without a line of output and a checkpoint for so long it hangs: whoever `notifications` names is told",
            follows=job.at / "checkpoint" / "every",
        )
    return seconds


def _saved(context: Context, job: Job, storages: Mapping[str, Storage]) -> str:
    """The folder of the nodes that has its checkpoints."""
    saves = job.spec.checkpoint
    for mount in job.spec.mounts if saves is not None else ():
        storage = storages.get(mount.storage)
        assert saves is not None
        if storage is not None and storage.spec.s3 is None and is_under(saves.path, mount.path):
            below = saves.path.removeprefix(mount.path.rstrip("/"))
            return f"{mount_dir_of(context, storage)}{below}"
    return ""


_SAYS_NOTHING = {"completed", "expected", "model"}
"""What is said of a job and not to it: it is judged by them, and its script is the same."""


def _digest(job: Job) -> str:
    """Five hex digits over what the spec says of a job; ``rerun`` asks for another run of the same. What is derived is
    not in it: a newer release changes how the next run starts, and starts none."""
    said = job.spec.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude=_SAYS_NOTHING
    )
    content = {**said, "namespace": job.namespace, "queue": job.queue.name}
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:5]


def _places(job: Job) -> dict[str, Route]:
    at = job.at
    resources = {
        f"requests.{key}": at / "resources" / key for key in ("cpu", "memory", "accelerators")
    }
    return {
        **places(job),
        **resources,
        **{f"files.{path}": at / "files" / path for path in job.spec.files},
        "partitions": at / "pool",
        "retries": at / "retries",
        "mounts": at / "mounts",
        "output": at / "checkpoint",
        "files": at / "files",
        "working_dir": at / "workingDir",
        "stop_signal": at / "terminationGracePeriod",
    }
