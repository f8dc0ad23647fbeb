#!/bin/bash
# Builds the fuzz targets with clang and runs each for some time. Run it by hand: it needs clang with its
# fuzzer (Debian: clang libclang-rt-14-dev), which the normal build does not need.
#
# Usage: tools/fuzz.sh [-t SECONDS] [NAME ...]
#   -t SECONDS  the time for each target. Default: 300.
#   NAME        a target, such as bundle_fuzz. Default: all.
#
# New inputs are kept in ~/.cache/estimator-fuzz/NAME; inputs that crash are in crash-* there. Add an input that shows
# a fault to testdata/fuzz/NAME, in the commit of the fix: the target's test then replays it.
# To add a target, write an est_fuzz_test in a BUILD file.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
seconds=300
while getopts "t:" option; do
  [[ $option == t ]] || exit 2
  seconds=$OPTARG
done
shift $((OPTIND - 1))
work=$HOME/.cache/estimator-fuzz
# A separate bazel server: a change of the compiler would make the usual server rebuild everything.
bazel=(bazel --output_base="$work/bazel")

# Not //..., because bazel would also search the convenience links of the usual server.
packages=$(git grep -l '^est_fuzz_test(' -- '*BUILD' | sed 's|\(.*\)/BUILD|//\1:all|')
mapfile -t targets < <("${bazel[@]}" query "attr(tags, fuzz, kind(cc_binary, set(${packages//$'\n'/ })))" 2>/dev/null | sort)
((${#targets[@]})) || { echo "fuzz: bazel query finds no targets"; exit 1; }
if (($#)); then
  wanted=()
  for name in "$@"; do
    for target in "${targets[@]}"; do [[ ${target##*:} == "$name" ]] && wanted+=("$target"); done
  done
  ((${#wanted[@]} == $#)) || { echo "fuzz: unknown target; the targets are: ${targets[*]##*:}"; exit 2; }
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
  # The target writes its files to memory, because a disk would be too slow. Allocations that are too large fail as
  # they do without asan; the limit is on resident memory.
  ASAN_OPTIONS=allocator_may_return_null=1 TMPDIR=$([[ -d /dev/shm ]] && echo /dev/shm || echo /tmp) nice -n 10 "$bin/${folder#//}/$name" \
    -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -malloc_limit_mb=1000000000 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$work/$name/" "$work/$name" "testdata/fuzz/${name%_fuzz}" 2>"$work/$name.log"
  status=$?
  grep -E "^(stat::|Done|SUMMARY|==[0-9]+==ERROR|Check failed|F[0-9]{8})|DEATH" "$work/$name.log" | tail -12
  ((status == 0)) || { echo "FAILED: $name; see $work/$name.log"; failed=1; }
done
exit $failed
