# Written by trainyard as bootstrap/nodes/accept.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Shows what the cluster has, and fails where a partition has no node that works.
set -euo pipefail
export PATH=/opt/slurm/bin:$PATH

sinfo --Node --long
bad=$(sinfo --noheader --format='%P %T' | awk '{ all[$1]++; if ($2 ~ /^(down|drain|fail|error|unknown)/) bad[$1]++ }
  END { for (partition in all) if (all[partition] == bad[partition]) print partition }')
[ -z "$bad" ] || { echo "no node of these partitions works: $bad" >&2; sinfo --list-reasons >&2; exit 1; }
