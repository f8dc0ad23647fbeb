// Macros and helpers for absl::Status that Debian's absl (20220623) does not have.
#ifndef ESTIMATOR_BASE_STATUS_H_
#define ESTIMATOR_BASE_STATUS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <utility>

namespace estimator {

// Returns the status with "<context>: " before its message. Code and payloads stay the same. An OK
// status is returned unchanged.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload([&annotated](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

// InvalidArgument("axis ", axis, " is negative") is absl::InvalidArgumentError with the message
// that absl::StrCat makes of the parts. So are the others.
#define EST_DEFINE_ERROR(name)                        \
  template <typename... Parts>                        \
  absl::Status name(const Parts&... parts) {          \
    return absl::name##Error(absl::StrCat(parts...)); \
  }
EST_DEFINE_ERROR(DataLoss)
EST_DEFINE_ERROR(FailedPrecondition)
EST_DEFINE_ERROR(InvalidArgument)
EST_DEFINE_ERROR(NotFound)
EST_DEFINE_ERROR(OutOfRange)
EST_DEFINE_ERROR(ResourceExhausted)
EST_DEFINE_ERROR(Unimplemented)
#undef EST_DEFINE_ERROR

}  // namespace estimator

// Returns the status of the expression from the function if it is not OK.
#define EST_RETURN_IF_ERROR(...)               \
  do {                                         \
    absl::Status est_status_ = (__VA_ARGS__);  \
    if (!est_status_.ok()) return est_status_; \
  } while (false)

// Assigns the value of a StatusOr expression to lhs, or returns its status from the function. lhs
// may declare a variable. The macro expands to several statements: an `if` around it needs braces.
//   EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
#define EST_ASSIGN_OR_RETURN(lhs, ...) \
  EST_ASSIGN_OR_RETURN_AS_(EST_STATUS_CONCAT_(est_or_, __LINE__), lhs, __VA_ARGS__)

#define EST_ASSIGN_OR_RETURN_AS_(name, lhs, ...)   \
  auto name = (__VA_ARGS__);                       \
  if (!name.ok()) return std::move(name).status(); \
  lhs = *std::move(name)
#define EST_STATUS_CONCAT_(a, b) EST_STATUS_CONCAT_AGAIN_(a, b)
#define EST_STATUS_CONCAT_AGAIN_(a, b) a##b

#endif  // ESTIMATOR_BASE_STATUS_H_
