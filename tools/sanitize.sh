#!/bin/bash
# Runs the tests with sanitizers: first address and undefined behaviour (one build), then threads.
# Run it by hand before a release: from an empty cache, the first takes more than an hour on 2
# cores, the second half an hour. It needs 30 GB of disk space, and deletes the program of each test
# that has passed: all of them together have 90 GB.
#
# Usage: tools/sanitize.sh [-c asan|tsan] [TARGET ...]
#   -c asan  only the address and undefined-behaviour sanitizers
#   -c tsan  only the thread sanitizer
#   TARGET   what bazel tests. Default: //..., and for tsan those of //... that can start threads
#
# Without TARGET, findings have the names of functions, but no line numbers: run the test again as
# TARGET for these. A test that fails prints its finding. CONTRIBUTING.md ("Sanitizers") says what
# each sanitizer sees.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
usage() { sed -n '6,9s/^# //p' "$0"; exit 2; }
builds=(asan tsan)
while getopts "c:" option; do
  [[ $option == c && ( $OPTARG == asan || $OPTARG == tsan ) ]] || usage
  builds=("$OPTARG")
done
shift $((OPTIND - 1))

# The tests that link a file that starts threads. In another test, tsan has nothing to compare:
# OpenMP has one thread.
tests_with_threads() {
  local files
  files=$(grep -rlE 'std::(jthread|thread|async)\b' --include='*.cc' --include='*.h' \
            estimator tpu models tools)
  bazel query --keep_going "tests(rdeps(//..., set($(echo $files))))"
}

# Deletes the programs of tests that have passed, again and again. $1, $2: bazel's folders of
# programs and of results. bazel looks at a program once more after its test has written the result,
# so the result must be 12 s old.
delete_passed() {
  local program result
  while sleep 10; do
    while IFS= read -r program; do
      result=$2/${program#"$1/"}/test.xml
      [[ $result -nt $program && -n $(find "$result" -mmin +0.2) ]] &&
        ! grep -q '<failure\|<error ' "$result" && rm -f "$program"
    done < <(find "$1" -name '*_test' -type f -size +10M)
  done
}

# For the whole tree: without line numbers, and with precompiled headers, a compilation takes half
# of the time. The decompositions take minutes with optimization.
whole_tree=(--copt=-g0 --define=precompile=on --per_file_copt='.*decompositions\.cc@-O0'
            --noshow_progress)

deleting=
trap '[[ -z $deleting ]] || kill "$deleting"' EXIT
failed=0
for build in "${builds[@]}"; do
  case $build in
    asan) options=(--config=asan --config=ubsan) ;;
    # A kernel that randomizes addresses by more than 28 bits leaves no room for tsan's memory.
    tsan)
      tsan_options=halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1
      options=(--config=tsan --run_under='setarch -R'
        --test_env="TSAN_OPTIONS=$tsan_options:suppressions=$PWD/tools/tsan_suppressions.txt")
      ;;
  esac
  targets=("$@")
  if ((!$#)); then
    targets=(//...)
    options+=("${whole_tree[@]}")
    delete_passed "$(bazel info "${options[@]}" bazel-bin 2>/dev/null)" \
      "$(bazel info "${options[@]}" bazel-testlogs 2>/dev/null)" &
    deleting=$!
    [[ $build == asan ]] || mapfile -t targets < <(tests_with_threads)
  fi
  echo "== $build"
  ((${#targets[@]})) || { echo "found no test with threads"; failed=1; continue; }
  bazel test "${options[@]}" --keep_going --test_output=errors "${targets[@]}" || failed=1
  [[ -z $deleting ]] || kill "$deleting"
  deleting=
done
exit $failed
