// Reads the index of a checkpoint and checks it against the rules of the format. For BundleReader.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_INDEX_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_INDEX_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"

namespace estimator {

// Errors: NOT_FOUND, DATA_LOSS and UNIMPLEMENTED as BundleReader::Open.
absl::StatusOr<BundleIndex> ReadBundleIndex(absl::string_view prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_INDEX_H_
