from __future__ import annotations

from collections.abc import Iterator

from compiler.core.images.plan import Step
from compiler.diagnostics import Severity
from compiler.policy.rule import Finding, rule

_VALUED = (
    "-r",
    "--requirement",
    "-c",
    "--constraint",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-t",
    "--target",
    "-f",
    "--find-links",
    "--platform",
    "--python-version",
    "--prefix",
    "--root",
    "--timeout",
    "--retries",
    "--progress-bar",
    "--trusted-host",
)


@rule("RUN062", severity=Severity.WARNING)
def pip_install_unlocked(step: Step) -> Iterator[Finding]:
    """A Dockerfile installs the newest version of Python packages.

    Two builds of one commit have other packages, and a package can bring another PyTorch or NCCL than the base's
    (pip, secure installs and repeatable installs; hadolint DL3013). What a file of requirements holds is not known
    here, nor what an `ARG` gives.

    ## Fails

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN pip install --no-cache-dir transformers "deepspeed>=0.14"

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN apt-get update && python3 -m pip install flash-attn

    ## Passes

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN pip install --no-cache-dir --require-hashes -r requirements.txt

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN pip install --no-cache-dir transformers==4.57.1 && pip install --no-deps .
    """
    if step.instruction != "RUN":
        return
    for command in step.words:
        loose = [name for name in _packages(command.split()) if not _is_pinned(name)]
        if loose:
            shown = loose[0].strip("\"'")
            yield Finding(
                f"`{step.path}` installs the newest version of `{shown}`",
                step.at,
                label="other packages at the next build",
                help="lock them with hashes (`uv pip compile --generate-hashes`), and install the lock with "
                "`--require-hashes`",
            )


def _packages(words: list[str]) -> Iterator[str]:
    """The packages that `pip install` is given by name."""
    if "install" not in words or not words[: words.index("install")]:
        return
    before = words[: words.index("install")]
    if before[-1].rpartition("/")[2] not in ("pip", "pip3"):
        return
    rest = iter(words[words.index("install") + 1 :])
    for word in rest:
        if word in _VALUED:
            next(rest, None)
        elif not word.startswith("-"):
            yield word


def _is_pinned(name: str) -> bool:
    """Whether a name has one version, or is no name: a path, a URL, a variable."""
    bare = name.strip("\"'")
    return any(mark in bare for mark in ("==", "/", "$", "@", "<<", ">&")) or bare in (".", "")
