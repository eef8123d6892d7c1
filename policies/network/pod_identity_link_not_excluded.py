from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import placeholder

_VARIABLE = "NCCL_SOCKET_IFNAME"
_LINK = "pod-id-link0"


@rule(
    "EFA047",
    severity=Severity.WARNING,
    pods=True,
    kubernetes="the agent of EKS Pod Identity is on nodes of EKS",
)
def pod_identity_link_not_excluded(work: Work) -> Iterator[Finding]:
    """NCCL may talk over the link of the Pod Identity agent, which leads to no other node.

    On a node with the agent of EKS Pod Identity there is `pod-id-link0` with the address 169.254.170.23, and a pod
    with `hostNetwork` sees it. `^` in `NCCL_SOCKET_IFNAME` leaves in what it does not name (NCCL 2.30.7,
    src/misc/socket.cc): ranks that take the link wait for each other until they time out.

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
              dnsPolicy: ClusterFirstWithHostNet
              nodeSelector: {karpenter.sh/nodepool: gpu}
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
              containers:
              - name: tune
                image: "registry.example/tune:1.0"
                command: [./tune.sh]
                env: [{name: NCCL_SOCKET_IFNAME, value: "^lo,docker,veth"}]
                volumeMounts: [{name: shm, mountPath: /dev/shm}]
                resources:
                  requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}
                  limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}

    ## Passes

        # as the first that fails, but
        kind: Job
        spec:
          template:
            spec:
              containers:
                - {name: tune, env: [{name: NCCL_SOCKET_IFNAME, value: "^lo,docker,veth,pod-id-link"}]}
    """
    if work.pod is None or not work.pod.host_network or not work.gang:
        return
    given = work.env.get(_VARIABLE) or ""
    if not given.startswith("^") or placeholder(given):
        return
    whole = given.startswith("^=")
    names = [name.strip() for name in given.lstrip("^=").split(",") if name.strip()]
    left_out = _LINK in names if whole else _LINK.startswith(tuple(names))
    if not left_out:
        yield Finding(
            f"`{_VARIABLE}` of {work.title} is `{given}`, which leaves in `{_LINK}` of the Pod Identity agent",
            work.where_env(_VARIABLE),
            label="ranks may wait for each other there",
            help=f"add `{_LINK if whole else 'pod-id-link'}` to the list",
        )
