// Messages as bytes, within what protobuf takes.
#ifndef ESTIMATOR_PROTO_SERIALIZE_H_
#define ESTIMATOR_PROTO_SERIALIZE_H_

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// protobuf counts in ints: a message of 2 GiB is neither written nor read, by TensorFlow either.
inline constexpr size_t kMaxMessageBytes = std::numeric_limits<int>::max();

// The same bytes for the same message: maps are in the order of their keys.
//   what: it is written as: "saved_model.pb".  cure: what makes it smaller, a clause.
// Errors: RESOURCE_EXHAUSTED if it has more than max_bytes, with both.
absl::StatusOr<std::string> SerializeWithinLimit(const google::protobuf::MessageLite& message,
                                                 absl::string_view what, absl::string_view cure,
                                                 size_t max_bytes = kMaxMessageBytes);

// Parses a message from bytes of any number; false if they are more than protobuf takes or not one.
bool ParseWithinLimit(absl::string_view bytes, google::protobuf::MessageLite* message);

}  // namespace estimator

#endif  // ESTIMATOR_PROTO_SERIALIZE_H_
