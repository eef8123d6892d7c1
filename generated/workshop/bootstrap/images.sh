# Written by trainyard as bootstrap/images.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Makes the repositories of the images that the spec builds, and builds them. Run it as often as you like: what is there stays as it
# is, and no update may replace or delete a repository. It deletes nothing.
# With credentials for account 111122223333, from the repository that Flux reads:
#   bash images.sh               repositories and builds, as the spec has them
#   bash images.sh --dry-run     prints what it would run
#   bash images.sh build NAME    the image of the commit that is checked out, and its digest, to commit
set -euo pipefail
region=ap-northeast-2 cluster=workshop
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(git -C "$here" rev-parse --show-toplevel)
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
kept='"Effect": "Deny", "Principal": "*", "Action": ["Update:Replace", "Update:Delete"], "Resource": "*"'
types='["AWS::ECR::Repository"]'
policy='{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "Update:*", "Resource": "*"}, '
policy+="{$kept, \"Condition\": {\"StringEquals\": {\"ResourceType\": $types}}}]}"

deploy() {
  local file=$1 stack
  stack=trainyard-$cluster-$(basename "$file" .yaml)
  run aws cloudformation deploy --region "$region" --stack-name "$stack" --template-file "$file" --no-fail-on-empty-changeset \
    --capabilities CAPABILITY_NAMED_IAM --tags "trainyard-part-of=$cluster"
  run aws cloudformation set-stack-policy --region "$region" --stack-name "$stack" --stack-policy-body "$policy"
}

# A value of a stack's Metadata.
said() { sed -n "s/^  $2: //p" "$1"; }

build() {
  local file=$here/stacks/image-$1.yaml commit id status digest recipe lock
  [ -e "$file" ] || { echo "there is no image $1" >&2; return 1; }
  [ "$(said "$file" Build)" = codeBuild ] || { echo "image $1 is built by its workflow: push a branch" >&2; return 1; }
  commit=$(git -C "$root" rev-parse HEAD)
  if [ -n "$dry" ]; then
    say aws codebuild start-build --region "$region" --project-name "trainyard-$cluster-image-$1" --source-version "$commit" \
      --query build.id --output text
    return 0
  fi
  recipe=$(git -C "$root" show "$commit:$(said "$file" Dockerfile)" | sed -n 's/^LABEL dev\.trainyard\.recipe="\(.*\)"$/\1/p')
  [ -n "$recipe" ] || { echo "commit $commit has no Dockerfile of image $1: compile, commit and push first" >&2; return 1; }
  id=$(aws codebuild start-build --region "$region" --project-name "trainyard-$cluster-image-$1" --source-version "$commit" \
    --query build.id --output text)
  echo "build $id of commit $commit" >&2
  status=IN_PROGRESS
  while [ "$status" = IN_PROGRESS ]; do
    sleep "${POLL_SECONDS:-20}"
    status=$(aws codebuild batch-get-builds --region "$region" --ids "$id" --query 'builds[0].buildStatus' --output text)
  done
  [ "$status" = SUCCEEDED ] || { echo "build $id ended with $status; its log: aws logs tail, and the console of CodeBuild" >&2; return 1; }
  digest=$(aws ecr describe-images --region "$region" --repository-name "$(said "$file" Repository)" \
    --image-ids "imageTag=$commit" --query 'imageDetails[0].imageDigest' --output text)
  case $digest in sha256:*) ;; *) echo "the repository has no image of commit $commit" >&2; return 1 ;; esac
  lock=$(said "$file" Lock)
  mkdir -p "$(dirname "$root/$lock")"
  printf '# Written by images.sh: what jobs run of image %s. Commit it.\ndigest: %s\nrecipe: %s\n' "$1" "$digest" "$recipe" >"$root/$lock"
  echo "wrote $lock: compile and commit it" >&2
}

case ${1:-} in
  build) build "${2:?name the image}" ;;
  '')
    for file in "$here"/stacks/cache-*.yaml "$here"/stacks/image-*.yaml; do
      [ -e "$file" ] || continue
      deploy "$file"
    done
    ;;
  *) echo "usage: bash images.sh [build NAME]" >&2; exit 2 ;;
esac
