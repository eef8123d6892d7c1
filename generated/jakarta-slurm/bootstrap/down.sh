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
again='' data=''
programs=(aws pcluster)
steps=(
  "data|whether data is kept or deleted"
  "cluster|the cluster, with all of its nodes (10 minutes or more)"
  "storage|storage: its stacks, and the data that is not kept"
  "nodes|the bucket of scripts, the security group and the rights of nodes"
  "logs|the logs of the nodes, unless they are kept"
  "proof|nothing is left but what is kept"
)

# Sets `status`: how the cluster is, empty where there is none. Another failure is no answer, and ends the script.
look() {
  local said
  if said=$(pcluster describe-cluster --cluster-name "$cluster" --region "$region" --query clusterStatus); then
    status=$(tr -d '"' <<<"$said")
    return 0
  fi
  case $said in *"does not exist"*) status='' ;; *) fail "pcluster does not say how cluster $cluster is" "$said" ;; esac
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

step_cluster() { delete_cluster; }

# What carries the tag of a storage is found whether its stack is there or not.
ours="Tags[?Key=='trainyard-storage' && starts_with(Value, '$cluster.')]"
file_systems() { ask aws fsx describe-file-systems --query "FileSystems[?$ours].FileSystemId" --output text; }
links() { ask aws fsx describe-data-repository-associations --query "Associations[?$ours].AssociationId" --output text; }
groups() {
  ask aws ec2 describe-security-groups --filters "Name=tag:trainyard-storage,Values=$cluster.*" --query 'SecurityGroups[].GroupId' --output text
}
# The API of tags names a bucket for some minutes after its end.
buckets() {
  local found arn
  found=$(ask aws resourcegroupstaggingapi get-resources --resource-type-filters s3:bucket --tag-filters Key=trainyard-storage \
    --query "ResourceTagMappingList[?$ours].ResourceARN" --output text) || exit 1
  for arn in $found; do
    if there aws s3api head-bucket --bucket "${arn##*:}"; then echo "${arn##*:}"; fi
  done
}
# A file: so many versions are too long for an argument.
empty() {
  local versions
  versions=$(mktemp)
  while :; do
    aws s3api list-object-versions --bucket "$1" --max-items 500 --output json \
      --query '{Objects: [Versions, DeleteMarkers][] | [].{Key: Key, VersionId: VersionId}}' > "$versions"
    grep VersionId "$versions" > /dev/null || break
    aws s3api delete-objects --bucket "$1" --delete "file://$versions" > /dev/null
  done
  rm -f "$versions"
}
no_links() {
  local found
  found=$(aws fsx describe-data-repository-associations --filters "Name=file-system-id,Values=$1" --query 'Associations[].AssociationId' --output text) || exit 1
  [ -z "$found" ]
}
no_file_system() {
  local found
  found=$(aws fsx describe-file-systems --query "FileSystems[?FileSystemId=='$1'].FileSystemId" --output text) || exit 1
  [ -z "$found" ]
}
delete_file_system() {
  local links link
  links=$(ask aws fsx describe-data-repository-associations --filters "Name=file-system-id,Values=$1" \
    --query "Associations[?Lifecycle!='DELETING'].AssociationId" --output text)
  for link in $links; do
    run aws fsx delete-data-repository-association --association-id "$link" --no-delete-data-in-file-system
  done
  wait_for "the links of $1 with buckets to end" 60 "aws fsx describe-data-repository-associations says why" no_links "$1"
  [ "$(aws fsx describe-file-systems --file-system-ids "$1" --query 'FileSystems[0].Lifecycle' --output text)" = DELETING ] ||
    run aws fsx delete-file-system --file-system-id "$1"
  wait_for "file system $1 to be deleted" 60 "aws fsx describe-file-systems --file-system-ids $1 says why" no_file_system "$1"
}
step_storage() {
  local stack found each
  for stack in "$here"/stacks/storage-*.yaml; do
    [ ! -e "$stack" ] || delete_stack "trainyard-$cluster-$(basename "$stack" .yaml)"
  done
  [ "$data" = delete ] || return 0
  # File systems go before the buckets that they are linked with, and before the groups that hold their interfaces.
  found=$(file_systems)
  for each in $found; do delete_file_system "$each"; done
  found=$(buckets)
  for each in $found; do
    run empty "$each"
    run aws s3api delete-bucket --bucket "$each"
  done
  found=$(groups)
  for each in $found; do run aws ec2 delete-security-group --group-id "$each"; done
}

step_nodes() {
  if there aws s3api head-bucket --bucket "jakarta-slurm-scripts-111122223333-ap-southeast-3"; then run empty "jakarta-slurm-scripts-111122223333-ap-southeast-3"; fi
  delete_stack "trainyard-$cluster-nodes"
}

step_logs() {
  local group
  [ "$data" = delete ] || return 0
  for group in $(ask aws logs describe-log-groups --log-group-name-prefix "/aws/parallelcluster/$cluster-" --query 'logGroups[].logGroupName' --output text); do
    run aws logs delete-log-group --log-group-name "$group"
  done
}

left() {
  ask aws ec2 describe-instances --filters "Name=tag:parallelcluster:cluster-name,Values=$cluster" \
    Name=instance-state-name,Values=pending,running,stopping,stopped --query 'Reservations[].Instances[].InstanceId' --output text || exit 1
  ask aws ec2 describe-volumes --filters "Name=tag:parallelcluster:cluster-name,Values=$cluster" --query 'Volumes[].VolumeId' --output text || exit 1
  [ "$data" != keep ] || return 0
  file_systems || exit 1
  links || exit 1
  groups || exit 1
  buckets || exit 1
}
none_left() {
  found=$(left) || exit 1
  [ -z "${found//[[:space:]]/}" ]
}
step_proof() {
  local found kept
  found=$(left)
  wait_for "the last of it to go" 20 "look at what is left: ${found//[[:space:]]/ }" none_left
  if [ "$data" = delete ]; then
    echo "  no instance, volume, file system, link, security group and bucket of cluster $cluster is left"
    return 0
  fi
  kept=$(file_systems; buckets)
  echo "  no instance and no volume of cluster $cluster is left; kept and paid for: ${kept//[[:space:]]/ }"
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
