#!/bin/bash
# Runs the tests with sanitizers: first address and undefined behaviour (one build), then threads. Run it by hand
# before a release: on 2 cores, each of the two builds takes more than an hour from an empty cache.
#
# Usage: tools/sanitize.sh [-c asan|tsan] [TARGET ...]
#   -c asan  only the address and undefined-behaviour sanitizers
#   -c tsan  only the thread sanitizer
#   TARGET   what bazel tests. Default: //..., and for tsan those of //... that can start threads
#
# A test that fails prints its finding. CONTRIBUTING.md ("Sanitizers") says what each sanitizer sees.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
usage() { sed -n '5,8s/^# //p' "$0"; exit 2; }
builds=(asan tsan)
while getopts "c:" option; do
  [[ $option == c && ( $OPTARG == asan || $OPTARG == tsan ) ]] || usage
  builds=("$OPTARG")
done
shift $((OPTIND - 1))

# The tests that link a file that starts threads. In another test, tsan has nothing to compare: OpenMP has one thread.
tests_with_threads() {
  local files
  files=$(grep -rlE 'std::(jthread|thread|async)\b' --include='*.cc' --include='*.h' estimator tpu models tools |
    sed -E 's,^(.*)/([^/]*)$,//\1:\2,')
  bazel query --keep_going "tests(rdeps(//..., set($(echo $files))))"
}

failed=0
for build in "${builds[@]}"; do
  case $build in
    asan) options=(--config=asan --config=ubsan) ;;
    # A kernel that randomizes addresses by more than 28 bits leaves no room for tsan's memory.
    tsan) options=(--config=tsan --run_under='setarch -R') ;;
  esac
  targets=("$@")
  if ((!$#)); then
    targets=(//...)
    [[ $build == asan ]] || mapfile -t targets < <(tests_with_threads)
  fi
  echo "== $build"
  ((${#targets[@]})) || { echo "found no test with threads"; failed=1; continue; }
  bazel test "${options[@]}" --keep_going --test_output=errors "${targets[@]}" || failed=1
done
exit $failed
