#!/bin/bash
# Trains each network of the page on recurrent networks until it has learned the task.
set -eu
program=$1
for network in lstm stack own steps; do
  "$program" --model_dir="$TEST_TMPDIR/$network" --network="$network" |
    tee "$TEST_TMPDIR/$network.txt"
  accuracy=$(awk '$1 == "accuracy" { print $2 }' "$TEST_TMPDIR/$network.txt")
  awk -v accuracy="$accuracy" 'BEGIN { exit !(accuracy > 0.95) }' ||
    { echo "$network: accuracy is $accuracy" >&2; exit 1; }
done
