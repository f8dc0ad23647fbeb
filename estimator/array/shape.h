// A static shape: the sizes of a tensor's dimensions, all known.
#ifndef ESTIMATOR_ARRAY_SHAPE_H_
#define ESTIMATOR_ARRAY_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace estimator {

// A value type. Rank 0 is a scalar. A size of 0 is allowed (an empty tensor). One dimension may be
// kUnknownDim in a request only: the -1 of Reshape, or a placeholder whose size input_fn leaves
// open. All dimensions of a tensor in a graph are known.
class Shape {
 public:
  static constexpr int64_t kUnknownDim = -1;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  explicit Shape(absl::Span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  // The size of an axis; a negative axis counts from the end. Returns kUnknownDim if there is no
  // such axis, because the shape of an invalid Tensor has no axes. Every op refuses kUnknownDim
  // with an error.
  int64_t dim(int axis) const {
    const int i = axis < 0 ? axis + rank() : axis;
    return i >= 0 && i < rank() ? dims_[static_cast<size_t>(i)] : kUnknownDim;
  }
  int64_t operator[](int axis) const { return dim(axis); }
  const std::vector<int64_t>& dims() const { return dims_; }
  // The product of the sizes; 1 for a scalar. REQUIRES: fully known.
  int64_t num_elements() const;
  bool fully_known() const;

  void set_dim(int axis, int64_t size) {
    dims_[static_cast<size_t>(axis < 0 ? axis + rank() : axis)] = size;
  }
  void push_back(int64_t size) { dims_.push_back(size); }
  // [size, this...]: the shape of `size` tensors of this shape, stacked.
  Shape Stacked(int64_t size) const;
  // Without the first axis. REQUIRES: rank() > 0.
  Shape Row() const;
  // Row-major strides in elements.
  std::vector<int64_t> strides() const;

  // "[8,28,28,1]"; "[]" for a scalar; an unknown size prints as "?".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }

 private:
  std::vector<int64_t> dims_;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The shape of the result of a binary op, by NumPy's broadcasting rule.
// Errors: INVALID_ARGUMENT naming both shapes and the first axis that differs.
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_SHAPE_H_
