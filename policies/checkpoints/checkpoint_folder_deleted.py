from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from trainyard.core.jobs.plan import EarlierCommand
from trainyard.judge.model.saves import saved_paths
from trainyard.judge.model.statements import filled, started
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN153", pods=True, roles=True)
def checkpoint_folder_deleted(work: Work) -> Iterator[Finding]:
    """A job deletes the folder of its checkpoints before it begins.

    A pod that starts again after a failure runs its init containers and its whole command again (Kubernetes, init
    containers; jobset v0.12.0, restarts): `rm -r` on the folder, or on one above it, removes what the run would go on
    from, and training begins at step 0 each time.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          terminationGracePeriod: 1m,
          command: [bash, -c, "rm -rf /data/llama; torchrun train.py"]}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          terminationGracePeriod: 1m,
          initContainers: [{name: clean, image: "busybox:1.36", command: [rm, -rf, /data/llama]}]}]

    ## Passes

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          terminationGracePeriod: 1m,
          command: [bash, -c, "rm -rf /data/llama/tmp; torchrun train.py"]}]
    """
    saved = {posixpath.normpath(each.path) for each in saved_paths(work)}
    if not saved:
        return
    commands = [*work.before, EarlierCommand(work.words, work.where_said("rm"))]
    folder = work.main.working_dir if work.main is not None else ""
    for words, at in commands:
        for path in _deleted(words, work.env, folder):
            if any(f"{each}/".startswith(f"{path.rstrip('/')}/") for each in saved):
                yield Finding(
                    f"{work.title} deletes `{path}`, in which its checkpoints lie, whenever it starts",
                    at,
                    label="training begins at step 0 after each failure",
                    help="remove it, or save to a folder of a name of its own",
                )


def _deleted(words: Sequence[str], env: Mapping[str, str | None], folder: str) -> Iterator[str]:
    """The folders that a command deletes with all that is in them."""
    here = folder
    for name, rest, *_ in started(tuple(words)):
        named = [filled(word, env) for word in rest]
        if name == "cd" and named:
            here = posixpath.join(here, named[-1])
        elif name == "rm" and any(map(_is_recursive, rest)):
            paths = (word for word in named if not word.startswith("-"))
            yield from filter(None, (_folder(posixpath.join(here, path)) for path in paths))
        elif name == "find" and "-delete" in rest and named:
            yield from filter(None, [_folder(posixpath.join(here, named[0]))])


def _folder(path: str) -> str:
    """A folder as an absolute path: all that is in one is the folder; empty where it is not known."""
    path = path.removesuffix("*").replace("/./", "/")
    if not path.startswith("/") or "$" in path:
        return ""
    return posixpath.normpath(path)


def _is_recursive(word: str) -> bool:
    """Whether an option of `rm` has it delete folders."""
    if word.startswith("--"):
        return word == "--recursive"
    return word.startswith("-") and ("r" in word or "R" in word)
