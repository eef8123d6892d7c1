from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.launch.plan import Launch
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_LIMITS = r"(?m)/etc/security/limits\.(?:d/|conf)|^[ \t]*ulimit\s+-\w"
_REACHES = ("containerd.service", "LimitMEMLOCK", "DefaultLimitMEMLOCK")


@rule("HLT038", severity=Severity.WARNING)
def user_data_limits_without_effect(launch: Launch) -> Iterator[Finding]:
    """The user data of nodes sets limits that containers never have.

    `limits.conf` is read by PAM for logins (pam_limits), and `ulimit` is for the shell that runs it; containers are
    started by containerd, and have the limits of its unit (systemd.exec, LimitMEMLOCK). EFA, for which tutorials write
    this, registers memory, which counts as locked: what lifts the limit is a drop-in of containerd.service. (A pod with
    the capability IPC_LOCK has none either, getrlimit(2), and Pod Security's baseline refuses such pods.)

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          userData: |
            #!/bin/bash
            echo "* hard memlock unlimited" >> /etc/security/limits.d/99-efa.conf

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          userData: |
            #!/bin/bash
            sysctl -w vm.max_map_count=262144
    """
    if not launch.for_nodes:
        return
    for script in launch.scripts:
        if "limit" not in script.text:
            continue
        line = re.search(_LIMITS, script.text)
        if line is None or any(name in script.text for name in _REACHES):
            continue
        yield Finding(
            f"the limits that the user data of {launch.words} sets (`{line[0].strip()}`) do not reach containers",
            script.line_at(line.start()),
            label="only logins and this shell have them",
            help="write it into a drop-in of containerd.service, like `LimitMEMLOCK=infinity`",
        )
