"""The Dockerfile of a recipe.

hadolint 2.14 finds nothing in it: a base by digest (DL3006, DL3007), versions of packages (DL3008, DL3013), lists and
caches removed (DL3009, DL3042), no recommended packages (DL3015), no two RUNs in a row (DL3059), no pipes (DL4006), no
`cd` (DL3003), absolute folders (DL3000, DL3045), COPY alone (DL3020), and no last user that is root (DL3002).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trainyard.core.images.plan import RECIPE_LABEL, Installer, Recipe
from trainyard.output.artifact import Places

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
