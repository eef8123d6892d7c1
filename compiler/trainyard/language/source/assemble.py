"""Finding specs among files and folders, and putting each together into one document."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from trainyard.disk import inputs
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import Diagnostic, error, listed
from trainyard.language.places.tree import (
    Document,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    SourceFile,
)
from trainyard.language.source.extends import Extender
from trainyard.language.source.headers import (
    BASE,
    CLUSTER,
    Header,
    Kinds,
    did_you_mean,
    first_character,
    read_header,
)
from trainyard.language.source.include import with_included
from trainyard.language.source.inherit import inherit
from trainyard.language.source.merge import is_null
from trainyard.language.source.nearby import ancestors, belongs_to, cluster_folder, holds_cluster
from trainyard.language.source.parse import parse
from trainyard.language.source.read import STDIN, STDIN_SHOWN, is_yaml, read, read_stdin, walk

_OUTPUT = ".manifest.json"  # what `emit` puts into each folder that it writes
_MARK = b'"trainyard.dev/file": ".manifest.json"'  # and what says there that it is ours, a merge's marks or not
_POLICIES = (
    "policies"  # where `cli` looks for the adopter's policies, for a folder that holds specs too
)


@dataclass(frozen=True, slots=True)
class SpecSource:
    """One cluster's spec, whole: bases merged, list items of other documents spliced in.

    ``document`` has the shape ``{apiVersion, kind, metadata, spec}``; every node knows its own file. ``parts``: where
    each document of it begins. ``included``: a digest of all that was seen of what it includes.
    """

    name: str
    path: str
    document: Document
    files: tuple[SourceFile, ...]
    parts: tuple[str, ...] = ()
    included: str = ""


def assemble(
    paths: Iterable[str | os.PathLike[str]], kinds: Kinds
) -> tuple[list[SpecSource], list[Diagnostic]]:
    """The specs of files and folders (every ``*.yaml`` and ``*.yml`` below), and all faults of reading them.

    ``kinds`` are the documents of list items, each with its list of the spec. The order of ``paths`` and of directory
    entries does not matter. Names are shown as given. A file of a cluster stands for the whole cluster, whichever of
    its files it is: the other ones are read too.
    """
    paths = list(paths)
    library = _Library(kinds)
    diagnostics: list[Diagnostic] = []
    headers: list[Header] = []
    unread: dict[str, list[Diagnostic]] = {}
    for path in _find(paths, diagnostics):
        loaded, faults = library.load_given(path)
        headers += loaded
        if faults:
            unread[inputs.real_path(path)] = faults
    given = list(headers)
    around = _around(paths, given, library, diagnostics, kinds)
    if around:
        headers = sorted([*given, *around], key=lambda each: os.path.abspath(each.file.name))
    clusters = _clusters(headers)
    parts = _assign(_items(headers, kinds), clusters, diagnostics)
    if around:
        clusters = [each for each in clusters if _is_of(each, parts, given, library)]
    _check_names(clusters, diagnostics)
    if not clusters and not diagnostics and not unread:
        diagnostics.append(
            error(
                "YML040",
                f"no `{CLUSTER}` in {_listed(paths)}",
                help="name a file or folder with a spec",
            )
        )
    sources: list[SpecSource] = []
    for cluster in clusters:
        own_parts = parts.get(id(cluster), [])
        source, files = _whole(cluster, own_parts, library, diagnostics, kinds)
        sources.append(source)
        for path in files:
            unread.pop(path, None)  # an included file need not be a spec
    faults_of_files = chain.from_iterable(unread.values())
    return sources, [*faults_of_files, *diagnostics]


def _clusters(headers: Sequence[Header]) -> list[Header]:
    return [header for header in headers if header.kind == CLUSTER]


def _items(headers: Sequence[Header], kinds: Kinds) -> list[Header]:
    return [header for header in headers if header.kind in kinds]


class _Library:
    """Every file, read and parsed once; the faults of a file are returned once."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._headers: dict[str, list[Header]] = {}

    def load(self, path: str) -> tuple[list[Header], list[Diagnostic]]:
        """The headers of a file."""
        real = inputs.real_path(path)
        return self._loaded(real, lambda: read(path))

    def load_given(self, path: str) -> tuple[list[Header], list[Diagnostic]]:
        """The headers of a path of the command line, which may be standard input."""
        if path == STDIN:
            return self._loaded(STDIN, read_stdin)
        return self.load(path)

    def _loaded(
        self, real: str, reading: Callable[[], tuple[SourceFile | None, list[Diagnostic]]]
    ) -> tuple[list[Header], list[Diagnostic]]:
        if real in self._headers:
            return self._headers[real], []
        headers = self._headers[real] = []
        file, faults = reading()
        if file is None:
            return [], faults
        documents, faults = parse(file)
        for document in documents:
            header, faults_of_header = read_header(file, document, self._kinds)
            faults += faults_of_header
            if header is not None:
                headers.append(header)
        return headers, faults


