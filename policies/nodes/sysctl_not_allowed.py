from __future__ import annotations

import json
from collections.abc import Iterator

from trainyard.catalog.sysctls import SAFE_SYSCTLS
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.bodies import spec_of, templates
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import indexed
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan


@rule("RUN204")
def sysctl_not_allowed(plan: Plan, world: World) -> Iterator[Finding]:
    """Pods set a sysctl that the kubelet of their nodes does not allow.

    Few sysctls are safe; of others the kubelet refuses the pod, `SysctlForbidden`, unless its `allowedUnsafeSysctls`
    names them (Kubernetes 1.36, using sysctls in a cluster). Those without a namespace of their own, like `vm.*`, no
    pod can set. A set that has `allowedUnsafeSysctls` anywhere is left alone.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {karpenter.sh/nodepool: gpu},
          securityContext: {sysctls: [{name: net.core.somaxconn, value: "4096"}]},
          containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py]}]}}}

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {karpenter.sh/nodepool: gpu},
          securityContext: {sysctls: [{name: net.ipv4.tcp_keepalive_time, value: "600"}]},
          containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py]}]}}}
    """
    if not plan.of(NodePool) or world.once(_are_allowed):
        return
    for template in world.once(templates):
        spec, at = spec_of(world, template.pod)
        for index, sysctl in indexed(spec, "securityContext", "sysctls"):
            name = str(sysctl.get("name", ""))
            if name and name not in SAFE_SYSCTLS:
                yield Finding(
                    f"{template.title} sets `{name}`, which no kubelet of the set allows",
                    at / "securityContext" / "sysctls" / index / "name",
                    label="its pods are refused",
                    help="set it by the user data of the nodes, or allow it there: `allowedUnsafeSysctls`",
                )
                break


def _are_allowed(world: Reading) -> bool:
    """Whether some nodes of the set allow sysctls that are not safe."""
    texts = (json.dumps(manifest.body, default=str).lower() for manifest in world.manifests)
    return any("allowedunsafesysctls" in text or "allowed-unsafe-sysctls" in text for text in texts)
