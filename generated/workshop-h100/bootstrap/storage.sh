# Written by trainyard as bootstrap/storage.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Makes the storage that the spec creates, and keeps what AWS gave it where Flux reads it. Run it as often as you like: what is
# there stays as it is, and no update may replace or delete a bucket or a file system. It deletes nothing.
# Usage, from anywhere, with credentials for account 111122223333 and the cluster: bash storage.sh
set -euo pipefail
region=us-west-2 cluster=workshop-h100
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export AWS_PAGER=
kept='"Effect": "Deny", "Principal": "*", "Action": ["Update:Replace", "Update:Delete"], "Resource": "*"'
types='["AWS::S3::Bucket", "AWS::FSx::FileSystem"]'
policy='{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "Update:*", "Resource": "*"}, '
policy+="{$kept, \"Condition\": {\"StringEquals\": {\"ResourceType\": $types}}}]}"

# The private subnet of a zone in the VPC that eksctl made.
subnet_in() {
  local vpc
  vpc=$(aws cloudformation describe-stacks --region "$region" --stack-name "eksctl-$cluster-cluster" \
    --query "Stacks[0].Outputs[?OutputKey=='VPC'].OutputValue" --output text 2>/dev/null) || vpc=
  [ -n "$vpc" ] || { echo "there is no stack eksctl-$cluster-cluster with a VPC: make the cluster first" >&2; return 1; }
  aws ec2 describe-subnets --region "$region" --filters "Name=vpc-id,Values=$vpc" "Name=availability-zone,Values=$1" \
    Name=tag:kubernetes.io/role/internal-elb,Values=1 --query 'sort_by(Subnets,&SubnetId)[0].SubnetId' --output text
}

# A stack of a file. Its subnet is looked up once: another one would make another file system.
deploy() {
  local file=$1 stack zone subnet parameters=()
  stack=trainyard-$cluster-$(basename "$file" .yaml)
  zone=$(sed -n 's/^  Zone: //p' "$file")
  if [ -n "$zone" ] && ! aws cloudformation describe-stacks --region "$region" --stack-name "$stack" >/dev/null 2>&1; then
    subnet=$(subnet_in "$zone")
    case $subnet in
      subnet-*) parameters=(--parameter-overrides "Subnet=$subnet") ;;
      *) echo "the cluster's VPC has no private subnet in $zone" >&2; return 1 ;;
    esac
  fi
  aws cloudformation deploy --region "$region" --stack-name "$stack" --template-file "$file" --no-fail-on-empty-changeset \
    --tags "trainyard-part-of=$cluster" ${parameters[@]+"${parameters[@]}"}
  aws cloudformation set-stack-policy --region "$region" --stack-name "$stack" --stack-policy-body "$policy"
}

# What AWS gave a file system, for its volumes: a ConfigMap with all of it, or none.
keep() {
  local file=$1 name outputs id dns mount
  name=$(basename "$file" .yaml)
  outputs=$(aws cloudformation describe-stacks --region "$region" --stack-name "trainyard-$cluster-$name" \
    --query 'Stacks[0].Outputs[].[OutputKey,OutputValue]' --output text)
  id=$(awk '$1 == "Id" { print $2 }' <<<"$outputs")
  dns=$(awk '$1 == "DnsName" { print $2 }' <<<"$outputs")
  mount=$(awk '$1 == "MountName" { print $2 }' <<<"$outputs")
  if [ -z "$id" ] || [ -z "$dns" ] || [ -z "$mount" ]; then
    echo "stack trainyard-$cluster-$name has no outputs Id, DnsName and MountName yet" >&2
    return 1
  fi
  kubectl create configmap "trainyard-$name" --namespace=flux-system --dry-run=client --output=yaml \
    --from-literal="fsx_id=$id" --from-literal="fsx_dns=$dns" --from-literal="fsx_mount=$mount" |
    kubectl label --local --filename=- --dry-run=client --output=yaml reconcile.fluxcd.io/watch=Enabled |
    kubectl apply --server-side --field-manager=trainyard --filename=-
}

kubectl get namespace flux-system >/dev/null 2>&1 || kubectl create namespace flux-system

# Buckets first: file systems are linked to them.
buckets=() systems=()
for file in "$here"/stacks/storage-*.yaml; do
  [ -e "$file" ] || continue
  if grep -q 'Type: AWS::FSx::FileSystem' "$file"; then systems+=("$file"); else buckets+=("$file"); fi
done
for file in ${buckets[@]+"${buckets[@]}"} ${systems[@]+"${systems[@]}"}; do deploy "$file"; done
for file in ${systems[@]+"${systems[@]}"}; do keep "$file"; done
