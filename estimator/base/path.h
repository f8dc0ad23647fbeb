// Functions on paths as strings. They do not access the disk. The separator is '/'.
#ifndef ESTIMATOR_BASE_PATH_H_
#define ESTIMATOR_BASE_PATH_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <initializer_list>
#include <string>

#include "estimator/base/string_arg.h"

namespace estimator {

// Joins the parts with exactly one '/' between them and skips empty parts. JoinPath("a/", "/b") is
// "a/b".
std::string JoinPaths(std::initializer_list<absl::string_view> parts);

template <typename... Parts>
std::string JoinPath(const Parts&... parts) {
  return JoinPaths({StringArg(parts)...});
}

// The part after the last '/': Basename("a/b.txt") is "b.txt", Basename("a/") is "".
absl::string_view Basename(StringArg path);

// The part before the last '/': Dirname("a/b.txt") is "a", Dirname("/a") is "/", Dirname("a") is
// "".
absl::string_view Dirname(StringArg path);

// The length of the scheme of a URL: 2 for "gs://bucket/a". 0 for a path without one: "a", "/a//b",
// "a/b://c".
size_t SchemeSize(StringArg path);

// Whether the path depends on no current directory: "/a" and "gs://bucket/a".
bool IsAbsolutePath(StringArg path);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_PATH_H_
