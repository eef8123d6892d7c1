"""Lower: a script of ``sacctmgr`` for each account and each quality of service, which may run again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from trainyard.extensions.parallelcluster.accounts.plan import Account, Qos
from trainyard.output import Artifact
from trainyard.plan import Plan

FOLDER = "bootstrap/accounting"
_SHOW = "sacctmgr --parsable2 --noheader show"
_CHANGE = "sacctmgr --immediate"
"""Which ends with 1 where nothing changes (Slurm documentation, sacctmgr)."""


def lower(plan: Plan) -> Iterator[Artifact]:
    """A file for each: two that come never meet in one."""
    for qos in plan.of(Qos):
        yield _script(f"qos-{qos.name}", qos, _qos(qos))
    for account in plan.of(Account):
        yield _script(f"account-{account.name}", account, _account(account))


def _script(name: str, node: Account | Qos, commands: Iterator[str]) -> Artifact:
    text = "\n".join(("set -euo pipefail", "export PATH=/opt/slurm/bin:$PATH", *commands, ""))
    return Artifact(path=f"{FOLDER}/{name}.sh", at=node.at, text=text, format="shell")


def _qos(qos: Qos) -> Iterator[str]:
    name = shlex.quote(qos.name)
    what = shlex.quote(qos.description or qos.name)
    yield f"{_SHOW} qos {name} format=name | grep -x {name} > /dev/null || {_CHANGE} add qos {name}"
    yield f"{_CHANGE} modify qos where name={name} set priority={qos.priority} description={what} || [ $? = 1 ]"
    # Accounts take the qualities of service of the account above them (sacctmgr, QosLevel).
    yield f"{_CHANGE} modify account where name=root set qoslevel+={name} || [ $? = 1 ]"


def _account(account: Account) -> Iterator[str]:
    name = shlex.quote(account.name)
    queue = shlex.quote(account.queue)
    limit = -1 if account.most is None else account.most
    limits = f"grptres=node={limit} fairshare={account.share}"
    yield f"{_SHOW} account {name} format=account | grep -x {name} > /dev/null ||"
    yield f"  {_CHANGE} add account {name} description={queue} organization=trainyard"
    yield f"{_CHANGE} modify account where name={name} set {limits} || [ $? = 1 ]"
    yield f'{_CHANGE} add user name="$(id -un)" account={name} || [ $? = 1 ]'
