"""Target: a script of ``sacctmgr`` for each account and each quality of service, which may run again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from compiler.output import Artifact
from compiler.plan import Plan
from compiler.platforms.parallelcluster.accounts.plan import Account, Qos

FOLDER = "bootstrap/accounting"


def lower(plan: Plan) -> Iterator[Artifact]:
    """A file for each: two that come never meet in one."""
    for qos in plan.of(Qos):
        yield _script(f"qos-{qos.name}", qos, _qos(qos))
    for account in plan.of(Account):
        yield _script(f"account-{account.name}", account, _account(account))


def _script(name: str, node: Account | Qos, commands: Iterator[str]) -> Artifact:
    text = "\n".join(("#!/bin/bash", "set -euo pipefail", *commands, ""))
    return Artifact(path=f"{FOLDER}/{name}.sh", at=node.at, text=text, format="shell")


def _qos(qos: Qos) -> Iterator[str]:
    name = shlex.quote(qos.name)
    what = shlex.quote(qos.description or qos.name)
    yield f"sacctmgr --immediate --parsable2 --noheader show qos {name} format=name | grep -qx {name} ||"
    yield f"  sacctmgr --immediate add qos {name}"
    yield f"sacctmgr --immediate modify qos where name={name} set priority={qos.priority} description={what} || [ $? = 1 ]"
    # Accounts take the qualities of service of the account above them (sacctmgr, QosLevel).
    yield f"sacctmgr --immediate modify account where name=root set qoslevel+={name} || [ $? = 1 ]"


def _account(account: Account) -> Iterator[str]:
    name = shlex.quote(account.name)
    limit = -1 if account.most is None else account.most
    yield f"sacctmgr --immediate --parsable2 --noheader show account {name} format=account | grep -qx {name} ||"
    yield f"  sacctmgr --immediate add account {name} description={shlex.quote(account.queue)} organization=trainyard"
    # `sacctmgr` ends with 1 where nothing changes.
    yield f"sacctmgr --immediate modify account where name={name} set grptres=node={limit} fairshare={account.share} || [ $? = 1 ]"
    yield f'sacctmgr --immediate add user name="${{SLURM_USER_NAME:-$(id -un)}}" account={name} || [ $? = 1 ]'
