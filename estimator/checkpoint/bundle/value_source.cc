#include "estimator/checkpoint/bundle/value_source.h"

#include "estimator/base/status.h"

namespace estimator {

absl::Status ValueSource::Corrupt(const BundleEntry& entry, absl::string_view what) const {
  return DataLoss(Path(entry.shard), ": ", entry.NameForMessages(), " (", entry.size,
                  " bytes at offset ", entry.offset, "): ", what);
}

}  // namespace estimator
