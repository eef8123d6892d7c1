# Written by trainyard as bootstrap/nodes/jobs.sh. Do not edit: edit the spec, then run `trainyard compile`.
# Submits every job that was not submitted before, by the name in its script: a job that is changed has another one.
# What is in the folder no longer, a job that left or the earlier run of one that runs again, is cancelled.
# On the head node, as whoever the jobs are to run as.
set -euo pipefail
export PATH=/opt/slurm/bin:$PATH
folder=$HOME/.trainyard
mkdir -p "$folder/scripts" "$folder/submitted" "$folder/cancelled"
aws s3 sync "s3://jakarta-slurm-scripts-111122223333-ap-southeast-3/jobs" "$folder/scripts" --delete --only-show-errors --region ap-southeast-3

# What a script says of itself: its name, its output, and the job of the spec that it is.
directive() { sed -n "s/^#SBATCH --$1=//p" "$2"; }
job_of() { directive comment "$1" | sed -n "s/^'*trainyard \([^ ]*\) in .*/\1/p"; }
# Slurm forgets a job some minutes after its end. Another failure is no answer, and ends the script.
is_known() {
  local said
  if said=$(squeue --noheader --jobs "$1" 2>&1); then [ -n "$said" ]; return; fi
  case $said in *"Invalid job id"*) return 1 ;; *) echo "squeue does not say whether job $1 is there: $said" >&2; exit 1 ;; esac
}

wanted=$(find "$folder/scripts" -name '*.sbatch' -exec sed -n 's/^#SBATCH --job-name=//p' {} +)
for known in "$folder/submitted"/*/; do
  name=$(basename "$known")
  [ -s "$known/id" ] || continue
  ! grep -qxF "$name" <<< "$wanted" || continue
  id=$(cat "$known/id")
  if is_known "$id"; then
    scancel "$id"
    echo "$name: cancelled, $id"
  fi
  rm -rf "$folder/cancelled/$name"
  mv "$known" "$folder/cancelled/$name"
done

# Sets `waits`, for sbatch: a run waits for the end of those of its job that are cancelled.
after() {
  local earlier id ids=''
  for earlier in "$folder/cancelled"/*/; do
    [ "$(cat "$earlier/job" 2>/dev/null)" = "$1" ] || continue
    id=$(cat "$earlier/id")
    ! is_known "$id" || ids=$ids:$id
  done
  waits=()
  [ -z "$ids" ] || waits=("--dependency=afterany$ids")
}

failed=''
while read -r script; do
  name=$(directive job-name "$script")
  output=$(directive output "$script")
  job=$(job_of "$script")
  # Only one of two that run at once makes the folder.
  mkdir "$folder/submitted/$name" 2>/dev/null || { echo "$name: submitted before, as $(cat "$folder/submitted/$name/id" 2>/dev/null || echo '?')"; continue; }
  echo "$job" > "$folder/submitted/$name/job"
  after "$job"
  if mkdir -p "$(cd && dirname "$output")" && id=$(cd && sbatch --parsable "${waits[@]}" "$script"); then
    echo "$id" > "$folder/submitted/$name/id"
    echo "$name: submitted as $id"
  else
    rm -rf "${folder:?}/submitted/$name"
    echo "$name: not submitted" >&2
    failed=1
  fi
done < <(find "$folder/scripts" -name '*.sbatch' | sort)
[ -z "$failed" ]
