# Written by trainyard as bootstrap/down.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Takes down cluster jakarta-slurm, and proves at the end that nothing of it is paid for but what is kept. Every step may be run again.
# With credentials for account 111122223333:
#   bash down.sh --keep-data             file systems, buckets and logs stay
#   bash down.sh --delete-data           they are deleted as well, which cannot be undone
#   bash down.sh ... --from STEP         the steps from one on
#   bash down.sh ... --dry-run           asks AWS, changes nothing, and prints what it would run
#   bash down.sh --list                  the steps
set -euo pipefail
cluster=jakarta-slurm region=ap-southeast-3 account=111122223333
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
data=''
programs=(aws pcluster)
steps=(
  "data|whether data is kept or deleted"
  "cluster|the cluster, with all of its nodes (10 minutes or more)"
  "storage|storage: its stacks, and the data that is not kept"
  "nodes|the bucket of scripts, the security group and the rights of nodes"
  "logs|the logs of the nodes, unless they are kept"
  "proof|nothing is left but what is kept"
)

# Sets `status`: how the cluster is, empty where there is none.
look() {
  there pcluster describe-cluster --cluster-name "$cluster" --region "$region" --query clusterStatus || true
  status=${answer//\"/}
}
# The stack of what nodes need is made first, and goes last.
not_foreign() {
  look
  [ -z "$status" ] || stack "trainyard-$cluster-nodes" || foreign "cluster $cluster of account $account is there, and stack trainyard-$cluster-nodes is not"
}
is_gone() { look; [ -z "$status" ]; }
delete_cluster() {
  look
  case $status in
    '') return 0 ;;
    DELETE_IN_PROGRESS) ;;
    *) run pcluster delete-cluster --cluster-name "$cluster" --region "$region" ;;
  esac
  wait_for "cluster $cluster to be gone" 60 "pcluster get-cluster-stack-events --cluster-name $cluster --region $region says what holds it" is_gone
}
step_data() { [ -n "$data" ] || fail "say what becomes of the data: --keep-data or --delete-data"; }

# The alarms go first: they would say that the head node is gone.
step_cluster() {
  delete_stack "trainyard-$cluster-alarms"
  delete_cluster
}

# What carries the tag of a storage is found whether its stack is there or not.
ours="Tags[?Key=='trainyard-storage' && starts_with(Value, '$cluster.')]"
file_systems() { ask aws fsx describe-file-systems --query "FileSystems[?$ours].FileSystemId" --output text; }
links() { ask aws fsx describe-data-repository-associations --query "Associations[?$ours].AssociationId" --output text; }
groups() {
  ask aws ec2 describe-security-groups --filters "Name=tag:trainyard-storage,Values=$cluster.*" --query 'SecurityGroups[].GroupId' --output text
}
# The API of tags names a bucket for some minutes after its end.
buckets() {
  local found='' arn
  ask aws resourcegroupstaggingapi get-resources --resource-type-filters s3:bucket --tag-filters Key=trainyard-storage \
    --query "ResourceTagMappingList[?$ours].ResourceARN" --output text
  for arn in $answer; do
    if there aws s3api head-bucket --bucket "${arn##*:}"; then found="$found ${arn##*:}"; fi
  done
  answer=$found
}
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
no_links() {
  ask aws fsx describe-data-repository-associations --filters "Name=file-system-id,Values=$1" --query 'Associations[].AssociationId' --output text
  [ -z "$answer" ]
}
no_file_system() {
  ask aws fsx describe-file-systems --query "FileSystems[?FileSystemId=='$1'].FileSystemId" --output text
  [ -z "$answer" ]
}
delete_file_system() {
  local link
  ask aws fsx describe-data-repository-associations --filters "Name=file-system-id,Values=$1" \
    --query "Associations[?Lifecycle!='DELETING'].AssociationId" --output text
  for link in $answer; do
    run aws fsx delete-data-repository-association --association-id "$link" --no-delete-data-in-file-system
  done
  wait_for "the links of $1 with buckets to end" 60 "aws fsx describe-data-repository-associations says why" no_links "$1"
  ask aws fsx describe-file-systems --file-system-ids "$1" --query 'FileSystems[0].Lifecycle' --output text
  [ "$answer" = DELETING ] || run aws fsx delete-file-system --file-system-id "$1"
  wait_for "file system $1 to be deleted" 60 "aws fsx describe-file-systems --file-system-ids $1 says why" no_file_system "$1"
}
step_storage() {
  local stack each
  for stack in "$here"/stacks/storage-*.yaml; do
    [ ! -e "$stack" ] || delete_stack "trainyard-$cluster-$(basename "$stack" .yaml)"
  done
  [ "$data" = delete ] || return 0
  # File systems go before the buckets that they are linked with, and before the groups that hold their interfaces.
  file_systems
  for each in $answer; do delete_file_system "$each"; done
  buckets
  for each in $answer; do
    empty "$each"
    run aws s3api delete-bucket --bucket "$each"
  done
  groups
  for each in $answer; do run aws ec2 delete-security-group --group-id "$each"; done
}

step_nodes() {
  ! there aws s3api head-bucket --bucket "jakarta-slurm-scripts-111122223333-ap-southeast-3" || empty "jakarta-slurm-scripts-111122223333-ap-southeast-3"
  delete_stack "trainyard-$cluster-nodes"
  run aws cloudformation delete-stack --region "$(sed -n 's/^  Region: //p' "$here/stacks/budget.yaml")" --stack-name "trainyard-$cluster-budget"
}

step_logs() {
  local group
  [ "$data" = delete ] || return 0
  ask aws logs describe-log-groups --log-group-name-prefix "/aws/parallelcluster/$cluster-" --query 'logGroups[].logGroupName' --output text
  for group in $answer; do
    run aws logs delete-log-group --log-group-name "$group"
  done
}

# Sets `left`: what is still there, of what is to go.
none_left() {
  local each
  ask aws ec2 describe-instances --filters "Name=tag:parallelcluster:cluster-name,Values=$cluster" \
    Name=instance-state-name,Values=pending,running,stopping,stopped --query 'Reservations[].Instances[].InstanceId' --output text
  left=$answer
  ask aws ec2 describe-volumes --filters "Name=tag:parallelcluster:cluster-name,Values=$cluster" --query 'Volumes[].VolumeId' --output text
  left="$left $answer"
  if [ "$data" != keep ]; then
    for each in file_systems links groups buckets; do
      "$each"
      left="$left $answer"
    done
  fi
  [ -z "${left//[[:space:]]/}" ] || { echo "  left: ${left//[[:space:]]/ }"; return 1; }
}
step_proof() {
  local left kept
  wait_for "the last of it to go" 20 "what is left is named above" none_left
  [ -z "$dry" ] || return 0
  if [ "$data" = delete ]; then
    echo "  no instance, volume, file system, link, security group and bucket of cluster $cluster is left"
    return 0
  fi
  file_systems
  kept=$answer
  buckets
  kept="$kept $answer"
  echo "  no instance and no volume of cluster $cluster is left; kept and paid for: ${kept//[[:space:]]/ }"
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
    --help) sed -n '/^# Takes/,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo; list; exit 0 ;;
    --dry-run) dry=1 ;;
    --keep-data) data=keep again=$1 ;;
    --delete-data) data=delete again=$1 ;;
    --from)
      from=${2:-}
      known "$from" || { echo "there is no step $from; the steps:" >&2; list >&2; exit 2; }
      shift
      ;;
    *) echo "there is no option $1; the steps:" >&2; list >&2; exit 2 ;;
  esac
  shift
done
[ -n "$data" ] || step_data
main
