from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.images.plan import short_name
from trainyard.core.pods.plan import EFA, GPU, NEURON
from trainyard.core.pools.plan import Pool
from trainyard.judge.model.values import mapping, mappings_at, read_tolerations, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule("HLT028", aliases=("device-plugin-untolerating",), kinds=("apps/DaemonSet",))
def device_plugin_lacks_toleration(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A device plugin that is a DaemonSet does not tolerate the taints of a pool whose jobs need its devices.

    On a tainted node no plugin runs without the toleration (Kubernetes, taints and tolerations): the node offers no
    device, and the pods stay Pending. The manifest of NVIDIA tolerates `nvidia.com/gpu`, that of EFA
    `aws.amazon.com/efa`.

    ## Fails

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: aws-efa-k8s-device-plugin, namespace: kube-system}
        spec:
          selector: {matchLabels: {name: efa}}
          template:
            metadata: {labels: {name: efa}}
            spec:
              tolerations: [{key: aws.amazon.com/efa, operator: Exists, effect: NoSchedule}]
              containers: [{name: efa, image: public.ecr.aws/eks/aws-efa-k8s-device-plugin:v0.5.30}]

    ## Passes

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: aws-efa-k8s-device-plugin, namespace: kube-system}
        spec:
          selector: {matchLabels: {name: efa}}
          template:
            metadata: {labels: {name: efa}}
            spec:
              tolerations: [{operator: Exists}]
              containers: [{name: efa, image: public.ecr.aws/eks/aws-efa-k8s-device-plugin:v0.5.30}]
    """
    pod = value_at(manifest.body, "spec", "template", "spec")
    images = [str(container.get("image")) for container in mappings_at(pod, "containers")]
    devices = {_PLUGINS.get(short_name(image), "") for image in images} - {""}
    reach = read_tolerations(value_at(pod, "tolerations"))
    for device in sorted(devices):
        for pool, taint in world.kept_off(reach):
            if not _needs(pool, device, world):
                continue
            if world.may_match(pool, dict(mapping(pod, "nodeSelector"))):
                at = Route((manifest.id, "spec", "template", "spec"))
                yield Finding(
                    f"device plugin `{manifest.ref.name}` does not tolerate `{taint}` of pool `{pool.title}`",
                    at / "tolerations" if value_at(pod, "tolerations") else at,
                    key=True,
                    label=f"no node offers `{device}`",
                    help="add the toleration",
                )
                break


def _needs(pool: Pool, device: str, world: World) -> bool:
    """Whether jobs on a pool ask for a device."""
    return any(work.asks.get(device) for work in world.works_on(pool))


# names of their images: NVIDIA/k8s-device-plugin, eks-charts, Neuron SDK
_PLUGINS = {
    "k8s-device-plugin": GPU,
    "aws-efa-k8s-device-plugin": EFA,
    "neuron-device-plugin": NEURON,
}
