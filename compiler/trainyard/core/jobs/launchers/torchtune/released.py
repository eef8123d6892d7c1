"""What Trainer's released torchtune runtimes give a job: image, command, and downloads."""

from collections.abc import Mapping
from typing import Any

from trainyard.catalog.runtimes import released_runtimes

# torchtune runs its recipe in one process unless an option of torchrun stands in the command (torchtune 0031bfb,
# torchtune/_cli/run.py _is_distributed_args). The other options of torchrun come by PET_*.
_DISTRIBUTED = "--rdzv_backend=c10d"
_ENDPOINT = "--rdzv_endpoint"
_NODE = "node"


def brought(launcher: Any) -> Mapping[str, Any]:
    """The keys of a job that its launcher ``torchtune`` says; nothing for a runtime that is not released."""
    name = None
    if isinstance(launcher, dict):
        name = launcher.get("runtime")
    if not isinstance(name, str):
        return {}

    runtime = released_runtimes().get(name)
    if runtime is None:
        return {}
    jobs = runtime.body["spec"]["template"]["spec"]["replicatedJobs"]
    containers = {}
    for job in jobs:
        pod = job["template"]["spec"]["template"]["spec"]
        of_pod = {item["name"]: item for item in pod["containers"]}
        containers.update(of_pod)
    downloads: dict[str, dict[str, Any]] = {
        name.removesuffix("-initializer"): {"storageUri": _uri(container)}
        for name, container in containers.items()
        if name != _NODE
    }
    if launcher.get("secret") is not None:
        downloads["model"]["secret"] = launcher["secret"]
    node = containers[_NODE]
    command = node["command"]
    words = [word for word in command if not word.startswith(_ENDPOINT)]
    return {
        # manifests/overlays/runtimes/kustomization.yaml gives the images the tag of the release.
        "image": f"{node['image']}:v{runtime.version}",
        "command": [*words[:2], _DISTRIBUTED, *words[2:]],
        "initializer": downloads,
    }


def _uri(container: Mapping[str, Any]) -> str:
    variables = container["env"]
    values = {item["name"]: item["value"] for item in variables}
    uri: str = values["STORAGE_URI"]
    return uri
