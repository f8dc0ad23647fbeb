#include "estimator/runtime/control_flow/growing_list.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/available_memory.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

constexpr int64_t kFirstBytes = 4096;
// What is available is read from files, which takes longer than to allocate a small list.
constexpr int64_t kCheckedBytes = int64_t{1} << 20;

}  // namespace

absl::Status GrowingList::Resize(int64_t rows) {
  const int64_t needed = SaturatingMultiply(rows, static_cast<int64_t>(row_bytes_));
  if (needed > static_cast<int64_t>(capacity_)) {
    int64_t bytes = std::max({kFirstBytes, needed, 2 * static_cast<int64_t>(capacity_)});
    const auto refused = [&](const std::string& reason) {
      return ResourceExhausted("out of memory: a list of ", rows, " elements needs ",
                               HumanBytes(needed), ", but ", reason,
                               "; give the loop a smaller number of trips (maximum_iterations)");
    };
    if (bytes >= kCheckedBytes) {
      const std::optional<AvailableMemory> available = ReadAvailableMemory();
      // The old rows are there until they are copied.
      if (available.has_value() && bytes > available->bytes) bytes = needed;
      if (available.has_value() && bytes > available->bytes) {
        return refused(
            absl::StrCat(HumanBytes(available->bytes), " of ", available->bound, " are free"));
      }
    }
    const size_t size = AlignedBytes(static_cast<size_t>(bytes));
    std::unique_ptr<char, Free> data(
        static_cast<char*>(std::aligned_alloc(Array::kAlignment, size)));
    if (data == nullptr) return refused("the system refuses to allocate them");
    if (rows_ > 0) std::memcpy(data.get(), data_.get(), static_cast<size_t>(rows_) * row_bytes_);
    data_ = std::move(data);
    capacity_ = size;
  }
  rows_ = rows;
  return absl::OkStatus();
}

}  // namespace estimator
