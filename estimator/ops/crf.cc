#include "estimator/ops/crf.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/search.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"

namespace estimator {
namespace {

bool IsInt(const Tensor& x) { return x.dtype() == DType::kInt32 || x.dtype() == DType::kInt64; }

// Errors: INVALID_ARGUMENT if an operand does not fit the inputs.
//   tags: null if the function has none.
absl::Status CheckCrf(const Tensor& inputs, const Tensor* tags, const Tensor& lengths,
                      const Tensor& transitions) {
  if ((inputs.dtype() != DType::kFloat32 && inputs.dtype() != DType::kFloat64) ||
      inputs.rank() != 3 || inputs.dim(1) == 0 || inputs.dim(2) == 0)
    return InvalidArgument(
        "inputs are scores, float32 or float64 [B,T,K] with T and K of 1 or "
        "more, not ",
        inputs.spec().ToString());
  const int64_t batch = inputs.dim(0), steps = inputs.dim(1), num_tags = inputs.dim(2);
  if (!IsInt(lengths) || lengths.shape() != Shape{batch} ||
      !(transitions.spec() == TensorSpec{inputs.dtype(), {num_tags, num_tags}}))
    return InvalidArgument("scores ", inputs.spec().ToString(), " take lengths i32 or i64 [", batch,
                           "] and transitions [", num_tags, ",", num_tags, "], not ",
                           lengths.spec().ToString(), " and ", transitions.spec().ToString());
  if (tags != nullptr && (!IsInt(*tags) || tags->shape() != Shape{batch, steps}))
    return InvalidArgument("scores ", inputs.spec().ToString(), " take tags i32 or i64 [", batch,
                           ",", steps, "], not ", tags->spec().ToString());
  return absl::OkStatus();
}

// Returns an invalid tensor after an error.
Tensor Checked(const Tensor& inputs, const Tensor* tags, const Tensor& lengths,
               const Tensor& transitions, absl::string_view name) {
  for (const Tensor* input : {&inputs, tags, &lengths, &transitions})
    if (input != nullptr && !input->valid()) return *input;
  const absl::Status status = CheckCrf(inputs, tags, lengths, transitions);
  return status.ok() ? inputs : inputs.graph()->Fail(Annotate(status, name));
}

// Whether step t belongs to a sequence: bool [B,1].
Tensor IsStep(int64_t t, const Tensor& lengths) { return ExpandDims(Greater(lengths, t), -1); }

}  // namespace

Tensor CrfSequenceScore(const Tensor& inputs, const Tensor& tag_indices,
                        const Tensor& sequence_lengths, const Tensor& transition_params,
                        StringArg name) {
  const Tensor checked = Checked(inputs, &tag_indices, sequence_lengths, transition_params, name);
  if (!checked.valid()) return checked;
  const NameScope scope(name, *inputs.graph());
  const int64_t steps = inputs.dim(1);
  const Tensor mask = SequenceMask(sequence_lengths, steps);
  const Tensor tags = Where(mask, tag_indices, 0);
  const Tensor scores =
      Squeeze(Gather(inputs, ExpandDims(tags, -1), {.axis = 2, .batch_dims = 2}), {-1});
  const Tensor sum = ReduceSum(Where(mask, scores, 0), 1);
  if (steps == 1) return sum;
  const auto part = [&](const Tensor& x, int64_t begin) {
    return Slice(x, {0, begin}, {-1, steps - 1});
  };
  const Tensor transitions = GatherNd(transition_params, Stack({part(tags, 0), part(tags, 1)}, -1));
  return sum + ReduceSum(Where(part(mask, 1), transitions, 0), 1);
}

Tensor CrfLogNorm(const Tensor& inputs, const Tensor& sequence_lengths,
                  const Tensor& transition_params, StringArg name) {
  const Tensor checked = Checked(inputs, nullptr, sequence_lengths, transition_params, name);
  if (!checked.valid()) return checked;
  const NameScope scope(name, *inputs.graph());
  const std::vector<Tensor> steps = Unstack(inputs, 1);
  Tensor alpha = steps[0];  // of all beginnings that end with each tag
  for (size_t t = 1; t < steps.size(); ++t) {
    const Tensor next =
        steps[t] + ReduceLogSumExp(ExpandDims(alpha, -1) + ExpandDims(transition_params, 0), 1);
    alpha = Where(IsStep(static_cast<int64_t>(t), sequence_lengths), next, alpha);
  }
  return Where(Greater(sequence_lengths, 0), ReduceLogSumExp(alpha, 1), 0);
}

CrfLogLikelihoodResult CrfLogLikelihood(const Tensor& inputs, const Tensor& tag_indices,
                                        const Tensor& sequence_lengths,
                                        const Tensor& transition_params, StringArg name) {
  if (!inputs.valid() || inputs.rank() < 1) return {inputs, inputs};
  const int64_t num_tags = inputs.dim(-1);
  const Tensor transitions =
      transition_params.valid()
          ? transition_params
          : GetVariable("transitions", {num_tags, num_tags}, {.dtype = inputs.dtype()}).read();
  const NameScope scope(name, *inputs.graph());
  return {CrfSequenceScore(inputs, tag_indices, sequence_lengths, transitions) -
              CrfLogNorm(inputs, sequence_lengths, transitions),
          transitions};
}

CrfDecodeResult CrfDecode(const Tensor& potentials, const Tensor& transition_params,
                          const Tensor& sequence_length, StringArg name) {
  const Tensor checked = Checked(potentials, nullptr, sequence_length, transition_params, name);
  if (!checked.valid()) return {checked, checked};
  const NameScope scope(name, *potentials.graph());
  const std::vector<Tensor> steps = Unstack(potentials, 1);
  Tensor best = steps[0];                   // of all beginnings that end with each tag
  std::vector<Tensor> before = {Tensor()};  // i32 [B,K]: the tag before each tag
  for (size_t t = 1; t < steps.size(); ++t) {
    const Tensor scores = ExpandDims(best, -1) + ExpandDims(transition_params, 0);
    before.push_back(ArgMax(scores, 1, {.output_type = DType::kInt32}));
    best = Where(IsStep(static_cast<int64_t>(t), sequence_length), steps[t] + ReduceMax(scores, 1),
                 best);
  }
  std::vector<Tensor> tags(steps.size());
  Tensor tag = ExpandDims(ArgMax(best, 1, {.output_type = DType::kInt32}), -1);  // i32 [B,1]
  for (size_t t = steps.size() - 1; t > 0; --t) {
    const Tensor is_step = IsStep(static_cast<int64_t>(t), sequence_length);
    tags[t] = Where(is_step, tag, 0);
    tag = Where(is_step, Gather(before[t], tag, {.axis = 1, .batch_dims = 1}), tag);
  }
  tags[0] = tag;
  return {Concat(tags, 1), ReduceMax(best, 1)};
}

}  // namespace estimator