def _is_of(
    cluster: Header,
    parts: Mapping[int, Sequence[Header]],
    given: Sequence[Header],
    library: _Library,
) -> bool:
    """Whether any of the given documents is a cluster, one of its parts, or one of its bases."""
    own = (cluster, *parts.get(id(cluster), []))
    if any(each is one for each in given for one in own):
        return True
    files = [each.file for each in given if each.kind == BASE]
    if not files or "extends" not in cluster.root.items:
        return False
    extender = Extender(library.load)
    extender.flatten(cluster)
    return any(file in files for file in extender.files)


def _around(
    paths: Iterable[str | os.PathLike[str]],
    given: Sequence[Header],
    library: _Library,
    diagnostics: list[Diagnostic],
    kinds: Kinds,
) -> list[Header]:
    """What belongs to the clusters of the given documents, and was not given itself: other parts of theirs, and the
    clusters of parts."""
    homes = _homes(paths, given, kinds)
    read = {inputs.real_path(header.file.name) for header in given}
    by_real_path: dict[str, str] = {}
    for home in sorted(homes):
        for path in spec_files(os.path.relpath(home), diagnostics):
            if belongs_to(path, home, kinds):
                by_real_path[inputs.real_path(path)] = path
    headers: list[Header] = []
    of_clusters = _folders_of(_clusters(given))
    for real, path in sorted(by_real_path.items()):
        if real not in read:
            # Another cluster in the same folder may be broken.
            beside = os.path.dirname(os.path.abspath(path)) in of_clusters
            loaded, faults = library.load(path)
            headers += loaded
            if not (beside and holds_cluster(path)):
                diagnostics += faults
    return headers


def _homes(
    paths: Iterable[str | os.PathLike[str]], given: Sequence[Header], kinds: Kinds
) -> set[str]:
    """The folders of the clusters of the given documents, but for those of which all is given."""
    folders = [os.path.abspath(path) for path in paths if inputs.is_folder(path)]
    homes = _folders_of(each for each in _clusters(given) if not _is_handed(each))
    for folder in _folders_of(part for part in given if part.kind != CLUSTER):
        known = homes if _is_in(folder, folders) else set()
        home = next((above for above in ancestors(folder) if above in known), None)
        home = home or cluster_folder(folder)
        if home is not None:
            homes.add(home)
    return {home for home in homes if not _is_in(home, folders)}


def _is_in(folder: str, folders: Iterable[str]) -> bool:
    return any(os.path.commonpath((folder, each)) == each for each in folders)


def _find(paths: Iterable[str | os.PathLike[str]], faults: list[Diagnostic]) -> list[str]:
    """Files by name, each once. Left out: hidden files and folders, ``policies/``, and what Trainyard wrote."""
    files: dict[str, str] = {}
    given = [os.fspath(path) for path in paths]
    for path in sorted(map(os.path.normpath, given)):
        unread = len(faults)
        inside = [path]
        if inputs.is_folder(path):
            inside = list(spec_files(path, faults))
        if not inside and len(faults) == unread:
            faults.append(
                error(
                    "YML040", f"no YAML file in `{path}`", help="name a file or folder with a spec"
                )
            )
        for name in inside:
            if name == STDIN:
                real = STDIN
            else:
                real = inputs.real_path(name)
            files.setdefault(real, name)
    return sorted(files.values())


