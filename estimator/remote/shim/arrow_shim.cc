// See arrow_shim.h. Compiled by tools/get_arrow.sh with the headers of the pyarrow wheel, and not
// by Bazel.
#include "estimator/remote/shim/arrow_shim.h"

#include <arrow/filesystem/filesystem.h>
#include <arrow/filesystem/s3fs.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/io_util.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

struct EstArrowFileSystem {
  std::shared_ptr<arrow::fs::FileSystem> arrow;
};

struct EstArrowReader {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
};

struct EstArrowWriter {
  EstArrowFileSystem* file_system = nullptr;
  std::string path;
  std::string written_path;  // differs from path where Arrow shows a file before it is whole
  std::shared_ptr<arrow::io::OutputStream> stream;  // null once closed
};

namespace {

using arrow::Status;

EstArrowError* NewError(int kind, const std::string& message) {
  auto* const error = new EstArrowError{kind, nullptr};
  error->message = ::strdup(message.c_str());
  return error;
}

void FreeError(EstArrowError* error) {
  if (error == nullptr) return;
  ::free(const_cast<char*>(error->message));
  delete error;
}

// Arrow's status says only that it is an error of input or output. The stores' own words for a
// refusal are in its message: Google's, Amazon's, Microsoft's, and the codes of HTTP.
int KindOf(const Status& status) {
  if (arrow::internal::ErrnoFromStatus(status) == ENOENT) return EST_ARROW_NOT_FOUND;
  if (status.IsInvalid() || status.IsTypeError() || status.IsNotImplemented()) {
    return EST_ARROW_INVALID;
  }
  const std::string& message = status.message();
  const auto has = [&message](const char* text) { return message.find(text) != std::string::npos; };
  for (const char* text : {"PERMISSION_DENIED", "UNAUTHENTICATED", "ACCESS_DENIED",
                           "INVALID_ACCESS", "SIGNATURE_DOES_NOT_MATCH", "AuthorizationFailure",
                           "HTTP status 403", "HTTP status 401", "access token", "credentials"}) {
    if (has(text)) return EST_ARROW_PERMISSION_DENIED;
  }
  for (const char* text :
       {"NOT_FOUND", "NO_SUCH_", "BlobNotFound", "ContainerNotFound", "Path does not exist",
        "No such file", "No such directory", "HTTP status 404"}) {
    if (has(text)) return EST_ARROW_NOT_FOUND;
  }
  return EST_ARROW_UNAVAILABLE;
}

EstArrowError* ToError(const Status& status) {
  return status.ok() ? nullptr : NewError(KindOf(status), status.message());
}

// Runs fn() -> Status. The libraries of the stores throw.
template <typename Fn>
EstArrowError* Try(const Fn& fn) {
  try {
    return ToError(fn());
  } catch (const std::exception& e) {
    return NewError(EST_ARROW_UNAVAILABLE, e.what());
  } catch (...) {
    return NewError(EST_ARROW_UNAVAILABLE, "an unknown exception");
  }
}

EstArrowInfo ToInfo(const arrow::fs::FileInfo& info) {
  EstArrowInfo out{};
  out.kind = info.type() == arrow::fs::FileType::NotFound    ? EST_ARROW_NONE
             : info.type() == arrow::fs::FileType::Directory ? EST_ARROW_DIRECTORY
                                                             : EST_ARROW_FILE;
  out.size = info.size() > 0 ? info.size() : 0;
  const int64_t ns = info.mtime().time_since_epoch().count();
  out.modified_ns = ns > 0 ? ns : 0;
  return out;
}

// Amazon's library must end before the process does.
void FinalizeS3() { (void)arrow::fs::EnsureS3Finalized(); }

// Arrow's URI has no word for S3 without credentials, so it is made here.
Status ConnectS3Anonymously(const std::string& uri, std::shared_ptr<arrow::fs::FileSystem>* out) {
  ARROW_RETURN_NOT_OK(arrow::fs::EnsureS3Initialized());
  ARROW_ASSIGN_OR_RAISE(arrow::fs::S3Options options, arrow::fs::S3Options::FromUri(uri));
  options.ConfigureAnonymousCredentials();
  ARROW_ASSIGN_OR_RAISE(*out, arrow::fs::S3FileSystem::Make(options));
  return Status::OK();
}

EstArrowError* Connect(const char* uri, EstArrowFileSystem** file_system) {
  return Try([&]() -> Status {
    const std::string anonymous = "s3://anonymous@", text = uri;
    std::shared_ptr<arrow::fs::FileSystem> made;
    if (text.compare(0, anonymous.size(), anonymous) == 0) {
      ARROW_RETURN_NOT_OK(ConnectS3Anonymously("s3://" + text.substr(anonymous.size()), &made));
    } else {
      ARROW_ASSIGN_OR_RAISE(made, arrow::fs::FileSystemFromUri(text));
    }
    if (made->type_name() == "s3") {
      static std::once_flag once;
      std::call_once(once, [] { std::atexit(FinalizeS3); });
    }
    *file_system = new EstArrowFileSystem{std::move(made)};
    return Status::OK();
  });
}

EstArrowError* Stat(EstArrowFileSystem* file_system, const char* path, EstArrowInfo* info) {
  return Try([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo found, file_system->arrow->GetFileInfo(path));
    *info = ToInfo(found);
    return Status::OK();
  });
}

