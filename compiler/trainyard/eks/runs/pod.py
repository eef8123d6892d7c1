"""The pod of a job's nodes, without its program."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.settled import SettledJob
from trainyard.core.jobs.stopping import pre_stop
from trainyard.core.pods.plan import Container, EnvVar, Mount, Pod, Volume
from trainyard.eks.jobs.plan import POD_PRIORITY, FileSet
from trainyard.eks.runs.fallbacks import all_tolerations, is_mixed, pool_terms
from trainyard.eks.runs.mounting import SHARED_MEMORY
from trainyard.eks.runs.owning import group_of_volumes, owners
from trainyard.eks.runs.topology import placement_of
from trainyard.eks.runs.volumes import files_volume, mounts_of, volumes_of
from trainyard.eks.settings.launcher import launcher_of
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.context import Context
from trainyard.plan.scheduling import Requirement

SERVICE_ACCOUNT = "training"


def pod_of(context: Context, settled: SettledJob, files: FileSet | None) -> Pod:
    """The pod of every node of a job, but for its program."""
    job = settled.job
    pool, spec = job.pool, job.spec
    terms: tuple[tuple[Requirement, ...], ...] = ()
    if job.others or is_mixed(job.queue):
        terms = pool_terms(job.pools)
    placement = placement_of(job)
    protection = launcher_of(pool).protection
    annotations = {**protection, **placement, **spec.annotations}
    shared_memory_volume = Volume(
        SHARED_MEMORY, "emptyDir", medium="Memory", size=settled.shared_memory
    )
    return Pod(
        at=job.at,
        containers=(_container(context, job, files),),
        init_containers=_init_containers(context, job, settled.asked, files),
        node_selector={} if terms else pool.selector,
        pools=terms,
        tolerations=all_tolerations(job.pools),
        volumes=(shared_memory_volume, *volumes_of(job, files, SHARED_MEMORY)),
        restart_policy="Never",
        grace_seconds=settled.grace,
        fs_group=group_of_volumes(context, job),
        service_account=_account(context, job),
        priority_class=POD_PRIORITY,
        annotations=annotations,
        excluded_nodes=tuple(spec.exclude_nodes),
        pull_secrets=tuple(spec.image_pull_secrets),
        origins={
            **_annotation_places(job, placement),
            "excluded_nodes": job.at / "excludeNodes",
            "pull_secrets": job.at / "imagePullSecrets",
            "tolerations": pool.at / "taints",
            "volumes": job.at / "sharedMemory",
            **_volume_places(job, files),
            "init_containers": job.at / "initContainers",
            "node_selector": job.at / "pool",
            "pools": job.at / "pool",
            "grace_seconds": job.at / "terminationGracePeriod",
            "service_account": job.at / "serviceAccount",
        },
    )


def _annotation_places(job: Job, placement: dict[str, str]) -> dict[str, Route]:
    places = {f"annotations.{key}": job.at / "annotations" / key for key in job.spec.annotations}
    if job.spec.topology is not None:
        for key in placement:
            places[f"annotations.{key}"] = job.at / "topology"
    return places


def _volume_places(job: Job, files: FileSet | None) -> dict[str, Route]:
    places = {
        f"volumes.{volume.name}": job.at / "volumes" / index
        for index, volume in enumerate(job.spec.volumes)
    }
    if files is not None:
        name = files_volume(job, SHARED_MEMORY)
        places[f"volumes.{name}"] = job.at / "files"
    return places


def _init_containers(
    context: Context, job: Job, asked: Mapping[str, Quantity], files: FileSet | None
) -> tuple[Container, ...]:
    """The init containers of a pod.

    Each asks for the CPU and memory of the program: a pod asks for the most of any of them (Kubernetes, init
    containers), so this costs nothing, and a namespace with a ResourceQuota takes no container without requests.
    """
    share = {name: asked[name] for name in ("cpu", "memory")}
    mounts = mounts_of(job, files, SHARED_MEMORY)
    containers = list(owners(context, job, mounts, share))
    for index, init in enumerate(job.spec.init_containers):
        at = job.at / "initContainers" / index
        context.settle(
            job.target,
            f"initContainers.{init.name}.image",
            init.image,
            job.spec.image,
            "the image of the job",
            at=at / "image",
        )
        variables = init.env.items()
        containers.append(
            Container(
                at=at,
                name=init.name,
                image=init.image or job.spec.image,
                command=tuple(init.command),
                args=tuple(init.args),
                env=tuple(EnvVar(name, value) for name, value in variables),
                requests=share,
                limits=share,
                mounts=mounts,
                origins={
                    "image": at / "image",
                    "command": at / "command",
                    "args": at / "args",
                    "env": at / "env",
                },
            )
        )
    return tuple(containers)


def _container(context: Context, job: Job, files: FileSet | None) -> Container:
    shared_memory = Mount(SHARED_MEMORY, "/dev/shm")
    return Container(
        at=job.at,
        name="node",
        mounts=(shared_memory, *mounts_of(job, files, SHARED_MEMORY)),
        pre_stop=pre_stop(context, job),
        working_dir=job.spec.working_dir or "",
        origins={
            "pre_stop": job.at / "checkpoint" / "signalFile",
            "working_dir": job.at / "workingDir",
        },
    )


def _account(context: Context, job: Job) -> str:
    return context.settle(
        job.target,
        "serviceAccount",
        job.spec.service_account,
        SERVICE_ACCOUNT,
        "an account without rights or token: training needs none",
        at=job.at / "serviceAccount",
    )
