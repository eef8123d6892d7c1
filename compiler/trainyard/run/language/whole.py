"""The model of a whole spec: of one platform, and of all of them together."""

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from trainyard.language.models.base import SpecModel
from trainyard.language.models.cluster import ClusterSpec, TrainingCluster
from trainyard.language.models.models import keys_of
from trainyard.language.models.section import Section
from trainyard.plan.features import Platform, parts
from trainyard.run.platforms import EKS, PLATFORMS

_PLATFORM = "platform"


@cache
def language(platform: Platform = EKS) -> type[TrainingCluster]:
    """The model of a whole spec of a platform: the sections of its features, and what every cluster has."""
    sections = [module.SECTION for module in parts("spec", platform.features)]
    return _whole(tuple(sections))


@cache
def every_language() -> type[TrainingCluster]:
    """The model of a spec of any platform, for editors and pages. It is not what a spec is read by: that a platform
    has no use for a key is known only once the spec names it."""
    features = dict.fromkeys(
        feature for platform in PLATFORMS.values() for feature in platform.features
    )
    sections: dict[str, type[Section]] = {}
    for module in parts("spec", tuple(features)):
        for key in keys_of(module.SECTION):
            # Of a key that several platforms have, the first one's: those of others are among what it holds.
            sections.setdefault(key, module.SECTION)
    del sections[_PLATFORM]
    return _whole(tuple(dict.fromkeys(sections.values())), platform=_any_platform())


@cache
def elsewhere() -> Mapping[str, str]:
    """By key of ``spec``, what its section says to write instead on platforms without it."""
    said: dict[str, str] = {}
    for module in parts("spec"):
        section: type[Section] = module.SECTION
        if section.elsewhere:
            said |= dict.fromkeys(keys_of(section), section.elsewhere)
    return said


def _whole(sections: tuple[type[SpecModel], ...], **fields: Any) -> type[TrainingCluster]:
    bases: Any = (*reversed(sections), ClusterSpec)  # pydantic lists the last base first
    spec = create_model(
        "ClusterSpec",
        __base__=bases,
        __doc__="Everything about one cluster.",
        __module__=__name__,
        **fields,
    )
    whole = TrainingCluster.model_fields["spec"]
    field = Field(description=whole.description, examples=whole.examples)
    return create_model(
        "TrainingCluster",
        __base__=TrainingCluster,
        __doc__=TrainingCluster.__doc__,
        __module__=__name__,
        spec=(spec, field),
    )


def _any_platform() -> tuple[Any, Any]:
    """The key ``platform``: exactly one of those that there are."""
    known: dict[str, Any] = {}
    for platform in PLATFORMS.values():
        model = _model_of_platform(platform)
        for name, field in model.model_fields.items():
            optional = Field(None, description=field.description, examples=field.examples)
            known[name] = (field.rebuild_annotation() | None, optional)
    combined = create_model(
        "Platform",
        __base__=_one_platform(),
        __doc__="What the cluster runs on: the key says it, and holds what only it has.",
        __module__=__name__,
        **known,
    )
    described = language(EKS).model_fields["spec"].annotation
    assert described is not None
    eks = described.model_fields[_PLATFORM]
    names = " or ".join(f"`{name}`" for name in PLATFORMS)
    description = f"What the cluster runs on: {names}, with what only that has."
    return combined, Field(
        combined.model_construct(), description=description, examples=eks.examples
    )


def _one_platform() -> type[SpecModel]:
    """A mapping with the key of one platform, and of that which it stands on."""
    pairs = [
        [one.name, other.name]
        for one, other in combinations(PLATFORMS.values(), 2)
        if one.stands_on != other.name and other.stands_on != one.name
    ]
    apart: list[JsonValue] = [{"required": [*pair]} for pair in pairs]

    class OnePlatform(SpecModel):
        model_config = ConfigDict(json_schema_extra={"not": {"anyOf": apart}})

    return OnePlatform


def _model_of_platform(platform: Platform) -> type[BaseModel]:
    """The model of ``spec.platform`` of one platform."""
    spec = language(platform).model_fields["spec"].annotation
    assert spec is not None
    model = spec.model_fields[_PLATFORM].annotation
    assert isinstance(model, type)
    return model
