// VariableStore: the values of a model's variables between steps, in host memory.
#ifndef ESTIMATOR_RUNTIME_VARIABLE_STORE_H_
#define ESTIMATOR_RUNTIME_VARIABLE_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"

namespace estimator {

// A device whose values of variables are newer than the host's storage.
class DeviceValues {
 public:
  virtual ~DeviceValues() = default;
  // Copies the device's value of `name` into `storage`, which then is version `version` of it.
  virtual absl::Status Download(absl::string_view name, uint64_t version, Array& storage) = 0;
};

// Not thread-safe: a program and a reader of the same store must take turns, as the training loops
// do. Programs bind to the storage when they are compiled: the address of an entry never changes
// while the store exists, and Set copies into it. A program without updates looks up no names when
// it runs, so other entries may be added at the same time.
class VariableStore {
 public:
  VariableStore() = default;
  VariableStore(const VariableStore&) = delete;
  VariableStore& operator=(const VariableStore&) = delete;

  bool Has(absl::string_view name) const;
  // The storage of `name`. If it is new, it is created with zeros and is not initialized.
  // Errors: INVALID_ARGUMENT if it exists with another dtype or shape (both are named).
  absl::StatusOr<Array*> Allocate(absl::string_view name, const TensorSpec& spec);
  // Copies `value` into the storage, which is created if it is new, and marks it initialized.
  absl::Status Set(absl::string_view name, const Array& value);
  // Returns a copy. Errors: NOT_FOUND naming the nearest variable.
  absl::StatusOr<Array> Get(absl::string_view name) const;
  // The storage itself, without a copy. Null if there is no such variable. If a newer value cannot
  // be copied from its device, the variable is not initialized, and Download returns the error.
  const Array* Peek(absl::string_view name) const;
  bool initialized(absl::string_view name) const;
  // A pointer to what `initialized` returns, valid while the store exists. REQUIRES: Has(name).
  const bool* InitializedFlag(absl::string_view name) const;
  // Call it after the storage has been written through its address. REQUIRES: Has(name).
  void MarkInitialized(absl::string_view name);
  // Tells that `device` has computed a newer value of `name`. Peek, Get and Download copy it into
  // the storage when it is needed there. Set, MarkInitialized and MarkUninitialized discard it.
  // REQUIRES: Has(name).
  void MarkNewerOnDevice(absl::string_view name, std::shared_ptr<DeviceValues> device);
  bool newer_on(absl::string_view name, const DeviceValues* device) const;
  // Copies all newer values from devices into the storage. Call it before the storage is read
  // through an address that Allocate returned. Costs nothing if there are none.
  // Errors: those of the devices, also of earlier copies, until the variable is set on the host. It
  // is not initialized until then.
  absl::Status Download() const;
  // A number that changes with the value in the storage: by Set, Mark..., updates of programs and
  // copies from devices. Values that are computed from variables are kept while it stays the same.
  uint64_t version(absl::string_view name) const;
  // A pointer to what `version` returns, valid while the store exists. A program that writes the
  // storage of a variable adds 1 to it before it writes. REQUIRES: Has(name).
  uint64_t* VersionCounter(absl::string_view name);
  // Marks the value as not initialized; the storage remains. Does nothing if there is no such
  // variable.
  void MarkUninitialized(absl::string_view name);
  std::vector<std::string> Names() const;  // sorted
  size_t TotalBytes() const;

 private:
  struct Entry {
    Array value;
    bool initialized = false;
    uint64_t version = 1;
    std::shared_ptr<DeviceValues> device;  // null: the storage has the newest value
    absl::Status lost;                     // why the newest value could not be copied
  };
  // REQUIRES: Has(name).
  Entry& Existing(absl::string_view name) const;
  void SetOnHost(Entry& entry, bool initialized);
  void ForgetLoss(Entry& entry);
  void DownloadEntry(const std::string& name, Entry& entry) const;

  // Reading may copy a value from a device.
  mutable std::map<std::string, Entry, std::less<>> entries_;
  mutable int num_newer_on_device_ = 0;
  mutable int num_lost_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_VARIABLE_STORE_H_
