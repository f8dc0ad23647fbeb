#include "estimator/ops/non_max_suppression.h"

#include <algorithm>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/building/shape_rules.h"

namespace estimator {
namespace {

constexpr int64_t kMaxOutputs = 1 << 24;

// The value of an input that is a number of boxes.
absl::StatusOr<int64_t> NumBoxes(const ShapeContext& context, int input) {
  EST_ASSIGN_OR_RETURN(const int64_t count, ConstantInt(context, input));
  if (count >= 0 && count <= kMaxOutputs) return count;
  return InvalidArgument("input ", input, " is ", count, ", must be from 0 to ", kMaxOutputs);
}

// All inputs after the sizes are scalars.
absl::Status CheckBoxes(const ShapeContext& context, int first_threshold) {
  for (int i = 0; i < context.num_inputs(); ++i) {
    const bool size = i >= 2 && i < first_threshold;
    if (!size && context.input(i).dtype != DType::kFloat32)
      return InvalidArgument("input ", i, " is ", context.input(i).ToString(), ", not float32");
    if (i >= 2 && context.input(i).shape.rank() != 0)
      return InvalidArgument("input ", i, " is ", context.input(i).ToString(), ", not a scalar");
  }
  return absl::OkStatus();
}

// `scores`: the op returns them too.
OutputSpecs NonMaxRule(const ShapeContext& context, bool scores) {
  const Shape &boxes = context.input(0).shape, &given = context.input(1).shape;
  EST_RETURN_IF_ERROR(CheckBoxes(context, 3));
  if (boxes.rank() != 2 || boxes[1] != 4 || given != Shape{boxes[0]})
    return InvalidArgument("takes boxes [N,4] and scores [N], not ", boxes.ToString(), " and ",
                           given.ToString());
  if (!context.attrs.b("pad_to_max_output_size"))
    return Unimplemented(
        "the number of boxes depends on the scores, and shapes are static; set "
        "pad_to_max_output_size");
  EST_ASSIGN_OR_RETURN(const int64_t count, NumBoxes(context, 2));
  const TensorSpec indices{DType::kInt32, Shape{count}}, valid{DType::kInt32, Shape{}};
  if (!scores) return std::vector<TensorSpec>{indices, valid};
  return std::vector<TensorSpec>{indices, {DType::kFloat32, Shape{count}}, valid};
}

OutputSpecs CombinedRule(const ShapeContext& context) {
  const Shape &boxes = context.input(0).shape, &scores = context.input(1).shape;
  EST_RETURN_IF_ERROR(CheckBoxes(context, 4));
  if (boxes.rank() != 4 || scores.rank() != 3 || boxes[3] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[1] || (boxes[2] != 1 && boxes[2] != scores[2]))
    return InvalidArgument("takes boxes [B,N,q,4] and scores [B,N,C], where q is 1 or C, not ",
                           boxes.ToString(), " and ", scores.ToString());
  EST_ASSIGN_OR_RETURN(const int64_t of_class, NumBoxes(context, 2));
  EST_ASSIGN_OR_RETURN(int64_t total, NumBoxes(context, 3));
  if (context.attrs.b("pad_per_class")) total = std::min(total, of_class * scores[2]);
  const TensorSpec each{DType::kFloat32, Shape{scores[0], total}};
  return std::vector<TensorSpec>{
      {DType::kFloat32, Shape{scores[0], total, 4}}, each, each, {DType::kInt32, Shape{scores[0]}}};
}

EST_REGISTER_OP("NonMaxSuppressionV4",
                [](const ShapeContext& context) { return NonMaxRule(context, false); });
EST_REGISTER_OP("NonMaxSuppressionV5",
                [](const ShapeContext& context) { return NonMaxRule(context, true); });
EST_REGISTER_OP("CombinedNonMaxSuppression", CombinedRule);

}  // namespace

NonMaxSuppressionResult NonMaxSuppressionWithScores(const Tensor& boxes, const Tensor& scores,
                                                    int64_t max_output_size,
                                                    const NonMaxSuppressionOptions& options) {
  const std::vector<Tensor> out =
      OpBuilder("NonMaxSuppressionV5", options.name)
          .Input(boxes)
          .Input(scores)
          .Int("max_output_size", max_output_size)
          .Const("iou_threshold", Array::Scalar(options.iou_threshold))
          .Const("score_threshold", Array::Scalar(options.score_threshold))
          .Const("soft_nms_sigma", Array::Scalar(options.soft_nms_sigma))
          .Attr("pad_to_max_output_size", true)
          .BuildN(3);
  return {out[0], out[1], out[2]};
}

CombinedNonMaxSuppressionResult CombinedNonMaxSuppression(
    const Tensor& boxes, const Tensor& scores, int64_t max_output_size_per_class,
    int64_t max_total_size, const CombinedNonMaxSuppressionOptions& options) {
  const std::vector<Tensor> out =
      OpBuilder("CombinedNonMaxSuppression", options.name)
          .Input(boxes)
          .Input(scores)
          .Int("max_output_size_per_class", max_output_size_per_class)
          .Int("max_total_size", max_total_size)
          .Const("iou_threshold", Array::Scalar(options.iou_threshold))
          .Const("score_threshold", Array::Scalar(options.score_threshold))
          .Attr("pad_per_class", options.pad_per_class)
          .Attr("clip_boxes", options.clip_boxes)
          .BuildN(4);
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace estimator
