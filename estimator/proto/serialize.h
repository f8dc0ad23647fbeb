// Serializes and parses messages within protobuf's limit of 2 GiB.
#ifndef ESTIMATOR_PROTO_SERIALIZE_H_
#define ESTIMATOR_PROTO_SERIALIZE_H_

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// protobuf counts bytes in an int, so it neither writes nor reads a message of 2 GiB or more. The
// same limit applies in TensorFlow.
inline constexpr size_t kMaxMessageBytes = std::numeric_limits<int>::max();

// Messages in messages of a text that is parsed. TextFormat::Parser has no limit of its own and
// would overflow the stack. This is the limit of the binary format.
inline constexpr int kMaxNesting = 100;

// Serializes a message. Map entries are sorted by key, so equal messages give equal bytes. Returns
// false if protobuf cannot serialize it.
bool SerializeSorted(const google::protobuf::MessageLite& message, std::string* bytes);

// The same with a limit.
//   what: the name of the message in an error, such as "saved_model.pb".
//   cure: a clause that says how to make it smaller, for the error.
// Errors: RESOURCE_EXHAUSTED, with both sizes, if it has more than max_bytes.
absl::StatusOr<std::string> SerializeWithinLimit(const google::protobuf::MessageLite& message,
                                                 absl::string_view what, absl::string_view cure,
                                                 size_t max_bytes = kMaxMessageBytes);

// Parses a message. Returns false if the bytes exceed protobuf's limit or are not such a message.
bool ParseWithinLimit(absl::string_view bytes, google::protobuf::MessageLite* message);

}  // namespace estimator

#endif  // ESTIMATOR_PROTO_SERIALIZE_H_
