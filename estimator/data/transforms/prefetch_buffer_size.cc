#include "estimator/data/transforms/prefetch_buffer_size.h"

#include "estimator/base/saturating.h"
#include "estimator/data/pipeline/dataset_options.h"

namespace estimator {
namespace {

int64_t BytesOf(const Element& element) {
  int64_t bytes = 0;
  for (const ArrayMap* arrays : {&element.features, &element.labels}) {
    for (const auto& [name, array] : *arrays) {
      bytes += static_cast<int64_t>(array.num_bytes());
      if (array.dtype() != DType::kString) continue;
      for (const std::string& text : array.values<std::string>()) {
        bytes += static_cast<int64_t>(text.size());
      }
    }
  }
  return bytes;
}

}  // namespace

PrefetchBufferSize::PrefetchBufferSize(int64_t buffer_size)
    : tuned_(buffer_size == kAutotune), value_(tuned_ ? 1 : buffer_size) {}

void PrefetchBufferSize::BeforeTake(int64_t buffered, const Element* next) {
  if (!tuned_) return;
  if (next != nullptr) last_bytes_ = BytesOf(*next);
  if (buffered >= value_) was_full_ = true;
  if (buffered > 0 || !was_full_) return;
  was_full_ = false;
  const int64_t larger = value_ < kLinearGrowth ? 2 * value_ : value_ + kLinearGrowth;
  if (SaturatingMultiply(larger, last_bytes_) <= kMostBytes) value_ = larger;
}

}  // namespace estimator
