#include "estimator/proto/serialize.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {

bool SerializeSorted(const google::protobuf::MessageLite& message, std::string* bytes) {
  google::protobuf::io::StringOutputStream stream(bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  return message.SerializeToCodedStream(&coded);
}  // the destructors of the streams flush into bytes

absl::StatusOr<std::string> SerializeWithinLimit(const google::protobuf::MessageLite& message,
                                                 absl::string_view what, absl::string_view cure,
                                                 size_t max_bytes) {
  const size_t size = message.ByteSizeLong();
  if (size > max_bytes) {
    return ResourceExhausted(what, " would have ", size, " bytes (",
                             HumanBytes(static_cast<int64_t>(size)), "), but at most ", max_bytes,
                             " can be written (protobuf's limit is 2 GiB): ", cure);
  }
  std::string bytes;
  if (!SerializeSorted(message, &bytes))
    return absl::InternalError(absl::StrCat(what, ": protobuf cannot serialize this message"));
  return bytes;
}

bool ParseWithinLimit(absl::string_view bytes, google::protobuf::MessageLite* message) {
  return bytes.size() <= kMaxMessageBytes &&
         message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace estimator
