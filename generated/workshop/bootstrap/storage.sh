# Written by trainyard as bootstrap/storage.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Makes the storage that the spec creates, and keeps what AWS gave it where Flux reads it. Run it as often as you like: what is
# there stays as it is, and no update may replace or delete a bucket or a file system. It deletes nothing.
# Usage, from anywhere, with credentials for account 111122223333 and the cluster:
#   bash storage.sh             makes or changes it
#   bash storage.sh --dry-run   prints what it would run
set -euo pipefail
region=ap-northeast-2 cluster=workshop
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export AWS_PAGER=
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
kept='"Effect": "Deny", "Principal": "*", "Action": ["Update:Replace", "Update:Delete"], "Resource": "*"'
types='["AWS::S3::Bucket", "AWS::FSx::FileSystem"]'
policy='{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "Update:*", "Resource": "*"}, '
policy+="{$kept, \"Condition\": {\"StringEquals\": {\"ResourceType\": $types}}}]}"

# The private subnet of a zone in the VPC that eksctl made.
subnet_in() {
  there aws cloudformation describe-stacks --region "$region" --stack-name "eksctl-$cluster-cluster" \
    --query "Stacks[0].Outputs[?OutputKey=='VPC'].OutputValue" --output text || [ -n "$dry" ] ||
    fail "there is no stack eksctl-$cluster-cluster with a VPC: make the cluster first"
  ask aws ec2 describe-subnets --region "$region" --filters "Name=vpc-id,Values=$answer" "Name=availability-zone,Values=$1" \
    Name=tag:kubernetes.io/role/internal-elb,Values=1 --query 'sort_by(Subnets,&SubnetId)[0].SubnetId' --output text
}

# A stack of a file. Its subnet is looked up once: another one would make another file system.
deploy() {
  local file=$1 stack zone parameters=()
  stack=trainyard-$cluster-$(basename "$file" .yaml)
  zone=$(sed -n 's/^  Zone: //p' "$file")
  if [ -n "$zone" ] && ! there aws cloudformation describe-stacks --region "$region" --stack-name "$stack"; then
    subnet_in "$zone"
    case $answer in
      subnet-*) parameters=(--parameter-overrides "Subnet=$answer") ;;
      *)
        [ -n "$dry" ] || fail "the cluster's VPC has no private subnet in $zone"
        parameters=(--parameter-overrides Subnet=SUBNET)
        ;;
    esac
  fi
  run aws cloudformation deploy --region "$region" --stack-name "$stack" --template-file "$file" --no-fail-on-empty-changeset \
    --tags "trainyard-part-of=$cluster" ${parameters[@]+"${parameters[@]}"}
  run aws cloudformation set-stack-policy --region "$region" --stack-name "$stack" --stack-policy-body "$policy"
}

# Keeps values where Flux reads them: write_values CONFIGMAP KEY=VALUE...
write_values() {
  local create label apply each
  create=(kubectl create configmap "$1" --namespace=flux-system --dry-run=client --output=yaml)
  shift
  for each in "$@"; do create+=("--from-literal=$each"); done
  label=(kubectl label --local --filename=- --dry-run=client --output=yaml reconcile.fluxcd.io/watch=Enabled)
  apply=(kubectl apply --server-side --field-manager=trainyard --filename=-)
  printf '  + %s | %s | %s\n' "${create[*]}" "${label[*]}" "${apply[*]}"
  [ -n "$dry" ] || "${create[@]}" | "${label[@]}" | "${apply[@]}"
}
# What AWS gave a file system, for its volumes: a ConfigMap with all of it, or none.
keep() {
  local file=$1 name id dns mount
  name=$(basename "$file" .yaml)
  ask aws cloudformation describe-stacks --region "$region" --stack-name "trainyard-$cluster-$name" \
    --query 'Stacks[0].Outputs[].[OutputKey,OutputValue]' --output text
  id=$(awk '$1 == "Id" { print $2 }' <<<"$answer")
  dns=$(awk '$1 == "DnsName" { print $2 }' <<<"$answer")
  mount=$(awk '$1 == "MountName" { print $2 }' <<<"$answer")
  if [ -n "$dry" ]; then
    id=${id:-ID} dns=${dns:-NAME} mount=${mount:-NAME}
  elif [ -z "$id" ] || [ -z "$dns" ] || [ -z "$mount" ]; then
    fail "stack trainyard-$cluster-$name has no outputs Id, DnsName and MountName yet"
  fi
  write_values "trainyard-$name" "fsx_id=$id" "fsx_dns=$dns" "fsx_mount=$mount"
}

there kubectl get namespace flux-system || run kubectl create namespace flux-system

# Buckets first: file systems are linked to them.
buckets=() systems=()
for file in "$here"/stacks/storage-*.yaml; do
  [ -e "$file" ] || continue
  if grep -q 'Type: AWS::FSx::FileSystem' "$file"; then systems+=("$file"); else buckets+=("$file"); fi
done
for file in ${buckets[@]+"${buckets[@]}"} ${systems[@]+"${systems[@]}"}; do deploy "$file"; done
for file in ${systems[@]+"${systems[@]}"}; do keep "$file"; done
