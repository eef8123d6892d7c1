# Written by trainyard as bootstrap/nodes/head-node.sh. Do not edit: edit the spec, then run `trainyard compile`.
# What the head node runs once it is set up: containers of jobs are started by Pyxis.
set -euo pipefail
examples=/opt/parallelcluster/examples

install -d -m 1777 /var/enroot /run/enroot /run/pyxis
install -D -m 0644 "$examples/enroot/enroot.conf" /etc/enroot/enroot.conf
install -D -m 0644 "$examples/spank/plugstack.conf" /opt/slurm/etc/plugstack.conf
install -D -m 0644 "$examples/pyxis/pyxis.conf" /opt/slurm/etc/plugstack.conf.d/pyxis.conf
# /run is empty after a boot.
printf 'd /run/enroot 1777 root root\nd /run/pyxis 1777 root root\n' > /etc/tmpfiles.d/trainyard.conf
/opt/slurm/bin/scontrol reconfigure
