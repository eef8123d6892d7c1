from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.bodies import spec_of
from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("EFA048", gangs=True, roles=True, kubernetes="`dnsPolicy` is of pods")
def host_network_without_cluster_names(work: Work, world: World) -> Iterator[Finding]:
    """The pods of a job look up names at the resolver of their nodes, which knows none of the cluster.

    With `hostNetwork` the policy `ClusterFirst`, which is the default, falls back to `Default`: the resolver of the
    node, which knows no Service and no pod (Kubernetes 1.36, pod's DNS policy). The host of the first pod, by which
    the others find it, does not resolve. `dnsPolicy: Default` says the same of any pod; what `None` asks is unknown.

    ## Fails

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
              hostNetwork: true
              nodeSelector: {karpenter.sh/nodepool: gpu}
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
              containers:
              - name: tune
                image: "registry.example/tune:1.0"
                command: [./tune.sh]
                volumeMounts: [{name: shm, mountPath: /dev/shm}]
                resources:
                  requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}
                  limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}

        # as the first that fails, but
        kind: Job
        spec: {template: {spec: {dnsPolicy: Default}}}

        # as the first that fails, but
        kind: Job
        spec: {template: {spec: {hostNetwork: false, dnsPolicy: Default}}}

    ## Passes

        # as the first that fails, but
        kind: Job
        spec: {template: {spec: {dnsPolicy: ClusterFirstWithHostNet}}}
    """
    if not work.gang:
        return
    for pods in pod_sets(work):
        if pods.pod is None:
            continue
        spec, at = spec_of(world, pods.pod)
        policy = spec.get("dnsPolicy") if isinstance(spec, dict) else "unknown"
        if policy == "Default":
            at /= "dnsPolicy"
        elif pods.pod.host_network and policy in (None, "ClusterFirst"):
            at /= "hostNetwork"
        else:
            continue
        on_host = pods.pod.host_network
        names = "names by their nodes' resolver"
        where = "are on the network of their nodes" if on_host else f"look up {names}"
        yield Finding(
            f"the pods of {work.title} {where}, and resolve no name of the cluster",
            at,
            label="they do not find the first of them",
            help="write `dnsPolicy: ClusterFirstWithHostNet`" if on_host else "remove it",
        )
        return
