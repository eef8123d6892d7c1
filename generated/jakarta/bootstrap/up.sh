# Written by trainyard as bootstrap/up.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Makes cluster jakarta, from the account to the first job. Every step may be run again: what is there stays as it is.
# With credentials for account 111122223333, from the repository that Flux reads:
#   bash up.sh               every step, in order
#   bash up.sh --from STEP   the steps from one on
#   bash up.sh --dry-run     asks AWS and the cluster, changes nothing, and prints what it would run
#   bash up.sh --list        the steps
#   bash up.sh --config      eksctl's configuration of the cluster, for other commands of eksctl
set -euo pipefail
cluster=jakarta region=ap-southeast-3 account=111122223333
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
# What nothing goes on without: needs WORD WHAT. The word stands for it in a dry run alone.
needs() {
  case $answer in '' | None | null) ;; *) return 0 ;; esac
  [ -n "$dry" ] || fail "there is no $2 yet" "then: bash $0${again:+ $again}${step:+ --from $step}"
  answer=$1
}
programs=(aws eksctl kubectl flux git)
steps=(
  "region|the account may use ap-southeast-3"
  "quotas|the account's quotas, an increase of which takes days"
  "spot|the role that EC2 needs to launch Spot Instances"
  "roles|roles and the interruption queue"
  "cluster|the cluster, with system nodes only (20 to 30 minutes)"
  "endpoint|the S3 gateway endpoint: images come through it, and not through NAT"
  "parts|the rights of buckets, drivers and principals"
  "storage|buckets and file systems that the spec makes (10 minutes or more)"
  "uploads|folders of this repository that jobs find in buckets"
  "routes|the way to file systems that exist"
  "images|images that the spec builds, and whether those of ECR are there"
  "placement|placement groups"
  "secrets|the Secrets that jobs read"
  "flux|Flux, which brings everything else"
  "nodes|managed node groups of pools: from here on their nodes are paid"
  "accept|what the cluster must show"
  "left|what has left the spec, and is still there"
)

region_on() {
  ask aws account get-region-opt-status --region-name "$region" --query RegionOptStatus --output text
  [ "$answer" = ENABLED ]
}
step_region() {
  region_on || run aws account enable-region --region-name "$region"
  wait_for "Region $region" 60 "it can take hours; nothing is paid meanwhile" region_on
}

