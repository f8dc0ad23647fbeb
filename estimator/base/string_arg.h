// StringArg: the type of a parameter that takes any kind of string.
#ifndef ESTIMATOR_BASE_STRING_ARG_H_
#define ESTIMATOR_BASE_STRING_ARG_H_

#include <absl/strings/string_view.h>

#include <string_view>

namespace estimator {

// Converts from a literal, a std::string, a std::string_view and an absl::string_view. In Debian's
// absl (20220623) the two views are different types that do not convert into each other. It is an
// absl::string_view, so a function uses it as one. Use it as a parameter only: the characters
// belong to the caller. A field of options is a std::string: write std::string(view).
class StringArg : public absl::string_view {
 public:
  using absl::string_view::string_view;  // a literal, a std::string, a pointer and a length
  constexpr StringArg() = default;
  constexpr StringArg(absl::string_view text) : absl::string_view(text) {}  // NOLINT: by design
#ifndef ABSL_USES_STD_STRING_VIEW
  constexpr StringArg(std::string_view text)  // NOLINT
      : absl::string_view(text.data(), text.size()) {}
#endif
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_STRING_ARG_H_
