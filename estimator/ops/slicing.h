// Parts of tensors, and padding. Errors (kept by the graph): INVALID_ARGUMENT naming axis and
// sizes.
#ifndef ESTIMATOR_OPS_SLICING_H_
#define ESTIMATOR_OPS_SLICING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// tf.slice: elements begin[i] to begin[i] + size[i] of axis i; a size of -1 takes all that follow.
Tensor Slice(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size,
             absl::string_view name = "Slice");

// One entry of Python's x[...]: Slicing::At(i) is `i` (the axis goes), Slicing::All() is `:`,
// Slicing::Span(b, e, s) is `b:e:s` with an absent begin or end as std::nullopt, Slicing::Rest() is
// `...` (all axes that no other entry stands for), Slicing::NewAxis() is `newaxis`.
struct Slicing {
  enum class Kind { kAxis, kEllipsis, kNewAxis };

  std::optional<int64_t> begin;
  std::optional<int64_t> end;
  int64_t stride = 1;
  bool shrink = false;
  Kind kind = Kind::kAxis;

  static Slicing At(int64_t index) { return {index, std::nullopt, 1, true}; }
  static Slicing All() { return {}; }
  static Slicing Span(std::optional<int64_t> begin, std::optional<int64_t> end,
                      int64_t stride = 1) {
    return {begin, end, stride, false};
  }
  static Slicing Rest() { return {std::nullopt, std::nullopt, 1, false, Kind::kEllipsis}; }
  static Slicing NewAxis() { return {std::nullopt, std::nullopt, 1, false, Kind::kNewAxis}; }
};
// x[axes...]; axes that are not named are taken whole. Ranges beyond the end are cut, as in Python;
// an index beyond the end is an error.
Tensor StridedSlice(const Tensor& x, const std::vector<Slicing>& axes,
                    absl::string_view name = "strided_slice");

// {before, after} for every axis.
using Paddings = std::vector<std::pair<int64_t, int64_t>>;
struct PadOptions {
  double constant_values = 0;
  std::string name = "Pad";
};
// tf.pad with zeros (Pad), or with another number (PadV2).
Tensor Pad(const Tensor& x, const Paddings& paddings, const PadOptions& options = {});
enum class MirrorMode { kReflect, kSymmetric };  // without and with the edge element
Tensor MirrorPad(const Tensor& x, const Paddings& paddings, MirrorMode mode,
                 absl::string_view name = "MirrorPad");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SLICING_H_