# The figures of pools and storages stand on their pages: two that come never meet in one file.
needed() {
  echo "ec2 L-1216C47A 24"
  echo "ebs L-7A658B76 300"
  echo "vpc L-DF5E4CA3 3"
  echo "vpc L-F678F1CE 1"
  awk '/^[^ #-]/ { zones = /^availabilityZones:/ } zones && /^- / { print "ec2 L-0263D0A3 1" }' "$here/eksctl.yaml"
  find "$here" '(' -path '*/pools/*.md' -o -path '*/storage/*.md' ')' -exec awk \
    'FNR == 1 { nodes = 1 } /^nodes / { nodes = $2 } /^(quota|maybe) / { print $2, $3, nodes * $4, $1 }' {} +
}
# A quota by its code, or by its name; what the account has not changed is as AWS gives it.
quota() {
  local name=${2//_/ }
  case $2 in
    L-*)
      there aws service-quotas get-service-quota --service-code "$1" --quota-code "$2" --query Quota.Value --output text ||
        ask aws service-quotas get-aws-default-service-quota --service-code "$1" --quota-code "$2" --query Quota.Value --output text
      ;;
    *)
      ask aws service-quotas list-service-quotas --service-code "$1" --query "Quotas[?QuotaName=='$name'].Value" --output text
      [ -n "$answer" ] ||
        ask aws service-quotas list-aws-default-service-quotas --service-code "$1" --query "Quotas[?QuotaName=='$name'].Value" --output text
      ;;
  esac
  answer=${answer//[[:space:]]/}
}
step_quotas() {
  local service code wanted sure short=''
  while read -r service code wanted sure; do
    quota "$service" "$code"
    echo "  $service ${code//_/ }: this cluster needs $wanted, the account has ${answer:-an unknown one}"
    if [ -z "$answer" ] || [ "${answer%.*}" -ge "$wanted" ]; then continue; fi
    if [ "${answer%.*}" -lt "$sure" ]; then
      short=1
      echo "  too little; what runs already comes on top" >&2
    else
      echo "  too little, if capacity that is reserved counts, which is not established" >&2
    fi
    echo "  to ask for more: aws service-quotas request-service-quota-increase --region $region --service-code $service" \
      "--quota-code $code --desired-value $wanted" >&2
  done < <(needed | awk '{ total[$1 " " $2] += $3; sure[$1 " " $2] += $4 == "maybe" ? 0 : $3 }
    function whole(quota, much) { return quota ~ /L-7A658B76/ ? int((much + 1023) / 1024) : much }
    END { for (quota in total) print quota, whole(quota, total[quota]), whole(quota, sure[quota]) }' | sort)
  [ -z "$short" ] || [ -n "$dry" ] || fail "ask for these quotas first, or go on without them: bash $0 --from spot"
}

step_spot() {
  grep -qrx 'spot' "$here/pools" 2>/dev/null || return 0
  there aws iam get-role --role-name AWSServiceRoleForEC2Spot --query Role.Arn --output text ||
    run aws iam create-service-linked-role --aws-service-name spot.amazonaws.com
}

# CloudFormation deletes nothing of a stack that failed at its first attempt, and takes no second one for it.
ready() {
  settle "$1"
  stack "$1" || return 0
  case $answer in ROLLBACK_COMPLETE | ROLLBACK_FAILED | CREATE_FAILED) delete_stack "$1" ;; esac
}
step_roles() {
  ready "trainyard-$cluster"
  run aws cloudformation deploy --stack-name "trainyard-$cluster" --template-file "$here/stack.yaml" \
    --capabilities CAPABILITY_NAMED_IAM --no-fail-on-empty-changeset
}


eksctl_with() {
  echo "  + bash $0 --config | eksctl $* --config-file=-"
  [ -z "$dry" ] || return 0
  config >"$work/eksctl.yaml"
  eksctl "$@" --config-file="$work/eksctl.yaml"
}
create() { eksctl_with create cluster --install-nvidia-plugin=false --install-neuron-plugin=false; }
is_active() { made && [ "$answer" = ACTIVE ]; }
step_cluster() {
  local stack=eksctl-$cluster-cluster namespace name role
  settle "$stack"
  stack "$stack" || true
  case $answer in
    '') create ;;
    CREATE_COMPLETE | UPDATE_COMPLETE | UPDATE_ROLLBACK_COMPLETE) ;;
    *) fail "stack $stack is $answer" "delete what is left of it: eksctl delete cluster --region=$region --name=$cluster --wait" \
      "then: bash $0 --from cluster" ;;
  esac
  wait_for "cluster $cluster to be ACTIVE" 30 "aws eks describe-cluster --name $cluster says why" is_active
  # What a creation that was stopped did not come to. Nothing happens where it is there.
  while read -r namespace name role; do
    ask aws eks list-pod-identity-associations --cluster-name "$cluster" --namespace "$namespace" --service-account "$name" \
      --query 'associations[].associationId' --output text
    [ -n "$answer" ] ||
      run aws eks create-pod-identity-association --cluster-name "$cluster" --namespace "$namespace" --service-account "$name" --role-arn "$role"
  done < <(awk '/^[^ ]/ { iam = /^iam:/ } iam && /namespace:/ { space = $NF } iam && /serviceAccountName:/ { name = $NF }
    iam && /roleARN:/ { print space, name, $NF }' "$here/eksctl.yaml")
  while read -r role; do
    there aws eks describe-access-entry --cluster-name "$cluster" --principal-arn "$role" ||
      run aws eks create-access-entry --cluster-name "$cluster" --principal-arn "$role" --type EC2_LINUX
  done < <(awk '/principalARN:/ { role = $NF } /type: EC2_LINUX/ { print role }' "$here/eksctl.yaml")
  eksctl_with create addon
  eksctl_with create nodegroup --install-nvidia-plugin=false --install-neuron-plugin=false
  reach
}

