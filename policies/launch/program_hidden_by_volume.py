from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.pods.plan import Container, Mount, Pod
from trainyard.judge.model.statements import started
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_PROGRAM = r"/\S+\.(?:py|sh)\Z"


@rule(
    "RUN152",
    kubernetes="empty volumes are of pods, and a folder that pyxis mounts has what the node has there",
    pods=True,
    containers=True,
    roles=True,
)
def program_hidden_by_volume(work: Work) -> Iterator[Finding]:
    """The program of a job lies in a folder that an empty volume hides.

    An `emptyDir` begins empty, and hides what the image has at its path (core/v1 EmptyDirVolumeSource): the program is
    not found, on every node, after all nodes were launched. An init container that mounts the same volume may put it
    there, and so may the container itself.

    ## Fails

        jobs: [{name: llama, command: [torchrun, /app/train.py],
          volumes: [{name: cache, path: /app, emptyDir: {sizeLimit: 10Gi}}]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, /app/train.py],
          volumes: [{name: cache, path: /app/cache, emptyDir: {sizeLimit: 10Gi}}]}]

        jobs: [{name: llama, command: [torchrun, /app/train.py],
          volumes: [{name: cache, path: /app, emptyDir: {sizeLimit: 10Gi}}],
          initContainers: [{name: fetch, image: "registry.test/fetch:1.0", command: [fetch, /app]}]}]
    """
    if work.main is None or work.pod is None:
        return
    programs = list(started(work.words))
    if len(programs) != 1:
        return  # what runs before it may put it there
    words = (programs[0].program, *programs[0].rest)
    path = next((word for word in words if re.match(_PROGRAM, word)), "")
    mount = _over(work.main, path)
    if mount is None or not _is_empty(work.pod, mount):
        return
    yield Finding(
        f"{work.title} starts `{path}`, and an empty volume is mounted at `{mount.path}`",
        work.where_said(path),
        label="no such file",
        help="mount the volume elsewhere, like `/cache`",
    )


def _over(container: Container, path: str) -> Mount | None:
    """The mount that a path lies in: of several, one in another, the inner one."""
    over = []
    for mount in container.mounts:
        folder = mount.path.rstrip("/")
        if path == folder or path.startswith(f"{folder}/"):
            over.append(mount)
    return max(over, key=lambda mount: len(mount.path), default=None)


def _is_empty(pod: Pod, mount: Mount) -> bool:
    """Whether nothing has written to a volume when the containers start."""
    types = {volume.name: volume.type for volume in pod.volumes}
    if types.get(mount.volume) != "emptyDir":
        return False
    filled = {each.volume for container in pod.init_containers for each in container.mounts}
    return mount.volume not in filled
