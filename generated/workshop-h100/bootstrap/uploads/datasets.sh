# Written by trainyard as bootstrap/uploads/datasets.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Brings folders of this repository to bucket workshop-h100-datasets-111122223333-us-west-2: what is new or has changed. It deletes nothing there.
#   bash datasets.sh             uploads, as the step `uploads` of up.sh does
#   bash datasets.sh --dry-run   prints what it would run
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export AWS_PAGER=''
dry=''
[ "${1:-}" != --dry-run ] || { dry=1; shift; }
say() { printf '  +'; printf ' %q' "$@"; echo; }
run() {
  say "$@"
  [ -n "$dry" ] || "$@"
}
# Another script of ours says for itself what it would run.
run_script() {
  local script=$1
  shift
  say bash "$script" "$@"
  bash "$script" ${dry:+--dry-run} "$@"
}
root=$(git -C "$here" rev-parse --show-toplevel)
upload() {
  [ -d "$root/$1" ] || { echo "there is no folder $1 in $root" >&2; exit 1; }
  run aws s3 sync "$root/$1" "$2" --exclude '*.pyc' --exclude '*/__pycache__/*' --no-progress
}
upload specs/workshop/code s3://workshop-h100-datasets-111122223333-us-west-2/code
