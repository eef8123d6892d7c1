from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule(
    "RUN052",
    kubernetes="a program of Slurm sees folders of its node by design",
    params={"allowed": []},
)
def host_path_mounted(work: Work, world: World) -> Iterator[Finding]:
    """A job mounts a path of its node that nobody has allowed.

    What a pod writes there stays when it is gone, other pods of the node read it, and many paths are those of the
    kubelet or the container runtime: "HostPath volumes present many security risks" (Kubernetes, volumes, hostPath).
    `allowed` are the paths that jobs may mount, with all below them. In third-party manifests, RUN019 reports what
    matters.

    ## Fails

        namespaces: [{name: team-a, podSecurity: privileged}]
        jobs: [{name: llama, volumes: [{name: tools, path: /tools, hostPath: {path: /opt/profiler}}]}]

        # params: {allowed: [/opt/profiler]}
        namespaces: [{name: team-a, podSecurity: privileged}]
        jobs: [{name: llama, volumes: [{name: tools, path: /tools, hostPath: {path: /opt/profilers}}]}]

    ## Passes

        # params: {allowed: [/opt/profiler]}
        namespaces: [{name: team-a, podSecurity: privileged}]
        jobs: [{name: llama, volumes: [{name: tools, path: /tools, readOnly: true,
          hostPath: {path: /opt/profiler/bin, type: Directory}}]}]

        jobs: [{name: llama, volumes: [{name: tools, path: /tools, emptyDir: {}}]}]
    """
    if not world.plan.closed or work.pod is None:
        return
    allowed = tuple(str(path).rstrip("/") for path in world.param("allowed"))
    for volume in work.pod.volumes:
        if volume.type != "hostPath" or _is_below(volume.source, allowed):
            continue
        yield Finding(
            f"{work.title} mounts `{volume.source}` of its nodes",
            work.pod.place(volume),
            help="mount another kind of volume, or have the platform team allow it: "
            f"`{volume.source}` in the parameter `allowed` of RUN052, in policies/policy.yaml",
        )


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    parts = path.split("/")
    if ".." in parts:
        return False
    return any(f"{path}/".startswith(f"{folder}/") for folder in folders)
