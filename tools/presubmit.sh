#!/bin/bash
# Run before a commit. Looks at the whole tree and fails if something is wrong:
#   format     of .h and .cc files (clang-format)
#   layers     who includes whom                                  tools/checks/check_layers.py
#   comments   samples that a formatter has reflowed              tools/checks/check_comments.py
#   lines      more than 100 columns, and files that are too long  tools/checks/check_lines.py
#   testdata   its size
# Usage: tools/presubmit.sh [ROOT]
set -u
tools=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
cd "${1:-$tools/..}" || exit 1
failed=0

# tree_files PATTERN ...: the files of the tree, also new ones, but not deleted ones.
tree_files() {
  git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
    while read -r file; do [[ -f $file ]] && echo "$file"; done
}

if command -v clang-format >/dev/null; then
  mapfile -t wrong < <(tree_files '*.h' '*.cc' |
    xargs -r -P "$(nproc)" -n 40 clang-format --dry-run 2>&1 |
    sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: .*Wclang-format-violations.*/\1/p' | sort -u)
  for file in "${wrong[@]}"; do echo "$file: run clang-format -i"; failed=1; done
else
  echo "clang-format is not installed: the format of files cannot be checked"
  failed=1
fi

for check in layers comments lines; do
  "$tools/checks/check_$check.py" "$PWD" || failed=1
done

# All test data together stays under 22 MB.
bytes=$(tree_files testdata | tr '\n' '\0' | xargs -0 -r stat -c %s |
  awk '{ sum += $1 } END { print sum + 0 }')
if ((bytes >= 22000000)); then
  echo "testdata has $bytes bytes, but must have less than 22000000: use fewer steps or channels" \
    "(testdata/reference/README.md)"
  failed=1
fi

exit $failed
