#!/bin/bash
# Runs the program of zero_port.md on a folder that TensorFlow wrote: 10 steps after step 5.
set -eu
program=$1
folder=testdata/train_graph/tiny
model_dir=$TEST_TMPDIR/model
mkdir -p "$model_dir"
cp -L "$folder"/checkpoint "$folder"/model.ckpt-5.* "$model_dir"
chmod u+w "$model_dir"/*
"$program" --model_dir="$model_dir" --meta="$model_dir/model.ckpt-5.meta" --data="$folder"
grep -q 'model_checkpoint_path: "model.ckpt-15"' "$model_dir/checkpoint"
