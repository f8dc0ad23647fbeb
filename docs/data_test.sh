#!/bin/bash
# Runs the program of data.md and compares what it prints.
set -eu
program=$1
"$program" "$TEST_TMPDIR" | tee "$TEST_TMPDIR/out"
diff "$TEST_TMPDIR/out" - <<'EOF'
train: image f32 [8,4], words i64 [8,2], labels i64 [8]
without damaged records: image f32 [8,4], words i64 [8,2], labels i64 [8]
records: 30 30 20+10 30
pictures: image f32 [1,32,32,3], labels i64 [1]
houses: city str [], price f32 [], labels i32 []
houses: city str [], price f32 [], labels i32 []
line: name str [], size f32 []
line: name str [], size f32 []
cifar: image u8 [3072], labels u8 []
cifar: image u8 [3072], labels u8 []
Map: the only element: Feature list: frames (data type: float) is required but could not be found; .allow_missing makes it empty
EOF
