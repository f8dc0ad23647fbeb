#include "models/mnist/small_mnist.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/data/sources/idx.h"

namespace estimator::mnist {

absl::Status WriteIdxSet(absl::string_view directory, absl::string_view split,
                         const DigitSet& set) {
  const std::string prefix = JoinPath(directory, split);
  EST_RETURN_IF_ERROR(WriteIdx(absl::StrCat(prefix, "-images-idx3-ubyte"), set.images));
  return WriteIdx(absl::StrCat(prefix, "-labels-idx1-ubyte"), set.labels.Cast(DType::kUint8));
}

absl::Status WriteSmallMnist(absl::string_view directory) {
  EST_RETURN_IF_ERROR(WriteIdxSet(directory, "train", DrawDigits(1, 0, 300)));
  return WriteIdxSet(directory, "t10k", DrawDigits(1, 1000, 50));
}

}  // namespace estimator::mnist
