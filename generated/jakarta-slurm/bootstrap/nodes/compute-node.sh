# Written by trainyard as bootstrap/nodes/compute-node.sh. Do not edit: edit the spec, then run `trainyard compile`.
# What compute nodes run once they are set up: Enroot may make containers, and pulls images of this account from ECR by the role of the node.
set -euo pipefail

# An image lies there three times, in layers, as it was imported and unpacked: on the local disks where the node has any, else on its root volume.
if mountpoint --quiet /scratch && [ ! -e /var/containers ]; then
  install -d -m 1777 /scratch/containers
  ln -s /scratch/containers /var/containers
fi
install -d -m 1777 /var/containers /var/containers/pyxis /var/containers/runtime /var/containers/cache /var/containers/data /var/containers/temp
install -D -m 0644 /opt/parallelcluster/examples/enroot/enroot.conf /etc/enroot/enroot.conf
for each in RUNTIME CACHE DATA; do
  sed -i -E "s|^#? *ENROOT_${each}_PATH .*|ENROOT_${each}_PATH /var/containers/${each,,}/user-\$(id -u)|" /etc/enroot/enroot.conf
done
sed -i -E 's|^#? *ENROOT_TEMP_PATH .*|ENROOT_TEMP_PATH /var/containers/temp|' /etc/enroot/enroot.conf
install -d -m 0755 /var/enroot/credentials
# No secret: what stands there is the command that asks for one.
# shellcheck disable=SC2016
printf 'machine %s login AWS password $(aws ecr get-login-password --region %s)\n' \
  111122223333.dkr.ecr.ap-southeast-3.amazonaws.com ap-southeast-3 > /var/enroot/credentials/.credentials
chmod 0644 /var/enroot/credentials/.credentials
sed -i -E 's|^( *ENROOT_CONFIG_PATH +).*|\1/var/enroot/credentials|' /etc/enroot/enroot.conf
