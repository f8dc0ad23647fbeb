#!/bin/bash
# Runs the program of the page on images: every epoch draws anew, and a resumed run draws the same.
set -eu
program=$1
"$program" --dir="$TEST_TMPDIR" | tee "$TEST_TMPDIR/out"
grep -qF "images: f32 [16,32,32,3]" "$TEST_TMPDIR/out"
grep -q "^the second epoch draws anew$" "$TEST_TMPDIR/out"
grep -q "^the resumed run draws the same$" "$TEST_TMPDIR/out"
grep -qF "centers: f32 [5,32,32,3]" "$TEST_TMPDIR/out"
