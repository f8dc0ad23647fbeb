#!/bin/bash
# Runs the recipes of recipes.md, BERT on the CPU and on replicas.
set -eu
program=$1

for flag in --use_tpu=false --use_tpu; do
  dir=$TEST_TMPDIR/recipes$flag
  mkdir "$dir"
  "$program" --dir="$dir" "$flag" | tee "$dir/out"
  # Chance is 0.69. A run from BERT's own checkpoint goes below the loss at which the first one
  # ended.
  awk '/^BERT:/ { sub(",", "", $3); exit !($3 + 0 < 0.65 && $7 + 0 < $3 + 0) }' "$dir/out"
  grep -q "^wide_and_deep: trained to step 40$" "$dir/out" # and not 80
  grep -q "^gan: trained to step 40$" "$dir/out"
  grep -q "^weighted has global_step, logits/biases, logits/weights$" "$dir/out"
  grep -qF "shapes: [4,1,2] [2,3,4,6]" "$dir/out"
  # By hand: the mean of max(0, 1 + positive - semi-hard negative) over the four pairs.
  grep -q "^triplet loss: 1.75$" "$dir/out"
  grep -q "^host_call: step 10 of 8 replicas$" "$dir/out"
  grep -qF 'tensor_name: "bert/embeddings/word_embeddings"' "$dir/bert/projector_config.pbtxt"
  [[ $(wc -l <"$dir/bert/metadata.tsv") == 32 ]]
done
