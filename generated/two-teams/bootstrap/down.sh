# Written by trainyard as bootstrap/down.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Takes down cluster two-teams, and proves at the end that nothing of it is paid for any longer. Every step may be run again.
# With credentials for account 111122223333:
#   bash down.sh --keep-data             data stays: buckets, file systems, volumes with their snapshots, images, the log of the API
#   bash down.sh --delete-data           data is deleted as well, which cannot be undone
#   bash down.sh --delete-data=NAME ...  only that of these storages; all other data stays
#   bash down.sh ... --from STEP         the steps from one on
#   bash down.sh ... --dry-run           asks AWS and the cluster, changes nothing, and prints what it would run
#   bash down.sh --list                  the steps
set -euo pipefail
cluster=two-teams region=ap-northeast-2 account=111122223333
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
config() { cat "$here/eksctl.yaml"; }
# Whether there is a cluster; its status is the answer.
made() { there aws eks describe-cluster --name "$cluster" --query cluster.status --output text; }
not_foreign() {
  ! made || stack "eksctl-$cluster-cluster" || foreign "cluster $cluster of account $account is there, and no stack of eksctl is"
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
answers() { kubectl get --raw=/readyz >/dev/null 2>&1; }
reach() {
  speaks
  wait_for "the API of cluster $cluster to answer kubectl" 10 \
    "run this from 203.0.113.0/24 or the VPC" answers
}
of_cluster() { ask aws eks describe-cluster --name "$cluster" --query "cluster.resourcesVpcConfig.$1" --output text; }

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
chosen='' deleted=()
programs=(aws eksctl kubectl flux)
# Every kind of job that Trainyard writes or reads, those that make others first.
kinds=(cronjobs.batch jaxjobs.kubeflow.org jobs.batch.volcano.sh leaderworkersets.leaderworkerset.x-k8s.io mpijobs.kubeflow.org paddlejobs.kubeflow.org pytorchjobs.kubeflow.org rayjobs.ray.io rayservices.ray.io tfjobs.kubeflow.org trainjobs.trainer.kubeflow.org xgboostjobs.kubeflow.org jobs.batch jobsets.jobset.x-k8s.io rayclusters.ray.io)
steps=(
  "data|whether data is kept or deleted"
  "flux|Flux stops, or it would make everything again"
  "jobs|jobs of every kind end, as running pods hold the drain of their nodes"
  "drain|pods that ask not to be disrupted, and load balancers"
  "pools|node pools, and with them their nodes"
  "classes|node classes, with their instance profiles"
  "groups|managed node groups of pools"
  "storage|storage: its stacks, and the data that is not kept"
  "endpoints|what else holds the VPC"
  "cluster|the cluster and its VPC (15 minutes or more)"
  "stacks|roles, rights and the queue"
  "placement|placement groups"
  "logs|the log of the API, unless it is kept"
  "proof|nothing is left"
)

goes() {
  local each
  for each in ${deleted[@]+"${deleted[@]}"}; do
    if [ "$each" = '*' ] || [ "$each" = "$1" ]; then return 0; fi
  done
  return 1
}
# What carries a tag of ours is found whether its stack is there or not: KIND ID STORAGE, a line each.
mine() { echo "Tags[?Key=='$1' && starts_with(Value, '$cluster.')]"; }
data() {
  local ours
  ours=$(mine trainyard-storage)
  ask aws fsx describe-file-systems --query "FileSystems[?$ours].[FileSystemId, $ours.Value | [0]]" --output text
  awk 'NF { print "file-system", $1, $2 }' <<<"$answer"
  ask aws ec2 describe-volumes --filters "Name=tag:trainyard-storage,Values=$cluster.*" \
    --query "Volumes[].[VolumeId, $ours.Value | [0]]" --output text
  awk 'NF { print "volume", $1, $2 }' <<<"$answer"
  ask aws ec2 describe-snapshots --owner-ids self --filters "Name=tag:trainyard-storage,Values=$cluster.*" \
    --query "Snapshots[].[SnapshotId, $ours.Value | [0]]" --output text
  awk 'NF { print "snapshot", $1, $2 }' <<<"$answer"
  ask aws resourcegroupstaggingapi get-resources --resource-type-filters s3:bucket --tag-filters Key=trainyard-storage \
    --query "ResourceTagMappingList[?$ours].[ResourceARN, $ours.Value | [0]]" --output text
  awk 'NF { sub(/.*:/, "", $1); print "bucket", $1, $2 }' <<<"$answer"
  ours=$(mine trainyard-image)
  ask aws resourcegroupstaggingapi get-resources --resource-type-filters ecr:repository --tag-filters Key=trainyard-image \
    --query "ResourceTagMappingList[?$ours].[ResourceARN, $ours.Value | [0]]" --output text
  awk 'NF { sub(/.*:repository\//, "", $1); print "repository", $1, $2 }' <<<"$answer"
}
# The same in `found`, each with the name that the spec has for it, and whether it goes.
sort_data() {
  local kind id name each
  each=$(data) || exit 1   # which has said why
  found=$(while read -r kind id name; do
    [ -n "$kind" ] || continue
    name=${name#"$cluster."}
    if goes "$name"; then echo "goes $kind $id $name"; else echo "stays $kind $id $name"; fi
  done <<<"$each")
}

# FSx for Lustre user guide, using-backups-fsx; FSx API, CreateDataRepositoryTask.
unsaved="FSx backs up no file system that is scratch or linked to a bucket. What lies below a linked path is exported: \
aws fsx create-data-repository-task --type EXPORT_TO_REPOSITORY --file-system-id ID --report Enabled=false --paths PATH. \
Copy all else first, from a pod that mounts it: aws s3 sync FOLDER s3://BUCKET"

step_data() {
  local found line
  sort_data
  while read -r line; do [ -z "$line" ] || echo "  $line"; done <<<"$found"
  if [ -n "$found" ] && [ -z "$chosen" ] && [ -z "$dry" ]; then
    fail "this is the data of cluster $cluster; say what becomes of it: --keep-data, --delete-data, or --delete-data=NAME for each storage" \
      "$unsaved"
  fi
  ! grep -q '^goes file-system' <<<"$found" || echo "  $unsaved"
  if [ -z "$dry" ] && grep -q '^stays file-system' <<<"$found"; then
    fail "a file system lies in the VPC of the cluster, which cannot be deleted while it is there" \
      "$unsaved" \
      "then delete it: --delete-data=NAME" \
      "one that is to outlive its cluster belongs into a network of its own: network.create, or network.existing"
  fi
}

runs() {
  made || return 1
  case $answer in ACTIVE | UPDATING) return 0 ;; *) return 1 ;; esac
}

