// A directory for one test, removed with everything in it at the end of the scope.
#ifndef ESTIMATOR_BASE_TESTING_TEMP_DIR_H_
#define ESTIMATOR_BASE_TESTING_TEMP_DIR_H_

#include <absl/strings/string_view.h>

#include <string>

namespace estimator {

// Lies under $TEST_TMPDIR (Bazel's), else $TMPDIR, else /tmp. CHECKs that it can be made.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

  // The path of a file in it, which need not exist.
  std::string File(absl::string_view name) const;

 private:
  std::string path_;
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_TEMP_DIR_H_
