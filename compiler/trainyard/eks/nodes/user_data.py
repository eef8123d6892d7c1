"""What nodes run when they boot for the first time: user data of Karpenter's node classes, commands of eksctl's node
groups, which makes the same of them.

nodeadm starts containerd and the kubelet when cloud-init is done (amazon-eks-ami 81fec2e, nodeadm-run.service). What
must be so after a restart as well is a unit of systemd.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import Boot


def boot_script(boot: Boot) -> str:
    """The lines of bash; empty where a node only joins."""
    parts = list(_parts(boot))
    if not parts:
        return ""
    return "".join(["set -euo pipefail\n", *parts])


def user_data(boot: Boot) -> str | None:
    """The lines as the part of user data that Karpenter adds its own to."""
    script = boot_script(boot)
    if not script:
        return None
    return _MIME.replace("SCRIPT", f"#!/bin/bash\n{script}")


def _parts(boot: Boot) -> Iterator[str]:
    if boot.locked_memory:
        yield _LOCKED_MEMORY
    if boot.lustre_settings:
        yield _LUSTRE_SETTINGS
    if boot.lustre_efa:
        yield _LUSTRE_EFA
    if boot.mig:
        yield _MIG.replace("PROFILES", ",".join(boot.mig))


_MIME = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

SCRIPT
--//--
"""

# A container has the limits of containerd where the runtime's own specification names none: nodeadm's names
# RLIMIT_NOFILE alone (amazon-eks-ami 81fec2e, nodeadm/internal/containerd/base-runtime-spec.json), containerd's unit no
# LimitMEMLOCK (containerd.service), and so it is the 8 MiB of the kernel, 5.16 and newer.
_LOCKED_MEMORY = """\
mkdir -p /etc/systemd/system/containerd.service.d
cat >/etc/systemd/system/containerd.service.d/20-locked-memory.conf <<'UNIT'
[Service]
LimitMEMLOCK=infinity
UNIT
systemctl daemon-reload
systemctl try-restart containerd.service
"""

# FSx for Lustre user guide, performance-tips (read 2026-11): the first two for more than 64 vCPUs, before the modules
# are loaded; then, for each file system that is mounted, the locks where there is more than 64 GiB of memory, and
# requests where there are more than 64 vCPUs. `lctl set_param` writes the same files of /sys/fs/lustre (Lustre 2.15).
_LUSTRE_SETTINGS = """\
if [ "$(nproc)" -gt 64 ]; then
  cat >/etc/modprobe.d/lustre-client.conf <<'OPTIONS'
options ptlrpc ptlrpcd_per_cpt_max=32
options ksocklnd credits=2560
OPTIONS
fi
cat >/usr/local/bin/lustre-settings <<'SCRIPT'
#!/bin/bash
set -euo pipefail
shopt -s nullglob
once() {
  local value=$1 file stamp
  shift
  for file in "$@"; do
    stamp=/run/lustre-settings/$(echo "$file" | tr / .)
    [ ! -e "$stamp" ] || continue
    echo "$value" >"$file" || continue
    touch "$stamp"
  done
}
mkdir -p /run/lustre-settings
cd /sys/fs/lustre 2>/dev/null || exit 0
cpus=$(nproc)
if [ "$(awk '/MemTotal/ { print int($2 / 1048576) }' /proc/meminfo)" -gt 64 ]; then
  once 600000 ldlm/namespaces/*/lru_max_age
  once "$((100 * cpus))" ldlm/namespaces/*/lru_size
fi
if [ "$cpus" -gt 64 ]; then
  once 32 osc/*OST*/max_rpcs_in_flight
  once 64 mdc/*/max_rpcs_in_flight
  once 50 mdc/*/max_mod_rpcs_in_flight
fi
SCRIPT
chmod 0755 /usr/local/bin/lustre-settings
cat >/etc/systemd/system/lustre-settings.service <<'UNIT'
[Unit]
Description=Settings of the Lustre client for large nodes

[Service]
Type=oneshot
ExecStart=/usr/local/bin/lustre-settings
UNIT
cat >/etc/systemd/system/lustre-settings.timer <<'UNIT'
[Unit]
Description=Look for file systems of Lustre that were mounted

[Timer]
OnActiveSec=30s
OnUnitInactiveSec=30s

[Install]
WantedBy=timers.target
UNIT
systemctl daemon-reload
systemctl enable --now lustre-settings.timer
"""

# EKS user guide, fsx-csi-tuning-efa (commit 1527dee9), which has it for Ubuntu: the same of Amazon Linux 2023, whose
# kernel has the modules and whose repository the tools. Of the 32 interfaces of p5 and p5e every fourth, one for each
# PCI bus; else the first and the last. A node without them mounts over TCP, as FSx' names of servers say.
_LUSTRE_EFA = """\
cat >/usr/local/bin/lustre-over-efa <<'SCRIPT'
#!/bin/bash
set -euo pipefail
command -v lnetctl >/dev/null || dnf install --assumeyes lustre-client
modinfo kefalnd >/dev/null
interface=$(ip -o -4 route show default | awk 'NR == 1 { print $5 }')
modprobe lnet
modprobe kefalnd ipif_name="$interface"
modprobe ksocklnd
lnetctl lnet configure
lnetctl net del --net tcp 2>/dev/null || true
lnetctl net add --net tcp --if "$interface"
cd /sys/class/infiniband
count=$(find . -mindepth 1 | wc -l)
find . -mindepth 1 -printf '%f\\n' | sort |
  awk -v count="$count" 'count == 32 ? NR % 4 == 1 : NR == 1 || NR == count' |
  while read -r device; do lnetctl net add --net efa --if "$device" --peer-credits 32; done
lnetctl set discovery 1
lnetctl udsp add --src efa --priority 0
modprobe lustre
echo "Lustre has $(lnetctl net show | grep -c '@efa') EFA interfaces"
SCRIPT
chmod 0755 /usr/local/bin/lustre-over-efa
cat >/etc/systemd/system/lustre-over-efa.service <<'UNIT'
[Unit]
Description=Make this node an EFA client of FSx for Lustre
After=network-online.target
Wants=network-online.target
Before=nodeadm-run.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/usr/local/bin/lustre-over-efa

[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --now lustre-over-efa.service || echo "Lustre goes over TCP: journalctl --unit lustre-over-efa" >&2
"""

# Neither slices nor, from Hopper on, the mode outlive a restart, and the device plugin finds them before the kubelet
# starts. On GPUs that have to be reset for the mode, which a virtual machine may not do, the node restarts once (NVIDIA
# MIG user guide, enable MIG mode).
_MIG = """\
cat >/usr/local/bin/mig-slices <<'SCRIPT'
#!/bin/bash
set -euo pipefail
nvidia-smi --multi-instance-gpu=1
if nvidia-smi --query-gpu=mig.mode.current --format=csv,noheader | grep Disabled >/dev/null; then
  [ ! -e /var/lib/mig-slices-rebooted ] || exit 1
  touch /var/lib/mig-slices-rebooted
  systemctl reboot
  exit 1
fi
nvidia-smi mig -dci || true
nvidia-smi mig -dgi || true
nvidia-smi mig -cgi PROFILES -C
SCRIPT
chmod 0755 /usr/local/bin/mig-slices
cat >/etc/systemd/system/mig-slices.service <<'UNIT'
[Unit]
Description=Cut each GPU into slices of MIG
After=nvidia-kmod-load.service nvidia-fabricmanager.service nvidia-persistenced.service
Before=nodeadm-run.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/usr/local/bin/mig-slices

[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --now mig-slices.service
"""
