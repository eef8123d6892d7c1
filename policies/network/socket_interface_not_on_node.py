from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Pod
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.output.manifest import placeholder

_NAMES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")


@rule("EFA020", aliases=("socket-interface-of-no-node",), pods=True, roles=True)
def socket_interface_not_on_node(work: Work) -> Iterator[Finding]:
    """A variable of a job names a network interface that its pods do not have.

    A pod of the VPC CNI has `eth0` and `lo`; EC2's nodes have `ens*`, `enp*` or `eth*`, and none has InfiniBand's `ib0`
    or a `bond0`. NCCL ends with "no socket interface found", Gloo with "Unable to find address for" it (NCCL 2.30.7,
    src/bootstrap.cc and src/os/linux.cc: names are beginnings, `=` makes them whole, `^` excludes; VPC CNI v1.23.0).

    ## Fails

        jobs: [{name: llama, env: {NCCL_SOCKET_IFNAME: ib0}}]

        jobs: [{name: llama, env: {NCCL_SOCKET_IFNAME: ^eth}}]

        jobs: [{name: llama, env: {GLOO_SOCKET_IFNAME: lo}}]

        jobs: [{name: llama, env: {NCCL_SOCKET_IFNAME: eth1}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_SOCKET_IFNAME: "^lo,docker", GLOO_SOCKET_IFNAME: eth0}}]
    """
    if work.has_pods and (work.pod is None or _has_more(work.pod)):
        return
    for name in _NAMES:
        given = work.env.get(name)
        host = work.pod is None or work.pod.host_network
        if not given or placeholder(given):
            continue
        if not _meets(given, host=host, alone=not work.gang):
            has = "a node has `ens*`, `enp*` or `eth*`" if host else "a pod has `eth0`"
            yield Finding(
                f"`{name}` is `{given}` in {work.title}, and {has}",
                work.where_env(name),
                label="no rank finds another",
                help=_help(name, work),
            )


def _has_more(pod: Pod) -> bool:
    """Whether something gives a pod more interfaces: Multus, or the VPC CNI by several network cards."""
    return any("cni.cncf.io/" in key or "nicConfig" in key for key in pod.annotations)


def _help(name: str, work: Work) -> str:
    if work.has_pods:
        return f"remove it, or write `{name}: eth0`"
    return f"remove it, or write `{name}=^lo,docker`"


def _meets(given: str, *, host: bool, alone: bool) -> bool:
    """Whether a value leaves an interface that exists."""
    if host:
        interfaces = ["ens5", "enp71s0", "eth0"]
    else:
        interfaces = ["eth0"]
    if alone:
        interfaces.append("lo")
    names = [name for name in given.lstrip("^=").split(",") if name]
    whole = given.startswith(("=", "^="))
    matched = [card for card in interfaces if _named(card, names, whole=whole)]
    if given.startswith("^"):
        return len(matched) < len(interfaces)
    return bool(matched) or (host and any(name.startswith(("en", "eth")) for name in names))


def _named(interface: str, names: list[str], *, whole: bool) -> bool:
    if whole:
        return interface in names
    return interface.startswith(tuple(names))
