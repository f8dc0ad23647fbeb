#include "estimator/summary/summary_bytes.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/proto/summary.pb.h"
#include "estimator/summary/histogram.h"
#include "estimator/summary/image.h"

namespace estimator {
namespace {

proto::Summary::Value* AddValue(absl::string_view tag, proto::Summary* summary) {
  proto::Summary::Value* const value = summary->add_value();
  value->set_tag(std::string(tag));
  return value;
}

absl::Status AddImage(absl::string_view tag, const Array& image, proto::Summary* summary) {
  EST_ASSIGN_OR_RETURN(std::string png, EncodePng(image));
  proto::Summary::Image* const out = AddValue(tag, summary)->mutable_image();
  out->set_height(static_cast<int32_t>(image.shape().dim(0)));
  out->set_width(static_cast<int32_t>(image.shape().dim(1)));
  out->set_colorspace(static_cast<int32_t>(image.shape().dim(2)));
  out->set_encoded_image_string(std::move(png));
  return absl::OkStatus();
}

}  // namespace

std::string ScalarSummary(absl::string_view tag, float value) {
  proto::Summary summary;
  AddValue(tag, &summary)->set_simple_value(value);
  return summary.SerializeAsString();
}

absl::StatusOr<std::string> HistogramSummary(absl::string_view tag, const Array& values) {
  if (!values.valid() || values.dtype() == DType::kString) {
    return InvalidArgument(tag, ": a histogram needs numbers, not ", values.TypeString());
  }
  const Histogram histogram = MakeHistogram(values);
  proto::Summary summary;
  proto::HistogramProto* const out = AddValue(tag, &summary)->mutable_histo();
  out->set_min(histogram.min);
  out->set_max(histogram.max);
  out->set_num(histogram.num);
  out->set_sum(histogram.sum);
  out->set_sum_squares(histogram.sum_squares);
  out->mutable_bucket_limit()->Add(histogram.limits.begin(), histogram.limits.end());
  out->mutable_bucket()->Add(histogram.buckets.begin(), histogram.buckets.end());
  return SerializeWithinLimit(summary, tag, "summarize a part of it");
}

absl::StatusOr<std::string> ImageSummary(absl::string_view tag, const Array& images,
                                         int max_outputs) {
  if (images.shape().rank() != 4 || max_outputs < 1) {
    return InvalidArgument(
        tag, ": images must be [batch, height, width, channels] and max_outputs > 0; they are ",
        images.TypeString(), ", max_outputs is ", max_outputs);
  }
  proto::Summary summary;
  const int64_t count = std::min<int64_t>(max_outputs, images.shape().dim(0));
  for (int64_t i = 0; i < count; ++i) {
    const std::string full =
        max_outputs == 1 ? absl::StrCat(tag, "/image") : absl::StrCat(tag, "/image/", i);
    EST_RETURN_IF_ERROR(Annotate(AddImage(full, images.Row(i), &summary), full));
  }
  return SerializeWithinLimit(summary, tag, "summarize a part of it");
}

absl::StatusOr<std::string> SingleImageSummary(absl::string_view tag, const Array& image) {
  proto::Summary summary;
  EST_RETURN_IF_ERROR(Annotate(AddImage(tag, image, &summary), tag));
  return SerializeWithinLimit(summary, tag, "summarize a part of it");
}

absl::StatusOr<std::string> TensorSummary(absl::string_view tag, const Array& value,
                                          absl::string_view plugin_name) {
  if (!value.valid()) return InvalidArgument(tag, ": the value is empty");
  proto::Summary summary;
  proto::Summary::Value* const out = AddValue(tag, &summary);
  proto::TensorProto* const tensor = out->mutable_tensor();
  tensor->set_dtype(static_cast<proto::DataType>(value.dtype()));
  for (const int64_t size : value.shape().dims()) {
    tensor->mutable_tensor_shape()->add_dim()->set_size(size);
  }
  if (value.dtype() == DType::kString) {
    for (const std::string& text : value.values<std::string>()) tensor->add_string_val(text);
  } else {
    tensor->set_tensor_content(value.raw(), value.num_bytes());
  }
  if (!plugin_name.empty()) {
    out->mutable_metadata()->mutable_plugin_data()->set_plugin_name(std::string(plugin_name));
  }
  return SerializeWithinLimit(summary, tag, "summarize a part of it");
}

absl::StatusOr<std::string> RetagSummary(absl::string_view tag, absl::string_view serialized,
                                         size_t max_bytes) {
  proto::Summary summary;
  if (!ParseWithinLimit(serialized, &summary)) {
    return InvalidArgument(tag, ": the ", serialized.size(), " bytes are not a Summary");
  }
  for (int i = 0; i < summary.value_size(); ++i)
    summary.mutable_value(i)->set_tag(absl::StrCat(tag, "/", i));
  return SerializeWithinLimit(summary, tag, "summarize a part of it", max_bytes);
}

}  // namespace estimator
