# Written by trainyard as bootstrap/nodes/jobs.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Submits every job that was not submitted before, by the name in its script: a job that is changed has another one.
# On the head node, as whoever the jobs are to run as.
set -euo pipefail
export PATH=/opt/slurm/bin:$PATH
folder=$HOME/.trainyard
mkdir -p "$folder/scripts" "$folder/submitted"
aws s3 sync "s3://jakarta-slurm-scripts-111122223333-ap-southeast-3/jobs" "$folder/scripts" --delete --only-show-errors --region ap-southeast-3

failed=''
while read -r script; do
  name=$(sed -n 's/^#SBATCH --job-name=//p' "$script")
  output=$(sed -n 's/^#SBATCH --output=//p' "$script")
  # Only one of two that run at once makes the folder.
  mkdir "$folder/submitted/$name" 2>/dev/null || { echo "$name: submitted before, as $(cat "$folder/submitted/$name/id" 2>/dev/null || echo '?')"; continue; }
  if mkdir -p "$(cd && dirname "$output")" && id=$(cd && sbatch --parsable "$script"); then
    echo "$id" > "$folder/submitted/$name/id"
    echo "$name: submitted as $id"
  else
    rmdir "$folder/submitted/$name"
    echo "$name: not submitted" >&2
    failed=1
  fi
done < <(find "$folder/scripts" -name '*.sbatch' | sort)
[ -z "$failed" ]
