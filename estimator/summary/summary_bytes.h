// Makes serialized Summary messages. Summary ops compute them, and EventFileWriter::AddSummary
// writes them. The functions that return a StatusOr fail with RESOURCE_EXHAUSTED if the message
// exceeds protobuf's limit of 2 GiB.
#ifndef ESTIMATOR_SUMMARY_SUMMARY_BYTES_H_
#define ESTIMATOR_SUMMARY_SUMMARY_BYTES_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/proto/serialize.h"

namespace estimator {

// The summary of one number. Serialized messages can be concatenated: the result is a message with
// the values of both.
std::string ScalarSummary(absl::string_view tag, float value);

// values: numeric, of any shape. See histogram.h.
// Errors: INVALID_ARGUMENT for strings.
absl::StatusOr<std::string> HistogramSummary(absl::string_view tag, const Array& values);

// The first max_outputs images, with the tags "tag/image/0", "tag/image/1", ... If max_outputs is
// 1, the tag is "tag/image".
//   images: u8 or f32 [batch, height, width, channels]; see image.h.
absl::StatusOr<std::string> ImageSummary(absl::string_view tag, const Array& images,
                                         int max_outputs = 3);
// One image [height, width, channels] under the tag itself.
absl::StatusOr<std::string> SingleImageSummary(absl::string_view tag, const Array& image);

// A tensor of any dtype.
//   plugin_name: the TensorBoard plugin that shows it ("text" shows Markdown); empty for none.
absl::StatusOr<std::string> TensorSummary(absl::string_view tag, const Array& value,
                                          absl::string_view plugin_name = "");

// A serialized Summary with its tags replaced by "tag/0", "tag/1", ...
// Errors: INVALID_ARGUMENT if it cannot be parsed; RESOURCE_EXHAUSTED if the result has more than
// max_bytes.
absl::StatusOr<std::string> RetagSummary(absl::string_view tag, absl::string_view serialized,
                                         size_t max_bytes = kMaxMessageBytes);

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_SUMMARY_BYTES_H_
