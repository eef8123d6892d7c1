# Written by trainyard as bootstrap/hyperpod/up.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Makes the nodes of cluster hyperpod-lora, or changes them to what this folder says. Every step may be run again: what is there stays.
# The cluster of EKS comes first: bash ../up.sh runs this script as its step `nodes`. With credentials for account 111122223333:
#   bash up.sh               every step, in order
#   bash up.sh --from STEP   the steps from one on
#   bash up.sh --dry-run     asks AWS and the cluster, changes nothing, and prints what it would run
#   bash up.sh --list        the steps
#   bash up.sh --config      the request as SageMaker gets it
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
# What nothing goes on without: needs WORD WHAT. The word stands for it in a dry run alone.
needs() {
  case $answer in '' | None | null) ;; *) return 0 ;; esac
  [ -n "$dry" ] || fail "there is no $2 yet" "then: bash $0${again:+ $again}${step:+ --from $step}"
  answer=$1
}
programs=(aws jq kubectl)
steps=(
  "stack|the role of the nodes, and the bucket of what they run when they are made"
  "scripts|lifecycle scripts, in the bucket"
  "chart|HyperPod's agents and operators, which Flux brings"
  "cluster|the instance groups (20 minutes or more): from here on their nodes are paid"
  "accept|every node is in the cluster, and HyperPod lets jobs run on it"
)

# The request, with the security group that eksctl has made.
config() {
  there aws eks describe-cluster --name "$cluster" --query cluster.resourcesVpcConfig.clusterSecurityGroupId --output text ||
    fail "there is no cluster of EKS called $cluster" "make it first: bash ../up.sh"
  jq --arg group "$answer" 'del(.["trainyard.dev/file"]) | walk(if . == "${CLUSTER_SECURITY_GROUP}" then $group else . end)' \
    "$here/create-cluster.json"
}
# kubectl speaks to this cluster, and to no other that somebody chose meanwhile. A dry run asks by a file of its own,
# which is not written where there is no cluster.
speaks() {
  local name=arn:aws:eks:$region:$account:cluster/$cluster
  [ "$(kubectl config view --minify --output='jsonpath={.clusters[0].name}' 2>/dev/null)" != "$name" ] || return 0
  run aws eks update-kubeconfig --name "$cluster"
  [ -n "$dry" ] || return 0
  export KUBECONFIG=$work/kubeconfig
  aws eks update-kubeconfig --name "$cluster" --kubeconfig "$KUBECONFIG" >/dev/null 2>&1 || true
}
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

step_stack() {
  settle "trainyard-$cluster-hyperpod"
  run aws cloudformation deploy --stack-name "trainyard-$cluster-hyperpod" --template-file "$here/../stacks/hyperpod.yaml" \
    --capabilities CAPABILITY_NAMED_IAM --no-fail-on-empty-changeset --tags "trainyard-part-of=$cluster"
}

# Each version of the scripts has a place of its own: nodes that run are as they were made.
step_scripts() { run aws s3 sync "$here/lifecycle" s3://sagemaker-hyperpod-lora-111122223333-us-west-2/lifecycle/15130aaa4c33/ --only-show-errors; }

# HyperPod finds its agents in the cluster when it makes the first node.
# Waits until Flux has made an object, and then until it is Ready: brought KIND NAMESPACE NAME.
is_there() { there kubectl get --namespace="$2" "$1" "$3" --output=name; }
brought() {
  wait_for "Flux to make $1 $3" 30 "flux get all --all-namespaces says what holds it" is_there "$@"
  run kubectl wait --namespace="$2" --for=condition=Ready --timeout=30m "$1/$3" ||
    fail "$1 $3 is not Ready" "why: kubectl describe --namespace=$2 $1/$3" "then: bash $0${again:+ $again} --from $step"
}
step_chart() {
  speaks
  brought kustomizations.kustomize.toolkit.fluxcd.io flux-system trainyard-controllers
  brought helmreleases.helm.toolkit.fluxcd.io flux-system dependencies
}

rests() { made || return 0; case $answer in Creating | Updating | SystemUpdating | RollingBack | Deleting) return 1 ;; *) return 0 ;; esac; }
is_in_service() {
  made || return 1
  case $answer in
    InService) return 0 ;;
    Failed) fail "the cluster is Failed" "why: aws sagemaker describe-cluster --cluster-name $cluster --query FailureMessage" ;;
    *) return 1 ;;
  esac
}
# The request without some parts of it, by a file: with hundreds of groups it is longer than an argument may be.
put() {
  echo "  + aws sagemaker $1 --cli-input-json \"\$(bash $0 --config | jq '$2')\""
  [ -z "$dry" ] || return 0
  config >"$work/request.json"
  jq "$2" "$work/request.json" >"$work/$1.json"
  aws sagemaker "$1" --cli-input-json "file://$work/$1.json"
}
step_cluster() {
  wait_for "the end of what the cluster is doing" 60 "aws sagemaker describe-cluster --cluster-name $cluster says how far it is" rests
  if made; then
    put update-cluster 'del(.VpcConfig, .Tags)'
  else
    put create-cluster .
  fi
  wait_for "cluster $cluster to be in service" 180 "aws sagemaker list-cluster-nodes --cluster-name $cluster says what each node does" is_in_service
}

wanted() { jq '[.InstanceGroups[].InstanceCount] | add' "$here/create-cluster.json"; }
ready() {
  ask kubectl get nodes --selector=sagemaker.amazonaws.com/node-health-status=Schedulable --no-headers
  [ "$(awk '$2 == "Ready"' <<< "$answer" | wc -l)" -ge "$(wanted)" ]
}
step_accept() {
  speaks
  wait_for "$(wanted) nodes on which jobs may run" 180 "kubectl get nodes --label-columns=sagemaker.amazonaws.com/node-health-status shows them" ready
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
