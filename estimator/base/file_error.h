// The error of a system call on a file.
#ifndef ESTIMATOR_BASE_FILE_ERROR_H_
#define ESTIMATOR_BASE_FILE_ERROR_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

namespace estimator {

// "cannot open run/checkpoint: Permission denied". If the process is at a limit of its own, the
// message has the limit and the command that shows it: "(ulimit -n)", "(ulimit -f)".
//   number: the errno.  verb: "open", or "rename X to".
absl::Status FileError(int number, absl::string_view verb, absl::string_view path);

// Whether the error is about such a limit. Free space on the disk does not cure it.
bool IsProcessLimit(const absl::Status& status);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FILE_ERROR_H_
