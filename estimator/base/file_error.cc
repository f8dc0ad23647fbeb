#include "estimator/base/file_error.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

namespace estimator {
namespace {

constexpr absl::string_view kUlimit = " (ulimit -";

// The soft limit of this process; RLIM_INFINITY if there is none.
rlim_t LimitOf(decltype(RLIMIT_FSIZE) resource) {
  rlimit limit = {};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

absl::Status FileError(int number, absl::string_view verb, absl::string_view path) {
  const absl::Status status = absl::ErrnoToStatus(number, absl::StrCat("cannot ", verb, " ", path));
  std::string cure;
  if (number == EFBIG && LimitOf(RLIMIT_FSIZE) != RLIM_INFINITY)
    cure = absl::StrCat("; the system limits files to ", LimitOf(RLIMIT_FSIZE), " bytes", kUlimit,
                        "f)");
  if (number == EMFILE)
    cure = absl::StrCat("; the system limits this process to ", LimitOf(RLIMIT_NOFILE),
                        " open files", kUlimit, "n); raise the limit");
  return cure.empty() ? status : absl::Status(status.code(), absl::StrCat(status.message(), cure));
}

bool IsProcessLimit(const absl::Status& status) {
  return absl::StrContains(status.message(), kUlimit);
}

}  // namespace estimator
