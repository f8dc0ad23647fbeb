#include "estimator/base/path.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

namespace estimator {

std::string JoinPaths(std::initializer_list<absl::string_view> parts) {
  std::string path;
  for (absl::string_view part : parts) {
    if (part.empty()) continue;
    if (path.empty()) {
      path = std::string(part);
      continue;
    }
    while (absl::ConsumePrefix(&part, "/")) {
    }
    absl::StrAppend(&path, path.back() == '/' ? "" : "/", part);
  }
  return path;
}

absl::string_view Basename(StringArg path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

absl::string_view Dirname(StringArg path) {
  const size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return "";
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

size_t SchemeSize(StringArg path) {
  // Nearly all paths are local, and begin so or have no colon.
  if (path.empty() || path[0] == '/' || path[0] == '.') return 0;
  const size_t size = path.find("://");
  return size == absl::string_view::npos || path.find('/') < size ? 0 : size;
}

bool IsAbsolutePath(StringArg path) {
  return !path.empty() && (path[0] == '/' || SchemeSize(path) > 0);
}

}  // namespace estimator
