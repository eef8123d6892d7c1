#!/bin/bash
# Written by trainyard as bootstrap/hyperpod/lifecycle/on_create.sh. Do not edit: edit the spec, then run `trainyard compile`.
# HyperPod runs this on each new node, and keeps what it prints in CloudWatch: what a node has is written there before
# any job lands on it. No node is refused for it, since HyperPod tests nodes itself.
set -uo pipefail
shown() { echo "+ $*"; "$@" 2>&1 || echo "  ended with status $?"; }
shown uname --kernel-release
shown nproc
shown free --gibi
shown lsblk --output NAME,SIZE,TYPE,MOUNTPOINT
command -v nvidia-smi >/dev/null && shown nvidia-smi --list-gpus
[ ! -d /sys/class/infiniband ] || shown ls /sys/class/infiniband
exit 0
