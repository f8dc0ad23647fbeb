#include "estimator/checkpoint/testing/reader_fuzzing.h"

#include <string>

#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "glog/logging.h"

namespace estimator {
namespace {

void CheckError(const absl::Status& status) {
  CHECK(absl::IsDataLoss(status) || absl::IsUnimplemented(status)) << status;
}

}  // namespace

void CheckReader(absl::string_view prefix) {
  const auto opened = BundleReader::Open(prefix);
  // Not a checkpoint at all: INVALID_ARGUMENT.
  if (absl::IsInvalidArgument(opened.status())) return;
  if (!opened.ok()) return CheckError(opened.status());
  const BundleReader& reader = **opened;
  bool all_read = true;
  for (const std::string& name : reader.names()) {
    const auto value = reader.Read(name);
    if (value.ok()) {
      CHECK(reader.Spec(name)->shape == value->shape());
    } else {
      CheckError(value.status());
    }
    all_read &= value.ok() || absl::IsUnimplemented(value.status());
    for (const BundleEntry* const part : reader.index().PartsOf(reader.index().tensors.at(name))) {
      char last = 0;
      if (part->size > 0) {
        reader.values().ReadRange(*part, part->size - 1, 1, &last).IgnoreError();
      }
    }
  }
  // VerifyContents must fail if a variable cannot be read, unless its dtype has no DType.
  CHECK(all_read || !reader.VerifyContents().ok());
}

}  // namespace estimator
