// The boxes of a detector that do not overlap better ones. Their number depends on the values and
// shapes are static, so results are padded and come with the number of boxes in them.
#ifndef ESTIMATOR_OPS_NON_MAX_SUPPRESSION_H_
#define ESTIMATOR_OPS_NON_MAX_SUPPRESSION_H_

#include <cstdint>
#include <limits>
#include <string>

#include "estimator/graph/tensor.h"

namespace estimator {

struct NonMaxSuppressionOptions {
  float iou_threshold = 0.5;  // boxes that overlap a better one by more are left out; in [0, 1]
  float score_threshold = -std::numeric_limits<float>::infinity();  // of boxes that are looked at
  float soft_nms_sigma = 0;  // above 0: overlapping boxes stay, with a lower score
  std::string name = "NonMaxSuppression";
};
struct NonMaxSuppressionResult {
  Tensor selected_indices;  // i32 [max_output_size], the best box first; then zeros
  Tensor selected_scores;   // f32 [max_output_size]
  Tensor num_valid;         // i32 []
};
// Chooses boxes by their scores.
//   boxes: f32 [N,4], two opposite corners (y1, x1, y2, x2).  scores: f32 [N].
// Errors: INVALID_ARGUMENT for other types or a negative size; in a step, for a threshold outside
// of [0, 1]. No gradient flows through these functions.
// Source: TF 2.15 tf.image.non_max_suppression_padded, tf.image.non_max_suppression_with_scores.
NonMaxSuppressionResult NonMaxSuppressionWithScores(const Tensor& boxes, const Tensor& scores,
                                                    int64_t max_output_size,
                                                    const NonMaxSuppressionOptions& options = {});

struct CombinedNonMaxSuppressionOptions {
  float iou_threshold = 0.5;
  float score_threshold = -std::numeric_limits<float>::infinity();
  bool pad_per_class = false;  // K is at most max_output_size_per_class * classes
  bool clip_boxes = true;      // to [0, 1]
  std::string name = "CombinedNonMaxSuppression";
};
struct CombinedNonMaxSuppressionResult {
  Tensor nmsed_boxes;       // f32 [B,K,4]
  Tensor nmsed_scores;      // f32 [B,K], the best first
  Tensor nmsed_classes;     // f32 [B,K]
  Tensor valid_detections;  // i32 [B]
};
// Chooses boxes of each class by itself, and then the best of all classes.
//   boxes: f32 [B,N,q,4], where q is 1 or the number of classes.  scores: f32 [B,N,classes].
//   K is max_total_size.
// Source: TF 2.15 tf.image.combined_non_max_suppression.
CombinedNonMaxSuppressionResult CombinedNonMaxSuppression(
    const Tensor& boxes, const Tensor& scores, int64_t max_output_size_per_class,
    int64_t max_total_size, const CombinedNonMaxSuppressionOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_NON_MAX_SUPPRESSION_H_
