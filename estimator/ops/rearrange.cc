#include "estimator/ops/rearrange.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

constexpr int64_t kMaxBlock = 1 << 15;  // the square of the size of a block fits its type
constexpr int64_t kMaxMargin = 1 << 24;

// Blocks of channels become blocks of pixels, or with `to_depth` the other way round.
Tensor MoveBlocks(const Tensor& x, int64_t block, bool to_depth, absl::string_view name) {
  if (!x.valid()) return x;
  const int64_t pixels = to_depth ? block : 1, channels = to_depth ? 1 : block * block;
  if (x.rank() != 4 || block < 1 || block > kMaxBlock || x.dim(1) % pixels != 0 ||
      x.dim(2) % pixels != 0 || x.dim(3) % channels != 0)
    return x.graph()->Fail(
        InvalidArgument(name, ": blocks of ", block, " do not divide ", x.spec().ToString()));
  const int64_t n = x.dim(0), h = x.dim(1) / pixels, w = x.dim(2) / pixels, c = x.dim(3) / channels;
  // The axes in between are swapped in both directions, by the same transposition.
  const Shape apart = to_depth ? Shape{n, h, block, w, block, c} : Shape{n, h, w, block, block, c};
  const Shape joined =
      to_depth ? Shape{n, h, w, block * block * c} : Shape{n, h * block, w * block, c};
  return Reshape(Transpose(Reshape(x, apart), {0, 1, 3, 2, 4, 5}), joined, name);
}

// SpaceToBatch, or with `to_space` BatchToSpace. `margins` are paddings or crops.
Tensor MoveToBatch(Tensor x, const std::vector<int64_t>& blocks, const Paddings& margins,
                   bool to_space, absl::string_view name) {
  if (!x.valid()) return x;
  Graph& graph = *x.graph();
  const size_t m = blocks.size();
  if (m != margins.size() || static_cast<int>(m) >= x.rank())
    return graph.Fail(InvalidArgument(name, ": ", m, " blocks and ", margins.size(),
                                      " pairs of margins for ", x.spec().ToString()));
  Paddings all(static_cast<size_t>(x.rank()), {0, 0});
  int64_t product = 1;
  for (size_t i = 0; i < m; ++i) {
    const auto [before, after] = margins[i];
    if (blocks[i] < 1 || std::max(blocks[i], product) > kMaxBlock || std::min(before, after) < 0 ||
        std::max(before, after) > kMaxMargin)
      return graph.Fail(InvalidArgument(name, ": a block of ", blocks[i], " with margins of ",
                                        before, " and ", after));
    product *= blocks[i];
    all[i + 1] = margins[i];
  }
  if (!to_space) x = Pad(x, all, {.name = absl::StrCat(name, "/Pad")});
  if (!x.valid()) return x;
  const std::vector<int64_t> dims = x.shape().dims();
  bool divides = !to_space || dims[0] % product == 0;
  for (size_t i = 0; i < m && !to_space; ++i) divides = divides && dims[i + 1] % blocks[i] == 0;
  if (!divides)
    return graph.Fail(InvalidArgument(name, ": the blocks do not divide ", x.spec().ToString(),
                                      to_space ? "" : " with its paddings"));
  // [blocks..., N, axes..., rest] has every block apart, and [N, axis, block, ..., rest] has each
  // beside its axis. The result is one of them, and the other is transposed to it.
  const auto count = static_cast<int64_t>(m);
  std::vector<int64_t> apart = {to_space ? dims[0] / product : dims[0]}, perm, joined;
  joined = {to_space ? apart[0] : dims[0] * product};
  for (size_t i = 0; i < m; ++i) {
    const auto axis = static_cast<int64_t>(i);
    const int64_t size = to_space ? dims[i + 1] : dims[i + 1] / blocks[i];
    joined.push_back(to_space ? size * blocks[i] : size);
    if (to_space) {
      apart.insert(apart.begin() + axis, blocks[i]);
      apart.push_back(size);
      perm.insert(perm.end(), {count + 1 + axis, axis});
    } else {
      apart.insert(apart.end(), {size, blocks[i]});
      perm.insert(perm.begin() + axis, 2 * axis + 2);
      perm.push_back(2 * axis + 1);
    }
  }
  perm.insert(perm.begin() + (to_space ? 0 : count), to_space ? count : 0);
  for (auto axis = 2 * count + 1; axis < count + x.rank(); ++axis) perm.push_back(axis);
  apart.insert(apart.end(), dims.begin() + count + 1, dims.end());
  joined.insert(joined.end(), dims.begin() + count + 1, dims.end());
  const Tensor moved = Transpose(Reshape(x, Shape(apart)), perm);
  if (!to_space) return Reshape(moved, Shape(joined), name);
  std::vector<int64_t> begin(dims.size(), 0), size = joined;
  for (size_t i = 0; i < m; ++i) {
    begin[i + 1] = margins[i].first;
    size[i + 1] -= margins[i].first + margins[i].second;
    if (size[i + 1] < 0)
      return graph.Fail(InvalidArgument(name, ": crops of ", margins[i].first, " and ",
                                        margins[i].second, " of ", joined[i + 1], " elements"));
  }
  return Slice(Reshape(moved, Shape(joined)), begin, size, name);
}

