// Plugin: a shared library with the PJRT C API, such as libtpu.so or JAX's xla_cuda_plugin.so.
#ifndef TPU_PJRT_PLUGIN_H_
#define TPU_PJRT_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"
#include "glog/logging.h"
#include "tpu/pjrt/pjrt_abi.h"

namespace estimator::tpu::pjrt {

// Thread-safe. A plugin is loaded once in a process and stays loaded until it ends, because plugins
// keep threads and cannot be closed.
class Plugin {
 public:
  // Loads and initializes the plugin at `path`, or returns it if it is loaded already.
  // Errors: NOT_FOUND if the file cannot be loaded, with the loader's message; FAILED_PRECONDITION
  // if it exports no GetPjrtApi, or if its version is not supported; the plugin's own.
  static absl::StatusOr<std::shared_ptr<const Plugin>> Load(StringArg path);
  // For tests: a plugin whose functions are in this program. `api` outlives the plugin.
  static absl::StatusOr<std::shared_ptr<const Plugin>> FromApi(const c_api::Api* api,
                                                               StringArg path);

  const std::string& path() const { return path_; }
  std::string version() const;  // of its API: "0.72"

  // Calls a function of the table. `name` is TensorFlow's and JAX's name of it, for errors.
  //   plugin.Call("PJRT_Client_Create", &c_api::Api::client_create, args)
  // Errors: UNIMPLEMENTED if this plugin is too old to have the function; those of the function.
  template <typename Args>
  absl::Status Call(absl::string_view name, c_api::Function<Args> c_api::Api::*function,
                    Args& args) const {
    if (!Has(function)) return Missing(name);
    return ToStatus(name, (api_->*function)(&args));
  }
  template <typename Args>
  bool Has(c_api::Function<Args> c_api::Api::*function) const {
    const char* const end = reinterpret_cast<const char*>(&(api_->*function) + 1);
    const char* const table = reinterpret_cast<const char*>(api_);
    return static_cast<size_t>(end - table) <= api_->struct_size && api_->*function != nullptr;
  }
  // The same for a function that destroys an object. Its error is logged.
  template <typename Args>
  void Destroy(absl::string_view name, c_api::Function<Args> c_api::Api::*function,
               Args args) const {
    const absl::Status status = Call(name, function, args);
    LOG_IF(ERROR, !status.ok()) << status;
  }
  // Waits for an event, destroys it, and returns its error. Null is an event that is over.
  absl::Status Await(c_api::Event* event) const;

 private:
  Plugin(const c_api::Api* api, absl::string_view path) : api_(api), path_(path) {}
  // Takes the error, which is null if there is none.
  absl::Status ToStatus(absl::string_view name, c_api::Error* error) const;
  absl::Status Missing(absl::string_view name) const;

  const c_api::Api* const api_;
  const std::string path_;
};

}  // namespace estimator::tpu::pjrt

#endif  // TPU_PJRT_PLUGIN_H_
