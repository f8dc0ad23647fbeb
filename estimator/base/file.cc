#include "estimator/base/file.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <glog/logging.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "estimator/base/fault_injection.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// Large enough that the copy costs more than the system call, small enough for the L2 cache.
constexpr size_t kBufferBytes = size_t{256} << 10;
// A write to a remote file is a request.
constexpr size_t kRemoteBufferBytes = size_t{8} << 20;

absl::Status Error(absl::string_view verb, absl::string_view path) {
  return FileError(errno, verb, path);
}

absl::StatusOr<int> OpenFd(const std::string& path, int flags) {
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kOpen, path).status);
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) return Error("open", path);
  return fd;
}

// Refuses to read what is not a file: opening a pipe waits for a writer, and a device may have no
// end. An error of stat(2) is left to open(2), which has the same.
absl::Status CheckReadable(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return absl::OkStatus();
  if (S_ISDIR(info.st_mode)) return FailedPrecondition("cannot read ", path, ": Is a directory");
  const absl::string_view kind = S_ISFIFO(info.st_mode)   ? "a pipe"
                                 : S_ISSOCK(info.st_mode) ? "a socket"
                                                          : "a device";
  return FailedPrecondition("cannot read ", path, ": it is ", kind, "; give a regular file");
}

// Opens a file for reading; returns its descriptor and size.
absl::StatusOr<std::pair<int, int64_t>> OpenToRead(const std::string& path) {
  EST_RETURN_IF_ERROR(CheckReadable(path));
  EST_ASSIGN_OR_RETURN(const int fd, OpenFd(path, O_RDONLY));
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    const absl::Status status = Error("find", path);
    ::close(fd);
    return status;
  }
  return std::make_pair(fd, int64_t{info.st_size});
}

// Reads until n bytes are read or the file ends. pread(2) may return fewer bytes than asked for.
absl::StatusOr<size_t> ReadAt(int fd, const std::string& path, int64_t offset, size_t n,
                              char* buffer) {
  size_t done = 0;
  while (done < n) {
    const ssize_t count = ::pread(fd, buffer + done, n - done, offset + static_cast<int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error("read", path);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(StringArg path, int64_t max_bytes) {
  EST_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  if (file->size() > max_bytes) {
    return DataLoss(path, " has ", file->size(), " bytes, but a file of its kind has at most ",
                    max_bytes, "; it is damaged, or of another kind");
  }
  // The size is only a first guess: files of /proc report 0, and a file may grow while it is read.
  std::string contents;
  size_t piece = std::max<size_t>(static_cast<size_t>(file->size()) + 1, 4096);
  while (true) {
    const size_t done = contents.size();
    contents.resize(done + piece);
    EST_ASSIGN_OR_RETURN(const size_t count,
                         file->Read(static_cast<int64_t>(done), piece, contents.data() + done));
    contents.resize(done + count);
    if (count < piece) return contents;
    piece = contents.size();
  }
}

namespace {

// Resolves symbolic links. Renaming a file to the name of a link would replace the link itself.
std::string BehindLinks(absl::string_view path) {
  const std::filesystem::path link{std::string(path)};
  std::error_code error;
  if (!std::filesystem::is_symlink(link, error)) return std::string(path);
  const auto target = std::filesystem::weakly_canonical(link, error);
  return error ? std::string(path) : target.string();
}

// Whether path is a device or a pipe. Those are written to; renaming would replace them by a file.
bool IsStream(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

absl::Status WriteFileAtomically(StringArg path, StringArg contents) {
  if (IsRemotePath(path)) return WriteDerivedFile(path, contents);
  if (!IsStream(std::string(path))) return WriteDerivedFile(BehindLinks(path), contents);
  EST_ASSIGN_OR_RETURN(const auto stream, WritableFile::Open(path));
  EST_RETURN_IF_ERROR(stream->Append(contents));
  return stream->Close();
}

absl::Status WriteDerivedFile(StringArg path, StringArg contents) {
  if (IsRemotePath(path)) {
    EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(path));
    EST_RETURN_IF_ERROR(file->Append(contents));
    return Annotate(file->Close(), absl::StrCat("writing ", path));
  }
  static std::atomic<int> next_number = 0;
  const absl::string_view directory = Dirname(path);
  const std::string temporary = JoinPath(
      directory, absl::StrCat(".", Basename(path), ".tmp-", ::getpid(), "-", next_number++));
  const auto write = [&]() -> absl::Status {
    EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(temporary));
    EST_RETURN_IF_ERROR(file->Append(contents));
    EST_RETURN_IF_ERROR(file->Sync());
    EST_RETURN_IF_ERROR(file->Close());
    return RenameFile(temporary, path);
  };
  if (absl::Status status = write(); !status.ok()) {
    RemoveFile(temporary).IgnoreError();  // it may not exist
    return Annotate(status, absl::StrCat("writing ", path));
  }
  return SyncDirectory(directory);
}

absl::Status CopyFile(StringArg from, StringArg to) {
  EST_ASSIGN_OR_RETURN(const std::string contents, ReadFile(from));
  return WriteDerivedFile(to, contents);
}

absl::Status SyncFile(StringArg path) {
  if (IsRemotePath(path)) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(path, WritableFile::Mode::kAppend));
  EST_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

absl::StatusOr<std::unique_ptr<WritableFile>> WritableFile::Open(StringArg path, Mode mode) {
  std::string name(path);
  if (RemotePath remote(path); remote) {
    EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kOpen, path).status);
    absl::StatusOr<std::string> before = std::string();
    if (mode == Mode::kAppend) before = ReadFile(path);
    if (absl::IsNotFound(before.status())) before = std::string();
    EST_RETURN_IF_ERROR(before.status());
    std::unique_ptr<WritableFile> file(
        new WritableFile(std::move(name), -1, static_cast<int64_t>(before->size())));
    file->buffer_ = *std::move(before);
    file->remote_ = std::make_unique<RemotePath>(std::move(remote));
    return file;
  }
  const int flags = O_WRONLY | O_CREAT | (mode == Mode::kAppend ? O_APPEND : O_TRUNC);
  EST_ASSIGN_OR_RETURN(const int fd, OpenFd(name, flags));
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    const absl::Status status = Error("find", path);
    ::close(fd);
    return status;
  }
  return std::unique_ptr<WritableFile>(new WritableFile(std::move(name), fd, info.st_size));
}

