// Values that TensorBoard shows. A model asks for them here, and the training loop writes them.
#ifndef ESTIMATOR_OPS_SUMMARY_H_
#define ESTIMATOR_OPS_SUMMARY_H_

#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator::summary {

// Each function returns the tag of the summary, which follows tf.compat.v1.summary's rule:
// characters of `tag` that TensorFlow does not allow in names become '_', the current name scope is
// put in front, and the tag is made unique.

//   t: one number of any numeric dtype. Errors (kept by the graph): INVALID_ARGUMENT if t has more.
std::string Scalar(StringArg tag, const Tensor& t);
//   t: any numeric dtype and shape.
std::string Histogram(StringArg tag, const Tensor& t);
// Writes the first max_outputs images of the batch, with the tags `tag/image/0`, `tag/image/1`, ...
// (`tag/image` if max_outputs is 1). Floating images are scaled as in TensorFlow: to [0, 255] if
// all values are >= 0, else so that 0 becomes 127.
//   t: [N, H, W, C], u8 or floating, with C = 1, 3 or 4.
std::string Image(StringArg tag, const Tensor& t, int max_outputs = 3);

// The same as a value, for metrics that are images. It writes nothing by itself.
//   t: as in Image.  Returns a string []: a serialized Summary.
//   MetricMap{{"confusion", {.value = summary::ImageValue("confusion", picture), .update = add}}}
// Evaluation writes the images with the tags `confusion/0`, `confusion/1`, ..., from the metric's
// name.
// Source: TF 2.15 tf.compat.v1.summary.image, whose value it is (op ImageSummary).
Tensor ImageValue(StringArg tag, const Tensor& t, int max_outputs = 3);

}  // namespace estimator::summary

#endif  // ESTIMATOR_OPS_SUMMARY_H_
