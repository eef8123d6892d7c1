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
from='' reached=''
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
answer='' step='' again=''
work=$(umask 077 && mktemp -d)   # nobody else reads it
trap 'rm -rf "$work"' EXIT

fail() { printf '%s\n' "$@" >&2; exit 1; }
refused() { fail "$(cat "$work/why")" "this was refused: $*" "then: bash $0${again:+ $again}${step:+ --from $step}"; }
# Asks, and keeps the answer in `answer`. A refusal is not an answer: it ends the script, wherever the question stands. A dry run
# goes on, as what it asks for may not be there yet.
ask() { there "$@" || [ -n "$dry" ] || refused "$@"; }
# The same of what may not be there: without an answer, where whoever is asked says so.
there() {
  answer=$("$@" 2>"$work/why") && return 0
  printf '%s\n' "$answer" >>"$work/why"   # where pcluster says it
  answer=''
  grep -qE "$none" "$work/why" || [ -n "$dry" ] || refused "$@"
  return 1
}
# How AWS, kubectl and pcluster say that there is none.
none="\((404|[A-Za-z.]*NotFound[A-Za-z]*|NoSuch[A-Za-z]*|InvocationDoesNotExist)\)|does not exist|doesn't have a resource type"
# A change that was made before is refused with an error of this name, and stays: once ERROR COMMAND...
once() {
  local error=$1
  shift
  say "$@"
  [ -z "$dry" ] || return 0
  "$@" >/dev/null 2>"$work/why" || grep -q -- "$error" "$work/why" || refused "$@"
}
# Waits until a command succeeds: wait_for WHAT MINUTES WHAT_TO_DO_THEN COMMAND...
wait_for() {
  local what=$1 minutes=$2 help=$3 tries said=''
  shift 3
  [ -z "$dry" ] || { echo "  would wait for $what, $minutes minutes at most"; return 0; }
  tries=${TRIES:-$((minutes * 3))}
  until "$@"; do
    [ -n "$said" ] || { echo "  waiting for $what, $minutes minutes at most"; said=1; }
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || fail "$what: not within $minutes minutes" "$help" "then: bash $0 $again --from $step"
    sleep "${POLL_SECONDS:-20}"
  done
}
# Whether there is a stack; its status is the answer.
stack() { there aws cloudformation describe-stacks --stack-name "$1" --query 'Stacks[0].StackStatus' --output text; }
stack_rests() {
  stack "$1" || return 0
  case $answer in REVIEW_IN_PROGRESS) return 0 ;; *_IN_PROGRESS) return 1 ;; *) return 0 ;; esac
}
# A stack may be half made, by a run that was stopped: what is under way ends first.
settle() { wait_for "the end of what stack $1 is doing" 60 "look at its events in CloudFormation" stack_rests "$1"; }
delete_stack() {
  settle "$1"
  stack "$1" || return 0
  run aws cloudformation delete-stack --stack-name "$1"
  run aws cloudformation wait stack-delete-complete --stack-name "$1" ||
    fail "stack $1 was not deleted" "its events say what holds it: aws cloudformation describe-stack-events --stack-name $1" \
      "then: bash $0 $again --from $step"
}
programs=(aws jq)
steps=(
  "cluster|the nodes of all instance groups (10 minutes or more)"
  "scripts|the lifecycle scripts, of all versions"
  "stack|the role of the nodes, and the bucket"
  "proof|no cluster of HyperPod is left"
)

# Whether there is a cluster of HyperPod; its status is the answer.
made() { there aws sagemaker describe-cluster --cluster-name "$cluster" --query ClusterStatus --output text; }
# Ours runs the scripts of our bucket. No other is touched.
not_foreign() {
  there aws sagemaker describe-cluster --cluster-name "$cluster" --query 'InstanceGroups[].LifeCycleConfig.SourceS3Uri' --output text || return 0
  case $answer in
    *"s3://sagemaker-hyperpod-lora-111122223333-us-west-2/"*) ;;
    *) foreign "cluster $cluster of HyperPod is there, and runs no scripts of bucket sagemaker-hyperpod-lora-111122223333-us-west-2" ;;
  esac
}
is_gone() { ! made; }
step_cluster() {
  is_gone || {
    [ "$answer" = Deleting ] || run aws sagemaker delete-cluster --cluster-name "$cluster"
    wait_for "cluster $cluster to be gone" 60 "aws sagemaker describe-cluster --cluster-name $cluster says what holds it" is_gone
  }
}

bucket=sagemaker-hyperpod-lora-111122223333-us-west-2
# Deletes all versions of all objects of a bucket.
empty() {
  echo "  bucket $1 is emptied, 1,000 versions at a time:"
  say aws s3api delete-objects --bucket "$1" --delete file://OBJECTS --query 'Errors[0]' --output json
  [ -z "$dry" ] || return 0
  while :; do
    ask aws s3api list-object-versions --bucket "$1" --max-items 1000 --output json \
      --query '{Objects: [Versions, DeleteMarkers][] | [].{Key: Key, VersionId: VersionId}}'
    case $answer in *VersionId*) ;; *) return 0 ;; esac
    printf %s "$answer" >"$work/objects.json"
    ask aws s3api delete-objects --bucket "$1" --delete "file://$work/objects.json" --query 'Errors[0]' --output json
    case $answer in '' | null) ;; *) fail "bucket $1 keeps an object: $answer" "then: bash $0 $again --from $step" ;; esac
  done
}
step_scripts() {
  there aws s3api head-bucket --bucket "$bucket" || return 0
  empty "$bucket"
}
step_stack() { delete_stack "trainyard-$cluster-hyperpod"; }
step_proof() {
  [ -z "$dry" ] || return 0
  is_gone || fail "cluster $cluster of HyperPod is still there, and $answer" "then: bash $0 --from cluster"
}

list() { local each; for each in "${steps[@]}"; do printf '%-10s %s\n' "${each%%|*}" "${each#*|}"; done; }
# Reads the whole list: with `-q` grep may close the pipe before all of it is written, which ends the script.
known() { list | grep "^$1 " >/dev/null; }
checked() {
  local program
  for program in "${programs[@]}"; do
    command -v "$program" >/dev/null || fail "this needs $program, which is not on the PATH"
  done
  answer=$(aws sts get-caller-identity --query Account --output text) || fail "AWS does not know who calls: set credentials for account $account"
  [ "$answer" = "$account" ] || fail "the credentials are those of account $answer, and the cluster is one of account $account"
}
# A cluster of this name that another program made is not this one: nothing of it is touched.
foreign() {
  echo "  $1: nobody made it by this script" >&2
  [ -n "$dry" ] || fail "nothing of it is touched: give the cluster of the spec another name, or delete the other one"
  echo "  nothing of it would be touched: without --dry-run this ends here" >&2
}
main() {
  local each
  checked
  not_foreign
  for each in "${steps[@]}"; do
    step=${each%%|*}
    [ -z "$from" ] || [ "$step" = "$from" ] || [ -n "$reached" ] || continue
    reached=1
    echo "== $step: ${each#*|}"
    "step_$step"
  done
  [ -z "$dry" ] || { echo "this was a dry run: nothing was changed"; exit 0; }
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
