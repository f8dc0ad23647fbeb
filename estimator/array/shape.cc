#include "estimator/array/shape.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

int64_t Shape::num_elements() const {
  int64_t product = 1;
  for (const int64_t dim : dims_) product *= dim;
  return product;
}

Shape Shape::Stacked(int64_t size) const {
  Shape stacked = *this;
  stacked.dims_.insert(stacked.dims_.begin(), size);
  return stacked;
}

Shape Shape::Row() const { return Shape(absl::MakeConstSpan(dims_).subspan(1)); }

bool Shape::fully_known() const {
  return std::all_of(dims_.begin(), dims_.end(), [](int64_t dim) { return dim >= 0; });
}

std::vector<int64_t> Shape::strides() const {
  std::vector<int64_t> strides(dims_.size());
  int64_t stride = 1;
  for (size_t i = dims_.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims_[i];
  }
  return strides;
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ",";
    text += dims_[i] == kUnknownDim ? "?" : absl::StrCat(dims_[i]);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.ToString(); }

absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int i = 1; i <= rank; ++i) {
    const int64_t x = i <= a.rank() ? a.dim(-i) : 1;
    const int64_t y = i <= b.rank() ? b.dim(-i) : 1;
    if (x != y && x != 1 && y != 1) {
      return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                             " do not broadcast: axis ", -i, " has ", x, " and ", y);
    }
    dims[static_cast<size_t>(rank - i)] = x == 1 ? y : x;
  }
  return Shape(std::move(dims));
}

}  // namespace estimator
