"""What is known of a job's image: from the catalog for public images, from the recipe for our own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from trainyard.catalog.images import ImageFacts, facts_of
from trainyard.core.images.plan import MadeImage, Recipe, repository_of
from trainyard.core.pods.plan import Container
from trainyard.judge.model.work import Work
from trainyard.plan import Plan


def runs(work: Work) -> tuple[Work | Container, str]:
    """What names the image of the nodes of a job, the object or the container of its runtime, and the image."""
    node = work if work.image or work.main is None else work.main
    return node, node.image or ""


def known(plan: Plan, image: str) -> ImageFacts | None:
    """The facts of an image. One that is built here has what its base has, and the EFA plugin if the recipe installs
    it."""
    images = plan.of(MadeImage)
    made = _made(images, image) if images else None
    if made is None:
        return facts_of(image)
    recipe = next((each for each in plan.of(Recipe) if each.name == made.name), None)
    of_base = facts_of(recipe.base) if recipe is not None else None
    if recipe is None or of_base is None or recipe.efa is None:
        return of_base
    return replace(of_base, efa=True)


def _made(images: Iterable[MadeImage], image: str) -> MadeImage | None:
    repository = repository_of(image)
    for made in images:
        if made.uri == repository:
            return made
    return None
