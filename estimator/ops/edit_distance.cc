#include "estimator/ops/edit_distance.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"

namespace estimator {
namespace {

absl::Status CheckSequences(const Tensor& ids, const Tensor& lengths, const Tensor& like) {
  if (ids.rank() == 2 && IsInteger(ids.dtype()) && ids.dtype() == like.dtype() &&
      ids.dim(0) == like.dim(0) && lengths.rank() == 1 && lengths.dim(0) == ids.dim(0) &&
      (lengths.dtype() == DType::kInt32 || lengths.dtype() == DType::kInt64))
    return absl::OkStatus();
  return InvalidArgument("takes integers [B,T] and their lengths [B], not ", ids.spec().ToString(),
                         " and ", lengths.spec().ToString());
}

}  // namespace

// Row i, column j of the table of distances is that of the first i and j ids. Diagonal k holds the
// columns k - i for all rows i, and depends on the two diagonals before it. Places outside of the
// table have a large distance, or are read by no place of the table.
Tensor EditDistance(const Tensor& hypothesis, const Tensor& hypothesis_length, const Tensor& truth,
                    const Tensor& truth_length, const EditDistanceOptions& options) {
  for (const Tensor& input : {hypothesis, hypothesis_length, truth, truth_length})
    if (!input.valid()) return input;
  Graph& graph = *hypothesis.graph();
  const NameScope scope(options.name, graph);
  if (hypothesis.rank() != 2)
    return graph.Fail(
        Annotate(CheckSequences(hypothesis, hypothesis_length, hypothesis), options.name));
  for (const bool is_truth : {false, true}) {
    const absl::Status status = is_truth
                                    ? CheckSequences(truth, truth_length, hypothesis)
                                    : CheckSequences(hypothesis, hypothesis_length, hypothesis);
    if (!status.ok()) return graph.Fail(Annotate(status, options.name));
  }
  constexpr float kFar = 1e9F;
  const int64_t batch = hypothesis.dim(0), m = hypothesis.dim(1), n = truth.dim(1);
  // Element i of diagonal k belongs to id k - i - 2 of the truth, so a diagonal reads it backwards.
  const Tensor backwards = Pad(Reverse(truth, {1}), {{0, 0}, {m, m}});
  // Row 0 of diagonal 0; the others are outside.
  Array first(DType::kFloat32, {1, m + 1});
  for (int64_t i = 0; i <= m; ++i) first.data<float>()[i] = i == 0 ? 0 : kFar;
  std::vector<Tensor> diagonals = {
      BroadcastTo(ConstantIn(graph, first, "first"), Shape{batch, m + 1})};
  Tensor before;  // the diagonal before the last one, without its last row
  for (int64_t k = 1; k <= m + n; ++k) {
    const Tensor above = Slice(diagonals.back(), {0, 0}, {batch, m});
    const Tensor left = Slice(diagonals.back(), {0, 1}, {batch, m});
    Tensor next = Add(Minimum(above, left), 1);
    if (before.valid()) {
      const Tensor ids = Slice(backwards, {0, m + n + 1 - k}, {batch, m});
      next = Minimum(next, Add(before, Cast(NotEqual(hypothesis, ids), DType::kFloat32)));
    }
    diagonals.push_back(Pad(next, {{0, 0}, {1, 0}}, {.constant_values = static_cast<double>(k)}));
    before = above;
  }
  const Tensor row = Cast(hypothesis_length, DType::kInt32),
               column = Cast(truth_length, DType::kInt32);
  std::vector<int32_t> examples;
  for (int64_t i = 0; i < batch; ++i) examples.push_back(static_cast<int32_t>(i));
  const Tensor example = ConstantIn(graph, Array::FromSpan<int32_t>({batch}, examples), "examples");
  const Tensor distance = GatherNd(Stack(diagonals), Stack({Add(row, column), example, row}, 1));
  return options.normalize ? Xdivy(distance, Cast(column, DType::kFloat32)) : distance;
}

}  // namespace estimator
