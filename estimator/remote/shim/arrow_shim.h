// The functions of Apache Arrow's file systems that estimator/remote calls. tools/get_arrow.sh
// compiles arrow_shim.cc beside Arrow's library; the program finds EstimatorArrowShim with dlsym.
// Only types of C cross, so the two may be built by different compilers.
//
// Every function that can fail returns null, or an error that FreeError frees. No exception leaves
// one. All are thread-safe, except that a writer is used by one thread at a time. Paths are
// Arrow's: "bucket/name". A change of a struct or of a meaning changes EST_ARROW_SHIM_ABI.
#ifndef ESTIMATOR_REMOTE_SHIM_ARROW_SHIM_H_
#define ESTIMATOR_REMOTE_SHIM_ARROW_SHIM_H_

#include <cstdint>

#define EST_ARROW_SHIM_ABI 1

extern "C" {

enum EstArrowErrorKind {
  EST_ARROW_NOT_FOUND = 1,
  EST_ARROW_PERMISSION_DENIED = 2,
  EST_ARROW_INVALID = 3,      // a URI or a path that cannot be one
  EST_ARROW_UNAVAILABLE = 4,  // the store did not do it; it may later
};

typedef struct EstArrowError {
  int32_t kind;  // EstArrowErrorKind
  const char* message;
} EstArrowError;

enum EstArrowFileKind { EST_ARROW_NONE = 0, EST_ARROW_FILE = 1, EST_ARROW_DIRECTORY = 2 };

typedef struct EstArrowInfo {
  int32_t kind;         // EstArrowFileKind
  int64_t size;         // bytes of a file
  int64_t modified_ns;  // since 1970; 0 if it is not known
} EstArrowInfo;

typedef struct EstArrowFileSystem EstArrowFileSystem;
typedef struct EstArrowReader EstArrowReader;
typedef struct EstArrowWriter EstArrowWriter;

typedef struct EstArrowShim {
  int32_t abi;  // EST_ARROW_SHIM_ABI; the first field of every version
  void (*FreeError)(EstArrowError* error);
  // uri: "gs://[anonymous@]bucket[?options]", and so on. The file system lives until the process
  // ends. It makes no request before it is used, except that S3 asks for the region of the bucket.
  EstArrowError* (*Connect)(const char* uri, EstArrowFileSystem** file_system);
  EstArrowError* (*Stat)(EstArrowFileSystem* file_system, const char* path, EstArrowInfo* info);
  // Calls entry(context, name, info) for each name in the directory. No name is no error.
  EstArrowError* (*List)(EstArrowFileSystem* file_system, const char* path,
                         void (*entry)(void* context, const char* name, const EstArrowInfo* info),
                         void* context);
  EstArrowError* (*Remove)(EstArrowFileSystem* file_system, const char* path);
  EstArrowError* (*RemoveDirectory)(EstArrowFileSystem* file_system, const char* path);
  EstArrowError* (*Copy)(EstArrowFileSystem* file_system, const char* from, const char* to);
  EstArrowError* (*OpenReader)(EstArrowFileSystem* file_system, const char* path,
                               EstArrowReader** reader, int64_t* size);
  // Reads n bytes, and less only at the end of the file.
  EstArrowError* (*Read)(EstArrowReader* reader, int64_t offset, int64_t n, char* buffer,
                         int64_t* count);
  void (*CloseReader)(EstArrowReader* reader);
  EstArrowError* (*OpenWriter)(EstArrowFileSystem* file_system, const char* path,
                               EstArrowWriter** writer);
  EstArrowError* (*Write)(EstArrowWriter* writer, const char* data, int64_t n);
  // Makes the file appear. The writer must still be closed.
  EstArrowError* (*Commit)(EstArrowWriter* writer);
  // Without Commit, nothing appears.
  void (*CloseWriter)(EstArrowWriter* writer);
} EstArrowShim;

// The only function that the library exports.
const EstArrowShim* EstimatorArrowShim(void);

}  // extern "C"

#endif  // ESTIMATOR_REMOTE_SHIM_ARROW_SHIM_H_
