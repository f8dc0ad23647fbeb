// Functions on names in the file system: they check, create, rename, remove and list them. Every
// error contains the path and the system's message. A path as gs://bucket/name is one of a remote
// file system, if its scheme is registered (remote/remote_file_system.h). There, directories need
// not be created, and what is said of links, locks and power losses does not apply.
#ifndef ESTIMATOR_BASE_FILE_SYSTEM_H_
#define ESTIMATOR_BASE_FILE_SYSTEM_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/base/status_or_range.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// True for a file, a directory, or anything else of that name; false if there is none.
// Errors: what keeps the answer unknown, such as EIO or ESTALE. It must not be taken for "there is
// none" before something is removed, overwritten or begun anew.
absl::StatusOr<bool> Exists(StringArg path);
// True for a directory, also through a symbolic link. Errors: as those of Exists.
absl::StatusOr<bool> DirectoryExists(StringArg path);

// The same without errors, for messages and for what is opened next. What is unknown counts as
// there, so that opening it gives the error, and as no directory.
bool FileExists(StringArg path);
bool IsDirectory(StringArg path);

absl::StatusOr<int64_t> FileSize(StringArg path);

// The size of each of many files: nullopt if it does not exist, and 0 if that is unknown. Remote
// files cost a request for each directory, and not for each file.
std::vector<std::optional<int64_t>> FileSizes(const std::vector<std::string>& paths);

// Whether both are one file or directory, also under two names of it. False if one does not exist.
bool IsSameFile(StringArg a, StringArg b);
bool IsSymbolicLink(StringArg path);

// Time of the last change of the contents, in seconds since 1970, with a fraction.
absl::StatusOr<double> FileModifiedTimeSeconds(StringArg path);

// Creates the directory and its parents. A directory that exists already is no error.
// Errors: INVALID_ARGUMENT for a URL whose scheme is not registered.
absl::Status CreateDirectories(StringArg path);

// Checks that CreateDirectories(path) would succeed and that files can be created in path. To find
// out, an empty directory ".writable-XXXXXX" is created in the nearest existing parent and removed;
// in a remote directory, an empty file.
// Errors: INVALID_ARGUMENT as CreateDirectories; FAILED_PRECONDITION if path or a parent is a file;
// PERMISSION_DENIED if the user may not write there; other errors of the file system, for example
// when it is full. Each names the path that causes it.
absl::Status CheckWritableDirectory(StringArg path);

// Renames a file atomically and replaces `to` if it exists. Other processes always see either the
// old file or the new one. The change survives a power loss only after SyncDirectory of the
// directory of `to`. A remote file is copied and then removed, so it may have both names for a
// while, and a remote directory cannot be renamed.
absl::Status RenameFile(StringArg from, StringArg to);

// Creates a hard link: `to` becomes another name of the file `from`, with the same contents.
// Errors: ALREADY_EXISTS if `to` exists; the system's error if the file system has no hard links.
// A remote file is copied.
absl::Status LinkFile(StringArg from, StringArg to);

// Makes renames, creations and removals in a directory survive a power loss. "" is the current
// directory.
absl::Status SyncDirectory(StringArg path);

// Errors: NOT_FOUND if the file does not exist.
absl::Status RemoveFile(StringArg path);

// OK if the directory does not exist. Does not follow symbolic links.
absl::Status RemoveDirectoryRecursively(StringArg path);

// The names in a directory, sorted by bytes, without "." and "..". A remote directory that does not
// exist is empty.
StatusOrRange<std::vector<std::string>> ListDirectory(StringArg path);

// The paths that match a shell pattern (* ? [abc]), sorted by bytes; empty if none matches. As in a
// shell, * does not match a name that begins with a dot, such as the temporary names of
// WriteFileAtomically, and folders that the user may not read have no match.
// Errors: a folder that cannot be read, for example because of EIO.
StatusOrRange<std::vector<std::string>> Glob(StringArg pattern);
// The pattern that matches exactly this path, for a folder named "lr=[0.05]" before "/*".
std::string EscapeGlob(absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FILE_SYSTEM_H_