def spec_files(folder: str, faults: list[Diagnostic]) -> Iterator[str]:
    """The files of a folder that may be specs: YAML, but for hidden files, policies and Trainyard's own output."""
    for parent, folders, names in walk(folder, faults):
        manifest = os.path.join(parent, _OUTPUT)
        if _OUTPUT in names and _is_output(manifest):
            folders.clear()
            continue
        skipped = (_POLICIES,) if parent == folder else ()
        visible = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(name for name in visible if name not in skipped)
        for name in sorted(names):
            if is_yaml(name) and not name.startswith("."):
                path = os.path.join(parent, name)
                yield os.path.normpath(path)


def _is_output(manifest: str) -> bool:
    """Whether Trainyard wrote the folder of a manifest. Where the output lies among the specs, it is no spec."""
    if not inputs.is_file(manifest):
        return False
    try:
        head = inputs.read_bytes(manifest)[:512]
    except OSError:
        return False
    start = head.lstrip(b"{ \n")
    return _MARK in head or start.startswith(b'"trainyard"')


def _listed(paths: Iterable[str | os.PathLike[str]]) -> str:
    names = [os.fspath(path) for path in paths]
    return listed(names) or "nothing"


def _assign(
    parts: Sequence[Header], clusters: Sequence[Header], faults: list[Diagnostic]
) -> dict[int, list[Header]]:
    """Parts by the identity of the cluster that they join."""
    joined: dict[int, list[Header]] = {}
    folders: dict[str, list[Header]] = {}
    for cluster in clusters:
        for folder in _folders(cluster):
            beside = folders.setdefault(folder, [])
            beside.append(cluster)
    for part in parts:
        owner = _owner(part, folders)
        if isinstance(owner, Header):
            joined_parts = joined.setdefault(id(owner), [])
            joined_parts.append(part)
        else:
            faults.append(owner)
    return joined


def _owner(part: Header, folders: dict[str, list[Header]]) -> Header | Diagnostic:
    """The cluster of a part: of its own file, its folder, or the nearest folder above."""
    near: list[Header] = []
    for own_folder in _folders(part):
        for folder in ancestors(own_folder):
            near += [
                each for each in folders.get(folder, []) if not any(each is one for one in near)
            ]
            if near and part.cluster is None:
                break
    if part.cluster is not None:
        return _named(part, part.cluster, near)
    own = [cluster for cluster in near if cluster.file is part.file]
    if len(own) == 1:
        choice = own
    else:
        choice = near
    if len(choice) == 1:
        return choice[0]
    if not choice:
        return error(
            "YML041",
            f"no `{CLUSTER}` for {_title(part)}",
            at=part.at,
            help=f"name the folder that holds the `{CLUSTER}` too, or put one next to the file",
        )
    fact = error(
        "YML042",
        f"{len(choice)} clusters could hold {_title(part)}",
        at=part.at,
        help=f"add `cluster: {choice[0].name}` to its `metadata`",
    )
    related = [(cluster.at, "one cluster") for cluster in choice]
    return replace(fact, related=tuple(related))


def _named(part: Header, wanted: ScalarNode, near: Sequence[Header]) -> Header | Diagnostic:
    match = [cluster for cluster in near if cluster.name == wanted.value]
    if match:
        return match[0]
    names = sorted({cluster.name for cluster in near})
    if names:
        otherwise = f"use one of: {listed(names)}"
    else:
        otherwise = "name the folder of the cluster"
    return error(
        "YML043",
        f"no cluster `{wanted.value}` for {_title(part)}",
        at=wanted.span,
        help=did_you_mean(str(wanted.value), names, otherwise),
    )


def _folders_of(headers: Iterable[Header]) -> set[str]:
    return {folder for header in headers for folder in _folders(header)}


def _folders(header: Header) -> list[str]:
    """The folder of a document, and that which a link leads to; of one that comes from another program, the working
    directory."""
    if _is_handed(header):
        return [os.getcwd()]
    name = header.file.name
    paths = [os.path.abspath(name)]
    if inputs.is_link(name):
        paths.append(inputs.real_path(name))
    return [os.path.dirname(path) for path in paths]


def _is_handed(header: Header) -> bool:
    return header.file.name == STDIN_SHOWN or inputs.is_handed(header.file.name)


