// FakePlugin: a PJRT plugin in the test's process. Its devices keep arrays of the host, and its
// programs are functions of the test.
//
// It is as strict as a real plugin:
//   - A donated argument (tf.aliasing_output in the program's text) is deleted by Execute, also if
//     Execute fails. Using it again is an error.
//   - A copy to the host is made when its event is awaited, not before.
//   - An argument must be on the device of its replica.
//   - An argument struct that is smaller than that of libtpu 0.0.51 is an error.
#ifndef TPU_PJRT_TESTING_FAKE_PLUGIN_H_
#define TPU_PJRT_TESTING_FAKE_PLUGIN_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "tpu/pjrt/client.h"
#include "tpu/pjrt/pjrt_abi.h"

namespace estimator::tpu::pjrt {

// One at a time in a process, because the functions of a plugin have no pointer to it. It outlives
// its clients. Its destructor fails the test if a buffer, event, executable, error or client is
// left.
class FakePlugin {
 public:
  using Values = std::vector<std::vector<Array>>;  // [replica][argument or output]
  struct Program {
    size_t num_outputs = 0;
    std::function<absl::StatusOr<Values>(const Values& arguments)> run;
  };
  // Gives the program of a StableHLO text.
  using Compiler = std::function<absl::StatusOr<Program>(absl::string_view stablehlo)>;

  explicit FakePlugin(int num_devices = 2);
  ~FakePlugin();
  FakePlugin(const FakePlugin&) = delete;
  FakePlugin& operator=(const FakePlugin&) = delete;

  // The table of functions. Tests change it to imitate other versions.
  c_api::Api& api() { return api_; }
  // A new client. The test fails if it cannot be made.
  std::shared_ptr<Client> NewClient() const;

  Compiler compiler;
  // Errors of the calls from now on; OK: none.
  absl::Status execute_error;   // of Execute
  absl::Status event_error;     // of the last device's completion event
  absl::Status download_error;  // of copies to the host

  int uploads = 0;  // copies to a device
  int downloads = 0;
  int executions = 0;
  int live_buffers = 0;

 private:
  void SetObjectFunctions();
  void SetClientFunctions();
  void SetProgramFunctions();
  void SetBufferFunctions();
  c_api::Error* NewError(const absl::Status& status);
  // An error if a caller's struct is smaller than the plugin's; else null.
  c_api::Error* CheckSize(const char* name, size_t expected, size_t actual);
  c_api::Event* NewEvent(absl::Status status, std::function<void()> work);
  c_api::Buffer* NewBuffer(Array value, const c_api::Device* device);
  template <typename Object>
  static c_api::Error* Destroy(c_api::ObjectArgs<Object>* args);
  c_api::Error* Upload(c_api::BufferFromHostArgs& args);
  c_api::Error* Compile(c_api::ClientCompileArgs& args);
  c_api::Error* Execute(const c_api::ExecuteArgs& args);

  static FakePlugin* current_;
  c_api::Api api_;
  std::vector<std::unique_ptr<c_api::Device>> devices_;
  std::vector<c_api::Device*> device_list_;
  int live_others_ = 0;  // errors, events, executables and clients
};

}  // namespace estimator::tpu::pjrt

#endif  // TPU_PJRT_TESTING_FAKE_PLUGIN_H_
