"""The formats of what is written: each has a judge, a lift, a recogniser and a writer.

Each module of this package (or package in it) is one format, and so is each in ``formats`` of a platform; what its
artifacts are called says ``trainyard.output.artifact``, or ``KINDS`` of that folder. It has:

- ``LATE``: whether its artifacts are judged when they are written, since their text is made then
- ``verified(artifacts, setting)``: all faults of the artifacts of this format, by its schema
- ``lifted(artifacts, closed)``: the plan items that they carry, which policies judge
- ``hinted(text)``: whether a third party's text may hold documents of this format, by a quick look; for ``lint``
- ``TAGS``: the short forms that it has in YAML (``trainyard.language.source.compose.Composer``)
- ``recognised(body)``: whether a document of a third party is of this format; of a text that is no YAML the text
- ``named(name)``: whether the name of a file says that it is a text of this format, which is no YAML; few have it
- ``parsed(file)``: of such a text that has keys and values, its document with their places, and what is wrong with it
- ``MACHINES``: of a format without objects whose artifacts say which nodes a cluster of Kubernetes has: ``True``
- ``SUBJECTS``: the kinds of nodes on which rules are run in ``lint`` where its documents stand without objects
- ``OF_CLUSTERS``: the format of the clusters that its documents are for, where that is another one
- ``parts(artifact)``: what it is made of, by type, and whether the type is known here; ``lint`` counts them
- ``written(artifact)``: the bytes of its file
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, cast

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.lift import assembled, carried
from trainyard.output.artifact import Artifact, UnjudgedError
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.plan import Plan, PlanItem
from trainyard.plan.features import packages_of_platforms
from trainyard.verify.loose_ends import Near, beside
from trainyard.verify.objects import Collide, always

__all__ = [
    "Setting",
    "format_of",
    "formats",
    "hinted",
    "lifted",
    "machines",
    "named",
    "objects",
    "of_clusters",
    "recognised",
    "reread",
    "subjects",
    "unjudged",
    "verified",
    "written",
]


@dataclass(frozen=True, slots=True)
class Setting:
    """What artifacts are judged in.

    ``closed``: they are all there is, our own output; ``external`` are objects that exist besides. ``near`` says of
    two files of an open set whether what is in them is likely to belong together, ``collide`` whether two
    manifests of one name are one object there. ``others``: everything that is written with them, of every format;
    ``folder``: where, in the repository.
    """

    closed: bool = True
    external: frozenset[ObjectRef] = frozenset()
    near: Near = beside
    collide: Collide = always
    others: Sequence[Artifact] = field(default=(), repr=False)
    folder: str = ""


class Format(Protocol):
    """What the module of a format has."""

    LATE: bool
    TAGS: Mapping[str, str]

    def verified(self, artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
        """All faults of artifacts of this format; their routes begin with the artifact's id."""

    def lifted(self, artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
        """The plan items that artifacts of this format carry; what cannot be read is unknown."""

    def hinted(self, text: str) -> bool:
        """Whether a text may hold documents of this format."""

    def recognised(self, body: Any) -> bool:
        """Whether a document is of this format."""

    def parts(self, artifact: Artifact) -> Iterable[tuple[str, bool]]:
        """The types of an artifact's parts, and whether each is known."""

    def written(self, artifact: Artifact) -> bytes:
        """The bytes of an artifact's file."""


_PARTS = ("LATE", "TAGS", "verified", "lifted", "hinted", "recognised", "parts", "written")


@cache
def _modules() -> Mapping[str, str]:
    """The module of each format, by its name."""
    folders = {__name__: Path(__file__).parent}
    for of_platform in packages_of_platforms("formats"):
        folders[of_platform.__name__] = Path(of_platform.__path__[0])
    modules = {}
    for package, folder in folders.items():
        names = {path.stem for path in folder.glob("*.py")}
        names |= {path.parent.name for path in folder.glob("*/__init__.py")}
        for name in names - {"__init__"}:
            modules[name] = f"{package}.{name}"
    return modules


@cache
def formats() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(sorted(_modules()))


@cache
def format_of(name: str) -> Format:
    """A format by its name, which every artifact has one of. Raises ``UnjudgedError`` where it lacks a part."""
    return checked(name, import_module(_modules()[name]))


def checked(name: str, module: ModuleType) -> Format:
    """The module of a format, if it is whole. Raises ``UnjudgedError`` for one that lacks a part."""
    lacking = [part for part in _PARTS if not hasattr(module, part)]
    if lacking:
        raise UnjudgedError(f"the format `{name}` has no {', '.join(lacking)}")
    return cast(Format, module)


def objects(artifacts: Iterable[Artifact]) -> list[Manifest]:
    """The artifacts that are objects."""
    return [artifact for artifact in artifacts if isinstance(artifact, Manifest)]


def hinted(text: str) -> list[str]:
    """The formats that a third party's text may hold documents of."""
    return [name for name, is_hinted in _hints() if is_hinted(text)]


@cache
def _hints() -> tuple[tuple[str, Callable[[str], bool]], ...]:
    """How each format is hinted at: asked of every file of a set."""
    names = formats()
    return tuple((name, format_of(name).hinted) for name in names)


def named(name: str) -> list[str]:
    """The formats of texts that are no YAML that a file may have, by its name."""
    return [form for form, is_named in _names() if is_named(name)]


@cache
def _names() -> tuple[tuple[str, Callable[[str], bool]], ...]:
    """How each format of texts knows the names of its files."""
    modules = ((name, format_of(name)) for name in formats())
    return tuple((name, module.named) for name, module in modules if hasattr(module, "named"))


def recognised(body: Any) -> str:
    """The format of a third-party document; empty where it is of none. The first by name: an object of eksctl has the
    form of Kubernetes' too."""
    for name, is_recognised in _recognisers():
        if is_recognised(body):
            return name
    return ""


@cache
def _recognisers() -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    """How each format knows its documents: asked of every document of a set."""
    names = formats()
    return tuple((name, format_of(name).recognised) for name in names)


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """All faults of artifacts, in their order. What is judged when it is written is left for then."""
    return _faults(artifacts, setting, late=False)


def unjudged(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """All faults of what ``verified`` leaves for when it is written."""
    return _faults(artifacts, setting, late=True)


def _faults(artifacts: Sequence[Artifact], setting: Setting, *, late: bool) -> list[Diagnostic]:
    faults: list[Diagnostic] = []
    for name, of_format in _by_format(artifacts).items():
        judge = format_of(name)
        if late == judge.LATE:
            faults += judge.verified(of_format, setting)
    return faults


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Plan:
    """The plan that artifacts of all formats carry. ``closed``: no other objects exist."""
    nodes: list[PlanItem] = []
    for name, of_format in _by_format(artifacts).items():
        nodes += format_of(name).lifted(of_format, closed=closed)
    return assembled(nodes, closed=closed)


def machines(artifacts: Iterable[Artifact], near: Callable[[str], bool]) -> list[Artifact]:
    """The artifacts without objects that say which nodes there are for the objects of files near by."""
    return [
        artifact
        for artifact in artifacts
        if getattr(format_of(artifact.format), "MACHINES", False) and near(artifact.path)
    ]


def subjects() -> frozenset[type[PlanItem]]:
    """The kinds of nodes that rules judge without objects, of all formats."""
    return frozenset(
        subject for name in formats() for subject in getattr(format_of(name), "SUBJECTS", ())
    )


def of_clusters(name: str) -> str:
    """The format of the clusters that documents of a format are for; empty where it says none."""
    return getattr(format_of(name), "OF_CLUSTERS", "")


def reread(artifacts: Sequence[Artifact], plan: Plan) -> Plan:
    """The plan that our own artifacts carry, with what none does, from the plan that they were lowered from."""
    return carried(lifted(artifacts, closed=True), plan)


def written(artifact: Artifact) -> bytes:
    """The bytes of an artifact's file."""
    return format_of(artifact.format).written(artifact)


def _by_format(artifacts: Iterable[Artifact]) -> dict[str, list[Artifact]]:
    by_format: dict[str, list[Artifact]] = {}
    for artifact in artifacts:
        by_format.setdefault(artifact.format, []).append(artifact)
    return by_format
