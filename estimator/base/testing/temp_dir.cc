#include "estimator/base/testing/temp_dir.h"

#include <glog/logging.h>

#include <cstdlib>

#include "estimator/base/file_system.h"
#include "estimator/base/path.h"

namespace estimator {
namespace {

std::string Root() {
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return "/tmp";
}

}  // namespace

TempDir::TempDir() : path_(JoinPath(Root(), "estimator.XXXXXX")) {
  PCHECK(::mkdtemp(path_.data()) != nullptr) << path_;
}

TempDir::~TempDir() {
  const absl::Status status = RemoveDirectoryRecursively(path_);
  LOG_IF(WARNING, !status.ok()) << status;
}

std::string TempDir::File(absl::string_view name) const { return JoinPath(path_, name); }

}  // namespace estimator