step_flux() {
  runs || return 0
  reach
  there kubectl get namespace flux-system || return 0
  run flux suspend kustomization --all --namespace=flux-system
}

# A kind that the cluster does not know has no objects. One API that does not answer (of metrics, say) takes no other with it.
served() {
  answer=$(kubectl api-resources --output=name 2>"$work/why" || true)
  [ -n "$answer" ] || [ -n "$dry" ] || refused kubectl api-resources
  grep -x -- "$1" <<<"$answer" >/dev/null
}
step_jobs() {
  local kind
  runs || return 0
  reach
  for kind in "${kinds[@]}"; do
    ! served "$kind" || run kubectl delete "$kind" --all --all-namespaces --timeout=15m
  done
}

step_drain() {
  local namespace name
  runs || return 0
  reach
  ask kubectl get pods --all-namespaces --no-headers \
    --output='custom-columns=N:.metadata.namespace,P:.metadata.name,D:.metadata.annotations.karpenter\.sh/do-not-disrupt'
  while read -r namespace name; do
    run kubectl annotate pods --namespace="$namespace" "$name" karpenter.sh/do-not-disrupt-
  done < <(awk '$3 == "true" { print $1, $2 }' <<<"$answer")
  ask kubectl get services --all-namespaces --no-headers \
    --output='custom-columns=N:.metadata.namespace,S:.metadata.name,T:.spec.type'
  while read -r namespace name; do
    run kubectl delete services --namespace="$namespace" "$name" --timeout=15m   # its load balancer goes first
  done < <(awk '$3 == "LoadBalancer" { print $1, $2 }' <<<"$answer")
}

