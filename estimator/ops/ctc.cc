#include "estimator/ops/ctc.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/check_range.h"
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

absl::Status CheckLogits(const TensorSpec& logits) {
  if ((logits.dtype == DType::kFloat32 || logits.dtype == DType::kFloat64) &&
      logits.shape.rank() == 3 && logits.shape[2] > 0)
    return absl::OkStatus();
  return InvalidArgument("inputs are logits, float32 or float64 (steps, batch, classes), not ",
                         logits.ToString());
}

OutputSpecs LossRule(const ShapeContext& context) {
  const TensorSpec& logits = context.input(0);
  EST_RETURN_IF_ERROR(CheckLogits(logits));
  const int64_t batch = logits.shape[1];
  const Shape& indices = context.input(1).shape;
  if (indices.rank() != 2 || indices[1] != 2 ||
      !(context.input(1) == TensorSpec{DType::kInt64, indices}) ||
      !(context.input(2) == TensorSpec{DType::kInt32, {indices[0]}}))
    return InvalidArgument("labels are int64 indices [n,2] and int32 values [n], not ",
                           context.input(1).ToString(), " and ", context.input(2).ToString());
  if (!(context.input(3) == TensorSpec{DType::kInt32, {batch}}))
    return InvalidArgument("sequence_length is ", context.input(3).ToString(), ", expected i32 [",
                           batch, "]");
  return std::vector<TensorSpec>{{logits.dtype, {batch}}, logits};
}

Tensors LossGradient(const Node& node, const Tensors& grads) {
  if (grads[1].valid())
    node.input(0).graph()->Fail(
        Unimplemented(node.name(), ": CTCLoss has no second derivative, as in TensorFlow"));
  if (!grads[0].valid()) return Tensors(4);
  return {ExpandDims(grads[0], -1) * ResultOf(node, 1), Tensor(), Tensor(), Tensor()};
}

// The number of labels is not static: a path has a row for each step of each example. Rows without
// a label have the index (0, 0) and the value -1.
OutputSpecs BeamSearchRule(const ShapeContext& context) {
  const TensorSpec& logits = context.input(0);
  EST_RETURN_IF_ERROR(CheckLogits(logits));
  const int64_t steps = logits.shape[0], batch = logits.shape[1];
  EST_RETURN_IF_ERROR(CheckShape(context.input(1), {batch}, "sequence_length"));
  const int64_t width = context.attrs.i("beam_width"), paths = context.attrs.i("top_paths");
  constexpr int64_t kMaxWidth = 1 << 20;
  if (context.input(1).dtype != DType::kInt32 || paths < 1 || width < paths || width > kMaxWidth)
    return InvalidArgument("takes an int32 sequence_length, beam_width from 1 to ", kMaxWidth,
                           " and top_paths from 1 to beam_width, not ", context.input(1).ToString(),
                           ", ", width, " and ", paths);
  std::vector<TensorSpec> outputs;
  const auto of_each_path = [&](const Shape& shape) {
    outputs.insert(outputs.end(), static_cast<size_t>(paths), {DType::kInt64, shape});
  };
  of_each_path({batch * steps, 2});
  of_each_path({batch * steps});
  of_each_path({2});
  outputs.push_back({logits.dtype, {batch, paths}});
  return outputs;
}

EST_REGISTER_OP("CTCLoss", LossRule, LossGradient);
EST_REGISTER_OP("CTCBeamSearchDecoder", BeamSearchRule);

bool AreLengths(const Tensor& lengths, int64_t batch) {
  return (lengths.dtype() == DType::kInt32 || lengths.dtype() == DType::kInt64) &&
         lengths.shape() == Shape{batch};
}

Tensor CheckedLengths(const Tensor& lengths, int64_t most, const char* what) {
  return CheckRange(lengths, {.low = 0,
                              .high = static_cast<float>(most),
                              .what = absl::StrCat("CTC: ", what),
                              .cure = "a length is that of its own example"});
}

