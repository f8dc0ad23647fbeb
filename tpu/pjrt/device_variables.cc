#include "tpu/pjrt/device_variables.h"

#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator::tpu::pjrt {

absl::Status DeviceVariables::Update(const VariableStore& store, absl::string_view name) {
  Value& value = values_[std::string(name)];
  if (store.newer_on(name, this)) {
    if (!value.buffers.empty()) return absl::OkStatus();
    return DataLoss("the value of variable '", name,
                    "' was lost when a step failed on the device; restore the newest checkpoint");
  }
  const Array* const array = store.Peek(name);  // may come from other devices
  if (array == nullptr) {
    return NotFound("the store has no variable '", name, "'");
  }
  // The storage of a variable whose newest value could not be copied has an old one.
  if (!store.initialized(name)) {
    EST_RETURN_IF_ERROR(store.Download());
    return FailedPrecondition("variable '", name,
                              "' has no value yet; initialize it or restore a checkpoint");
  }
  if (!value.buffers.empty() && value.version == store.version(name)) return absl::OkStatus();
  // Before the upload, so that the device need not hold the old and the new value.
  value.buffers.clear();
  std::vector<DeviceBuffer> buffers;
  for (size_t replica = 0; replica < num_replicas_; ++replica) {
    EST_ASSIGN_OR_RETURN(DeviceBuffer buffer, client_->Upload(*array, replica));
    buffers.push_back(std::move(buffer));
  }
  value.buffers = std::move(buffers);
  value.version = store.version(name);
  return absl::OkStatus();
}

c_api::Buffer* DeviceVariables::buffer(absl::string_view name, size_t replica) const {
  const auto it = values_.find(name);
  CHECK(it != values_.end() && replica < it->second.buffers.size()) << name;
  return it->second.buffers[replica].get();
}

void DeviceVariables::Drop(absl::string_view name) {
  if (const auto it = values_.find(name); it != values_.end()) it->second.buffers.clear();
}

void DeviceVariables::Set(VariableStore& store, absl::string_view name,
                          std::vector<DeviceBuffer> buffers) {
  CHECK_EQ(buffers.size(), num_replicas_);
  values_[std::string(name)].buffers = std::move(buffers);
  store.MarkNewerOnDevice(name, shared_from_this());
}

absl::Status DeviceVariables::Download(absl::string_view name, uint64_t version, Array& storage) {
  const auto it = values_.find(name);
  if (it == values_.end() || it->second.buffers.empty()) {
    return DataLoss(
        "its value was lost when a step failed on the device; restore the newest checkpoint");
  }
  // All replicas have the same value.
  EST_RETURN_IF_ERROR(it->second.buffers[0].Download(storage));
  it->second.version = version;
  return absl::OkStatus();
}

}  // namespace estimator::tpu::pjrt
