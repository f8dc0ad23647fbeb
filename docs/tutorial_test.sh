#!/bin/bash
# Runs the tutorial's program: a few steps, a resumed run on replicas, and the mistakes that it
# shows.
set -eu
program=$1
points=$TEST_TMPDIR/points.csv
model_dir=$TEST_TMPDIR/mine
awk 'BEGIN { srand(1)
             for (i = 0; i < 2000; ++i) {
               x = 2 * rand() - 1; y = 2 * rand() - 1
               print x "," y "," (x * x + y * y < 0.5) } }' >"$points"

run() { "$program" --data="$points" --model_dir="$model_dir" "$@" 2>&1; }
# fails_with WORDS FLAG...: the run ends with exit code 1 and says WORDS.
fails_with() {
  local words=$1 status=0
  shift
  run "$@" >"$TEST_TMPDIR/failed.txt" || status=$?
  cat "$TEST_TMPDIR/failed.txt"
  [[ $status == 1 ]]
  grep -qF -- "$words" "$TEST_TMPDIR/failed.txt"
}

run --train_steps=20 | tee "$TEST_TMPDIR/first.txt"
grep -q "evaluated 500 examples at step 20" "$TEST_TMPDIR/first.txt"
[[ $(grep -c "^class " "$TEST_TMPDIR/first.txt") == 3 ]]
run --train_steps=70 --use_tpu | tee "$TEST_TMPDIR/resumed.txt"
grep -q "evaluated 500 examples at step 70" "$TEST_TMPDIR/resumed.txt"

fails_with "dense/kernel" --train_steps=80 --hidden=32
echo "0.5,oops" >>"$points"
fails_with "points.csv:2001: expected x,y,label, found '0.5,oops'" --train_steps=90
