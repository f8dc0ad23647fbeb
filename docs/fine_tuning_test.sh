#!/bin/bash
# Runs the program of the page on fine-tuning: the new task is learned from the frozen features of
# the old one, and no moving average is lost on the way.
set -eu
program=$1
"$program" --model_dir="$TEST_TMPDIR/m" > "$TEST_TMPDIR/out.txt" 2> "$TEST_TMPDIR/log.txt" || {
  cat "$TEST_TMPDIR/log.txt"
  exit 1
}
cat "$TEST_TMPDIR/out.txt"
[ "$(wc -l < "$TEST_TMPDIR/out.txt")" = 3 ]
grep -q "^pretrained: accuracy 1$" "$TEST_TMPDIR/out.txt"
grep -Eq "^frozen: accuracy (1|0\.[89])" "$TEST_TMPDIR/out.txt"
grep -Eq "^all: accuracy (1|0\.9[5-9])" "$TEST_TMPDIR/out.txt"
grep -q "Initialized 10 of " "$TEST_TMPDIR/log.txt"
grep -q "Warm-started 12 of " "$TEST_TMPDIR/log.txt"
! grep -q "moving average" "$TEST_TMPDIR/log.txt"
