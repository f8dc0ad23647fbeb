// Explains errors of a process that runs out of memory, of threads, of open files, or of room in a
// file.
#ifndef ESTIMATOR_BASE_OUT_OF_RESOURCES_H_
#define ESTIMATOR_BASE_OUT_OF_RESOURCES_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <exception>

namespace estimator {

// RESOURCE_EXHAUSTED, with cause and cure, if `thrown` is std::bad_alloc or says that no thread can
// be started. OK for all other exceptions.
absl::Status OutOfResourcesError(const std::exception& thrown);

// "cannot open run/checkpoint: Permission denied". If the process is at a limit of its own, the
// message has the limit and the command that shows it: "(ulimit -n)", "(ulimit -f)".
//   number: the errno.  verb: "open", or "rename X to".
absl::Status FileError(int number, absl::string_view verb, absl::string_view path);

// Whether the error is about such a limit. Free space on the disk does not cure it.
bool IsProcessLimit(const absl::Status& status);

// Main calls this; a program without Main may call it. From then on
//   - such an exception that nothing catches prints its error and ends the process with
//     `exit_code`, instead of an abort. This includes the exceptions of other threads.
//   - a process that libgomp ends, because no thread can be started, also prints the cure.
//   - a file that reaches the limit of the size of files (ulimit -f) gives an error to the code
//     that writes it. Without this call SIGXFSZ ends the process.
void InstallOutOfResourcesHandlers(int exit_code);

// Main calls this when its body has returned. A later exit() is then not that of libgomp.
void ExpectExit();

}  // namespace estimator

#endif  // ESTIMATOR_BASE_OUT_OF_RESOURCES_H_
