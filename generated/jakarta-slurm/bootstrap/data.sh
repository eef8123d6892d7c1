# Written by trainyard as bootstrap/data.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Uploads a data set to S3, and compares what is there with what is here. Both fail where anything differs.
#   bash data.sh upload FOLDER s3://BUCKET/PREFIX   uploads what is not there yet, 16 files at once, each with its SHA-256
#   bash data.sh verify FOLDER s3://BUCKET/PREFIX   compares number, sizes and checksums; writes PREFIX/.complete when all are alike
set -euo pipefail
export AWS_PAGER='' AWS_REGION=ap-southeast-3 AWS_DEFAULT_REGION=ap-southeast-3
fail() { printf '%s\n' "$@" >&2; exit 1; }
[ $# = 3 ] || fail "bash data.sh upload|verify FOLDER s3://BUCKET/PREFIX"
verb=$1 folder=${2%/} place=${3#s3://}
bucket=${place%%/*} prefix=${place#"$bucket"}
prefix=${prefix#/} prefix=${prefix%/}
[ -d "$folder" ] || fail "there is no folder $folder"
export folder bucket prefix
at_once=${AT_ONCE:-16}

files() { (cd "$folder" && find . -type f -print0 | sort -z); }
hash_of() { openssl dgst -sha256 -binary "$1" | base64 | tr -d '\n'; }
key_of() { printf '%s' "${prefix:+$prefix/}${1#./}"; }
said() { aws s3api head-object --bucket "$bucket" --key "$1" --checksum-mode ENABLED --query "[ContentLength, ChecksumSHA256, ChecksumType]" --output text 2>/dev/null; }
# One request holds 5 GiB. What is larger goes in parts, each with a checksum that S3 compares, and has one of its parts' checksums.
upload_one() {
  local file=$folder/${1#./} key size sum
  key=$(key_of "$1")
  size=$(wc -c < "$file" | tr -d ' ')
  if [ "$size" -le 5368709120 ]; then
    sum=$(hash_of "$file")
    [ "$(said "$key" | cut -f 1,2)" != "$size	$sum" ] || return 0
    aws s3api put-object --bucket "$bucket" --key "$key" --body "$file" --checksum-sha256 "$sum" > /dev/null
  else
    [ "$(said "$key" | cut -f 1)" != "$size" ] || return 0
    aws s3 cp "$file" "s3://$bucket/$key" --checksum-algorithm SHA256 --only-show-errors
  fi
}
verify_one() {
  local file=$folder/${1#./} key size sum there
  key=$(key_of "$1")
  size=$(wc -c < "$file" | tr -d ' ')
  there=$(said "$key") || { echo "missing: s3://$bucket/$key" >&2; return 1; }
  [ "$(printf '%s' "$there" | cut -f 1)" = "$size" ] || { echo "another size: s3://$bucket/$key" >&2; return 1; }
  [ "$size" -le 5368709120 ] || return 0
  sum=$(hash_of "$file")
  [ "$(printf '%s' "$there" | cut -f 2)" = "$sum" ] || { echo "another content: s3://$bucket/$key" >&2; return 1; }
}
export -f hash_of key_of said upload_one verify_one
each() { files | xargs -0 -n 1 -P "$at_once" bash -c "set -euo pipefail; $1 \"\$1\"" "$1"; }

case $verb in
  upload)
    each upload_one || fail "not all files were uploaded: run this again, what is there is not sent twice"
    echo "uploaded: bash $0 verify $folder s3://$bucket/$prefix compares"
    ;;
  verify)
    each verify_one || fail "the data set in S3 is not the one in $folder"
    here=$(files | tr -cd '\0' | wc -c | tr -d ' ')
    there=$(aws s3api list-objects-v2 --bucket "$bucket" ${prefix:+--prefix "$prefix/"} --query "length(Contents[?!ends_with(Key, '.complete')] || \`[]\`)" --output text |
      awk '{ all += $1 } END { print all + 0 }')
    [ "$here" = "$there" ] || fail "$there files are in S3, and $here in $folder"
    printf '%s files\n' "$here" | aws s3 cp - "s3://$bucket/${prefix:+$prefix/}.complete" --only-show-errors
    echo "alike: $here files"
    ;;
  *) fail "upload or verify, not $verb" ;;
esac