step_endpoint() {
  local vpc
  of_cluster vpcId
  needs VPC "VPC of cluster $cluster"
  vpc=$answer
  ask aws ec2 describe-vpc-endpoints --filters "Name=vpc-id,Values=$vpc" Name=vpc-endpoint-type,Values=Gateway \
    "Name=service-name,Values=com.amazonaws.$region.s3" --query "VpcEndpoints[?State!='deleting' && State!='deleted'].VpcEndpointId" --output text
  [ -z "$answer" ] || return 0
  ask aws ec2 describe-route-tables --filters "Name=vpc-id,Values=$vpc" --query 'RouteTables[].RouteTableId' --output text
  needs TABLES "route table of $vpc"
  # shellcheck disable=SC2086
  run aws ec2 create-vpc-endpoint --vpc-endpoint-type Gateway --vpc-id "$vpc" --service-name "com.amazonaws.$region.s3" \
    --route-table-ids $answer
}

# Whoever made the cluster has an entry already, and EKS takes one for each: that of an administrator gives way to the stack.
step_parts() {
  local stack name
  for stack in "$here"/stacks/*.yaml; do
    [ -e "$stack" ] || continue
    case $stack in */storage-* | */image-* | */cache-*) continue ;; esac   # they have steps of their own
    name=trainyard-$cluster-$(basename "$stack" .yaml)
    ready "$name"
    if grep -q AmazonEKSClusterAdminPolicy "$stack" && ! stack "$name"; then
      once NotFound aws eks delete-access-entry --cluster-name "$cluster" --principal-arn "$(sed -n 's/^ *PrincipalArn: //p' "$stack")"
    fi
    run aws cloudformation deploy --stack-name "$name" --template-file "$stack" --capabilities CAPABILITY_NAMED_IAM \
      --no-fail-on-empty-changeset --tags "trainyard-part-of=$cluster"
  done
}