no_claims() {
  ask kubectl get nodeclaims.karpenter.sh --output=name
  [ -z "$answer" ]
}
step_pools() {
  runs || return 0
  reach
  served nodepools.karpenter.sh || return 0
  run kubectl delete nodepools.karpenter.sh --all --wait=false
  wait_for "the nodes of all pools to end" 60 "kubectl describe nodeclaims.karpenter.sh says what holds them" no_claims
}
step_classes() {
  runs || return 0
  reach
  served ec2nodeclasses.karpenter.k8s.aws || return 0
  run kubectl delete ec2nodeclasses.karpenter.k8s.aws --all --timeout=10m
}
# All groups but those that came with the cluster.
step_groups() {
  local name
  made || return 0
  ask aws eks list-nodegroups --cluster-name "$cluster" --query 'nodegroups[]' --output text
  for name in $answer; do
    awk '/^[^ -]/ { groups = /^managedNodeGroups:/ } groups && /^- name: / { print $3 }' "$here/eksctl.yaml" | grep -x -- "$name" >/dev/null ||
      run eksctl delete nodegroup --cluster="$cluster" --region="$region" --name="$name" --disable-eviction --wait
  done
}

part_of() { ask aws cloudformation describe-stacks --query "Stacks[?Tags[?Key=='trainyard-part-of' && Value=='$cluster']].StackName" --output text; }
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
step_storage() {
  local part what kind id name found
  # Data stays when its stack goes: it says Retain. File systems go before the buckets that they are linked with.
  part_of
  for part in $answer; do
    case $part in "trainyard-$cluster-storage-"*) delete_stack "$part" ;; esac
  done
  sort_data
  for what in file-system snapshot volume bucket repository; do
    while read -r kind id name; do
      [ "$kind" = "$what" ] || continue
      case $kind in
        file-system) delete_file_system "$id" ;;
        snapshot) run aws ec2 delete-snapshot --snapshot-id "$id" ;;
        volume)
          run aws ec2 wait volume-available --volume-ids "$id"
          run aws ec2 delete-volume --volume-id "$id"
          run aws ec2 wait volume-deleted --volume-ids "$id"
          ;;
        bucket)
          empty "$id"
          run aws s3api delete-bucket --bucket "$id"
          ;;
        repository) run aws ecr delete-repository --repository-name "$id" --force ;;
      esac
    done < <(sed -n 's/^goes //p' <<<"$found")
  done
  ask aws ec2 describe-security-groups --filters "Name=tag:trainyard-storage,Values=$cluster.*" \
    --query "SecurityGroups[].[GroupId, $(mine trainyard-storage).Value | [0]]" --output text
  while read -r id name; do
    if [ -z "$id" ] || grep -q "^stays file-system .* ${name#"$cluster."}$" <<<"$found"; then continue; fi
    run aws ec2 delete-security-group --group-id "$id"
  done <<<"$answer"
}

