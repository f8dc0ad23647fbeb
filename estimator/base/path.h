// Paths as strings, without a look at the disk. The separator is '/'.
#ifndef ESTIMATOR_BASE_PATH_H_
#define ESTIMATOR_BASE_PATH_H_

#include <absl/strings/string_view.h>

#include <initializer_list>
#include <string>

namespace estimator {

// Joined by exactly one '/'; empty parts are left out. JoinPath("a/", "/b") is "a/b".
std::string JoinPaths(std::initializer_list<absl::string_view> parts);

template <typename... Parts>
std::string JoinPath(const Parts&... parts) {
  return JoinPaths({absl::string_view(parts)...});
}

// What follows the last '/': of "a/b.txt" "b.txt", of "a/" "".
absl::string_view Basename(absl::string_view path);

// What precedes the last '/': of "a/b.txt" "a", of "/a" "/", of "a" "".
absl::string_view Dirname(absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_PATH_H_