// The class, counted from the front. Errors: INVALID_ARGUMENT.
absl::StatusOr<int64_t> BlankClass(int64_t blank_index, int64_t classes) {
  const int64_t blank = blank_index < 0 ? blank_index + classes : blank_index;
  if (blank >= 0 && blank < classes) return blank;
  return InvalidArgument("blank_index is ", blank_index, ", but there are ", classes, " classes");
}

absl::Status CheckLossOperands(const Tensor& labels, const Tensor& logits,
                               const Tensor& label_length, const Tensor& logit_length,
                               bool time_major) {
  EST_RETURN_IF_ERROR(CheckLogits(logits.spec()));
  const int64_t batch = logits.dim(time_major ? 1 : 0);
  if ((labels.dtype() == DType::kInt32 || labels.dtype() == DType::kInt64) && labels.rank() == 2 &&
      labels.dim(0) == batch && AreLengths(label_length, batch) && AreLengths(logit_length, batch))
    return absl::OkStatus();
  return InvalidArgument("logits of ", batch,
                         " examples take labels [B,L] and lengths [B], int32 or int64, not ",
                         labels.spec().ToString(), ", ", label_length.spec().ToString(), " and ",
                         logit_length.spec().ToString(),
                         time_major ? " (logits [B,T,C] need logits_time_major = false)" : "");
}

// The labels as CTCLoss takes them: the classes without the blank, and then it as padding.
Tensor PaddedLabels(const Tensor& labels, const Tensor& length, int64_t blank, int64_t classes) {
  const bool first = blank == 0, last = blank == classes - 1;
  const Tensor mask = SequenceMask(length, labels.dim(1));
  const Tensor checked = CheckRange(Where(mask, labels, first ? 1 : 0),
                                    {.low = first ? 1.0F : 0.0F,
                                     .high = static_cast<float>(classes - (last ? 2 : 1)),
                                     .what = "CTC: labels",
                                     .cure = absl::StrCat("the blank is class ", blank)});
  Tensor moved = Cast(checked, DType::kInt32);
  if (!last) moved = Subtract(moved, Cast(Greater(moved, blank), DType::kInt32));
  // A label that is the blank gets a value that the op refuses.
  if (!first && !last) moved = Where(Equal(checked, blank), -1, moved);
  return Where(mask, moved, classes - 1);
}

}  // namespace

Tensor CtcLoss(const Tensor& labels, const Tensor& logits, const Tensor& label_length,
               const Tensor& logit_length, const CtcLossOptions& options) {
  for (const Tensor& input : {labels, logits, label_length, logit_length})
    if (!input.valid()) return input;
  Graph& graph = *logits.graph();
  const NameScope scope(options.name, graph);
  absl::Status status =
      CheckLossOperands(labels, logits, label_length, logit_length, options.logits_time_major);
  const int64_t classes = logits.dim(-1);
  const absl::StatusOr<int64_t> blank = BlankClass(options.blank_index, classes);
  status.Update(blank.status());
  if (!status.ok()) return graph.Fail(Annotate(status, options.name));
  const int64_t batch = labels.dim(0), length = labels.dim(1);
  Tensor inputs = options.logits_time_major ? logits : Transpose(logits, {1, 0, 2});
  if (*blank != classes - 1) {
    const auto part = [&](int64_t begin, int64_t size) {
      return Slice(inputs, {0, 0, begin}, {-1, -1, size});
    };
    std::vector<Tensor> parts = {part(*blank + 1, classes - *blank - 1), part(*blank, 1)};
    if (*blank > 0) parts.insert(parts.begin(), part(0, *blank));
    inputs = Concat(parts, 2);
  }
  Array indices(DType::kInt64, {batch * length, 2});
  for (int64_t i = 0; i < batch * length; ++i) {
    indices.data<int64_t>()[2 * i] = i / length;
    indices.data<int64_t>()[2 * i + 1] = i % length;
  }
  const Tensor values =
      PaddedLabels(labels, CheckedLengths(label_length, length, "label_length"), *blank, classes);
  return OpBuilder("CTCLoss", "CTCLoss")
      .Input(inputs)
      .Const("labels_indices", indices)
      .Input(Reshape(values, {batch * length}))
      .Input(Cast(logit_length, DType::kInt32))
      .Attr("preprocess_collapse_repeated", options.preprocess_collapse_repeated)
      .Attr("ctc_merge_repeated", options.ctc_merge_repeated)
      .Attr("ignore_longer_outputs_than_inputs", options.ignore_longer_outputs_than_inputs)
      .BuildN(2)[0];
}