def _title(part: Header) -> str:
    if part.name:
        return f"{part.kind} `{part.name}`"
    return part.kind


def _check_names(clusters: Sequence[Header], faults: list[Diagnostic]) -> None:
    """Two clusters of one name would be written to one folder."""
    first: dict[str, Header] = {}
    for cluster in clusters:
        other = first.setdefault(cluster.name, cluster)
        if cluster.name and other is not cluster:
            fact = error(
                "YML044",
                f"two clusters are named `{cluster.name}`",
                at=cluster.at,
                help="rename one",
            )
            related = ((other.at, "first named here"),)
            faults.append(replace(fact, related=related))


def _whole(
    cluster: Header,
    parts: Sequence[Header],
    library: _Library,
    diagnostics: list[Diagnostic],
    kinds: Kinds,
) -> tuple[SpecSource, set[str]]:
    """The spec of a cluster, and the files that it includes."""
    extender = Extender(library.load)
    root = extender.flatten(cluster)
    diagnostics += extender.found
    root = _splice(root, parts, diagnostics, kinds)
    root, faults = inherit(root)
    diagnostics += faults
    with inputs.recording() as seen:
        root, included = with_included(root, diagnostics)
    files = dict.fromkeys(extender.files)
    files.update(dict.fromkeys(part.file for part in parts))
    file_name = os.path.basename(cluster.file.name)
    stem, _ = os.path.splitext(file_name)
    document = Document(root)
    beginnings = tuple(str(header.root.span) for header in (cluster, *parts))
    source = SpecSource(
        cluster.name or stem, cluster.file.name, document, tuple(files), beginnings, seen.digest()
    )
    return source, included


def _splice(
    root: MappingNode, parts: Sequence[Header], diagnostics: list[Diagnostic], kinds: Kinds
) -> MappingNode:
    """The root with each part as an item of its list. A list of the wrong type is left for the spec's own check."""
    spec = root.child("spec")
    if not parts or not _is_absent_or(MappingNode, spec):
        return root
    if isinstance(spec, MappingNode):
        items = dict(spec.items)
    else:
        items = {}
    place = spec if spec is not None else root
    for kind, key in kinds.items():
        parts_of_kind = [part for part in parts if part.kind == kind]
        node = items.get(key)
        items |= _extended(node, key, parts_of_kind, place, diagnostics)
    whole = MappingNode(place.span, items, key_span=place.key_span)
    return MappingNode(root.span, {**root.items, "spec": whole}, key_span=root.key_span)


def _is_absent_or(wanted: type[Node], node: Node | None) -> bool:
    return node is None or isinstance(node, wanted) or is_null(node)


def _extended(
    node: Node | None,
    key: str,
    parts: Sequence[Header],
    holder: Node,
    diagnostics: list[Diagnostic],
) -> dict[str, Node]:
    """``key`` with its list and the parts after it, or nothing if there is nothing to change. A list that is not there
    stands where its ``holder`` does."""
    if not parts or not _is_absent_or(SequenceNode, node):
        return {}
    if isinstance(node, SequenceNode):
        items = list(node.items)
    else:
        items = []
    names: dict[object, ScalarNode] = {}
    for item in items:
        name = item.child("name")
        if isinstance(name, ScalarNode):
            names[name.value] = name
    for part in parts:
        spec = part.root.child("spec")
        metadata = part.root.child("metadata")
        if metadata is not None:
            name = metadata.child("name")
        else:
            name = None
        if not isinstance(spec, MappingNode):
            continue  # reading the header has reported it
        if not isinstance(name, ScalarNode):
            continue
        first = names.setdefault(name.value, name)
        if first is not name:
            fact = error(
                "YML045",
                f"two items of `spec.{key}` are named `{name.value}`",
                at=name.span,
                help="rename one or remove it",
            )
            diagnostics.append(replace(fact, related=((first.span, "first named here"),)))
            continue
        items.append(MappingNode(spec.span, {"name": name, **spec.items}, key_span=spec.key_span))
    place = node if node is not None else holder
    if node is not None:
        span = place.span
    else:
        span = place.key_span or first_character(place)
    return {key: SequenceNode(span, items, key_span=place.key_span)}
