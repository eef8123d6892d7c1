"""Resolves images: what each is built from, what the bootstrap creates for it, and what jobs run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.core.images.plan import MadeImage, Recipe
from trainyard.extensions.images.built.caches import resolve_caches
from trainyard.extensions.images.built.made import made_image
from trainyard.extensions.images.built.spec import Image as ImageSpec
from trainyard.extensions.images.built.spec import ImagesSection
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context, unique_names


@dataclass(frozen=True, slots=True)
class Image:
    """An image of the spec; ``arch`` is what it is built for."""

    spec: ImageSpec
    at: Route
    made: MadeImage
    recipe: Recipe

    @property
    def arch(self) -> str:
        return self.made.arch

    @property
    def target(self) -> str:
        return f"image/{self.spec.name}"


def resolve(context: Context) -> Iterator[PlanItem]:
    """The recipe of each image, what the bootstrap makes for it, and the caches."""
    if ImagesSection.of(context.spec).image_caches:
        yield from context.once(resolve_caches).values()
    for image in context.once(resolve_images).values():
        yield image.recipe
        yield image.made


def resolve_images(context: Context) -> Mapping[str, Image]:
    """Every image, by name."""
    declared = ImagesSection.of(context.spec).images
    if not declared:
        return {}

    at = SPEC / "images"
    unique_names(context, "image", (image.name for image in declared), at)
    images: dict[str, Image] = {}
    repositories: dict[str, str] = {}
    for index, spec in enumerate(declared):
        here = at / index
        recipe, made = made_image(context, spec, here)
        other = repositories.setdefault(made.repository, spec.name)
        if other != spec.name:
            context.fault(
                "RES147",
                f"image `{spec.name}` has repository `{made.repository}`, "
                f"which image `{other}` has",
                here / "repository" / "name",
                "give each image a repository of its own: two stacks cannot make one",
                source="ECR API, CreateRepository repositoryName",
            )
        images[spec.name] = Image(spec, here, made, recipe)
    return images
