#include "estimator/data/transforms/row_stacker.h"

#include <utility>

#include "estimator/base/saturating.h"
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/data/pipeline/rows.h"

namespace estimator {
namespace {

constexpr ArrayMap Element::*kMaps[] = {&Element::features, &Element::labels};

// The bytes that an array adds to the limit. Strings count more than they have, because memory for
// them is written when it is allocated.
int64_t BytesOf(const Array& array) {
  const size_t size =
      array.dtype() == DType::kString ? 16 * sizeof(std::string) : DTypeSize(array.dtype());
  return array.num_elements() * static_cast<int64_t>(size);
}

}  // namespace

void RowStacker::Start(const Element& row) {
  started_ = true;
  int64_t row_bytes = 0;
  for (const auto map : kMaps) {
    for (const auto& [name, array] : row.*map) row_bytes += BytesOf(array);
  }
  if (SaturatingMultiply(max_rows_, row_bytes) > kMaxEarlyBytes) return;
  batch_.emplace();
  for (const auto map : kMaps) {
    for (const auto& [name, array] : row.*map) {
      ((*batch_).*map)[name] = BatchArray(array.dtype(), WithAxis(max_rows_, array.shape()));
    }
  }
}

void RowStacker::Add(int64_t index, Element row) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) Start(row);
    if (!batch_ || !IsRowOf(row, *batch_)) {
      const auto i = static_cast<size_t>(index);
      if (kept_.size() <= i) kept_.resize(i + 1);
      kept_[i] = std::move(row);
      keeps_rows_ = true;
      return;
    }
  }
  CopyRow(row, index, *batch_);
}

absl::StatusOr<Element> RowStacker::Finish(int64_t num_rows,
                                           const std::function<std::string(size_t)>& where) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!keeps_rows_) {
    if (num_rows == max_rows_) return *std::move(batch_);
    for (const auto map : kMaps) {
      for (auto& [name, column] : (*batch_).*map) column = column.Slice(0, num_rows);
    }
    return *std::move(batch_);
  }
  std::vector<Element> rows(static_cast<size_t>(num_rows));
  kept_.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = kept_[i] ? *std::move(kept_[i]) : RowOf(*batch_, static_cast<int64_t>(i));
  }
  return StackRows(rows, where);
}

}  // namespace estimator
