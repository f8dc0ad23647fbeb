// VariableStore: the values of a model's variables between steps, in host memory.
#ifndef ESTIMATOR_RUNTIME_VARIABLE_STORE_H_
#define ESTIMATOR_RUNTIME_VARIABLE_STORE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"

namespace estimator {

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
  // The storage itself, without a copy. Null if there is no such variable.
  const Array* Peek(absl::string_view name) const;
  bool initialized(absl::string_view name) const;
  // A pointer to what `initialized` returns, valid while the store exists. REQUIRES: Has(name).
  const bool* InitializedFlag(absl::string_view name) const;
  // Call it after a program has written the storage. REQUIRES: Has(name).
  void MarkInitialized(absl::string_view name);
  // Marks the value as not initialized; the storage remains. Does nothing if there is no such
  // variable.
  void MarkUninitialized(absl::string_view name);
  std::vector<std::string> Names() const;  // sorted
  size_t TotalBytes() const;

 private:
  struct Entry {
    Array value;
    bool initialized = false;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_VARIABLE_STORE_H_
