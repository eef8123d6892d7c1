from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.judge.model.bodies import object_of
from trainyard.judge.model.hosts import Hosts, at_hidden, hosts_of
from trainyard.judge.model.meeting import Said, meeting
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN191", pods=True, roles=True, kubernetes="the hosts of Slurm are those of its nodes")
def rendezvous_host_of_no_pod(work: Work, world: World) -> Iterator[Finding]:
    """The nodes of a job are to meet at a host that none of its pods has.

    Each kind names its pods in its own way: `JOBSET-ROLE-0-0.JOBSET` of a JobSet, `JOB-0.SUBDOMAIN` of an Indexed Job
    with a `subdomain`, `JOB-master-0` of a PyTorchJob (jobset v0.12.0, batch/v1, training-operator v1.9.4). Another
    name does not resolve; and without the Service of these names, none of them does. A host that is a Service of the
    set, or that looks like no pod of the job, is left alone.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec: {trainer: {command: [torchrun, --rdzv-backend=c10d,
          "--rdzv-endpoint=llama-master-0-0.llama:29500", train.py]}}

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec: {trainer: {command: [torchrun, --rdzv-backend=c10d,
          "--rdzv-endpoint=llama-node-0-0.llama.team-b.svc:29500", train.py]}}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          completions: 2
          parallelism: 2
          completionMode: Indexed
          template:
            spec:
              restartPolicy: Never
              subdomain: tune
              nodeSelector: {karpenter.sh/nodepool: gpu}
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
              containers:
              - name: tune
                image: "registry.example/tune:1.0"
                command: [torchrun, --nnodes=2, --master-addr=tune-master-0.tune, tune.py]
                volumeMounts: [{name: shm, mountPath: /dev/shm}]
                resources:
                  requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}
                  limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}

        # as the third that fails, but
        kind: Job
        spec:
          template:
            spec:
              containers: [{name: tune, command: [torchrun, --nnodes=2, --master-addr=tune-0.tune, tune.py]}]
              subdomain: null

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec: {trainer: {command: [torchrun, --rdzv-backend=c10d,
          "--rdzv-endpoint=llama-node-0-0.llama:29500", train.py]}}

        # as the third that fails, but
        kind: Job
        spec:
          template:
            spec:
              containers: [{name: tune, command: [torchrun, --nnodes=2, --master-addr=tune-0.tune, tune.py]}]
    """
    if work.pod is None or not work.nodes or work.nodes < 2:
        return
    body = object_of(world, work.at)
    hosts = hosts_of(body) or _of_train_job(work)
    if hosts is None:
        return
    for said in meeting(work):
        first, _, rest = said.host.partition(".")
        if not first or "$" in first or _is_service(first, work.namespace, world):
            continue
        yield from _judged(work, said, first, rest, hosts, str(value_at(body, "metadata", "name")))


def _of_train_job(work: Work) -> Hosts | None:
    """The hosts of a TrainJob: those of the JobSet that Trainer makes of its runtime, by the name of the job."""
    if work.kind != TRAIN_JOB or work.runtime is None:
        return None
    name = work.job_name
    counts = {f"{name}-{job.name}": (job.replicas, work.nodes or 1) for job in work.runtime.jobs}
    return Hosts(counts, name) if counts else None


def _judged(
    work: Work, said: Said, first: str, rest: str, hosts: Hosts, name: str
) -> Iterator[Finding]:
    domain = rest.partition(".")[0]
    meant = first == name or first.startswith(f"{name}-") or (bool(rest) and domain == hosts.domain)
    if not meant:
        return
    has = hosts.has(first)
    if has and hosts.hidden:
        at = at_hidden(work.at, hosts) if hosts.at else said.at
        yield Finding(
            f"`{said.name}` of {work.title} is the host `{said.host}`, and the job {hosts.hidden}",
            at,
            label="the nodes never meet",
            help=hosts.help,
        )
    elif not has:
        yield _finding(work, said, "which none of its pods has", hosts)
    elif hosts.domain and domain != hosts.domain:
        yield _finding(
            work, said, f"which is without the Service `{hosts.domain}` of its pods", hosts
        )
    elif hosts.domain and _is_elsewhere(rest, work.namespace):
        yield _finding(
            work, said, f"in another namespace than `{work.namespace}` of its pods", hosts
        )


def _is_elsewhere(rest: str, namespace: str) -> bool:
    """Whether what follows the first name, `SERVICE.NAMESPACE.svc…`, names another namespace."""
    space = rest.split(".")[1:2]
    return bool(namespace and space and "$" not in space[0]) and space[0] != namespace


def _finding(work: Work, said: Said, why: str, hosts: Hosts) -> Finding:
    return Finding(
        f"`{said.name}` of {work.title} is the host `{said.host}`, {why}",
        said.at,
        label="the nodes never meet",
        help=f"write `{hosts.first}`",
    )


def _is_service(name: str, namespace: str, world: Reading) -> bool:
    services = world.once(_services)
    return (namespace, name) in services or ("", name) in services


def _services(world: Reading) -> frozenset[tuple[str, str]]:
    """The Services of the set, by namespace and name."""
    refs = [manifest.ref for manifest in world.manifests]
    return frozenset((ref.namespace or "", ref.name) for ref in refs if ref.kind == "Service")
