// A directory for one test. It is removed, with everything in it, at the end of the scope.
#ifndef ESTIMATOR_BASE_TESTING_TEMP_DIR_H_
#define ESTIMATOR_BASE_TESTING_TEMP_DIR_H_

#include <absl/strings/string_view.h>

#include <string>

namespace estimator {

// It is created in $TEST_TMPDIR (set by Bazel), else $TMPDIR, else /tmp. CHECKs that this succeeds.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

  // The path of the file `name` in this directory. The file need not exist.
  std::string File(absl::string_view name) const;

 private:
  std::string path_;
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_TEMP_DIR_H_
