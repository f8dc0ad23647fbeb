// Functions on paths as strings. They do not access the disk. The separator is '/'.
#ifndef ESTIMATOR_BASE_PATH_H_
#define ESTIMATOR_BASE_PATH_H_

#include <absl/strings/string_view.h>

#include <initializer_list>
#include <string>

namespace estimator {

// Joins the parts with exactly one '/' between them and skips empty parts. JoinPath("a/", "/b") is
// "a/b".
std::string JoinPaths(std::initializer_list<absl::string_view> parts);

template <typename... Parts>
std::string JoinPath(const Parts&... parts) {
  return JoinPaths({absl::string_view(parts)...});
}

// The part after the last '/': Basename("a/b.txt") is "b.txt", Basename("a/") is "".
absl::string_view Basename(absl::string_view path);

// The part before the last '/': Dirname("a/b.txt") is "a", Dirname("/a") is "/", Dirname("a") is
// "".
absl::string_view Dirname(absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_PATH_H_
