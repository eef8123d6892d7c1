"""The sizes of a group of nodes, which may contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.eks.nodes.plan import NodeGroup


class Contradiction(NamedTuple):
    """What is wrong, by the field that is to change, and what to write."""

    field: str
    what: str
    help: str


def contradictions(
    group: NodeGroup | NodeGroupStack, names: Sequence[str]
) -> Iterator[Contradiction]:
    """What is wrong with the sizes that the file calls so: the least, the wanted, the most."""
    least, wanted, most = group.min_size, group.desired, group.max_size
    of_least, of_wanted, of_most = names
    if wanted is not None and most is not None and wanted > most:
        help = f"lower `{of_wanted}`, or raise `{of_most}`"
        yield Contradiction("desired", f"asks for {wanted} nodes and may have at most {most}", help)
    elif wanted is not None and least is not None and wanted < least:
        help = f"raise `{of_wanted}`, or lower `{of_least}`"
        yield Contradiction("desired", f"asks for {wanted} nodes and has at least {least}", help)
    elif least is not None and most is not None and least > most:
        help = f"raise `{of_most}`, or lower `{of_least}`"
        yield Contradiction("max_size", f"has at least {least} nodes and at most {most}", help)
