#include "estimator/remote/arrow_library.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <cstdlib>

#include "estimator/base/path.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// Where tools/get_arrow.sh installs it, below the user's cache: change both.
constexpr char kInstalledLibrary[] = "estimator-arrow/21.0.0/libestimator_arrow.so";

constexpr char kCure[] = "install Apache Arrow with tools/get_arrow.sh";

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string ArrowLibraryPath() {
  if (std::string path = Variable("ESTIMATOR_ARROW_LIBRARY"); !path.empty()) return path;
  std::string cache = Variable("XDG_CACHE_HOME");
  if (cache.empty()) cache = JoinPath(Variable("HOME"), ".cache");
  return JoinPath(cache, kInstalledLibrary);
}

absl::StatusOr<const EstArrowShim*> LoadArrowFrom(const std::string& library) {
  // Local: Arrow's library has others in it that this program may have in another version.
  void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    return FailedPrecondition("remote files need Apache Arrow: ", kCure, " (", ::dlerror(), ")");
  }
  void* const symbol = ::dlsym(loaded, "EstimatorArrowShim");
  if (symbol == nullptr) {
    ::dlclose(loaded);
    return FailedPrecondition(library, " has no function EstimatorArrowShim; ", kCure);
  }
  const EstArrowShim* const shim = reinterpret_cast<decltype(&EstimatorArrowShim)>(symbol)();
  if (shim->abi != EST_ARROW_SHIM_ABI) {
    const int abi = shim->abi;
    ::dlclose(loaded);
    return FailedPrecondition(library, " has interface ", abi, ", this program needs ",
                              EST_ARROW_SHIM_ABI, "; remove its folder, and ", kCure,
                              " of this version");
  }
  return shim;
}

absl::StatusOr<const EstArrowShim*> LoadArrow() {
  // Tried once: a program that lists a thousand remote files need not look for it a thousand times.
  static const auto* const shim =
      new absl::StatusOr<const EstArrowShim*>(LoadArrowFrom(ArrowLibraryPath()));
  return *shim;
}

absl::Status FromArrow(const EstArrowShim& shim, EstArrowError* error, StringArg verb,
                       StringArg path) {
  if (error == nullptr) return absl::OkStatus();
  const absl::StatusCode code =
      error->kind == EST_ARROW_NOT_FOUND           ? absl::StatusCode::kNotFound
      : error->kind == EST_ARROW_PERMISSION_DENIED ? absl::StatusCode::kPermissionDenied
      : error->kind == EST_ARROW_INVALID           ? absl::StatusCode::kInvalidArgument
                                                   : absl::StatusCode::kUnavailable;
  std::string message = absl::StrCat("cannot ", verb, " ", path, ": ", error->message);
  shim.FreeError(error);
  if (code == absl::StatusCode::kPermissionDenied) {
    absl::StrAppend(&message,
                    "; check the credentials (docs/remote.md), or for a public bucket "
                    "write anonymous@ before its name");
  }
  return absl::Status(code, message);
}

}  // namespace estimator
