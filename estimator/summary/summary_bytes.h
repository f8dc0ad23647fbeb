// Serialized Summary messages: what summary ops compute and EventFileWriter::AddSummary takes.
// Those of tensors and images give RESOURCE_EXHAUSTED where protobuf's 2 GiB do not suffice.
#ifndef ESTIMATOR_SUMMARY_SUMMARY_BYTES_H_
#define ESTIMATOR_SUMMARY_SUMMARY_BYTES_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/proto/serialize.h"

namespace estimator {

// Two serialized messages, one after another, are a serialized message with the values of both.
std::string ScalarSummary(absl::string_view tag, float value);

// values: numeric, of any shape. See histogram.h.
// Errors: INVALID_ARGUMENT for strings.
absl::StatusOr<std::string> HistogramSummary(absl::string_view tag, const Array& values);

// images: u8 or f32 [batch, height, width, channels]; see image.h. The first max_outputs get the
// tags "tag/image/0", "tag/image/1", ...; a single one "tag/image".
absl::StatusOr<std::string> ImageSummary(absl::string_view tag, const Array& images,
                                         int max_outputs = 3);
// One image [height, width, channels] under the tag itself.
absl::StatusOr<std::string> SingleImageSummary(absl::string_view tag, const Array& image);

// A tensor of any dtype, for the TensorBoard plugin of that name ("text" shows Markdown), if any.
absl::StatusOr<std::string> TensorSummary(absl::string_view tag, const Array& value,
                                          absl::string_view plugin_name = "");

// A serialized Summary with the tags "tag/0", "tag/1", ... instead of its own.
// Errors: INVALID_ARGUMENT if it cannot be parsed, RESOURCE_EXHAUSTED if the new tags make more
// than max_bytes of it.
absl::StatusOr<std::string> RetagSummary(absl::string_view tag, absl::string_view serialized,
                                         size_t max_bytes = kMaxMessageBytes);

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_SUMMARY_BYTES_H_
