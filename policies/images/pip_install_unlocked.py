from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.extensions.images.built.plan import Step
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

# The options that take a value, of pip 26 and uv 0.13 (`pip install --help`, `uv pip install --help`).
_VALUED = (
    "-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints", "-b", "--build-constraint",
    "-e", "--editable", "-t", "--target", "--platform", "--python-platform", "--python-version",
    "--implementation", "--abi", "--root", "--prefix", "--src", "--upgrade-strategy", "-C", "--config-settings",
    "--config-setting", "--global-option", "--no-binary", "--only-binary", "--progress-bar", "--root-user-action",
    "--report", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--python", "--log",
    "--keyring-provider", "--proxy", "--retries", "--timeout", "--exists-action", "--trusted-host", "--cert",
    "--client-cert", "--cache-dir", "--use-feature", "--use-deprecated", "-p", "-P", "--upgrade-package",
    "--index", "--default-index", "--index-strategy", "--torch-backend", "--link-mode", "--prerelease",
    "--resolution", "--exclude-newer", "--no-build-isolation-package", "--override", "--overrides", "--extra",
    "--group", "--color", "--directory", "--project",
)  # fmt: skip
_NO_NAMES = ("==", "/", "$", "@")
_REDIRECTED = re.compile(r"[^\"']*[<>]")  # RUN177 says it of a requirement


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

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN pip install --config-settings "--build-option=--cpp_ext" ./apex && cd train && pip install ".[all]"
    """
    if step.instruction != "RUN":
        return
    for command in step.words:
        loose = [name for name in _packages(command.split()) if not _is_pinned(name)]
        if loose:
            yield Finding(
                f"`{step.path}` installs the newest version of `{loose[0]}`",
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
        elif not word.startswith("-") and not _REDIRECTED.match(word):
            yield word.rstrip(")").strip("\"'")


def _is_pinned(name: str) -> bool:
    """Whether a name has one version, or is no name: a path, a URL, a variable."""
    return not name or name.startswith(".") or any(mark in name for mark in _NO_NAMES)
