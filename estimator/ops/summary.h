// Values that TensorBoard shows: a model asks for them here, the training loop writes them.
#ifndef ESTIMATOR_OPS_SUMMARY_H_
#define ESTIMATOR_OPS_SUMMARY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator::summary {

// The tag is `tag` with characters that TensorFlow does not allow in names made '_', under the
// current name scope, made unique: tf.compat.v1.summary's rule. Returns the tag.

// t: one number of any numeric dtype. Errors (kept by the graph): INVALID_ARGUMENT if it has more.
std::string Scalar(absl::string_view tag, const Tensor& t);
// t: any numeric dtype and shape.
std::string Histogram(absl::string_view tag, const Tensor& t);
// t: [N, H, W, C], u8 or floating, C 1, 3 or 4. The first max_outputs of the batch are
// written, with the tags `tag/image/0`, ... (one: `tag/image`).
// Floating images are scaled as TensorFlow does: to [0, 255] if all are >= 0, else around 127.
std::string Image(absl::string_view tag, const Tensor& t, int max_outputs = 3);

// The same as a value, for metrics that are pictures; nothing is written by itself.
//   t: as Image's.  Returns a string []: a serialized Summary.
//   MetricMap{{"confusion", {.value = summary::ImageValue("confusion", picture), .update = add}}}
// Evaluation writes it with the tags `confusion/0`, `confusion/1`, ...: those of the metric.
// Source: TF 2.15 tf.compat.v1.summary.image, whose value it is (op ImageSummary).
Tensor ImageValue(absl::string_view tag, const Tensor& t, int max_outputs = 3);

}  // namespace estimator::summary

#endif  // ESTIMATOR_OPS_SUMMARY_H_
