from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import placeholder
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work

_NAMES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")


@rule("EFA020", aliases=("socket-interface-of-no-node",), pods=True)
def socket_interface_not_on_node(work: Work) -> Iterator[Finding]:
    """A job is to meet over a network interface that its pods do not have.

    A pod of the VPC CNI has `eth0` and `lo`; EC2's nodes have `ens*`, `enp*` or `eth*`, and none has InfiniBand's `ib0`
    or a `bond0`. NCCL ends with "no socket interface found", Gloo with "Unable to find address for" it (NCCL 2.30.7,
    src/bootstrap.cc and src/os/linux.cc: names are beginnings, `=` makes them whole, `^` excludes; VPC CNI v1.23.0).

    ## Fails

        jobs: [{name: llama, env: {NCCL_SOCKET_IFNAME: ib0}}]

        jobs: [{name: llama, env: {NCCL_SOCKET_IFNAME: ^eth}}]

        jobs: [{name: llama, env: {GLOO_SOCKET_IFNAME: lo}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_SOCKET_IFNAME: "^lo,docker", GLOO_SOCKET_IFNAME: eth0}}]
    """
    if work.pod is None:
        return
    for name in _NAMES:
        given = work.env.get(name)
        if (
            given
            and not placeholder(given)
            and not _meets(given, host=work.pod.host_network, alone=not work.gang)
        ):
            has = (
                "a node has `ens*`, `enp*` or `eth*`"
                if work.pod.host_network
                else "a pod has `eth0`"
            )
            yield Finding(
                f"`{name}` is `{given}` in {work.title}, and {has}",
                work.where_env(name),
                label="no rank finds another",
                help=f"remove it, or write `{name}: eth0`",
            )


def _meets(given: str, *, host: bool, alone: bool) -> bool:
    """Whether an interface that there is remains."""
    there = ["ens5", "enp71s0", "eth0"] if host else ["eth0"]
    there += ["lo"] if alone else []
    names = [each for each in given.lstrip("^=").split(",") if each]
    if given.startswith("^"):
        return any(
            not _named(each, names, whole=given.startswith("^=")) for each in there
        )
    if host and any(each.startswith(("en", "eth")) for each in names):
        return True
    return any(
        _named(each, names, whole=given.startswith("=")) for each in there
    ) or any(each.startswith("eth") for each in names)


def _named(interface: str, names: list[str], *, whole: bool) -> bool:
    return any(
        interface == each if whole else interface.startswith(each) for each in names
    )
