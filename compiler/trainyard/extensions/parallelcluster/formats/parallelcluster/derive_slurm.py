"""Derive what ``slurm.conf`` takes: ``python -m ….derive_slurm CHECKOUT``.

From the sources of Slurm (SchedMD/slurm, GPL-2.0, of which names are facts): the parameters of ``slurm.conf`` and of
its partitions and nodes with the type of their values (``src/common/read_config.c``), and the plugins of each type
(``plugin_type`` in ``src/plugins``).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from trainyard.extensions.parallelcluster.formats.parallelcluster.slurm_conf import FILE

_TABLES = {
    "cluster": "slurm_conf_options",
    "partition": "_partition_options",
    "node": "_nodename_options",
}
_OPTION = re.compile(r'\{"(\w+)"\s*,\s*S_P_(\w+)')
_PLUGIN = re.compile(r'\bplugin_type\s*\[\]\s*=\s*"(\w+)/(\w+)"')


def parameters(source: str, table: str) -> dict[str, str]:
    """The parameters of one table of ``read_config.c``, each with its type: ``STRING``, ``UINT16``, …"""
    begin = source.index(f"s_p_options_t {table}[] = {{")
    end = source.index("{NULL}", begin)
    return dict(_OPTION.findall(source[begin:end]))


def plugins(folder: Path) -> dict[str, list[str]]:
    """The names of the plugins of each type."""
    found: dict[str, set[str]] = {}
    for file in sorted(folder.glob("*/*/*.c")):
        for kind, name in _PLUGIN.findall(file.read_text(errors="replace")):
            found.setdefault(kind, set()).add(name)
    return {kind: sorted(names) for kind, names in sorted(found.items())}


def main(checkout: Path) -> None:
    source = (checkout / "src/common/read_config.c").read_text()
    tables = {name: parameters(source, table) for name, table in _TABLES.items()}
    facts = {**tables, "plugins": plugins(checkout / "src/plugins")}
    FILE.write_text(json.dumps(facts, sort_keys=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
