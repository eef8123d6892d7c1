# Written by trainyard as bootstrap/nodes/compute-node.sh. Do not edit: edit the spec, then run `trainyard compile`.
# What compute nodes run when they start: Enroot may make containers, and pulls images of this account from ECR by the role of the node.
set -euo pipefail

install -d -m 1777 /var/enroot /run/enroot /run/pyxis
install -D -m 0644 /opt/parallelcluster/examples/enroot/enroot.conf /etc/enroot/enroot.conf
install -d -m 0755 /var/enroot/credentials
# No secret: what stands there is the command that asks for one.
# shellcheck disable=SC2016
printf 'machine %s login AWS password $(aws ecr get-login-password --region %s)\n' \
  111122223333.dkr.ecr.ap-southeast-3.amazonaws.com ap-southeast-3 > /var/enroot/credentials/.credentials
chmod 0644 /var/enroot/credentials/.credentials
sed -i -E 's|^( *ENROOT_CONFIG_PATH +).*|\1/var/enroot/credentials|' /etc/enroot/enroot.conf
