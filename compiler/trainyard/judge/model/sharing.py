"""How NVIDIA's device plugin shares the GPUs of a node: the configurations of its releases, and which a node has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.core.pods.plan import GPU
from trainyard.core.pools.plan import Pool
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import mapping, mappings_at, value_at
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.lift.reader import embedded

CONFIG_LABEL = "nvidia.com/device-plugin.config"


@dataclass(frozen=True, slots=True)
class Configuration:
    """One configuration: its text and the place of it. ``everywhere``: nodes without the label have it."""

    name: str
    text: str
    at: Route
    everywhere: bool

    @property
    def sharing(self) -> Mapping[str, Any]:
        """What is said of GPUs that take turns, or are shared by MPS; empty without."""
        parsed = embedded(self.text)
        for kind in ("timeSlicing", "mps"):
            found = mapping(parsed, "sharing", kind)
            if self.replicas(found) > 1:
                return found
        return {}

    def replicas(self, sharing: Mapping[str, Any]) -> int:
        """How many a GPU is given out as."""
        counts = [
            each.get("replicas")
            for each in mappings_at(sharing, "resources")
            if each.get("name", GPU) in (GPU, "gpu")
        ]
        return max((count for count in counts if isinstance(count, int)), default=1)

    def line(self, word: str) -> Route:
        """The place of the line with a key."""
        for number, line in enumerate(self.text.split("\n")):
            if f"{word}:" in line:
                return self.at / number
        return self.at


def configurations(world: Reading) -> tuple[Configuration, ...]:
    """Those of all releases of the plugin and of the operator: ``world.once(configurations)``."""
    return tuple(_configurations(world))


def _configurations(world: Reading) -> Iterator[Configuration]:
    for release in world.releases("nvidia-device-plugin"):
        yield from _of_release(release, world, value_at(release.values, "config"))
    for release in world.releases("gpu-operator"):
        yield from _of_release(release, world, value_at(release.values, "devicePlugin", "config"))


def _of_release(release: HelmRelease, world: Reading, config: Any) -> Iterator[Configuration]:
    """The configurations of the values, or of the ConfigMap that they name (NVIDIA/k8s-device-plugin v0.20.0 and
    gpu-operator v26.7.0, values.yaml). Without a default one that is alone is everybody's."""
    texts = mapping(config, "map") or mapping(config, "data")
    at = release.at / "spec" / "values"
    place = Route((*at, "config", "map"))
    if release.chart == "gpu-operator":
        place = Route((*at, "devicePlugin", "config", "data"))
    name = value_at(config, "name")
    if not texts and isinstance(name, str):
        for manifest in world.manifests:
            if manifest.ref.kind == "ConfigMap" and manifest.ref.name == name:
                texts = mapping(manifest.body, "data")
                place = Route((manifest.id, "data"))
    default = value_at(config, "default")
    alone = len(texts) == 1 and release.chart != "gpu-operator"
    for key, text in texts.items():
        if isinstance(text, str):
            everywhere = default == key or (not default and (alone or key == "default"))
            yield Configuration(str(key), text, place / key, everywhere)


def configuration_of(pool: Pool, world: Reading) -> Configuration | None:
    """The configuration of the nodes of a pool: by their label, or else the one of all nodes."""
    found = world.once(configurations)
    named = pool.labels.get(CONFIG_LABEL)
    for each in found:
        if each.name == named or (named is None and each.everywhere):
            return each
    return None
