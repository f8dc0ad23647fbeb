// Names on the disk: what is there, make, rename, remove, list. Every error carries the path and
// the system's words. Folders are "directories" in names, as in POSIX.
#ifndef ESTIMATOR_BASE_FILE_SYSTEM_H_
#define ESTIMATOR_BASE_FILE_SYSTEM_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>
#include <vector>

namespace estimator {

// True for anything of that name, a directory too.
bool FileExists(absl::string_view path);
bool IsDirectory(absl::string_view path);

absl::StatusOr<int64_t> FileSize(absl::string_view path);

// Time of the last change of the contents, in seconds since 1970, with its fraction.
absl::StatusOr<double> FileModifiedTimeSeconds(absl::string_view path);

// Makes path and the directories above it, where they are not there yet.
absl::Status CreateDirectories(absl::string_view path);

// Whether CreateDirectories(path) would succeed and files could be made there: an empty folder,
// ".writable-XXXXXX", is made in the nearest that exists, and removed.
// Errors: FAILED_PRECONDITION if the path, or one above it, is a file; PERMISSION_DENIED if the
// user may not write there; others of the file system, as when it is full: each naming the path
// that is in the way.
absl::Status CheckWritableDirectory(absl::string_view path);

// Replaces a file `to` in one step: others see the old one or the new one, never neither.
// It survives a power loss only after SyncDirectory of to's directory.
absl::Status RenameFile(absl::string_view from, absl::string_view to);

// Makes `to` another name of the file `from`, which a change of either changes for both. Errors:
// ALREADY_EXISTS; where the file system has no such links, its words.
absl::Status LinkFile(absl::string_view from, absl::string_view to);

// Makes renames, creations and removals in a directory survive a power loss. "" is the current one.
absl::Status SyncDirectory(absl::string_view path);

// NOT_FOUND if it is not there.
absl::Status RemoveFile(absl::string_view path);

// OK if it is not there. Does not follow symbolic links.
absl::Status RemoveDirectoryRecursively(absl::string_view path);

// The names in a directory, sorted by bytes, without "." and "..".
absl::StatusOr<std::vector<std::string>> ListDirectory(absl::string_view path);

// The paths that match a shell pattern (* ? [abc]), sorted by bytes; none is no error. As in a
// shell,
// * does not match a name that begins with a dot, such as WriteFileAtomically's temporary names.
absl::StatusOr<std::vector<std::string>> Glob(absl::string_view pattern);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FILE_SYSTEM_H_
