#!/bin/bash
# Runs the port guide's program locally and on replicas; training continues from one to the other.
set -eu
program=$1
model_dir=$TEST_TMPDIR/model
"$program" --model_dir="$model_dir" --train_steps=20 | tee "$TEST_TMPDIR/local.txt"
grep -q "evaluated 1000 examples at step 20" "$TEST_TMPDIR/local.txt"
"$program" --model_dir="$model_dir" --train_steps=30 --use_tpu | tee "$TEST_TMPDIR/replicas.txt"
grep -q "evaluated 1000 examples at step 30" "$TEST_TMPDIR/replicas.txt"
grep -q "top_3" "$TEST_TMPDIR/replicas.txt"
