#include "tpu/pjrt/plugin.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::tpu::pjrt {
namespace {

// The layouts of pjrt_structs.h are those of this version. Plugins of later minor versions accept
// them, because the structs have room for later fields (LaterFields).
constexpr int kMajor = 0;
constexpr int kMinMinor = 34;

}  // namespace

absl::StatusOr<std::shared_ptr<const Plugin>> Plugin::Load(StringArg path) {
  static std::mutex mutex;
  // Never destroyed, because a plugin has threads that run until the process ends.
  static auto* const loaded = new std::map<std::string, std::shared_ptr<const Plugin>, std::less<>>;
  const std::string file(path);
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto it = loaded->find(file); it != loaded->end()) return it->second;
  // Local: a plugin has libraries in it that this program may have in another version.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return NotFound("cannot load the PJRT plugin ", file, ": ", dlerror());
  }
  void* const symbol = dlsym(library, "GetPjrtApi");
  if (symbol == nullptr) {
    dlclose(library);
    return FailedPrecondition(
        file,
        " is no PJRT plugin: it does not export GetPjrtApi. Plugins are libtpu.so and JAX's "
        "xla_cuda_plugin.so");
  }
  EST_ASSIGN_OR_RETURN(std::shared_ptr<const Plugin> plugin,
                       FromApi(reinterpret_cast<c_api::GetApi>(symbol)(), file));
  loaded->emplace(file, plugin);
  return plugin;
}

absl::StatusOr<std::shared_ptr<const Plugin>> Plugin::FromApi(const c_api::Api* api,
                                                              StringArg path) {
  if (api == nullptr) {
    return FailedPrecondition("GetPjrtApi of the plugin ", path, " returned null");
  }
  std::shared_ptr<const Plugin> plugin(new Plugin(api, path));
  const c_api::ApiVersion& version = api->version;
  if (version.major_version != kMajor || version.minor_version < kMinMinor) {
    return FailedPrecondition("the plugin ", path, " has version ", plugin->version(),
                              " of the PJRT C API; this program "
                              "needs ",
                              kMajor, ".", kMinMinor, " or a later ", kMajor, ".x: install ",
                              version.major_version > kMajor ? "an older" : "a newer", " plugin");
  }
  c_api::PluginInitializeArgs args;
  EST_RETURN_IF_ERROR(plugin->Call("PJRT_Plugin_Initialize", &c_api::Api::plugin_initialize, args));
  return plugin;
}

std::string Plugin::version() const {
  return absl::StrCat(api_->version.major_version, ".", api_->version.minor_version);
}

absl::Status Plugin::Await(c_api::Event* event) const {
  if (event == nullptr) return absl::OkStatus();
  c_api::ObjectArgs<c_api::Event> args{.object = event};
  absl::Status status = Call("PJRT_Event_Await", &c_api::Api::event_await, args);
  status.Update(Call("PJRT_Event_Destroy", &c_api::Api::event_destroy, args));
  return status;
}

absl::Status Plugin::ToStatus(absl::string_view name, c_api::Error* error) const {
  if (error == nullptr) return absl::OkStatus();
  c_api::ErrorMessageArgs message{.error = error};
  api_->error_message(&message);
  c_api::ErrorGetCodeArgs code{.error = error};
  c_api::ErrorCode number = static_cast<c_api::ErrorCode>(absl::StatusCode::kUnknown);
  if (c_api::Error* const failed = api_->error_get_code(&code); failed == nullptr) {
    // An error without a code is still an error.
    if (code.code != 0) number = code.code;
  } else {
    c_api::ObjectArgs<c_api::Error> destroy_failed{.object = failed};
    api_->error_destroy(&destroy_failed);
  }
  const absl::Status status(
      static_cast<absl::StatusCode>(number),
      absl::StrCat(name, ": ", absl::string_view(message.message, message.message_size)));
  c_api::ObjectArgs<c_api::Error> destroy{.object = error};
  api_->error_destroy(&destroy);
  return status;
}

absl::Status Plugin::Missing(absl::string_view name) const {
  return Unimplemented("the plugin ", path_, " (PJRT C API ", version(), ") has no ", name,
                       ": install a newer one");
}

}  // namespace estimator::tpu::pjrt
