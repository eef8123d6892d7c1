"""Lower: a Dockerfile, a stack and a page for each image, and the script that builds them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.core.cloud.plan import TerraformState
from trainyard.core.images.plan import MadeCache, MadeImage, Recipe, Workflow
from trainyard.output import Artifact
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan

FOLDER = "bootstrap"


def lower(plan: Plan) -> Iterator[Artifact]:
    """What is written of images. The script is the same for any number of them."""
    images = plan.of(MadeImage)
    caches = plan.of(MadeCache)
    if not images and not caches:
        return
    # Most specs have none.
    from trainyard.core.images.dockerfile import lines, origins
    from trainyard.core.images.stacks import cache_stack, image_stack

    by_terraform = plan.one(TerraformState) is not None
    for kept in caches:
        yield cache_stack(kept)
    recipes = {recipe.name: recipe for recipe in plan.of(Recipe)}
    for recipe in recipes.values():
        made = lines(recipe)
        yield Artifact(
            path=recipe.path,
            at=recipe.at,
            origins=origins(recipe, made),
            text="\n".join(made.lines) + "\n",
            format="dockerfile",
        )
    for image in images:
        yield image_stack(image)
        if isinstance(image.project, Workflow):
            from trainyard.core.images.workflow import workflow

            yield workflow(image, recipes[image.name], image.project)
        yield _page(image, by_terraform)
    for first in images[:1]:
        yield Artifact(
            path=f"{FOLDER}/images.sh",
            at=first.at.parent,
            text=partial(_rendered, "images.sh.j2", first, by_terraform),
            format="shell",
        )


def _page(image: MadeImage, by_terraform: bool) -> Artifact:
    return Artifact(
        path=f"{FOLDER}/image-{image.name}.md",
        at=image.at,
        text=lambda: _rendered("image.md.j2", image, by_terraform),
        format="markdown",
    )


def _rendered(name: str, made: MadeImage, by_terraform: bool) -> str:
    """A page or script; ``by_terraform``: what AWS must have is made by Terraform."""
    by_workflow = isinstance(made.project, Workflow)
    return rendered(
        "trainyard.core.images", name, made=made, by_workflow=by_workflow, terraform=by_terraform
    )
