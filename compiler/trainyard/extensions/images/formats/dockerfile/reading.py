"""A Dockerfile as plan items: the recipe of its last stage, and its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.core.images.plan import RECIPE_LABEL, Installer, Recipe
from trainyard.extensions.images.built.plan import Step
from trainyard.extensions.images.formats.dockerfile.grammar import Instruction, instructions
from trainyard.language.places import Route
from trainyard.language.units import count
from trainyard.output.artifact import Artifact
from trainyard.plan import PlanItem

_ARCHIVE = "aws-efa-installer-"


def nodes(artifact: Artifact) -> Iterator[PlanItem]:
    """The steps of a Dockerfile, and the recipe of its last stage."""
    at = Route((artifact.id,))
    steps = list(instructions(artifact.content))
    stages: set[str] = set()
    last: list[Instruction] = []
    for step in steps:
        if step.name == "FROM":
            base, name = _from(step)
            last = []
            yield Step(
                at=at / step.line,
                path=artifact.path,
                instruction="FROM",
                words=(base,),
                inside=base.lower() in stages or base == "scratch",
            )
            if name:
                stages.add(name.lower())
        elif step.name == "RUN":
            yield Step(
                at=at / step.line, path=artifact.path, instruction="RUN", words=step.commands
            )
        elif step.name in ("ENV", "ARG"):
            for name, value in step.values.items():
                yield Step(
                    at=at / step.line_of(name),
                    path=artifact.path,
                    instruction=step.name,
                    words=(f"{name}={value}",),
                )
        last.append(step)
    recipe = _recipe(artifact.path, at, last)
    if recipe is not None:
        yield recipe


def _from(step: Instruction) -> tuple[str, str]:
    """The image of a FROM, and the name of its stage."""
    words = step.text.split()
    name = ""
    if len(words) > 2 and words[1].upper() == "AS":
        name = words[2]
    return (words[0] if words else ""), name


def _recipe(path: str, at: Route, steps: Iterable[Instruction]) -> Recipe | None:
    base = ""
    working_dir = ""
    requirements = None
    user = 0
    digest = ""
    packages: dict[str, str] = {}
    env: dict[str, str] = {}
    copies: list[tuple[str, str]] = []
    efa = None
    origins: dict[str, Route] = {}
    for step in steps:
        here = at / step.line
        if step.name == "FROM":
            base, _ = _from(step)
            origins["base"] = here
        elif step.name == "WORKDIR":
            working_dir = step.text
            origins["working_dir"] = here
        elif step.name == "USER":
            user = _user(step.text)
            origins["user"] = here
        elif step.name == "ENV":
            env.update(step.values)
            origins["env"] = here
            origins |= {f"env.{name}": at / step.line_of(name) for name in step.values}
        elif step.name == "LABEL":
            digest = step.values.get(RECIPE_LABEL, digest)
        elif step.name == "COPY":
            words = _words(step)
            target = words[-1]
            origins_of_copy = words[:-1]
            copies += [(origin, target) for origin in origins_of_copy]
        elif step.name == "RUN":
            for command in step.commands:
                packages.update(_packages(command))
                requirements = _requirements(command) or requirements
            efa = _installer(step, here) or efa
    if not base:
        return None
    locks = [origin for origin, target in copies if target == requirements]
    others = tuple(copy for copy in copies if copy[1] != requirements)
    return Recipe(
        at=at,
        path=path,
        base=base,
        efa=efa,
        packages=packages,
        requirements=locks[0] if locks else requirements,
        copies=others,
        working_dir=working_dir,
        env=env,
        user=user,
        digest=digest,
        origins=origins,
    )


def _words(step: Instruction) -> tuple[str, ...]:
    """The words of an instruction; as they stand, where a quotation does not end."""
    try:
        return step.words
    except ValueError:
        return tuple(step.text.split())


def _user(text: str) -> int:
    """The number of a user; 0 for one whose number is not known here."""
    return count(text.partition(":")[0]) or 0


def _packages(command: str) -> dict[str, str]:
    """The packages that a command installs with their versions."""
    words = command.split()
    if words[:1] != ["apt-get"] or "install" not in words:
        return {}
    names = [word for word in words if not word.startswith("-")]
    pinned = [name.partition("=") for name in names]
    return {name: version for name, equals, version in pinned if equals}


def _requirements(command: str) -> str | None:
    """The file whose requirements a command installs."""
    words = command.split()
    opening = " ".join(words[:4])
    if "pip" not in opening or "install" not in words:
        return None
    for option in ("--requirement", "-r"):
        if option in words[:-1]:
            return words[words.index(option) + 1]
    return None


def _installer(step: Instruction, at: Route) -> Installer | None:
    """The EFA installer of a RUN that compares its archive."""
    for command in step.commands:
        words = command.replace('"', " ").split()
        if words[:1] != ["echo"] or len(words) <= 2:
            continue
        if _ARCHIVE in words[2]:
            version = words[2].removeprefix(_ARCHIVE).removesuffix(".tar.gz")
            return Installer(at=at, version=version, sha256=words[1])
    return None
