#include "estimator/base/home_directory.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace estimator {

std::string ExpandHome(StringArg path) {
  if (path != "~" && !absl::StartsWith(path, "~/")) return std::string(path);
  const char* home = getenv("HOME");
  if (home == nullptr || *home == '\0') {
    const struct passwd* const user = ::getpwuid(::getuid());
    home = user == nullptr ? nullptr : user->pw_dir;
  }
  if (home == nullptr || *home == '\0') return std::string(path);
  return absl::StrCat(home, path.substr(1));
}

}  // namespace estimator
