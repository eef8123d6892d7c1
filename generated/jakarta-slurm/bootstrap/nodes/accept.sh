# Written by trainyard as bootstrap/nodes/accept.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Shows what the cluster has, and fails where a node does not work: no queue has a spare one. What still boots has ten minutes.
set -euo pipefail
export PATH=/opt/slurm/bin:$PATH

not_working() {
  sinfo --noheader --Node --format='%N %T' |
    awk '$2 ~ /^(down|drain|fail|error|inval|unk)/ || $2 ~ /[*]$/ || ($1 ~ /-st-/ && $2 ~ /~$/) { print $1, $2 }' | sort -u
}
for ((try = 0; try < 30; try++)); do
  bad=$(not_working)
  [ -n "$bad" ] || break
  sleep "${POLL_SECONDS:-20}"
done
sinfo --Node --long
[ -z "$bad" ] || { printf 'nodes do not work:\n%s\n' "$bad" >&2; sinfo --list-reasons >&2; exit 1; }
