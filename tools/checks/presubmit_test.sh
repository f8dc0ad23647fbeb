#!/bin/bash
# Runs tools/presubmit.sh on a small tree: it passes, and fails for one fault of each kind.
set -eu
command -v clang-format >/dev/null || { echo "clang-format is not installed: skipped"; exit 0; }
presubmit=$(realpath "$1")
root=$TEST_TMPDIR/tree
mkdir -p "$root/estimator/base" "$root/tools/checks" "$root/testdata"
cd "$root"
git init -q .
echo "BasedOnStyle: Google" >.clang-format
echo "layer 0 estimator/base" >tools/checks/layers.txt
touch tools/checks/lines.txt

write() { printf '%s\n' "$@" >estimator/base/a.h; }
good() { write "// A file." "inline int Two() { return 2; }"; }

# fails TEXT: presubmit ends with 1 and prints TEXT.
fails() {
  if "$presubmit" "$root" >"$TEST_TMPDIR/out"; then echo "it passes, expected: $1"; exit 1; fi
  grep -q "$1" "$TEST_TMPDIR/out" || { cat "$TEST_TMPDIR/out"; echo "expected: $1"; exit 1; }
}

good
"$presubmit" "$root"
# A file that is committed is looked at, as one that is new.
write "inline  int Two() { return 2; }"
git add . && git -c user.name=t -c user.email=t@t commit -qm "Add a file"
fails "a.h: run clang-format -i"
write "#include \"estimator/none/b.h\""
fails "a.h:1: "
write "//   f(x," "//   y);"
fails "was reflowed"
write "// $(printf 'x%.0s' {1..101})"
fails "a.h:1: 104 columns (at most 100)"
for _ in {1..401}; do echo "// A line."; done >estimator/base/a.h
fails "a.h:1: 401 lines (at most 400)"
good
head -c 22000000 /dev/zero >testdata/large
fails "testdata has 22000000 bytes"
rm testdata/large
"$presubmit" "$root"