CtcDecoded CtcGreedyDecoder(const Tensor& inputs, const Tensor& sequence_length,
                            const CtcGreedyDecoderOptions& options) {
  for (const Tensor& input : {inputs, sequence_length})
    if (!input.valid()) return {input, input, input};
  Graph& graph = *inputs.graph();
  const NameScope scope(options.name, graph);
  const bool fits = inputs.rank() == 3 && IsFloating(inputs.dtype()) && inputs.dim(2) > 0 &&
                    AreLengths(sequence_length, inputs.dim(1));
  const absl::StatusOr<int64_t> blank =
      BlankClass(options.blank_index, fits ? inputs.dim(2) : options.blank_index + 1);
  if (!fits || !blank.ok()) {
    const absl::Status status =
        fits
            ? blank.status()
            : InvalidArgument("takes logits [T,B,C] and lengths [B], int32 or int64, not ",
                              inputs.spec().ToString(), " and ", sequence_length.spec().ToString());
    const Tensor failed = graph.Fail(Annotate(status, options.name));
    return {failed, failed, failed};
  }
  const int64_t steps = inputs.dim(0);
  const Tensor used =
      SequenceMask(CheckedLengths(sequence_length, steps, "sequence_length"), steps);  // [B,T]
  const Tensor logits = Transpose(inputs, {1, 0, 2});
  const Tensor classes = ArgMax(logits, -1);
  Tensor keep = LogicalAnd(used, NotEqual(classes, *blank));
  if (options.merge_repeated && steps > 1) {
    const Tensor before =
        Pad(Slice(classes, {0, 0}, {-1, steps - 1}), {{0, 0}, {1, 0}}, {.constant_values = -1});
    keep = LogicalAnd(keep, NotEqual(classes, before));
  }
  // The steps that are kept come first, in their order.
  const Tensor step = Range(0, steps);
  const Tensor order =
      TopK(Subtract(Where(keep, steps, ConstantLike(step, 0)), step), steps).indices;
  const Tensor kept = Gather(classes, order, {.axis = 1, .batch_dims = 1});
  const Tensor length = ReduceSum(Cast(keep, DType::kInt32), 1);
  const Tensor best = ReduceMax(logits, -1);
  return {Where(SequenceMask(length, steps), kept, -1), length,
          -ReduceSum(Where(used, best, 0), 1)};
}

CtcDecoded CtcBeamSearchDecoder(const Tensor& inputs, const Tensor& sequence_length,
                                const CtcBeamSearchDecoderOptions& options) {
  for (const Tensor& input : {inputs, sequence_length})
    if (!input.valid()) return {input, input, input};
  const NameScope scope(options.name, *inputs.graph());
  const auto paths = static_cast<size_t>(options.top_paths < 1 ? 1 : options.top_paths);
  const std::vector<Tensor> out = OpBuilder("CTCBeamSearchDecoder", "CTCBeamSearchDecoder")
                                      .Input(inputs)
                                      .Input(Cast(sequence_length, DType::kInt32))
                                      .Attr("beam_width", options.beam_width)
                                      .Attr("top_paths", options.top_paths)
                                      .Attr("merge_repeated", options.merge_repeated)
                                      .BuildN(static_cast<int>(3 * paths + 1));
  std::vector<Tensor> ids;
  for (size_t p = 0; p < paths && out[p].valid(); ++p)
    ids.push_back(
        Subtract(ScatterNd(out[p], Add(out[paths + p], 1), {inputs.dim(1), inputs.dim(0)}), 1));
  if (ids.empty()) return {out[0], out[0], out[0]};
  const Tensor all = Stack(ids, 1);
  return {all, ReduceSum(Cast(GreaterEqual(all, 0), DType::kInt32), -1), out[3 * paths]};
}

}  // namespace estimator
