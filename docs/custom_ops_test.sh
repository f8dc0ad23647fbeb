#!/bin/bash
# Runs the program of custom_ops.md on the CPU and on replicas, and its exported model:
# CustomGradient is a part of TensorFlow's graph, an op of one's own is refused by name.
set -eu
program=$1
saved_model=$2
dir=$TEST_TMPDIR

# loss_of FILE: the loss in an evaluation's table.
loss_of() { awk '$1 == "loss" { print $2 }' "$1"; }
# below A B: A < B.
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

for run in cpu replicas; do
  [[ $run == replicas ]] && flag=--use_tpu || flag=--use_tpu=false
  "$program" --model_dir="$dir/$run" "$flag" --train_steps=1 | tee "$dir/$run.first"
  "$program" --model_dir="$dir/$run" "$flag" --train_steps=100 --export_dir="$dir/own_op_$run" |
    tee "$dir/$run.last"
  grep -q "evaluated 64 examples at step 100" "$dir/$run.last"
  below "$(loss_of "$dir/$run.last")" "$(loss_of "$dir/$run.first")"
done

# The CPU and replicas learn the same, up to rounding.
awk -v a="$(loss_of "$dir/cpu.last")" -v b="$(loss_of "$dir/replicas.last")" \
  'BEGIN { d = a - b; if (d < 0) d = -d
           if (d > 0.01) { print "losses differ: " a " and " b; exit 1 } }'

# A .npy file of six zeros, f32 [3,2].
{
  printf '\x93NUMPY\x01\x00v\x00'
  printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
  head -c 24 /dev/zero
} >"$dir/point.npy"

# A model with CustomGradient is exported with ops that every reader knows.
"$program" --model_dir="$dir/plain" --own_op=false --train_steps=10 --export_dir="$dir/plain_export"
"$saved_model" run --dir="$dir/plain_export" --inputs="point=$dir/point.npy" | tee "$dir/outputs"
grep -q "class" "$dir/outputs"

# An op of one's own is refused by its name.
status=0
"$saved_model" run --dir="$dir/own_op_cpu" --inputs="point=$dir/point.npy" >"$dir/refused" 2>&1 ||
  status=$?
cat "$dir/refused"
[[ $status == 1 ]]
grep -q "Shrink" "$dir/refused"
