# Written by trainyard as bootstrap/nodes/head-node.sh. Do not edit: edit the spec, then run `trainyard compile`.
# What the head node runs once it is set up: containers of jobs are started by Pyxis.
set -euo pipefail
examples=/opt/parallelcluster/examples

install -D -m 0644 "$examples/spank/plugstack.conf" /opt/slurm/etc/plugstack.conf
install -D -m 0644 "$examples/pyxis/pyxis.conf" /opt/slurm/etc/plugstack.conf.d/pyxis.conf
# Pyxis keeps the image of each step there: on a disk of the node, and not in its memory, as the example does.
sed -i 's|runtime_path=[^ ]*|runtime_path=/var/containers/pyxis|' /opt/slurm/etc/plugstack.conf.d/pyxis.conf
install -d -m 1777 /var/containers/pyxis
/opt/slurm/bin/scontrol reconfigure
