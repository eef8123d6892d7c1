"""Hypothesis strategies for what a job says of its pods beside its program, and of its object."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXTS = st.text("abc${} \"'\n:#é", max_size=8)
HOSTS = [f"ip-10-0-0-{number}.us-west-2.compute.internal" for number in (1, 2)]
LEVELS = [f"network-node-layer-{layer}" for layer in (1, 2, 3)] + ["hostname"]
_SOURCES: list[dict[str, Any]] = [
    {"persistentVolumeClaim": {"claimName": "claim"}},
    {"configMap": {"name": "own"}},
    {"secret": {"secretName": "own"}},
    {"emptyDir": {}},
    {"emptyDir": {"sizeLimit": "1Gi"}},
    {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
    {"emptyDir": {"medium": "Memory"}},
]
_LOCAL = {"nodeLocal": {"size": "10Gi"}}
_INIT_KEYS = st.fixed_dictionaries(
    {},
    optional={
        "image": st.just("registry.test/init:1"),
        "args": st.lists(TEXTS, max_size=2),
        "env": st.dictionaries(st.sampled_from(["A", "B"]), TEXTS, max_size=2),
    },
)
_PATHS = st.sampled_from(["/etc/a.conf", "/etc/a_conf", "/w/é", "/w/a b", "/w/..x"])
_OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "files": st.dictionaries(_PATHS, TEXTS, min_size=1),
    "annotations": st.dictionaries(st.sampled_from(["a", "example.com/b"]), TEXTS),
    "imagePullSecrets": st.just(["registry", "other"]).map(list),
    "workingDir": st.sampled_from(["/w", "/${A}"]),
}
_PLACED: dict[str, st.SearchStrategy[Any]] = {
    "excludeNodes": st.lists(st.sampled_from(HOSTS), unique=True),
    # No host has room for several nodes.
    "topology": st.builds(dict, required=st.sampled_from(LEVELS[:-1]))
    | st.builds(dict, preferred=st.sampled_from(LEVELS)),
}


@st.composite
def job_keys(draw: st.DrawFn, *, disks: bool = False, placed: bool = False) -> dict[str, Any]:
    """Some of the keys; ``disks``: of a pool with NVMe disks, ``placed``: of one that is always on, with a topology."""
    sources = [*_SOURCES, _LOCAL] if disks else _SOURCES
    volumes = [
        {
            "name": f"v{index}",
            "path": f"/volumes/{index}",
            "readOnly": draw(st.booleans()),
            **source,
        }
        for index, source in enumerate(draw(st.lists(st.sampled_from(sources), max_size=4)))
    ]
    before = [
        {"name": f"init-{index}", "command": ["x"], **keys}
        for index, keys in enumerate(draw(st.lists(_INIT_KEYS, max_size=2)))
    ]
    optional = {"volumes": st.just(volumes), "initContainers": st.just(before), **_OPTIONAL}
    if placed:
        optional |= _PLACED
    return draw(st.fixed_dictionaries({}, optional=optional))


NO_PLACE_BESIDE_RUNTIME = ("files", "initContainers", "workingDir")
"""Keys that a job with a released runtime cannot have (RES205)."""
FAST = {"name": "fast", "path": "/fast"}
"""The storage that initializers download to, and where jobs mount it."""
_ROLE_KEYS = st.fixed_dictionaries(
    {
        "nodes": st.integers(1, 2),
        "command": st.lists(TEXTS, min_size=1, max_size=2).map(lambda words: ["x", *words]),
    },
    optional={
        "args": st.lists(TEXTS, max_size=2),
        "env": st.dictionaries(st.sampled_from(["A", "B"]), TEXTS, max_size=2),
    },
)
_DOWNLOADS = st.fixed_dictionaries(
    {},
    optional={
        "dataset": st.just({"storageUri": "hf://a/b", "env": {"A": "1"}}),
        "model": st.just({"storageUri": "hf://a/c", "secret": "own"}),
    },
).filter(bool)


@st.composite
def kind_keys(draw: st.DrawFn) -> dict[str, Any]:
    """What a job says of its object, with what belongs to that: command, launcher, nodes, roles, initializer."""
    nodes = draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["train", "init", "v1", "mpi", "set", "batch", "ray"]))
    keys: dict[str, Any] = {"nodes": nodes}
    if kind == "init":
        keys["initializer"] = draw(_DOWNLOADS)
        keys["mounts"] = [{"storage": FAST["name"], "path": FAST["path"]}]
    elif kind in ("v1", "mpi"):
        keys["kind"] = "PyTorchJob"
        if kind == "mpi":
            keys["kind"] = "MPIJob"
            keys["launcher"] = {"mpi": {}}
            keys["command"] = ["mpirun", "python", "t.py"]
    elif kind == "set":
        keys["kind"] = "JobSet"
        given = draw(st.lists(_ROLE_KEYS, max_size=2))
        keys["roles"] = [{"name": f"role-{index}", **role} for index, role in enumerate(given)]
    elif kind == "batch":
        keys |= {"kind": "Job", "command": ["python", "t.py"]}
        if draw(st.booleans()):
            keys["minNodes"] = draw(st.integers(1, nodes))
    elif kind == "ray":
        words = draw(st.lists(TEXTS, max_size=2))
        keys |= {"kind": "RayJob", "command": ["python", *words]}
    return keys
