"""Lower: a Dockerfile, a stack and a page for each image, and the script that builds them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from shlex import quote
from typing import Any

from trainyard.core.cloud.plan import TerraformState
from trainyard.core.images.plan import RECIPE_LABEL, Installer, MadeImage, Recipe, Workflow
from trainyard.extensions.images.built.plan import MadeCache
from trainyard.extensions.images.built.stacks import cache_stack, image_stack
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan

# The Dockerfile of a recipe.
#
# hadolint 2.14 finds nothing in it: a base by digest (DL3006, DL3007), versions of packages (DL3008, DL3013), lists and
# caches removed (DL3009, DL3042), no recommended packages (DL3015), no two RUNs in a row (DL3059), no pipes (DL4006),
# no `cd` (DL3003), absolute folders (DL3000, DL3045), COPY alone (DL3020), and no last user that is root (DL3002).

_LOCK = "/opt/trainyard/requirements.txt"
# PEP 668: a base of Ubuntu 24.04 lets pip install packages only with this option; older ones ignore it.
_OURS = "PIP_BREAK_SYSTEM_PACKAGES=1"
_EFA = "/tmp/efa"
_INSTALLERS = "https://efa-installer.amazonaws.com"
USER = "trainer"


class Lines:
    """A Dockerfile that grows: its lines, and the field of the recipe that each came from."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.fields: dict[int, str] = {}
        self._runs = False

    def say(self, instruction: str, field: str = "") -> None:
        """An instruction, of one line or several."""
        self._runs = False
        for line in instruction.split("\n"):
            if field:
                self.fields[len(self.lines)] = field
            self.lines.append(line)

    def say_each(self, instruction: str, values: list[str], fields: list[str]) -> None:
        """An instruction with a line for each of its values, and the field of each."""
        self._runs = False
        before = f"{instruction} "
        last = len(values) - 1
        for index, (value, field) in enumerate(zip(values, fields, strict=True)):
            self.fields[len(self.lines)] = field
            self.lines.append(before + value + (" \\" if index < last else ""))
            before = "    "

    def run(self, commands: list[str], field: str) -> None:
        """Commands: after a RUN they join it, since each is a layer."""
        for command in commands:
            self.fields[len(self.lines)] = field
            if self._runs:
                self.lines[-1] += " \\"
                self.lines.append(f" && {command}")
            else:
                self.lines.append(f"RUN {command}")
            self._runs = True


def lines(recipe: Recipe) -> Lines:
    """The lines of a recipe, those that change least first: Docker rebuilds everything below a changed line."""
    out = Lines()
    out.say(f"FROM {recipe.base}", "base")
    if recipe.efa is not None:
        out.say(f"WORKDIR {_EFA}", "efa")
        out.run(list(_efa(recipe.efa)), "efa")
        out.say(f"WORKDIR {recipe.working_dir}", "working_dir")
    if recipe.packages:
        packages = recipe.packages.items()
        pinned = [f"{name}={version}" for name, version in packages]
        out.run(
            [
                "apt-get update",
                f"apt-get install --yes --no-install-recommends {' '.join(pinned)}",
                "rm -rf /var/lib/apt/lists/*",
            ],
            "packages",
        )
    if recipe.user:
        # Debian's useradd: without --no-log-init a high number makes a file as large as it is sparse.
        out.run(
            [
                f"groupadd --non-unique --gid {recipe.user} {USER}",
                f"useradd --no-log-init --non-unique --uid {recipe.user} --gid {recipe.user} --create-home {USER}",
            ],
            "user",
        )
    if recipe.requirements:
        lock = _copied(recipe.requirements, _LOCK)
        out.say(f"COPY {lock}", "requirements")
        # pip, secure installs. A lock is whole, and what the base has stays: no dependencies are looked up.
        out.run(
            [
                f"{_OURS} python3 -m pip install --no-cache-dir --no-deps --require-hashes --requirement {_LOCK}"
            ],
            "requirements",
        )
    if recipe.env:
        variables = recipe.env.items()
        pairs = [f"{name}={quoted(value)}" for name, value in variables]
        out.say_each("ENV", pairs, [f"env.{name}" for name in recipe.env])
    if recipe.efa is None:
        out.say(f"WORKDIR {recipe.working_dir}", "working_dir")
    owner = ""
    if recipe.user:
        owner = f"--chown={recipe.user}:{recipe.user} "
    for origin, target in recipe.copies:
        paths = _copied(origin, target)
        out.say(f"COPY {owner}{paths}", "copies")
    out.say(f'LABEL {RECIPE_LABEL}="{recipe.digest}"')
    if recipe.user:
        out.say(f"USER {recipe.user}", "user")
    return out


def _copied(origin: str, target: str) -> str:
    """What is copied to where: in JSON where a folder of the repository has a name of several words (Dockerfile
    reference, COPY)."""
    if re.fullmatch(r"[A-Za-z0-9._@+/-]+", origin):
        return f"{origin} {target}"
    return json.dumps([origin, target], ensure_ascii=False)


def quoted(value: str) -> str:
    """A value in quotes; nothing in it is replaced (Dockerfile reference, environment replacement)."""
    for character in '\\"$':
        value = value.replace(character, f"\\{character}")
    return f'"{value}"'


def _efa(installer: Installer) -> Iterator[str]:
    """EC2 user guide, efa-start-nccl: the steps of an installation. A container has no kernel module and no limits of
    its own, and its build no EFA to verify."""
    archive = f"aws-efa-installer-{installer.version}.tar.gz"
    yield f"curl --fail --location --silent --show-error --remote-name {_INSTALLERS}/{archive}"
    yield f'echo "{installer.sha256}  {archive}" > installer.sha256'
    yield "sha256sum --check installer.sha256"
    yield f"tar --extract --file {archive} --strip-components 1"
    yield "apt-get update"
    yield "./efa_installer.sh -y --skip-kmod --skip-limit-conf --no-verify"
    yield "ldconfig"
    yield f"rm -rf {_EFA} /var/lib/apt/lists/*"


def origins(recipe: Recipe, made: Lines) -> Places:
    """The place in the spec of each line, by its number from 0."""
    places: Places = {}
    for number, field in made.fields.items():
        place = recipe.where(field)
        places[number,] = place
    return places


# The GitHub Actions workflow that builds an image and commits its digest to the branch that it was built from.

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


FOLDER = "bootstrap"


def lower(plan: Plan) -> Iterator[Artifact]:
    """What is written of images. The script is the same for any number of them."""
    images = plan.of(MadeImage)
    caches = plan.of(MadeCache)
    if not images and not caches:
        return
    # Most specs have none.
    from trainyard.extensions.images.built.lower import lines, origins

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
            from trainyard.extensions.images.built.lower import workflow

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
        "trainyard.extensions.images.built",
        name,
        made=made,
        by_workflow=by_workflow,
        terraform=by_terraform,
    )