step_storage() {
  [ -e "$here/storage.sh" ] || return 0
  reach
  local stack
  for stack in "$here"/stacks/storage-*.yaml; do
    [ ! -e "$stack" ] || ready "trainyard-$cluster-$(basename "$stack" .yaml)"
  done
  run_script "$here/storage.sh"
}
step_uploads() {
  local each
  for each in "$here"/uploads/*.sh; do
    [ ! -e "$each" ] || run_script "$each"
  done
}

cidr_of() { ask aws ec2 describe-vpcs --vpc-ids "$1" --query 'Vpcs[0].CidrBlock' --output text; }
of_system() { ask aws fsx describe-file-systems --file-system-ids "$1" --query "FileSystems[0].$2" --output text; }
# Lustre talks over TCP 988 and 1018 to 1023, both ways. A rule that is there already is refused, and stays.
let_in() {
  local ports
  for ports in 988 1018-1023; do
    once InvalidPermission.Duplicate aws ec2 authorize-security-group-ingress --group-id "$1" --protocol tcp --port "$ports" --cidr "$2"
  done
}
# A route that is there already is refused, and stays.
lead() {
  local table
  ask aws ec2 describe-route-tables --filters "Name=vpc-id,Values=$1" --query 'RouteTables[].RouteTableId' --output text
  for table in $answer; do
    once RouteAlreadyExists aws ec2 create-route --route-table-id "$table" --destination-cidr-block "$2" --vpc-peering-connection-id "$3"
  done
}
step_routes() {
  local id ids vpc group ours other theirs wall peering
  ids=$(find "$here" -path '*/storage/*.md' -exec sed -n 's/^file-system //p' {} + | sort -u)
  [ -n "$ids" ] || return 0
  of_cluster vpcId
  needs VPC "VPC of cluster $cluster"
  vpc=$answer
  of_cluster clusterSecurityGroupId
  needs GROUP "security group of cluster $cluster"
  group=$answer
  cidr_of "$vpc"
  needs CIDR "block of $vpc"
  ours=$answer
  for id in $ids; do
    of_system "$id" VpcId
    other=$answer
    cidr_of "$other"
    theirs=$answer
    of_system "$id" 'NetworkInterfaceIds[0]'
    ask aws ec2 describe-network-interfaces --network-interface-ids "$answer" --query 'NetworkInterfaces[0].Groups[0].GroupId' --output text
    wall=$answer
    let_in "$group" "$theirs"
    let_in "$wall" "$ours"
    [ "$other" != "$vpc" ] || continue
    ask aws ec2 describe-vpc-peering-connections --filters "Name=requester-vpc-info.vpc-id,Values=$vpc" \
      "Name=accepter-vpc-info.vpc-id,Values=$other" Name=status-code,Values=active,pending-acceptance,provisioning \
      --query 'VpcPeeringConnections[0].VpcPeeringConnectionId' --output text
    peering=$answer
    case $peering in
      pcx-*) ;;
      *)
        set -- aws ec2 create-vpc-peering-connection --vpc-id "$vpc" --peer-vpc-id "$other" \
          --query VpcPeeringConnection.VpcPeeringConnectionId --output text
        say "$@"
        peering=PEERING
        [ -n "$dry" ] || peering=$("$@")
        ;;
    esac
    run aws ec2 wait vpc-peering-connection-exists --vpc-peering-connection-ids "$peering"
    run aws ec2 accept-vpc-peering-connection --vpc-peering-connection-id "$peering"
    lead "$vpc" "$theirs" "$peering"
    lead "$other" "$ours" "$peering"
  done
}

# A value of what a build has been told, in its stack or module.
step_images() {
  local root stack name lock repository digest missing='' built='' account region tag pin
  if [ -e "$here/images.sh" ]; then
    for stack in "$here"/stacks/cache-*.yaml "$here"/stacks/image-*.yaml; do
      [ ! -e "$stack" ] || ready "trainyard-$cluster-$(basename "$stack" .yaml)"
    done
    run_script "$here/images.sh"
    root=$(git -C "$here" rev-parse --show-toplevel)
    for stack in "$here"/image-*.md; do
      [ -e "$stack" ] || continue
      name=$(basename "$stack" .md)
      name=${name#image-}
      lock=$(sed -n 's/^image-lock //p' "$stack")
      repository=$(sed -n 's/^image-repository //p' "$stack")
      digest=$(sed -n 's/^digest: //p' "$root/$lock" 2>/dev/null || true)
      [ -z "$digest" ] || ! there aws ecr describe-images --repository-name "$repository" --image-ids "imageDigest=$digest" || continue
      if grep -qx 'image-build codeBuild' "$stack"; then
        run_script "$here/images.sh" build "$name"
        built="$built $lock"
      else
        missing="$missing $repository"
        echo "  image $name is built by its workflow: push a branch" >&2
      fi
    done
    [ -z "$built" ] || [ -n "$dry" ] || fail "images were built: compile, commit and push, with$built" "then: bash $0 --from images"
  fi
  while IFS='|' read -r account region repository tag digest; do
    pin=imageTag=${tag:-latest}
    [ -z "$digest" ] || pin=imageDigest=$digest
    there aws ecr describe-images --region "$region" --registry-id "$account" --repository-name "$repository" --image-ids "$pin" || {
      missing="$missing $repository"
      echo "  repository $repository of account $account in $region has no image $pin" >&2
    }
  done < <(find "$here/.." -path '*/jobs/*.yaml' -exec sed -nE \
    's#^ *image: "?([0-9]{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?/([^":@]+)(:([^"@]+))?(@(sha256:[0-9a-f]+))?"?$#\1|\2|\4|\6|\8#p' {} + | sort -u)
  [ -z "$missing" ] || [ -n "$dry" ] || fail "push these images first, or jobs would wait for them on nodes that are paid:$missing" "then: bash $0 --from images"
}

step_placement() {
  local name strategy
  while read -r name strategy; do
    ask aws ec2 describe-placement-groups --filters "Name=group-name,Values=$name" --query 'PlacementGroups[].GroupName' --output text
    [ -z "$answer" ] || continue
    set -- --group-name "$name" --strategy "$strategy"
    [ "$strategy" != partition ] || set -- "$@" --partition-count 7
    run aws ec2 create-placement-group "$@" --tag-specifications "ResourceType=placement-group,Tags=[{Key=trainyard-part-of,Value=$cluster}]"
  done < <(find "$here" -path '*/pools/*.md' -exec sed -n 's/^placement-group //p' {} + | sort -u)
}

# The value of NAMESPACE/NAME/KEY, or of a whole NAME, from a variable or a file, into a file that nobody else reads.
value_of() {
  local variable
  [ -z "$dry" ] || return 0
  variable=TRAINYARD_SECRET_$(tr -c 'A-Za-z0-9\n' _ <<<"$1" | tr '[:lower:]' '[:upper:]')
  if [ -n "${!variable:-}" ]; then
    printf %s "${!variable}" >"$2"
  elif [ -n "${TRAINYARD_SECRETS:-}" ] && [ -f "$TRAINYARD_SECRETS/$1" ]; then
    cat "$TRAINYARD_SECRETS/$1" >"$2"
  else
    echo "  set $variable, or put the value into the file \$TRAINYARD_SECRETS/$1" >&2
    return 1
  fi
}
json_of() {
  local text
  text=$(cat "$1"; printf .)
  text=${text%.}
  text=${text//\\/\\\\} text=${text//\"/\\\"} text=${text//$'\n'/\\n} text=${text//$'\r'/\\r} text=${text//$'\t'/\\t}
  printf '"%s"' "$text"
}
# What External Secrets reads: the name in AWS, and a key of its JSON, `:text` for the whole text, or `:json` for every key of it.
# What no file of the folder makes: namespace, name, and a key, or `:files` for whatever keys it has. A TrainJob's runtime has its volumes;
# a source of a projected one names its keys. What is included may make a Secret by another kind, like an ExternalSecret.
in_aws() {
  find "$here/.." -path '*/secrets/*.externalsecret-*.yaml' -exec awk 'function read() { if (name != "") print name, part; name = "" }
    FNR == 1 { read(); whole = ":text" } $1 == "dataFrom:" { whole = ":json" }
    $1 == "key:" { read(); name = $2; part = whole } $1 == "property:" { part = $2 } END { read() }' {} + | tr -d '"' | sort -u
}
in_cluster() {
  local file namespace name key runtime
  find "$here/.." -path '*/jobs/*.yaml' | while read -r file; do
    namespace=${file##*/} namespace=${namespace%%.*}
    runtime=$(sed -n '/^  runtimeRef:/,/^    name:/s/^    name: //p' "$file" | tr -d '"')
    runtime=$here/../queues/runtimes/clustertrainingruntime-$runtime.yaml
    [ -e "$runtime" ] || runtime=$file
    awk -v team="$namespace" 'function projected(part, i) { split(keys, part); for (i in part) print team, source, part[i]
        column = 0; source = keys = "" }
      $1 == "secretName:" { print team, $2, ":files" }
      $1 == "secretRef:" || $2 == "secretRef:" { getline; print team, $2, ":files" }
      FNR == 1 || (column && match($0, /[^ ]/) < column) { projected() }
      column && RSTART == column && $1 == "name:" { source = $2 }
      column && $1 == "-" && $2 == "key:" { keys = keys " " $3 }
      column && $1 == "key:" { keys = keys " " $2 }
      /^ *- secret:$/ { column = index($0, "-") + 4 }
      END { projected() }
      /imagePullSecrets:/ { while ((getline) > 0 && $2 == "name:") print team, $3, ".dockerconfigjson" }
      /secretKeyRef:/ { name = key = ""; for (i = 0; i < 2; i++) { getline; if ($1 == "name:") name = $2; if ($1 == "key:") key = $2 }
        print team, name, key }' "$file" "$runtime"
  done | tr -d '"' | sort -u | while read -r namespace name key; do
    [ -n "$(find "$here/../secrets" "$here/../include" "$here/../include-custom" -name "$namespace.*secret*-$name.yaml" 2>/dev/null)" ] || echo "$namespace $name $key"
  done
}
# The files of a Secret that is read whole: a folder has them.
files_of() {
  [ -z "$dry" ] || return 0
  [ -z "${TRAINYARD_SECRETS:-}" ] || [ -z "$(find "$TRAINYARD_SECRETS/$1/" -maxdepth 1 -type f 2>/dev/null)" ] || return 0
  echo "  put the files of Secret $1 into the folder \$TRAINYARD_SECRETS/$1" >&2
  return 1
}
step_secrets() {
  local folder name names key keys values lacking='' namespace
  if [ -n "$dry" ]; then
    in_aws | sed 's/^/  of AWS Secrets Manager: /; s/ :text$/, its whole text/; s/ :json$/, all of its JSON/'
    in_cluster | sed 's/^/  of the cluster: /; s/ :files$/, all of its files/'
  fi
  folder=$work/secrets
  mkdir -p "$folder"
  names=$(in_aws | awk '{ print $1 }' | sort -u)
  for name in $names; do
    ! there aws secretsmanager describe-secret --secret-id "$name" || continue
    keys=$(in_aws | awk -v name="$name" '$1 == name { print $2 }')
    case $keys in
      *:*)
        value_of "$name" "$folder/value" || { lacking=1; continue; }
        [ "$keys" = :text ] || [ -n "$dry" ] || [ "$(tr -d '[:space:]' <"$folder/value" | cut -c 1)" = '{' ] || {
          echo "  $name is read by its keys: its value is to be a JSON object, like {\"token\": \"…\"}" >&2
          lacking=1
          continue
        } ;;
      *)
        values=''
        for key in $keys; do
          value_of "$name/$key" "$folder/value" || { lacking=1; continue 2; }
          [ -n "$dry" ] || values="$values${values:+, }\"$key\": $(json_of "$folder/value")"
        done
        printf %s "{$values}" >"$folder/value" ;;
    esac
    run aws secretsmanager create-secret --name "$name" --secret-string "file://$folder/value" --query Name --output text
  done
  names=$(in_cluster | awk '{ print $1 "/" $2 }' | sort -u)
  [ -z "$names" ] || reach
  for name in $names; do
    namespace=${name%%/*}
    ! there kubectl get secret --namespace="$namespace" "${name#*/}" || continue
    set --
    keys=$(in_cluster | awk -v name="$name" '$1 "/" $2 == name { print $3 }')
    for key in $keys; do
      case $key in
        :files)
          files_of "$name" || { lacking=1; continue 2; }
          set -- "$@" "--from-file=${TRAINYARD_SECRETS:-SECRETS}/$name/"
          continue ;;
        .dockerconfigjson) set -- "$@" --type=kubernetes.io/dockerconfigjson ;;
      esac
      case $keys in *:files*) if [ -n "$dry" ] || [ -f "$TRAINYARD_SECRETS/$name/$key" ]; then continue; fi ;; esac
      value_of "$name/$key" "$folder/$key" || { lacking=1; continue 2; }
      set -- "$@" "--from-file=$key=$folder/$key"
    done
    there kubectl get namespace "$namespace" || run kubectl apply --server-side --field-manager=trainyard --filename="$here/../platform/namespace-$namespace.yaml"
    run kubectl create secret generic "${name#*/}" --namespace="$namespace" "$@"
  done
  [ -z "$lacking" ] || fail "jobs read these Secrets, and would wait for them on nodes that are paid" "then: bash $0 --from secrets"
}

