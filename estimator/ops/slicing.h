// Takes parts of tensors, and pads them.
// Errors (kept by the graph): INVALID_ARGUMENT naming axis and sizes.
#ifndef ESTIMATOR_OPS_SLICING_H_
#define ESTIMATOR_OPS_SLICING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// tf.slice: elements begin[i] to begin[i] + size[i] of axis i. A size of -1 takes all to the end.
Tensor Slice(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size,
             StringArg name = "Slice");

// One entry of Python's x[...]:
//   Slicing::At(i)           i         removes the axis
//   Slicing::All()           :
//   Slicing::Span(b, e, s)   b:e:s     std::nullopt is an absent begin or end
//   Slicing::Rest()          ...       all axes without an entry
//   Slicing::NewAxis()       newaxis
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
// x[axes...]. Axes without an entry are taken whole. A range beyond the end is clipped, as in
// Python; an index beyond the end is an error.
Tensor StridedSlice(const Tensor& x, const std::vector<Slicing>& axes,
                    StringArg name = "strided_slice");

// {before, after} for each axis.
using Paddings = std::vector<std::pair<int64_t, int64_t>>;
struct PadOptions {
  double constant_values = 0;
  std::string name = "Pad";
};
// tf.pad, with zeros (Pad) or with options.constant_values (PadV2).
Tensor Pad(const Tensor& x, const Paddings& paddings, const PadOptions& options = {});
// kReflect mirrors without the edge element, kSymmetric with it.
enum class MirrorMode { kReflect, kSymmetric };
Tensor MirrorPad(const Tensor& x, const Paddings& paddings, MirrorMode mode,
                 StringArg name = "MirrorPad");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_SLICING_H_
