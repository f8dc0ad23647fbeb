#!/bin/bash
# Builds the fuzz targets with clang and runs each for some time. Run it by hand: it needs clang
# with its fuzzer (Debian: clang libclang-rt-14-dev), which the normal build does not need.
#
# Usage: tools/fuzz.sh [-t SECONDS] [-j JOBS] [NAME ...]
#   -t SECONDS  the time for each target. Default: 300.
#   -j JOBS     the number of targets that run at the same time. Default: 1. Each needs a core and
#               up to 2 GB.
#   NAME        a target, such as bundle_fuzz or estimator/records:tfrecord_fuzz. Default: all.
#
# Each target begins with the inputs of testdata/fuzz/NAME without "_fuzz". A line for each target
# ends the run:
#
#   tfrecord_fuzz                 1203441 executions   0 findings   exit code 0
#
# The exit code of the script is 0 if that of each target is. A target stops at its first finding.
#
# New inputs are kept in ~/.cache/estimator-fuzz/NAME; inputs that crash are in crash-* there. Add
# an input that shows a fault to testdata/fuzz/NAME, in the commit of the fix: the target's test
# then replays it. To add a target, write an est_fuzz_test in a BUILD file.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
seconds=300
jobs=1
while getopts "t:j:" option; do
  case $option in
    t) seconds=$OPTARG ;;
    j) jobs=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
for number in "$seconds" "$jobs"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] ||
    { echo "fuzz: -t and -j take a positive number, given '$number'"; exit 2; }
done
work=$HOME/.cache/estimator-fuzz
# A separate bazel server: a change of the compiler would make the usual server rebuild everything.
bazel=(bazel --output_base="$work/bazel")

# Not //..., because bazel would also search the convenience links of the usual server.
packages=$(git grep -l '^est_fuzz_test(' -- '*BUILD' | sed 's|\(.*\)/BUILD|//\1:all|')
query="attr(tags, fuzz, kind(cc_binary, set(${packages//$'\n'/ })))"
mapfile -t targets < <("${bazel[@]}" query "$query" 2>/dev/null | sort)
((${#targets[@]})) || { echo "fuzz: bazel query finds no targets"; exit 1; }
if (($#)); then
  wanted=()
  for name in "$@"; do
    for target in "${targets[@]}"; do
      [[ ${target##*:} == "${name##*:}" ]] && wanted+=("$target")
    done
  done
  ((${#wanted[@]} == $#)) ||
    { echo "fuzz: unknown target; the targets are: ${targets[*]##*:}"; exit 2; }
  targets=("${wanted[@]}")
fi
for target in "${targets[@]}"; do
  name=${target##*:}
  [[ -d testdata/fuzz/${name%_fuzz} ]] ||
    { echo "fuzz: $name has no inputs: there is no testdata/fuzz/${name%_fuzz}"; exit 1; }
done
"${bazel[@]}" build --symlink_prefix=/ --config=fuzz "${targets[@]}" || exit 1
bin=$("${bazel[@]}" info --config=fuzz bazel-bin 2>/dev/null)

declare -A name_of=() status_of=()  # by process; by name
running=0
trap 'kill "${!name_of[@]}" 2>/dev/null; exit 130' INT TERM

# Starts a target in the background.
start() {
  local name=${1##*:} folder=${1%:*} seeds largest temporary=/tmp
  seeds=testdata/fuzz/${name%_fuzz}
  mkdir -p "$work/$name"
  touch "$work/$name.start"
  # The fuzzer cuts longer inputs off, seeds included.
  largest=$(find "$seeds" -type f -printf '%s\n' | sort -n | tail -1)
  ((${largest:-0} > 4096)) || largest=4096
  # The target writes its files to memory, because a disk would be too slow.
  [[ -d /dev/shm ]] && temporary=/dev/shm
  echo "== $name, $seconds s"
  # Allocations that are too large fail as they do without asan; the limit is on resident memory.
  ASAN_OPTIONS=allocator_may_return_null=1 TMPDIR=$temporary nice -n 10 "$bin/${folder#//}/$name" \
    -max_total_time="$seconds" -max_len="$largest" -rss_limit_mb=2048 \
    -malloc_limit_mb=1000000000 -timeout=20 \
    -print_final_stats=1 -artifact_prefix="$work/$name/" "$work/$name" "$seeds" \
    2>"$work/$name.log" &
  name_of[$!]=$name
  ((++running))
}

# Waits for a target.
finish() {
  local process=0 status name
  wait -n -p process
  status=$?
  name=${name_of[$process]}
  unset "name_of[$process]"
  ((running--))
  status_of[$name]=$status
  ((status)) || return
  echo "FAILED: $name; see $work/$name.log"
  grep -E "^(Done|SUMMARY|==[0-9]+==ERROR|Check failed|F[0-9]{8})|DEATH" "$work/$name.log" |
    tail -12
}

for target in "${targets[@]}"; do
  ((running < jobs)) || finish
  start "$target"
done
while ((running)); do finish; done

failed=0
echo "== summary, $seconds s for each target"
for target in "${targets[@]}"; do
  name=${target##*:}
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")
  findings=$(find "$work/$name" -newer "$work/$name.start" \
    \( -name 'crash-*' -o -name 'leak-*' -o -name 'oom-*' -o -name 'timeout-*' \) | wc -l)
  printf '%-26s %12s executions %3d findings   exit code %d\n' \
    "$name" "${executions:-0}" "$findings" "${status_of[$name]}"
  ((status_of[$name])) && failed=1
done
exit $failed