WritableFile::WritableFile(std::string path, int fd, int64_t size)
    : path_(std::move(path)), fd_(fd), size_(size) {}

WritableFile::~WritableFile() {
  if (closed()) return;
  const absl::Status status = Close();
  LOG_IF(WARNING, !status.ok()) << status;
}

absl::Status WritableFile::Append(StringArg data) {
  EST_RETURN_IF_ERROR(status_);
  if (closed()) return FailedPrecondition(path_, " is closed");
  size_ += static_cast<int64_t>(data.size());
  const size_t buffer_bytes = remote_ == nullptr ? kBufferBytes : kRemoteBufferBytes;
  if (buffer_.size() + data.size() < buffer_bytes) {
    buffer_.append(data.data(), data.size());
    return absl::OkStatus();
  }
  EST_RETURN_IF_ERROR(Flush());
  if (data.size() >= buffer_bytes) return Write(data);
  buffer_.assign(data.data(), data.size());
  return absl::OkStatus();
}

absl::Status WritableFile::Flush() {
  EST_RETURN_IF_ERROR(status_);
  if (buffer_.empty()) return absl::OkStatus();
  EST_RETURN_IF_ERROR(Write(buffer_));
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status WritableFile::Write(StringArg data) {
  const Fault fault = AskFaultInjector(FileOperation::kWrite, path_);
  if (fault.truncate_after_bytes) {
    data = data.substr(0, static_cast<size_t>(*fault.truncate_after_bytes));
  } else if (!fault.status.ok()) {
    data = "";
  }
  if (remote_ != nullptr) {
    const absl::Status written = WriteRemote(data);
    return status_ = written.ok() ? fault.status : written;
  }
  while (!data.empty()) {
    const size_t piece =
        std::min(data.size(), static_cast<size_t>(fault.bytes_per_call.value_or(INT64_MAX)));
    const ssize_t count = ::write(fd_, data.data(), piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return status_ = Error("write", path_);
    data.remove_prefix(static_cast<size_t>(count));
  }
  return status_ = fault.status;
}

// Opened late, so that a small file costs no request before its commit.
absl::Status WritableFile::WriteRemote(absl::string_view data) {
  if (writer_ == nullptr) {
    EST_ASSIGN_OR_RETURN(writer_, remote_->OpenToWrite());
  }
  return data.empty() ? absl::OkStatus() : writer_->Write(data);
}

// Makes the remote file appear. It is the sync of a remote file: what makes the bytes last.
absl::Status WritableFile::Commit() {
  EST_RETURN_IF_ERROR(AskFaultInjector(FileOperation::kSync, path_).status);
  EST_RETURN_IF_ERROR(WriteRemote(""));
  return writer_->Commit();
}

absl::Status WritableFile::Sync() {
  EST_RETURN_IF_ERROR(Flush());
  if (closed()) return FailedPrecondition(path_, " is closed");
  if (remote_ != nullptr) return absl::OkStatus();
  status_ = AskFaultInjector(FileOperation::kSync, path_).status;
  // EINVAL means a pipe or a terminal: there is nothing to sync.
  if (status_.ok() && ::fsync(fd_) != 0 && errno != EINVAL) status_ = Error("sync", path_);
  return status_;
}

absl::Status WritableFile::Close() {
  if (closed()) return FailedPrecondition(path_, " is closed");
  absl::Status status = Flush();
  if (remote_ != nullptr) {
    if (status.ok()) status = Commit();
    status.Update(AskFaultInjector(FileOperation::kClose, path_).status);
    writer_ = nullptr;
    remote_ = nullptr;
    return status;
  }
  status.Update(AskFaultInjector(FileOperation::kClose, path_).status);
  if (::close(std::exchange(fd_, -1)) != 0 && status.ok()) status = Error("close", path_);
  return status;
}

absl::Status WritableFile::Abandon() {
  if (closed()) return FailedPrecondition(path_, " is closed");
  buffer_.clear();
  if (remote_ == nullptr) return Close();
  writer_ = nullptr;
  remote_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> RandomAccessFile::Open(StringArg path) {
  std::string name(path);
  if (const RemotePath remote(path); remote) {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<RemoteReader> reader, remote.OpenToRead());
    const int64_t size = reader->size();
    return std::unique_ptr<RandomAccessFile>(
        new RandomAccessFile(std::move(name), -1, size, std::move(reader)));
  }
  EST_ASSIGN_OR_RETURN(const auto opened, OpenToRead(name));
  return std::unique_ptr<RandomAccessFile>(
      new RandomAccessFile(std::move(name), opened.first, opened.second));
}

RandomAccessFile::RandomAccessFile(std::string path, int fd, int64_t size,
                                   std::unique_ptr<const RemoteReader> reader)
    : path_(std::move(path)), fd_(fd), size_(size), reader_(std::move(reader)) {}

RandomAccessFile::~RandomAccessFile() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<size_t> RandomAccessFile::Read(int64_t offset, size_t n, char* buffer) const {
  const Fault fault = AskFaultInjector(FileOperation::kRead, path_);
  EST_RETURN_IF_ERROR(fault.status);
  if (fault.truncate_after_bytes) n = std::min<size_t>(n, *fault.truncate_after_bytes);
  if (reader_ != nullptr) return reader_->Read(offset, n, buffer);
  return ReadAt(fd_, path_, offset, n, buffer);
}

absl::Status RandomAccessFile::ReadExactly(int64_t offset, size_t n, char* buffer) const {
  EST_ASSIGN_OR_RETURN(const size_t count, Read(offset, n, buffer));
  if (count == n) return absl::OkStatus();
  return OutOfRange(path_, " ends at byte ", offset + count, ": ", n, " bytes at offset ", offset,
                    " are not there");
}

absl::StatusOr<std::unique_ptr<MmapFile>> MmapFile::Open(StringArg path) {
  std::string name(path);
  if (IsRemotePath(path)) return Unimplemented("cannot map ", path, ": it is a remote file");
  EST_ASSIGN_OR_RETURN(const auto opened, OpenToRead(name));
  const auto [fd, file_size] = opened;
  const absl::Cleanup close = [fd = fd] { ::close(fd); };
  const Fault fault = AskFaultInjector(FileOperation::kRead, name);
  EST_RETURN_IF_ERROR(fault.status);
  const auto size =
      static_cast<size_t>(std::min(file_size, fault.truncate_after_bytes.value_or(file_size)));
  absl::string_view data;
  if (size > 0) {  // mmap(2) refuses an empty range
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (address == MAP_FAILED) return Error("map", name);
    data = absl::string_view(static_cast<const char*>(address), size);
  }
  return std::unique_ptr<MmapFile>(new MmapFile(std::move(name), data));
}

MmapFile::MmapFile(std::string path, absl::string_view data)
    : path_(std::move(path)), data_(data) {}

MmapFile::~MmapFile() {
  if (!data_.empty()) ::munmap(const_cast<char*>(data_.data()), data_.size());
}

}  // namespace estimator
