from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_PLACES = {
    r"/usr/local/cuda(-[\d.]+)?(/lib64)?": "CUDA",
    r"/usr/local/nvidia(/lib(64)?)?": "the libraries of the GPU driver",
    r"/usr/lib/(x86_64|aarch64)-linux-gnu": "the libraries of the image and of the GPU driver",
    r"/opt": "what the image has installed there, like EFA and Conda",
    r"/opt/amazon(/(efa|openmpi|ofi-nccl|aws-ofi-nccl))?": "libfabric, Open MPI and the EFA plugin of NCCL",
    r"/opt/conda(/bin|/lib)?": "Python and its packages",
    r"/opt/venv": "Python and its packages",
    r"/opt/hpcx|/opt/nvidia": "NVIDIA's libraries",
    r"/etc/ssl(/certs)?": "the certificates by which programs trust servers",
    r"/usr/lib/python3(\.\d+)?|/usr/local/lib/python3\.\d+(/(site|dist)-packages)?": "Python's packages",
}
_MADE = ("emptyDir", "persistentVolumeClaim", "ephemeral")


@rule(
    "RUN133",
    kubernetes="volumes begin empty, and a folder that pyxis mounts has what the node has there",
    pods=True,
    roles=True,
)
def volume_hides_libraries(work: Work) -> Iterator[Finding]:
    """A volume is mounted over a folder in which images have the libraries that training needs.

    A mount hides what the image has at its path (core/v1 VolumeMount). EFA's installer writes to `/opt/amazon`, CUDA
    is in `/usr/local/cuda`, Conda in `/opt/conda`; without them programs do not start, or train over TCP. What the
    node itself has there may come by `hostPath`.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /opt/amazon}]}]

        jobs: [{name: llama, volumes: [{name: cache, path: /usr/local/cuda, emptyDir: {sizeLimit: 10Gi}}]}]

    ## Passes

        jobs: [{name: llama, volumes: [{name: cache, path: /opt/cache, emptyDir: {sizeLimit: 10Gi}}]}]
    """
    if work.main is None or work.pod is None:
        return
    types = {volume.name: volume.type for volume in work.pod.volumes}
    for mount in work.main.mounts:
        if types.get(mount.volume) not in _MADE or mount.sub_path:
            continue
        place = posixpath.normpath(mount.path)
        for pattern, hidden in _PLACES.items():
            if re.fullmatch(pattern, place):
                yield Finding(
                    f"a volume at `{place}` hides {hidden} in {work.title}",
                    work.main.place(mount),
                    help="mount it in a folder of its own, like `/data`",
                )
