// DeviceVariables: the variables of a VariableStore on the devices of a client, a copy for each
// replica.
#ifndef TPU_PJRT_DEVICE_VARIABLES_H_
#define TPU_PJRT_DEVICE_VARIABLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/runtime/variable_store.h"
#include "tpu/pjrt/client.h"

namespace estimator::tpu::pjrt {

// Not thread-safe. The store refers to it while a value here is newer than the store's.
class DeviceVariables : public DeviceValues, public std::enable_shared_from_this<DeviceVariables> {
 public:
  DeviceVariables(std::shared_ptr<Client> client, int num_replicas)
      : client_(std::move(client)), num_replicas_(static_cast<size_t>(num_replicas)) {}

  // Makes the device's value of `name` that of the store: copies it if the store's is newer.
  // Errors: NOT_FOUND if the store has no such variable; FAILED_PRECONDITION if it has no value;
  // those of the devices, also of other ones that have the newest value.
  absl::Status Update(const VariableStore& store, absl::string_view name);
  // REQUIRES: Update has made a value of `name`, and Drop has not dropped it.
  c_api::Buffer* buffer(absl::string_view name, size_t replica) const;
  // Drops the buffers of a variable, because a program has taken them (donation).
  void Drop(absl::string_view name);
  // Sets the value that a program computed, one buffer for each replica, and tells the store.
  void Set(VariableStore& store, absl::string_view name, std::vector<DeviceBuffer> buffers);

  absl::Status Download(absl::string_view name, uint64_t version, Array& storage) override;

 private:
  struct Value {
    std::vector<DeviceBuffer> buffers;  // for each replica; empty: no value
    uint64_t version = 0;               // of the store's value that this is
  };

  const std::shared_ptr<Client> client_;
  const size_t num_replicas_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace estimator::tpu::pjrt

#endif  // TPU_PJRT_DEVICE_VARIABLES_H_
