from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.extensions.images.built.plan import Step
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_URL = r"https?://[^\s\"'|]+"
_COMPARES = ("sha256sum", "sha512sum", "shasum", "gpg", "cosign")


@rule("RUN063", severity=Severity.NOTE)
def download_not_compared(step: Step) -> Iterator[Finding]:
    """A Dockerfile installs a download without verifying it.

    Whoever answers for the address decides what runs on every node, today or at the next build: an EFA installer
    `latest`, a script that is piped into a shell (SLSA, threats: use of a compromised dependency). A digest or a
    signature in the same RUN is taken for a comparison.

    ## Fails

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN curl -O https://efa-installer.amazonaws.com/aws-efa-installer-latest.tar.gz && tar xf *.tar.gz

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN wget -qO- https://example.com/install.sh | bash

    ## Passes

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN curl -O https://example.com/efa.tgz && sha256sum --check efa.sha256 && tar xf efa.tgz
    """
    if step.instruction != "RUN":
        return
    whole = " ; ".join(step.words)
    if any(tool in whole for tool in _COMPARES):
        return
    for command in step.words:
        address = re.search(_URL, command)
        if address is not None and re.match(r"(sudo )?(curl|wget)\b", command):
            yield Finding(
                f"`{step.path}` installs what `{address[0]}` answers, without comparing it to anything",
                step.at,
                label="compared with nothing",
                help='take a version, and compare it: `echo "SHA256  FILE" | sha256sum --check`',
            )
            return
