# Written by trainyard as bootstrap/down.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Takes down cluster jakarta-slurm, and proves at the end that none of its instances is paid for any longer. Every step may be run again.
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
dry='' answer='' step='' again=''
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
say() { printf '  +'; printf ' %q' "$@"; echo; }
run() {
  say "$@"
  [ -n "$dry" ] || "$@"
}
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
  tries=$((minutes * 3))
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
  "proof|no instance and no volume is left"
)

output_of() {
  ask aws cloudformation describe-stacks --stack-name "$1" --query "Stacks[0].Outputs[?OutputKey=='$2'].OutputValue" --output text
}
# The whole configuration: each part in the place of its variable, with the ids of what stacks have made.
whole() {
  awk -v here="$here/cluster" '
    function parts(folder, indent,   list, file, line, first) {
      list = "find \"" here "/" folder "\" -name \"*.yaml\" 2>/dev/null | sort"
      while ((list | getline file) > 0) {
        first = 1
        while ((getline line < file) > 0) {
          if (line ~ /^#/) continue
          put(indent (first ? "- " : "  ") line)
          first = 0
        }
        close(file)
      }
      close(list)
    }
    function put(line,   indent, folder, key) {
      if (!match(line, /"\$\{(QUEUES|STORAGE|ACCESS)\}"$/)) { print line; return }
      folder = tolower(substr(line, RSTART + 3, RLENGTH - 5))
      if (system("test -d \"" here "/" folder "\"") != 0) return
      key = line
      sub(/ *"\$\{[A-Z]+\}"$/, "", key)
      print key
      match(line, /^ */)
      indent = substr(line, 1, RLENGTH)
      parts(folder, indent)
    }
    /^#/ { next }
    { put($0) }' "$here/cluster/cluster.yaml"
}
config() {
  local text variable name
  text=$(whole)
  while read -r variable; do
    case $variable in
      NODES_SECURITY_GROUP) output_of "trainyard-$cluster-nodes" Group ;;
      *)
        name=$(printf '%s' "${variable#FSX_}" | tr '[:upper:]_' '[:lower:]-')
        output_of "trainyard-$cluster-storage-$name" Id
        ;;
    esac
    [ -n "$answer" ] || fail "no stack has an id for \${$variable}" "make what the cluster needs first: bash up.sh"
    text=${text//"\"\${$variable}\""/$answer}
  done < <(printf '%s\n' "$text" | sed -n 's/.*"${\([A-Z0-9_]*\)}".*/\1/p' | sort -u)
  printf '%s\n' "$text"
}
# Whether there is a cluster; its status is the answer.
made() {
  there pcluster describe-cluster --cluster-name "$cluster" --region "$region" --query clusterStatus || return 1
  answer=${answer//\"/}
}
step_data() { [ -n "$data" ] || fail "say what becomes of the data: --keep-data or --delete-data"; }

is_gone() { ! made; }
step_cluster() {
  is_gone || {
    case $answer in DELETE_IN_PROGRESS) ;; *) run pcluster delete-cluster --cluster-name "$cluster" --region "$region" ;; esac
    wait_for "cluster $cluster to be gone" 60 "pcluster get-cluster-stack-events --cluster-name $cluster --region $region says what holds it" is_gone
  }
}

# What carries the tag of a storage is found whether its stack is there or not.
tagged() {
  ask aws resourcegroupstaggingapi get-resources --resource-type-filters "$1" --tag-filters Key=trainyard-storage \
    --query "ResourceTagMappingList[?Tags[?Key=='trainyard-storage' && starts_with(Value, '$cluster.')]].ResourceARN" --output text
  [ "$answer" != None ] || answer=''
}
# Deletes all versions of all objects of a bucket.
empty() {
  echo "  + empties bucket $1: aws s3api list-object-versions, and delete-objects for each 1,000"
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
step_storage() {
  local stack arn
  for stack in "$here"/stacks/storage-*.yaml; do
    [ ! -e "$stack" ] || delete_stack "trainyard-$cluster-$(basename "$stack" .yaml)"
  done
  [ "$data" = delete ] || return 0
  tagged fsx:file-system
  for arn in $answer; do
    run aws fsx delete-file-system --file-system-id "${arn##*/}"
  done
  tagged s3:bucket
  for arn in $answer; do
    empty "${arn##*:}"
    run aws s3api delete-bucket --bucket "${arn##*:}"
  done
}

step_nodes() {
  ! there aws s3api head-bucket --bucket "jakarta-slurm-scripts-111122223333-ap-southeast-3" || empty "jakarta-slurm-scripts-111122223333-ap-southeast-3"
  delete_stack "trainyard-$cluster-nodes"
}

step_logs() {
  local group
  [ "$data" = delete ] || return 0
  ask aws logs describe-log-groups --log-group-name-prefix "/aws/parallelcluster/$cluster-" --query 'logGroups[].logGroupName' --output text
  for group in $answer; do
    run aws logs delete-log-group --log-group-name "$group"
  done
}

none_left() {
  local instances
  ask aws ec2 describe-instances --filters "Name=tag:parallelcluster:cluster-name,Values=$cluster" \
    Name=instance-state-name,Values=pending,running,stopping,stopped --query 'Reservations[].Instances[].InstanceId' --output text
  instances=$answer
  ask aws ec2 describe-volumes --filters "Name=tag:parallelcluster:cluster-name,Values=$cluster" --query 'Volumes[].VolumeId' --output text
  [ -z "$instances$answer" ] || { echo "  left: $instances $answer"; return 1; }
}
step_proof() {
  wait_for "the last instances and volumes to go" 20 "what is left is named above" none_left
  echo "  no instance and no volume of cluster $cluster is left"
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
