#!/bin/bash
# Before a commit: format of the changed files, layers, the size of testdata, file lengths. Fails on the first
# three; lengths are a report.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
failed=0

if command -v clang-format >/dev/null; then
  mapfile -t changed < <({ git diff --name-only --diff-filter=d HEAD; git ls-files --others --exclude-standard; } |
    grep -E '\.(h|cc)$' | sort -u)
  for file in "${changed[@]}"; do
    clang-format --dry-run --Werror "$file" 2>/dev/null || { echo "$file: run clang-format -i"; failed=1; }
  done
else
  echo "clang-format is not installed: formatting is unchecked"
fi

tools/checks/check_layers.py || failed=1
tools/checks/check_comments.py || failed=1

# All test data together stays under 20 MB.
bytes=$(git ls-files -z --cached --others --exclude-standard -- testdata | xargs -0 stat -c %s 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }')
if ((bytes >= 20000000)); then
  echo "testdata is $bytes bytes, may be 20000000: fewer steps, fewer channels (testdata/reference/README.md)"
  failed=1
fi

# A file past 400 lines (a test past 600) wants to be two.
git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' | while read -r file; do
  [[ -f "$file" ]] || continue
  limit=400
  [[ "$file" == *_test.cc ]] && limit=600
  lines=$(wc -l <"$file")
  ((lines <= limit)) || echo "$file: $lines lines, wants to be two files (limit $limit)"
done

exit $failed