OutputSpecs ReverseSequenceRule(const ShapeContext& context) {
  const TensorSpec &x = context.input(0), &lengths = context.input(1);
  EST_ASSIGN_OR_RETURN(const int time, CheckAxis(context.attrs.i("seq_dim"), x.shape.rank()));
  EST_ASSIGN_OR_RETURN(const int batch, CheckAxis(context.attrs.i("batch_dim"), x.shape.rank()));
  if (time == batch) return InvalidArgument("seq_dim and batch_dim are both ", time);
  if ((lengths.dtype != DType::kInt32 && lengths.dtype != DType::kInt64) ||
      lengths.shape != Shape{x.shape.dim(batch)})
    return InvalidArgument("seq_lengths is ", lengths.ToString(), ", expected int32 or int64 [",
                           x.shape.dim(batch), "]");
  return SameAsInput(context);
}

EST_REGISTER_OP(
    "ReverseSequence", ReverseSequenceRule, [](const Node& node, const Tensors& grads) -> Tensors {
      return {AddOp("ReverseSequence", {grads[0], node.input(1)}, node.attrs()), Tensor()};
    });

// For each channel, the sum over those at most `radius` away.
Tensor ChannelSums(const Tensor& x, int64_t radius) {
  const int64_t channels = x.dim(-1);
  Array near(DType::kFloat32, {channels, channels});
  for (int64_t i = 0; i < channels; ++i)
    for (int64_t k = 0; k < channels; ++k)
      near.data<float>()[i * channels + k] = std::abs(i - k) <= radius ? 1.0F : 0.0F;
  const Tensor rows = Reshape(x, Shape{x.dim(0) * x.dim(1) * x.dim(2), channels});
  const Tensor sums = MatMul(rows, ConstantIn(*x.graph(), near.Cast(x.dtype()), "LRN/near"));
  return Reshape(sums, x.shape());
}

using LrnOptions = LocalResponseNormalizationOptions;

// Whether x has a norm; if not, the graph keeps the error. ChannelSums has a matrix of all pairs of
// channels.
bool HasNorm(const Tensor& x, const LrnOptions& options) {
  constexpr int64_t kMaxChannels = 8192;
  if (!x.valid() || (x.rank() == 4 && x.dim(3) <= kMaxChannels && IsFloating(x.dtype())))
    return x.valid();
  x.graph()->Fail(InvalidArgument(options.name, ": takes floating [N,H,W,C] with at most ",
                                  kMaxChannels, " channels, not ", x.spec().ToString()));
  return false;
}

Tensor ResponseNorm(const Tensor& x, const LrnOptions& options) {
  return Add(Multiply(ChannelSums(Square(x), options.depth_radius), options.alpha), options.bias);
}

}  // namespace

Tensor SpaceToDepth(const Tensor& x, int64_t block_size, StringArg name) {
  return MoveBlocks(x, block_size, true, name);
}

Tensor DepthToSpace(const Tensor& x, int64_t block_size, StringArg name) {
  return MoveBlocks(x, block_size, false, name);
}

Tensor SpaceToBatch(const Tensor& x, const std::vector<int64_t>& block_shape,
                    const Paddings& paddings, StringArg name) {
  return MoveToBatch(x, block_shape, paddings, false, name);
}

Tensor BatchToSpace(const Tensor& x, const std::vector<int64_t>& block_shape, const Paddings& crops,
                    StringArg name) {
  return MoveToBatch(x, block_shape, crops, true, name);
}

Tensor Roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes,
            StringArg name) {
  if (!x.valid()) return x;
  if (shifts.size() != axes.size())
    return x.graph()->Fail(
        InvalidArgument(name, ": ", shifts.size(), " shifts for ", axes.size(), " axes"));
  Tensor y = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const absl::StatusOr<int> axis = CheckAxis(axes[i], x.rank());
    if (!axis.ok()) return x.graph()->Fail(Annotate(axis.status(), name));
    const int64_t size = x.dim(*axis);
    const int64_t shift = size == 0 ? 0 : (shifts[i] % size + size) % size;
    if (shift == 0) continue;
    std::vector<Tensor> parts = Split(y, {size - shift, shift}, {.axis = *axis});
    y = Concat({parts[1], parts[0]}, *axis, name);
  }
  return y;
}

Tensor ReverseSequence(const Tensor& x, const Tensor& lengths,
                       const ReverseSequenceOptions& options) {
  return AddOp("ReverseSequence", {x, lengths},
               {{"seq_dim", options.seq_axis}, {"batch_dim", options.batch_axis}}, options.name);
}

Tensor LocalResponseNormalization(const Tensor& x, const LrnOptions& options) {
  if (!HasNorm(x, options)) return Tensor(x.graph(), nullptr, 0);
  return Multiply(x, Pow(ResponseNorm(x, options), -options.beta), options.name);
}

// dx = dy * norm^-beta - 2 * alpha * beta * x * sums(dy * y / norm)
Tensor LocalResponseNormalizationGrad(const Tensor& dy, const Tensor& x, const Tensor& y,
                                      const LrnOptions& options) {
  if (!HasNorm(x, options)) return Tensor(x.graph(), nullptr, 0);
  const Tensor norm = ResponseNorm(x, options);
  const Tensor others =
      Multiply(x, ChannelSums(Divide(Multiply(dy, y), norm), options.depth_radius));
  return Subtract(Multiply(dy, Pow(norm, -options.beta)),
                  Multiply(others, 2 * options.alpha * options.beta), options.name);
}

}  // namespace estimator
