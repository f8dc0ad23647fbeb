#!/bin/bash
# Builds the fuzz targets with clang and runs each for a while. By hand: it needs clang with its
# fuzzer (Debian: clang libclang-rt-14-dev), which the normal build does not.
#
# Usage: tools/fuzz.sh [-t SECONDS] [NAME ...]     each target 300 s; NAMEs such as bundle_fuzz: those only
#
# New inputs are kept under ~/.cache/estimator-fuzz/NAME, crashes in crash-* there. An input that shows a
# fault goes into testdata/fuzz/NAME with the fix, where the target's test replays it ever after.
# A target is added by an est_fuzz_test in a BUILD file.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
seconds=300
while getopts "t:" option; do
  [[ $option == t ]] || exit 2
  seconds=$OPTARG
done
shift $((OPTIND - 1))
work=$HOME/.cache/estimator-fuzz
# A server of its own: another compiler would make the usual one begin anew.
bazel=(bazel --output_base="$work/bazel")

# Not //...: the convenience links of the usual server lie in the way of this one.
packages=$(git grep -l '^est_fuzz_test(' -- '*BUILD' | sed 's|\(.*\)/BUILD|//\1:all|')
mapfile -t targets < <("${bazel[@]}" query "attr(tags, fuzz, kind(cc_binary, set(${packages//$'\n'/ })))" 2>/dev/null | sort)
((${#targets[@]})) || { echo "fuzz: bazel query finds no targets"; exit 1; }
if (($#)); then
  wanted=()
  for name in "$@"; do
    for target in "${targets[@]}"; do [[ ${target##*:} == "$name" ]] && wanted+=("$target"); done
  done
  ((${#wanted[@]} == $#)) || { echo "fuzz: there are only: ${targets[*]##*:}"; exit 2; }
  targets=("${wanted[@]}")
fi
"${bazel[@]}" build --symlink_prefix=/ --config=fuzz "${targets[@]}" || exit 1
bin=$("${bazel[@]}" info --config=fuzz bazel-bin 2>/dev/null)

failed=0
for target in "${targets[@]}"; do
  name=${target##*:}
  folder=${target%:*}
  mkdir -p "$work/$name"
  echo "== $name, $seconds s"
  # Files of the target in memory: a disk would be the limit. Allocations that are too large fail as
  # they do without asan; what counts is the memory that is really taken.
  ASAN_OPTIONS=allocator_may_return_null=1 TMPDIR=$([[ -d /dev/shm ]] && echo /dev/shm || echo /tmp) nice -n 10 "$bin/${folder#//}/$name" \
    -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -malloc_limit_mb=1000000000 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$work/$name/" "$work/$name" "testdata/fuzz/${name%_fuzz}" 2>"$work/$name.log"
  status=$?
  grep -E "^(stat::|Done|SUMMARY|==[0-9]+==ERROR|Check failed|F[0-9]{8})|DEATH" "$work/$name.log" | tail -12
  ((status == 0)) || { echo "FAILED: $name; see $work/$name.log"; failed=1; }
done
exit $failed
