#include "estimator/checkpoint/bundle/value_source.h"

#include "absl/strings/str_cat.h"

namespace estimator {

absl::Status ValueSource::Corrupt(const BundleEntry& entry, absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(Path(entry.shard), ": ", entry.NameForMessages(), " (",
                                          entry.size, " bytes at offset ", entry.offset,
                                          "): ", what));
}

}  // namespace estimator
