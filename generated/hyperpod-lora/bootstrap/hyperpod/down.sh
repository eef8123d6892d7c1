# Written by trainyard as bootstrap/hyperpod/down.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Removes the nodes of cluster hyperpod-lora, and is the step `groups` of bash ../down.sh. Every step may be run again.
# With credentials for account 111122223333:
#   bash down.sh               every step, in order
#   bash down.sh --from STEP   the steps from one on
#   bash down.sh --dry-run     asks AWS, changes nothing, and prints what it would run
#   bash down.sh --list        the steps
set -euo pipefail
cluster=hyperpod-lora region=us-west-2 account=111122223333
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export AWS_PAGER='' AWS_REGION=$region AWS_DEFAULT_REGION=$region
dry='' from='' reached=''

fail() { printf '%s\n' "$@" >&2; exit 1; }
run() {
  echo "  + $*"
  [ -n "$dry" ] || "$@"
}
# A question, whose failure ends the script; a dry run goes on, as what it asks for may not be there yet.
ask() { if [ -n "$dry" ]; then "$@" 2>/dev/null || true; else "$@"; fi; }
there() { "$@" >/dev/null 2>&1; }
# Waits until a command succeeds: wait_for WHAT MINUTES WHAT_TO_DO_THEN COMMAND...
wait_for() {
  local what=$1 minutes=$2 help=$3 tries said=''
  shift 3
  [ -z "$dry" ] || { echo "  would wait for $what, $minutes minutes at most"; return 0; }
  tries=$((minutes * 3))
  until "$@"; do
    [ -n "$said" ] || { echo "  waiting for $what, $minutes minutes at most"; said=1; }
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || fail "$what: not within $minutes minutes" "$help" "then: bash $0 $again --from $step"
    sleep "${POLL_SECONDS:-20}"
  done
}
stack_status() { aws cloudformation describe-stacks --stack-name "$1" --query 'Stacks[0].StackStatus' --output text 2>/dev/null; }
stack_rests() {
  case $(stack_status "$1") in REVIEW_IN_PROGRESS) return 0 ;; *_IN_PROGRESS) return 1 ;; *) return 0 ;; esac
}
# A stack may be half made, by a run that was stopped: what is under way ends first.
settle() { wait_for "the end of what stack $1 is doing" 60 "look at its events in CloudFormation" stack_rests "$1"; }
delete_stack() {
  settle "$1"
  there aws cloudformation describe-stacks --stack-name "$1" || return 0
  run aws cloudformation delete-stack --stack-name "$1"
  run aws cloudformation wait stack-delete-complete --stack-name "$1" ||
    fail "stack $1 was not deleted" "its events say what holds it: aws cloudformation describe-stack-events --stack-name $1" \
      "then: bash $0 $again --from $step"
}
again=''
programs=(aws jq)
steps=(
  "cluster|the nodes of all instance groups (10 minutes or more)"
  "scripts|the lifecycle scripts, of all versions"
  "stack|the role of the nodes, and the bucket"
  "proof|no cluster of HyperPod is left"
)

status() { aws sagemaker describe-cluster --cluster-name "$cluster" --query ClusterStatus --output text 2>/dev/null || true; }
is_gone() { [ -z "$(status)" ]; }
step_cluster() {
  is_gone || {
    [ "$(status)" = Deleting ] || run aws sagemaker delete-cluster --cluster-name "$cluster"
    wait_for "cluster $cluster to be gone" 60 "aws sagemaker describe-cluster --cluster-name $cluster says what holds it" is_gone
  }
}

bucket=sagemaker-hyperpod-lora-111122223333-us-west-2
empty() {
  local versions
  while :; do
    versions=$(aws s3api list-object-versions --bucket "$1" --max-items 500 --output json \
      --query '{Objects: [Versions, DeleteMarkers][] | [].{Key: Key, VersionId: VersionId}}')
    case $versions in *VersionId*) ;; *) return 0 ;; esac
    aws s3api delete-objects --bucket "$1" --delete "$versions" > /dev/null
  done
}
step_scripts() {
  there aws s3api head-bucket --bucket "$bucket" || return 0
  echo "  + empties $bucket"
  [ -n "$dry" ] || empty "$bucket"
}
step_stack() { delete_stack "trainyard-$cluster-hyperpod"; }
step_proof() {
  [ -z "$dry" ] || return 0
  is_gone || fail "cluster $cluster of HyperPod is still there, and $(status)" "then: bash $0 --from cluster"
}

list() { local each; for each in "${steps[@]}"; do printf '%-10s %s\n' "${each%%|*}" "${each#*|}"; done; }
# Reads the whole list: with `-q` grep may close the pipe before all of it is written, which ends the script.
known() { list | grep "^$1 " >/dev/null; }
checked() {
  local program id
  for program in "${programs[@]}"; do
    command -v "$program" >/dev/null || fail "this needs $program, which is not on the PATH"
  done
  id=$(aws sts get-caller-identity --query Account --output text) || fail "AWS does not know who calls: set credentials for account $account"
  [ "$id" = "$account" ] || fail "the credentials are those of account $id, and the cluster is one of account $account"
}
main() {
  local each
  checked
  for each in "${steps[@]}"; do
    step=${each%%|*}
    [ -z "$from" ] || [ "$step" = "$from" ] || [ -n "$reached" ] || continue
    reached=1
    echo "== $step: ${each#*|}"
    "step_$step"
  done
}

while [ $# -gt 0 ]; do
  case $1 in
    --list) list; exit 0 ;;
    --help) sed -n '/^# Removes/,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo; list; exit 0 ;;
    --dry-run) dry=1 ;;
    --from)
      from=${2:-}
      known "$from" || { echo "there is no step $from; the steps:" >&2; list >&2; exit 2; }
      shift
      ;;
    *) echo "there is no option $1: --from STEP, --dry-run, --list, --help; the steps:" >&2; list >&2; exit 2 ;;
  esac
  shift
done
main