EstArrowError* List(EstArrowFileSystem* file_system, const char* path,
                    void (*entry)(void* context, const char* name, const EstArrowInfo* info),
                    void* context) {
  return Try([&]() -> Status {
    arrow::fs::FileSelector selector;
    selector.base_dir = path;
    selector.allow_not_found = true;
    // Arrow lists no directories of Google's that have no marker of its own, as those of other
    // programs. So everything below is listed, and the directories follow from it.
    selector.recursive = file_system->arrow->type_name() == "gcs";
    ARROW_ASSIGN_OR_RAISE(const auto infos, file_system->arrow->GetFileInfo(selector));
    const size_t below = selector.base_dir.size() + 1;
    std::set<std::string> directories;
    for (const arrow::fs::FileInfo& info : infos) {
      if (info.path().size() <= below) continue;
      const std::string name = info.path().substr(below);
      const EstArrowInfo out = ToInfo(info);
      if (const size_t slash = name.find('/'); slash != std::string::npos) {
        directories.insert(name.substr(0, slash));
      } else if (info.IsDirectory()) {
        directories.insert(name);
      } else {
        entry(context, name.c_str(), &out);
      }
    }
    EstArrowInfo directory{};
    directory.kind = EST_ARROW_DIRECTORY;
    for (const std::string& name : directories) entry(context, name.c_str(), &directory);
    return Status::OK();
  });
}

EstArrowError* Remove(EstArrowFileSystem* file_system, const char* path) {
  return Try([&] { return file_system->arrow->DeleteFile(path); });
}

EstArrowError* RemoveDirectory(EstArrowFileSystem* file_system, const char* path) {
  return Try([&]() -> Status {
    const Status status = file_system->arrow->DeleteDir(path);
    return !status.ok() && KindOf(status) == EST_ARROW_NOT_FOUND ? Status::OK() : status;
  });
}

EstArrowError* Copy(EstArrowFileSystem* file_system, const char* from, const char* to) {
  return Try([&] { return file_system->arrow->CopyFile(from, to); });
}

EstArrowError* OpenReader(EstArrowFileSystem* file_system, const char* path,
                          EstArrowReader** reader, int64_t* size) {
  return Try([&]() -> Status {
    ARROW_ASSIGN_OR_RAISE(auto file, file_system->arrow->OpenInputFile(path));
    ARROW_ASSIGN_OR_RAISE(*size, file->GetSize());
    *reader = new EstArrowReader{std::move(file)};
    return Status::OK();
  });
}

EstArrowError* Read(EstArrowReader* reader, int64_t offset, int64_t n, char* buffer,
                    int64_t* count) {
  return Try([&]() -> Status {
    *count = 0;
    while (*count < n) {
      ARROW_ASSIGN_OR_RAISE(const int64_t some,
                            reader->file->ReadAt(offset + *count, n - *count, buffer + *count));
      if (some == 0) break;
      *count += some;
    }
    return Status::OK();
  });
}

void CloseReader(EstArrowReader* reader) {
  FreeError(Try([&] { return reader->file->Close(); }));
  delete reader;
}

EstArrowError* OpenWriter(EstArrowFileSystem* file_system, const char* path,
                          EstArrowWriter** writer) {
  return Try([&]() -> Status {
    auto made = std::make_unique<EstArrowWriter>();
    made->file_system = file_system;
    made->path = made->written_path = path;
    // Arrow empties an Azure blob when it opens it. Readers must not see that, so the blob is
    // written under another name and copied.
    if (file_system->arrow->type_name() == "abfs") made->written_path += ".being-written";
    ARROW_ASSIGN_OR_RAISE(made->stream, file_system->arrow->OpenOutputStream(made->written_path));
    *writer = made.release();
    return Status::OK();
  });
}

EstArrowError* Write(EstArrowWriter* writer, const char* data, int64_t n) {
  return Try([&] { return writer->stream->Write(data, n); });
}

EstArrowError* Commit(EstArrowWriter* writer) {
  return Try([&]() -> Status {
    ARROW_RETURN_NOT_OK(writer->stream->Close());
    writer->stream = nullptr;
    if (writer->written_path == writer->path) return Status::OK();
    auto& arrow = *writer->file_system->arrow;
    ARROW_RETURN_NOT_OK(arrow.CopyFile(writer->written_path, writer->path));
    return arrow.DeleteFile(writer->written_path);
  });
}

void CloseWriter(EstArrowWriter* writer) {
  const std::string type = writer->file_system->arrow->type_name();
  if (writer->stream != nullptr && type != "gcs") {
    FreeError(Try([&] { return writer->stream->Abort(); }));
    if (type == "abfs") FreeError(Remove(writer->file_system, writer->written_path.c_str()));
  } else if (writer->stream != nullptr) {
    // Arrow's stream for Google has no Abort: to close or delete it makes the part that was written
    // a file. So it is never deleted, and the store forgets the upload.
    new std::shared_ptr<arrow::io::OutputStream>(std::move(writer->stream));
  }
  delete writer;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const EstArrowShim* EstimatorArrowShim(void) {
  static const EstArrowShim shim = {
      EST_ARROW_SHIM_ABI, FreeError, Connect,     Stat,       List,  Remove, RemoveDirectory, Copy,
      OpenReader,         Read,      CloseReader, OpenWriter, Write, Commit, CloseWriter,
  };
  return &shim;
}