# Waits until Flux has made an object, and then until it is Ready: brought KIND NAMESPACE NAME.
is_there() { there kubectl get --namespace="$2" "$1" "$3" --output=name; }
brought() {
  wait_for "Flux to make $1 $3" 30 "flux get all --all-namespaces says what holds it" is_there "$@"
  run kubectl wait --namespace="$2" --for=condition=Ready --timeout=30m "$1/$3" ||
    fail "$1 $3 is not Ready" "why: kubectl describe --namespace=$2 $1/$3" "then: bash $0${again:+ $again} --from $step"
}
stage=kustomizations.kustomize.toolkit.fluxcd.io
step_flux() {
  reach
  # Installs Flux, commits its manifests to clusters/jakarta, and makes the GitRepository that the cluster's Kustomizations read.
  there kubectl get gitrepositories.source.toolkit.fluxcd.io --namespace=flux-system flux-system || {
    local with=(--version=v2.9.5 --branch=main --path=clusters/jakarta)
    if [ -n "${GITHUB_TOKEN:-}" ]; then
      run flux bootstrap github "${with[@]}" --owner="${OWNER:?the owner of the repository}" --repository="${REPOSITORY:?its name}"
    elif [ -n "${GITLAB_TOKEN:-}" ]; then
      run flux bootstrap gitlab "${with[@]}" --owner="${OWNER:?the owner of the repository}" --repository="${REPOSITORY:?its name}"
    elif [ -n "${URL:-}" ] && [ -n "${KEY:-}" ]; then
      run flux bootstrap git "${with[@]}" --url="$URL" --private-key-file="$KEY"
    elif [ -n "$dry" ]; then
      say flux bootstrap github "${with[@]}" --owner=OWNER --repository=REPOSITORY
    else
      fail "Flux needs a repository: set OWNER, REPOSITORY and GITHUB_TOKEN (or GITLAB_TOKEN); of any other host, URL and KEY, the file" \
        "of a key that may write. The commit that Flux makes is to be pulled afterwards." "then: bash $0 --from flux"
    fi
  }
  run kubectl apply --filename="$here/flux"
}

