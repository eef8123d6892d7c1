# Written by trainyard as bootstrap/up.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Makes cluster jakarta-slurm, or changes it to what this folder says. Every step may be run again: what is there stays as it is.
# With credentials for account 111122223333:
#   bash up.sh               every step, in order
#   bash up.sh --from STEP   the steps from one on
#   bash up.sh --dry-run     asks AWS, changes nothing, and prints what it would run
#   bash up.sh --list        the steps
#   bash up.sh --config      the configuration as pcluster gets it
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
# What nothing goes on without: needs WORD WHAT. The word stands for it in a dry run alone.
needs() {
  case $answer in '' | None | null) ;; *) return 0 ;; esac
  [ -n "$dry" ] || fail "there is no $2 yet" "then: bash $0${again:+ $again}${step:+ --from $step}"
  answer=$1
}
programs=(aws pcluster)
steps=(
  "version|pcluster is of the version that this cluster is written for"
  "nodes|what all nodes need: a security group, a bucket of scripts, rights"
  "budget|the budget, by mail; without it the cluster is made all the same"
  "storage|buckets and file systems that the spec makes (10 minutes or more)"
  "uploads|folders of this repository that jobs find in buckets"
  "scripts|what nodes and jobs run, in the bucket"
  "check|ParallelCluster takes the configuration"
  "cluster|the cluster (15 minutes or more): from here on its static nodes are paid"
  "accept|every node that is paid for works (10 minutes at most)"
  "jobs|the jobs: each is submitted once"
  "alarms|the alarms of the spec, and none where it has none"
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
output_of() {
  ask aws cloudformation describe-stacks --stack-name "$1" --query "Stacks[0].Outputs[?OutputKey=='$2'].OutputValue" --output text
}
# The configuration, with the ids of what the stacks have made in the places of their variables.
config() {
  local text variables variable name
  text=$(sed '/^#/d' "$here/cluster.yaml")
  variables=$(sed -n 's/.*"${\([A-Z0-9_]*\)}".*/\1/p' <<<"$text" | sort -u)
  for variable in $variables; do
    case $variable in
      NODES_SECURITY_GROUP) output_of "trainyard-$cluster-nodes" Group ;;
      *)
        name=$(tr '[:upper:]_' '[:lower:]-' <<<"${variable#FSX_}")
        output_of "trainyard-$cluster-storage-$name" Id
        ;;
    esac
    [ -n "$answer" ] || fail "no stack has an id for \${$variable}" "make what the cluster needs first: bash up.sh"
    text=${text//"\"\${$variable}\""/$answer}
  done
  printf '%s\n' "$text"
}
# CloudFormation deletes nothing of a stack that failed at its first attempt, and takes no second one for it.
ready() {
  settle "$1"
  stack "$1" || return 0
  case $answer in ROLLBACK_COMPLETE | ROLLBACK_FAILED | CREATE_FAILED) delete_stack "$1" ;; esac
}
deploy() {
  local name
  name=trainyard-$cluster-$(basename "$1" .yaml)
  ready "$name"
  run aws cloudformation deploy --stack-name "$name" --template-file "$1" --capabilities CAPABILITY_NAMED_IAM \
    --no-fail-on-empty-changeset --tags "trainyard-part-of=$cluster" "${@:2}"
}

step_version() {
  local has
  ask pcluster version
  has=$(tr -d ' "{}\n' <<<"$answer" | sed 's/version://')
  [ "$has" = 3.16.1 ] || fail "this is pcluster ${has:-of an unknown version}, and the cluster is one of 3.16.1" \
    "install it: pip install aws-parallelcluster==3.16.1"
}

step_nodes() { deploy "$here/stacks/nodes.yaml"; }
step_budget() {
  run aws cloudformation deploy --region "$(sed -n 's/^  Region: //p' "$here/stacks/budget.yaml")" --stack-name "trainyard-$cluster-budget" \
    --template-file "$here/stacks/budget.yaml" --no-fail-on-empty-changeset --tags "trainyard-part-of=$cluster" ||
    echo "  there is no budget, and nobody hears what the cluster costs: bash $0 --from budget tries again" >&2
}

step_storage() {
  local stack
  for stack in "$here"/stacks/storage-*.yaml; do
    [ ! -e "$stack" ] || deploy "$stack"
  done
}

