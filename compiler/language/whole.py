"""The model of a whole spec of a platform."""

from functools import cache

from pydantic import Field, create_model

from compiler.platforms import EKS
from compiler.rooms import Platform, parts
from compiler.spec.cluster import ClusterSpec, TrainingCluster


@cache
def language(platform: Platform = EKS) -> type[TrainingCluster]:
    """The model of a whole spec of a platform: the sections of its rooms, and what every cluster has."""
    sections = [module.SECTION for module in parts("spec", platform.rooms)]
    spec = create_model(
        "ClusterSpec",
        __base__=(*reversed(sections), ClusterSpec),  # pydantic lists the last base first
        __doc__="Everything about one cluster.",
        __module__=__name__,
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