step_nodes() {
  local group id state later=''
  for group in "$here"/nodegroups/*.yaml; do
    [ -e "$group" ] || continue
    state=active
    while read -r id; do
      ask aws ec2 describe-capacity-reservations --capacity-reservation-ids "$id" --query 'CapacityReservations[0].State' --output text
      state=$answer
      [ "$state" = active ] || break
    done < <(grep -o 'cr-[0-9a-f]*' "$group" | sort -u)
    if [ "$state" != active ] && [ -z "$dry" ]; then
      later=1
      echo "  $(basename "$group") waits for $id, which is $state" >&2
      continue
    fi
    reach
    brought "$stage" flux-system trainyard-controllers   # without which the nodes would be paid for nothing
    settle "eksctl-$cluster-nodegroup-$(basename "$group" .yaml)"
    run eksctl create nodegroup --config-file="$group" --install-nvidia-plugin=false --install-neuron-plugin=false   # what is there stays
  done
  [ -z "$later" ] || fail "the groups above have no capacity yet; nothing is paid for them meanwhile" "once it is active: bash $0 --from nodes"
}

# Nodes that a flavor takes, which lack a label of the levels of its topology: no job is ever admitted to them.
unlabelled() {
  local flavor topology selector label name
  for flavor in "$here"/../queues/resourceflavor-*.yaml; do
    [ -e "$flavor" ] || continue
    topology=$(sed -n 's/^  topologyName: //p' "$flavor")
    [ -n "$topology" ] || continue
    selector=$(awk '/^  [^ -]/ { labels = /^  nodeLabels:/ } labels && /^    / { gsub(/"/, ""); printf "%s%s=%s", comma, substr($1, 1, length($1) - 1), $2; comma = "," }' "$flavor")
    while read -r label; do
      ask kubectl get nodes --selector="$selector,!$label" --output=name
      for name in $answer; do echo "$name lacks the label $label of topology $topology"; done
    done < <(sed -n 's/^  - nodeLabel: //p' "$here/../queues/topology-$topology.yaml")
  done
}
all_ready() {
  ask kubectl get nodes --no-headers
  awk 'NF && $2 !~ /^Ready/ { found = 1; print "  " $1 " is " $2 } END { exit found }' <<<"$answer"
}
# Namespace and name of each Kustomization that the folder has. Flux makes none Ready that is suspended.
stages() {
  find "$here/.." -name '*.yaml' -exec awk 'function read() { if (kind && !suspended) print space, name; kind = suspended = 0 }
    FNR == 1 || /^---/ { read() } /^apiVersion: / { flux = /kustomize\.toolkit\.fluxcd\.io/ } /^kind: / { kind = flux && $2 == "Kustomization" }
    /^[^ ]/ { metadata = /^metadata:/ } metadata && /^  name: / { name = $2 } metadata && /^  namespace: / { space = $2 }
    /^  suspend: true/ { suspended = 1 } END { read() }' {} + | tr -d '"' | sort -u
}
step_accept() {
  local namespace name lacking kind
  reach
  while read -r namespace name; do brought "$stage" "$namespace" "$name"; done < <(stages)
  run kubectl get clusterqueues.kueue.x-k8s.io,localqueues.kueue.x-k8s.io --all-namespaces
  wait_for "every node to be Ready" 20 "kubectl describe nodes says why one is not" all_ready
  # Nodes of Karpenter and of managed groups; a pool that starts from nothing has nodes once a job runs.
  run kubectl get nodes --sort-by=.metadata.creationTimestamp \
    --output='custom-columns=NODE:.metadata.name,KARPENTER:.metadata.labels.karpenter\.sh/nodepool,GROUP:.metadata.labels.eks\.amazonaws\.com/nodegroup,POOL:.metadata.labels.trainyard\.dev/pool,READY:.status.conditions[?(@.type=="Ready")].status,GPU:.status.allocatable.nvidia\.com/gpu,NEURON:.status.allocatable.aws\.amazon\.com/neuron,EFA:.status.allocatable.vpc\.amazonaws\.com/efa,HUGEPAGES-2MI:.status.allocatable.hugepages-2Mi,LAYER-3:.metadata.labels.topology\.k8s\.aws/network-node-layer-3'
  lacking=$(unlabelled) || exit 1   # which has said why
  [ -z "$lacking" ] || fail "$lacking" "Kueue admits no job to these nodes: see that their type and Region have the label, and replace them" \
    "then: bash $0 --from accept"
  for namespace in $(find "$here/.." -path '*/jobs/*.yaml' | sed 's#.*/##; s#\..*##' | sort -u); do
    [ -n "$dry" ] || there kubectl get namespace "$namespace" || continue
    run kubectl get workloads.kueue.x-k8s.io --namespace="$namespace"   # jobs of every kind
    run kubectl get pods --namespace="$namespace" --output=wide
    [ -z "$dry" ] || continue
    # Ranks say it where NCCL_DEBUG is INFO, as it is in ncclTest: efa is right, NET/Socket is TCP at a fraction of the speed.
    for kind in jobset.sigs.k8s.io/jobset-name training.kubeflow.org/job-name batch.kubernetes.io/job-name ray.io/cluster; do
      kubectl logs --namespace="$namespace" --selector="$kind" --tail=-1 --max-log-requests=1000 2>/dev/null |
        grep -oE 'NET/(OFI Selected provider is [a-z-]*|Socket : Using)' | sort | uniq -c || true
    done
  done
}

step_left() {
  local name
  ask aws cloudformation describe-stacks --query "Stacks[?Tags[?Key=='trainyard-part-of' && Value=='$cluster']].StackName" --output text
  for name in $answer; do
    [ -e "$here/stacks/${name#"trainyard-$cluster-"}.yaml" ] || echo "  aws cloudformation delete-stack --region $region --stack-name $name"
  done
  ask aws ec2 describe-placement-groups --filters "Name=tag:trainyard-part-of,Values=$cluster" --query 'PlacementGroups[].GroupName' --output text
  for name in $answer; do
    grep -qr "^placement-group $name " "$here/pools" || echo "  aws ec2 delete-placement-group --region $region --group-name $name"
  done
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
echo "cluster $cluster is up"