# The VPC is found by its tag, also when the cluster that it was made for is gone.
own_vpc() {
  ask aws ec2 describe-vpcs --filters "Name=tag:alpha.eksctl.io/cluster-name,Values=$cluster" \
    --query 'Vpcs[].VpcId' --output text
}
unpeer() {
  local side peering
  for side in requester accepter; do
    ask aws ec2 describe-vpc-peering-connections --filters "Name=$side-vpc-info.vpc-id,Values=$1" Name=status-code,Values=active \
      --query 'VpcPeeringConnections[].VpcPeeringConnectionId' --output text
    for peering in $answer; do
      run aws ec2 delete-vpc-peering-connection --vpc-peering-connection-id "$peering"
    done
  done
}
# EC2 lists those that are deleted for a while.
no_endpoints() {
  ask aws ec2 describe-vpc-endpoints --filters "Name=vpc-id,Values=$1" --query "VpcEndpoints[?State!='deleted'].VpcEndpointId" --output text
  [ -z "$answer" ]
}
step_endpoints() {
  local vpc endpoint
  own_vpc
  vpc=$answer
  [ -n "$vpc" ] || return 0
  ask aws ec2 describe-vpc-endpoints --filters "Name=vpc-id,Values=$vpc" \
    --query "VpcEndpoints[?State!='deleting' && State!='deleted'].VpcEndpointId" --output text
  for endpoint in $answer; do
    run aws ec2 delete-vpc-endpoints --vpc-endpoint-ids "$endpoint"
  done
  wait_for "the endpoints of $vpc to be deleted" 15 "aws ec2 describe-vpc-endpoints says which are left" no_endpoints "$vpc"
  unpeer "$vpc"
}

step_cluster() {
  local stack=eksctl-$cluster-cluster
  settle "$stack"
  stack "$stack" || made || return 0
  run eksctl delete cluster --region="$region" --name="$cluster" --wait --disable-nodegroup-eviction
}

step_stacks() {
  local part
  part_of
  for part in $answer "trainyard-$cluster"; do
    delete_stack "$part"
  done
}

step_placement() {
  local group
  ask aws ec2 describe-placement-groups --filters "Name=tag:trainyard-part-of,Values=$cluster" --query 'PlacementGroups[].GroupName' --output text
  for group in $answer; do
    run aws ec2 delete-placement-group --group-name "$group"
  done
}


step_logs() {
  local name=/aws/eks/$cluster/cluster
  ask aws logs describe-log-groups --log-group-name-prefix "$name" --query "logGroups[?logGroupName=='$name'].logGroupName" --output text
  [ -n "$answer" ] || return 0
  if goes '*'; then run aws logs delete-log-group --log-group-name "$name"; else echo "  stays: log group $name"; fi
}

