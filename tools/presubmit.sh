#!/bin/bash
# Run before a commit. Checks the format of changed files, the layers, the comments (samples that a formatter has
# reflowed: tools/checks/check_comments.py) and the size of testdata, and fails if one of them is wrong. Also reports
# long files.
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
  echo "clang-format is not installed: the format of files is not checked"
fi

tools/checks/check_layers.py || failed=1
tools/checks/check_comments.py || failed=1

# All test data together stays under 20 MB.
bytes=$(git ls-files -z --cached --others --exclude-standard -- testdata | xargs -0 stat -c %s 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }')
if ((bytes >= 20000000)); then
  echo "testdata has $bytes bytes, but must have less than 20000000: use fewer steps or channels (testdata/reference/README.md)"
  failed=1
fi

# Files over 400 lines, and tests over 600 lines, should be split.
git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' | while read -r file; do
  [[ -f "$file" ]] || continue
  limit=400
  [[ "$file" == *_test.cc ]] && limit=600
  lines=$(wc -l <"$file")
  ((lines <= limit)) || echo "$file has $lines lines: split it (limit $limit)"
done

exit $failed
