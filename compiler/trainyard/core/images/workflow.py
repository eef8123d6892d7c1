"""The GitHub Actions workflow that builds an image and commits its digest to the branch that it was built from."""

from __future__ import annotations

from shlex import quote
from typing import Any

from trainyard.core.images.plan import RECIPE_LABEL, MadeImage, Recipe, Workflow
from trainyard.output import Artifact
from trainyard.output.artifact import Places

CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"
"""v7.0.1"""
CREDENTIALS = "aws-actions/configure-aws-credentials@ececac1a45f3b08a01d2dd070d28d111c5fe6722"
"""v4.1.0"""


def workflow(made: MadeImage, recipe: Recipe, build: Workflow) -> Artifact:
    """GitHub documentation: OpenID Connect in Amazon Web Services; workflow syntax; a push with the token of a run
    starts no other run."""
    path = f"bootstrap/images/{made.name}/workflow.yaml"
    body = {
        "name": f"image {made.name} of {made.cluster}",
        "on": {
            "workflow_dispatch": {},
            "push": {"branches-ignore": [build.branch], "paths": _paths(made, recipe, build)},
        },
        "permissions": {"contents": "write", "id-token": "write"},
        "concurrency": {
            "group": f"image-{made.cluster}-{made.name}-${{{{ github.ref }}}}",
            "cancel-in-progress": False,
        },
        "jobs": {
            "build": {
                "runs-on": build.runner,
                "timeout-minutes": build.minutes,
                "steps": _steps(made, build, path),
            }
        },
    }
    job = ("jobs", "build")
    origins: Places = {
        (*job, "runs-on"): made.where("project"),
        (*job, "timeout-minutes"): made.where("project"),
    }
    return Artifact(body, path, made.at, origins, format="workflow")


def _paths(made: MadeImage, recipe: Recipe, build: Workflow) -> list[str]:
    """What starts a build: the Dockerfile, and what is copied, as a file or as all in a folder."""
    paths = [made.dockerfile]
    if recipe.requirements is not None:
        paths.append(recipe.requirements)
    for origin, _ in recipe.copies:
        paths += [origin, f"{origin}/**"]
    return list(dict.fromkeys(paths))


def _steps(made: MadeImage, build: Workflow, path: str) -> list[dict[str, Any]]:
    copy = f".github/workflows/{build.file}"
    compiled = f"{build.folder}/{path}"
    tagged = {"COMMIT": "${{ github.sha }}"}
    return [
        {"uses": CHECKOUT},
        {"name": "This file is the one that was compiled", "run": f"diff {copy} {quote(compiled)}"},
        {"uses": CREDENTIALS, "with": {"role-to-assume": build.role, "aws-region": made.region}},
        {
            "name": "Build, unless the commit was built",
            "env": tagged,
            "run": "\n".join(_build(made, build)),
        },
        {"name": "Keep the digest", "env": tagged, "run": "\n".join(_keep(made))},
    ]


def _build(made: MadeImage, build: Workflow) -> list[str]:
    logins = [(made.region, made.registry)]
    registry = build.registry
    if registry is not None and registry != made.registry:
        region = registry.split(".")[3]
        logins.append((region, registry))
    lines = [
        f"aws ecr get-login-password --region {region} |\n"
        f"  docker login --username AWS --password-stdin {registry}"
        for region, registry in logins
    ]
    return [
        "set -o pipefail",
        *lines,
        f'aws ecr describe-images --repository-name {made.repository} --image-ids "imageTag=$COMMIT" || {{',
        f"  docker build --platform linux/{made.arch} --file {quote(made.dockerfile)} \\",
        f'    --tag "{made.uri}:$COMMIT" .',
        f'  docker push "{made.uri}:$COMMIT"',
        "}",
    ]


def _keep(made: MadeImage) -> list[str]:
    label = RECIPE_LABEL.replace(".", r"\.")
    folder = made.lock.rpartition("/")[0] or "."
    return [
        f'digest=$(aws ecr describe-images --repository-name {made.repository} --image-ids "imageTag=$COMMIT" \\',
        "  --query 'imageDetails[0].imageDigest' --output text)",
        f"recipe=$(sed -n 's/^LABEL {label}=\"\\(.*\\)\"$/\\1/p' {quote(made.dockerfile)})",
        f"mkdir -p {quote(folder)}",
        f"printf '# Written by its workflow: what jobs run of image {made.name}.\\ndigest: %s\\nrecipe: %s\\n' \\",
        f'  "$digest" "$recipe" >{quote(made.lock)}',
        "git config user.name 'github-actions[bot]'",
        "git config user.email '41898282+github-actions[bot]@users.noreply.github.com'",
        f"git add {quote(made.lock)}",
        f"git diff --cached --quiet || git commit -m 'Image {made.name}: the digest of its last build'",
        "git push",
    ]
