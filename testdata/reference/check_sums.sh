#!/bin/bash
# Every file of the folders here is the one that its SHA256SUMS was written with, and every folder
# with results has one.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
failed=0
for index in */*.index; do
  folder=${index%/*}
  grep -q " ${index#*/}$" "$folder/SHA256SUMS" ||
    { echo "$folder/SHA256SUMS does not list ${index#*/}; run its generate.py"; failed=1; }
done
for sums in */SHA256SUMS; do
  (cd "${sums%/*}" && sha256sum --quiet -c SHA256SUMS) ||
    { echo "$sums does not fit its files; run the generate.py beside it"; failed=1; }
done
exit $failed
