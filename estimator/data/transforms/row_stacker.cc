#include "estimator/data/transforms/row_stacker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
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

Shape WithRows(int64_t num_rows, const Shape& row) {
  std::vector<int64_t> dims = {num_rows};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  return Shape(std::move(dims));
}

bool IsRowOf(const Array& row, const Array& column) {
  const auto dims = row.shape().dims(), all = column.shape().dims();
  return row.dtype() == column.dtype() && dims.size() + 1 == all.size() &&
         std::equal(dims.begin(), dims.end(), all.begin() + 1);
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
      ((*batch_).*map)[name] = BatchArray(array.dtype(), WithRows(max_rows_, array.shape()));
    }
  }
}

bool RowStacker::FitsBatch(const Element& row) const {
  if (!batch_) return false;
  for (const auto map : kMaps) {
    const ArrayMap& arrays = row.*map;
    const ArrayMap& columns = (*batch_).*map;
    if (arrays.size() != columns.size()) return false;
    for (const auto& [name, array] : arrays) {
      const auto column = columns.find(name);
      if (column == columns.end() || !IsRowOf(array, column->second)) return false;
    }
  }
  return true;
}

void RowStacker::Add(int64_t index, Element row) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!started_) Start(row);
    if (!FitsBatch(row)) {
      const auto i = static_cast<size_t>(index);
      if (kept_.size() <= i) kept_.resize(i + 1);
      kept_[i] = std::move(row);
      keeps_rows_ = true;
      return;
    }
  }
  for (const auto map : kMaps) {
    for (const auto& [name, array] : row.*map) {
      Array& column = ((*batch_).*map).at(name);
      if (array.dtype() == DType::kString) {
        std::copy_n(array.data<std::string>(), array.num_elements(),
                    column.data<std::string>() + index * array.num_elements());
      } else if (array.num_bytes() > 0) {
        std::memcpy(
            static_cast<char*>(column.raw()) + static_cast<size_t>(index) * array.num_bytes(),
            array.raw(), array.num_bytes());
      }
    }
  }
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
