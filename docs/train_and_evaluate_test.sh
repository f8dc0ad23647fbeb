#!/bin/bash
# Runs the program of the page on train_and_evaluate: what it leaves, a second start, early
# stopping.
set -eu
program=$1
model_dir=$TEST_TMPDIR/model
"$program" --model_dir="$model_dir" | tee "$TEST_TMPDIR/first.txt"
grep -q "mae" "$TEST_TMPDIR/first.txt"
[ "$(ls "$model_dir/export/best" | wc -l)" = 1 ]
[ "$(ls "$model_dir/export/final" | wc -l)" = 1 ]
[ -f "$model_dir"/export/final/*/saved_model.pb ]
ls "$model_dir"/eval/events.out.tfevents.*

"$program" --model_dir="$model_dir" | tee "$TEST_TMPDIR/second.txt"
[ ! -s "$TEST_TMPDIR/second.txt" ] || ! grep -q "mae" "$TEST_TMPDIR/second.txt"
[ "$(ls "$model_dir/export/final" | wc -l)" = 1 ]

stopped=$TEST_TMPDIR/stopped
"$program" --model_dir="$stopped" --good_loss=1000 --train_steps=1000
grep -q "model.ckpt-101" "$stopped/checkpoint"
[ "$(ls "$stopped/export")" = best ]