# ID COMMAND of each thing that a question finds: left WHAT COMMAND QUESTION...
left() {
  local what=$1 command=$2 id
  shift 2
  ask "$@" --output text
  for id in $answer; do
    if [ "$id" != None ]; then echo "  left: $what $id: aws $command $id --region $region"; fi
  done
}
everything_left() {
  local tag vpc alive=Name=instance-state-name,Values=pending,running,stopping,stopped
  for tag in "Name=tag-key,Values=kubernetes.io/cluster/$cluster" "Name=tag:eks:eks-cluster-name,Values=$cluster" "Name=tag:eks:cluster-name,Values=$cluster"; do
    left instance "ec2 terminate-instances --instance-ids" aws ec2 describe-instances --filters "$tag" "$alive" --query 'Reservations[].Instances[].InstanceId'
    left volume "ec2 delete-volume --volume-id" aws ec2 describe-volumes --filters "$tag" --query "Volumes[?!(Tags[?Key=='trainyard-storage'])].VolumeId"
    left "load balancer" "elbv2 delete-load-balancer --load-balancer-arn" aws resourcegroupstaggingapi get-resources \
      --resource-type-filters elasticloadbalancing:loadbalancer --tag-filters "Key=$(tag_key "$tag")" --query 'ResourceTagMappingList[].ResourceARN'
  done
  left interface "ec2 delete-network-interface --network-interface-id" aws ec2 describe-network-interfaces \
    --filters "Name=tag:cluster.k8s.amazonaws.com/name,Values=$cluster" --query 'NetworkInterfaces[].NetworkInterfaceId'
  if [ -z "$1" ]; then
    for tag in "tag:alpha.eksctl.io/cluster-name" "tag:trainyard-network-of"; do
      left address "ec2 release-address --allocation-id" aws ec2 describe-addresses --filters "Name=$tag,Values=$cluster" --query 'Addresses[].AllocationId'
      left gateway "ec2 delete-nat-gateway --nat-gateway-id" aws ec2 describe-nat-gateways \
        --filter "Name=$tag,Values=$cluster" Name=state,Values=pending,available,failed --query 'NatGateways[].NatGatewayId'
    done
    own_vpc
    for vpc in $answer; do
      left gateway "ec2 delete-nat-gateway --nat-gateway-id" aws ec2 describe-nat-gateways \
        --filter "Name=vpc-id,Values=$vpc" Name=state,Values=pending,available,failed --query 'NatGateways[].NatGatewayId'
      left interface "ec2 delete-network-interface --network-interface-id" aws ec2 describe-network-interfaces \
        --filters "Name=vpc-id,Values=$vpc" --query 'NetworkInterfaces[].NetworkInterfaceId'
      left "load balancer" "elbv2 delete-load-balancer --load-balancer-arn" aws elbv2 describe-load-balancers \
        --query "LoadBalancers[?VpcId=='$vpc'].LoadBalancerArn"
      echo "  left: VPC $vpc: aws ec2 delete-vpc --vpc-id $vpc --region $region"
    done
  fi
  left cluster "eks delete-cluster --name" aws eks list-clusters --query "clusters[?@=='$cluster']"
  left "placement group" "ec2 delete-placement-group --group-name" aws ec2 describe-placement-groups \
    --filters "Name=tag:trainyard-part-of,Values=$cluster" --query 'PlacementGroups[].GroupName'
  left stack "cloudformation delete-stack --stack-name" aws cloudformation describe-stacks \
    --query "Stacks[?StackName=='trainyard-$cluster' || Tags[?Key=='trainyard-part-of' && Value=='$cluster']].StackName"
}
tag_key() {
  case $1 in
    Name=tag-key,*) echo "${1#Name=tag-key,Values=}" ;;
    *) echo "${1#Name=tag:}" ;;
  esac
}
step_proof() {
  local data found kept
  [ -z "$dry" ] || { echo "  would ask for what is left"; return 0; }
  sort_data
  data=$found
  kept=$(grep '^stays file-system' <<<"$data" || true)
  found=$(everything_left "$kept") || exit 1
  found="$found$(sed -n 's/^goes \([^ ]*\) \([^ ]*\) \(.*\)$/\n  left: \1 \2 of storage \3: bash '"${0//\//\\/}"' --delete-data=\3 --from storage/p' <<<"$data")"
  found=$(sort -u <<<"$found" | sed '/^$/d')
  awk '$1 == "stays" { print "  " $0 }' <<<"$data"
  [ -z "$kept" ] || echo "  stays: the network of these file systems"
  find "$here" -name '*.md' -exec sed -n 's/^stays: \(the Capacity Block\|the reservation\)/  stays: \1/p' {} + | sort
  [ -z "$found" ] || fail "$found" "these are left, and may be paid for: run the commands, then: bash $0 $again --from proof"
  echo "  no instance, volume, file system, address, gateway, load balancer, interface or stack of cluster $cluster is left${data:+ but the data above}"
}

while [ $# -gt 0 ]; do
  case $1 in
    --list) list; exit 0 ;;
    --help) sed -n '/^# Takes/,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo; list; exit 0 ;;
    --dry-run) dry=1 ;;
    --keep-data | --delete-data | --delete-data=*)
      case $chosen/$1 in
        --keep-data/--delete* | --delete*/--keep-data) echo "data is kept or deleted, not both" >&2; exit 2 ;;
      esac
      chosen=$1 again="$again $1"
      case $1 in --delete-data) deleted+=('*') ;; --delete-data=*) deleted+=("${1#*=}") ;; esac
      ;;
    --from)
      from=${2:-}
      known "$from" || { echo "there is no step $from; the steps:" >&2; list >&2; exit 2; }
      shift
      ;;
    *) echo "there is no option $1: --keep-data, --delete-data, --from STEP, --dry-run, --list, --help; the steps:" >&2; list >&2; exit 2 ;;
  esac
  shift
done
main