step_uploads() {
  local each
  for each in "$here"/uploads/*.sh; do
    [ ! -e "$each" ] || run_script "$each"
  done
}
step_scripts() {
  run aws s3 sync "$here/nodes" "s3://jakarta-slurm-scripts-111122223333-ap-southeast-3/nodes" --delete --only-show-errors
  [ ! -d "$here/accounting" ] || run aws s3 sync "$here/accounting" "s3://jakarta-slurm-scripts-111122223333-ap-southeast-3/accounting" --delete --only-show-errors
  [ ! -d "$here/../jobs" ] || run aws s3 sync "$here/../jobs" "s3://jakarta-slurm-scripts-111122223333-ap-southeast-3/jobs" --delete --only-show-errors
}

with_config() {
  config > "$work/cluster.yaml"
  "$@" --cluster-configuration "$work/cluster.yaml"
}
say_with_config() {
  echo "  with the CONFIGURATION that bash $0 --config prints:"
  say "$@" --cluster-configuration CONFIGURATION
}
verb() { if [ -n "$status" ]; then echo update-cluster; else echo create-cluster; fi; }
# A dry run that finds nothing ends with an error of its own, "Request would have succeeded, but DryRun flag is set".
takes() {
  local said
  said=$(with_config pcluster "$(verb)" --cluster-name "$cluster" --region "$region" --dryrun true 2>&1) || true
  printf '%s\n' "$said"
  case $said in *"DryRun flag is set"* | *"No changes found"*) return 0 ;; *) return 1 ;; esac
}
# What is under way ends first. A cluster that was not made goes: pcluster updates none, and nothing runs on it.
step_check() {
  settle "$cluster"
  look
  case $status in
    CREATE_FAILED | DELETE_*)
      echo "  the cluster is $status: it is deleted, and made anew"
      delete_cluster
      ;;
  esac
  [ -z "$dry" ] || { say_with_config pcluster "$(verb)" --cluster-name "$cluster" --region "$region" --dryrun true; return 0; }
  takes || fail "ParallelCluster does not take the configuration: see above"
}

is_done() {
  look
  case $status in
    *_COMPLETE) return 0 ;;
    *_FAILED) fail "the cluster is $status" "why: pcluster get-cluster-stack-events --cluster-name $cluster --region $region" \
      "then: bash $0 --from check" ;;
    *) return 1 ;;
  esac
}
step_cluster() {
  local said
  look
  [ -z "$dry" ] || { say_with_config pcluster "$(verb)" --cluster-name "$cluster" --region "$region"; return 0; }
  said=$(takes) || fail "ParallelCluster does not take the configuration" "$said"
  case $said in *"No changes found"*) return 0 ;; esac
  with_config pcluster "$(verb)" --cluster-name "$cluster" --region "$region"
  wait_for "cluster $cluster to be complete" 90 "pcluster describe-cluster --cluster-name $cluster --region $region says how far it is" is_done
}

# Whether a command has ended; how is the answer. For a moment after it was sent it is not known.
has_ended() {
  there aws ssm get-command-invocation --command-id "$1" --instance-id "$2" --query Status --output text || return 1
  case $answer in Success | Failed | Cancelled | TimedOut) return 0 ;; *) return 1 ;; esac
}
head_node() {
  ask pcluster describe-cluster --cluster-name "$cluster" --region "$region" --query headNode.instanceId
  answer=${answer//\"/}
  needs HEAD_NODE "head node of cluster $cluster"
}
# Runs a script of the bucket on the head node as the first user, and shows what it says: on_head SCRIPT
# As a file: the `sh` of the agent has no pipefail, so that a download that fails would be an empty script that succeeds.
on_head() {
  local node id ended script
  head_node
  node=$answer
  script="file=\$(mktemp) && aws s3 cp s3://jakarta-slurm-scripts-111122223333-ap-southeast-3/$1 \$file --region $region --only-show-errors"
  script="$script && chmod 644 \$file && sudo --login --user ubuntu bash \$file"
  set -- "$1" aws ssm send-command --instance-ids "$node" --document-name AWS-RunShellScript --query Command.CommandId --output text \
    --parameters "commands=[\"$script\"]"
  say "${@:2}"
  [ -z "$dry" ] || return 0
  id=$("${@:2}")
  wait_for "the head node to run $1" 30 "aws ssm get-command-invocation --command-id $id --instance-id $node" has_ended "$id" "$node"
  ended=$answer
  ask aws ssm get-command-invocation --command-id "$id" --instance-id "$node" \
    --query '[StandardOutputContent, StandardErrorContent]' --output text
  printf '%s\n' "$answer"
  [ "$ended" = Success ] || fail "$1 ended as $ended on the head node"
}
step_accept() { on_head nodes/accept.sh; }
step_jobs() { on_head nodes/jobs.sh; }
# They name the head node, and what they watch is there from now on.
step_alarms() {
  if [ ! -e "$here/stacks/alarms.yaml" ]; then
    delete_stack "trainyard-$cluster-alarms"
    return 0
  fi
  head_node
  deploy "$here/stacks/alarms.yaml" --parameter-overrides "HeadNode=$answer"
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
    --config) config; exit 0 ;;
    --help) sed -n '/^# Makes/,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo; list; exit 0 ;;
    --dry-run) dry=1 ;;
    --from)
      from=${2:-}
      known "$from" || { echo "there is no step $from; the steps:" >&2; list >&2; exit 2; }
      shift
      ;;
    *) echo "there is no option $1: --from STEP, --dry-run, --list, --config, --help; the steps:" >&2; list >&2; exit 2 ;;
  esac
  shift
done
main
