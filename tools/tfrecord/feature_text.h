// Shows the values of a tf.train.Feature as text.
#ifndef TOOLS_TFRECORD_FEATURE_TEXT_H_
#define TOOLS_TFRECORD_FEATURE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/proto/example.pb.h"

namespace estimator {

// "int64", "float", "bytes", or "-" for a feature without a list.
std::string FeatureType(const proto::Feature& feature);
// The number of values.
int64_t FeatureSize(const proto::Feature& feature);
// Value i: a number, or the bytes with escapes. REQUIRES: 0 <= i < FeatureSize(feature).
std::string FeatureValueText(const proto::Feature& feature, int64_t i);
// The first values, separated by commas. Bytes are in quotes, or as BytesText.
std::string FeatureText(const proto::Feature& feature, int64_t max_values);
// Short bytes in quotes with escapes; long ones and images by what they are: "JPEG, 4021 bytes".
std::string BytesText(absl::string_view bytes);

}  // namespace estimator

#endif  // TOOLS_TFRECORD_FEATURE_TEXT_H_
