from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.model.user_data import KINDS, boot_scripts
from compiler.policy.rule import Finding, rule

_FETCHERS = ("curl", "wget")
_SHELL = r"(?:sudo\s+)?(?:/\S*/)?(?:ba|z|da)?sh\b"
_FETCH = rf"\b(?:{'|'.join(_FETCHERS)})\b[^\n;&|]*"
_PIPED = rf"{_FETCH}\|\s*{_SHELL}|{_SHELL}\s+<\(\s*{_FETCH}|{_SHELL}\s+-c\s+[\"']?\$\(\s*{_FETCH}"


@rule("ACC044", severity=Severity.WARNING, kinds=KINDS)
def user_data_runs_download(manifest: Manifest) -> Iterator[Finding]:
    """The user data of nodes runs, as root, what a server answers at that moment.

    Every node runs what the address serves on the day that it boots: nobody has read it, no hash holds it, and
    while the server is away no node joins.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            #!/bin/bash
            curl -fsSL https://example.com/setup.sh | sudo bash

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            #!/bin/bash
            curl -fsSLo /tmp/setup.sh https://example.com/setup.sh
            echo "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  /tmp/setup.sh" | sha256sum --check
            bash /tmp/setup.sh
    """
    for script in boot_scripts(manifest):
        if not any(program in script.text for program in _FETCHERS):
            continue
        found = re.search(_PIPED, script.text)
        if found is not None:
            yield Finding(
                f"nodes of {script.title} run what `{found.group().strip()}` answers, as root",
                script.at,
                help="write the lines into the user data, or compare the download with its SHA-256 before it runs",
            )
