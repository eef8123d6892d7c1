"""What nodes run when they boot, as it is written, read back and run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from builders import FSX, body_of, faults_of, objects_of, plan_of, spec
from running import stand_ins
from trainyard.eks.nodes.plan import Boot, NodeClass, NodeGroup
from trainyard.eks.nodes.user_data import boot_script
from trainyard.lift import lift

LARGE: dict[str, Any] = {"instanceTypes": ["p5.48xlarge"]}
EXISTING = [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}]
MADE: dict[str, Any] = {
    "deployment": "PERSISTENT_2",
    "size": "38400Gi",
    "throughputPerTiB": 125,
    "efa": True,
    "zone": "us-west-2b",
}


def made(**keys: Any) -> list[dict[str, Any]]:
    return [{"name": "fast", "fsxLustre": {"create": {**MADE, **keys}}}]


@pytest.mark.parametrize(
    ("parts", "boot"),
    [
        ({"pool": {"instanceTypes": ["c7i.4xlarge"]}, "job": {"nodes": 1}}, Boot()),
        ({"pool": {"instanceTypes": ["c7i.24xlarge"]}}, Boot(lustre_settings=True)),
        ({"pool": LARGE}, Boot(locked_memory=True, lustre_settings=True)),
        ({"pool": LARGE, "storage": EXISTING}, Boot(locked_memory=True, lustre_settings=True)),
        ({"pool": {"instanceTypes": ["c7i.xlarge"]}, "storage": EXISTING}, Boot()),
        (
            {"pool": LARGE, "storage": made()},
            Boot(locked_memory=True, lustre_settings=True, lustre_efa=True),
        ),
        (
            {"pool": {"instanceTypes": ["g6e.48xlarge"]}, "storage": made()},
            Boot(locked_memory=True, lustre_settings=True, lustre_efa=True),
        ),
        (
            {"pool": LARGE, "storage": made(efa=False)},
            Boot(locked_memory=True, lustre_settings=True),
        ),
    ],
)
def test_what_nodes_do_follows_from_their_type_and_the_storage(
    parts: dict[str, Any], boot: Boot
) -> None:
    plan = plan_of(spec(**parts))
    (node_class,) = plan.of(NodeClass)
    assert node_class.boot == boot
    (read,) = lift(objects_of(plan), closed=True).of(NodeClass)
    assert (read.boot, read.own_kubelet) == (boot, False)
    assert read.user_data == boot.runs


def test_nodes_of_a_managed_group_do_the_same() -> None:
    pool = {**LARGE, "nodes": 4, "managedNodeGroup": {}}
    plan = plan_of(spec(pool=pool, storage=made()))
    groups = [group for group in plan.of(NodeGroup) if group.name == "gpu"]
    boot = Boot(locked_memory=True, lustre_settings=True, lustre_efa=True)
    assert [group.boot for group in groups] == [boot]


def test_nothing_that_flux_would_substitute() -> None:
    every = Boot(mig=("1g.10gb",), locked_memory=True, lustre_settings=True, lustre_efa=True)
    script = boot_script(every)
    assert "${" not in script
    done = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("parts", "fact"),
    [
        (
            {"pool": {"efa": False, "nodes": {"max": 1}}, "job": {"nodes": 1}},
            "no pool in `us-west-2b` has EFA",
        ),
        ({}, "FSx takes none of `p4d.24xlarge`"),
        ({"pool": {"zones": ["us-west-2a"]}}, "no pool in `us-west-2b` has EFA"),
        ({"platform": {"eks": {"autoMode": {}}}}, "EKS Auto Mode run no commands"),
        (
            {"platform": {"eks": {"ami": "bottlerocket@v1.50.0"}}},
            "`bottlerocket@v1.50.0` do not run",
        ),
    ],
)
def test_a_file_system_with_efa_that_no_node_reaches_so(parts: dict[str, Any], fact: str) -> None:
    found = [fault for fault in faults_of(spec(storage=made(), **parts)) if fault.code == "RES220"]
    assert [fact in fault.message for fault in found] == [True]


def inner(name: str) -> str:
    """A script that the boot script writes."""
    script = boot_script(Boot(lustre_settings=True, lustre_efa=True))
    _, _, rest = script.partition(f"cat >/usr/local/bin/{name} <<'SCRIPT'\n")
    text, _, _ = rest.partition("SCRIPT\n")
    return text


@pytest.mark.parametrize(
    ("cpus", "requests", "locks"), [("192", "32", "19200"), ("48", "8", "4800")]
)
def test_settings_are_written_once_for_each_mounted_file_system(
    cpus: str, requests: str, locks: str, tmp_path: Path
) -> None:
    lustre = tmp_path / "lustre"
    files = {
        "ldlm/namespaces/a-OST0000-osc-ffff/lru_max_age": "3900000",
        "ldlm/namespaces/a-OST0000-osc-ffff/lru_size": "0",
        "osc/a-OST0000-osc-ffff/max_rpcs_in_flight": "8",
        "mdc/a-MDT0000-mdc-ffff/max_rpcs_in_flight": "8",
        "mdc/a-MDT0000-mdc-ffff/max_mod_rpcs_in_flight": "7",
    }
    for name, value in files.items():
        (lustre / name).parent.mkdir(parents=True, exist_ok=True)
        (lustre / name).write_text(value)
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 1073741824 kB\n")
    text = inner("lustre-settings")
    text = text.replace("/sys/fs/lustre", str(lustre)).replace("/proc/meminfo", str(memory))
    text = text.replace("/run/lustre-settings", str(tmp_path / "run"))
    path = stand_ins(tmp_path / "bin", {"nproc": f"#!/bin/sh\necho {cpus}\n"})
    first = lustre / "osc/a-OST0000-osc-ffff/max_rpcs_in_flight"
    size = lustre / "ldlm/namespaces/a-OST0000-osc-ffff/lru_size"
    for _ in range(2):
        subprocess.run(["bash", "-c", text], env={"PATH": path}, check=True)
        assert first.read_text().strip() == requests
    assert size.read_text().strip() == locks
    size.write_text("5")
    subprocess.run(["bash", "-c", text], env={"PATH": path}, check=True)
    assert size.read_text() == "5"


@pytest.mark.parametrize(("interfaces", "used"), [(32, 8), (16, 2), (1, 1)])
def test_a_node_becomes_a_client_over_so_many_interfaces(
    interfaces: int, used: int, tmp_path: Path
) -> None:
    devices = tmp_path / "infiniband"
    devices.mkdir()
    for number in range(interfaces):
        (devices / f"rdmap{number:02}").touch()
    said = tmp_path / "said"
    programs = {
        "lnetctl": f'#!/bin/sh\necho "$@" >> {said}\n[ "$2" != show ] || echo "nid: 1@efa"\n',
        "modprobe": f'#!/bin/sh\necho modprobe "$@" >> {said}\n',
        "modinfo": "#!/bin/sh\n",
        "ip": "#!/bin/sh\necho default via 10.0.0.1 dev ens32 proto dhcp\n",
    }
    path = stand_ins(tmp_path / "bin", programs)
    text = inner("lustre-over-efa").replace("/sys/class/infiniband", str(devices))
    subprocess.run(["bash", "-c", text], env={"PATH": path}, check=True)
    lines = said.read_text().splitlines()
    added = [line for line in lines if line.startswith("net add --net efa")]
    assert len(added) == used
    assert added[0] == "net add --net efa --if rdmap00 --peer-credits 32"
    assert "modprobe kefalnd ipif_name=ens32" in lines
    assert lines.index("udsp add --src efa --priority 0") < lines.index("modprobe lustre")


def test_the_place_of_the_user_data_is_the_type() -> None:
    plan = plan_of(spec(pool=LARGE))
    body = body_of(objects_of(plan), "EC2NodeClass", "gpu")
    assert "LimitMEMLOCK=infinity" in body["spec"]["userData"]
