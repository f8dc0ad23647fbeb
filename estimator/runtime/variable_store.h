// VariableStore: the values of a model's variables between steps, on the host.
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

// Not thread-safe: a program and a reader of the same store take turns (the loops see to it).
// Programs bind to the storage when they are compiled: an entry's address never changes while
// the store lives, and Set copies into it. A program without updates looks up no names where it
// runs, so that other entries may be added meanwhile.
class VariableStore {
 public:
  VariableStore() = default;
  VariableStore(const VariableStore&) = delete;
  VariableStore& operator=(const VariableStore&) = delete;

  bool Has(absl::string_view name) const;
  // The storage of `name`, created (zeros, not yet initialized) where it is new.
  // Errors: INVALID_ARGUMENT if it exists with another dtype or shape (both are named).
  absl::StatusOr<Array*> Allocate(absl::string_view name, const TensorSpec& spec);
  // Copies `value` in, allocating where new, and marks it initialized.
  absl::Status Set(absl::string_view name, const Array& value);
  // A copy. Errors: NOT_FOUND naming the nearest variable.
  absl::StatusOr<Array> Get(absl::string_view name) const;
  // The live bytes, no copy. Null if absent.
  const Array* Peek(absl::string_view name) const;
  bool initialized(absl::string_view name) const;
  // The same, followed: it holds what `initialized` returns as long as the store lives.
  // REQUIRES: Has(name).
  const bool* InitializedFlag(absl::string_view name) const;
  // A program has written the live bytes. REQUIRES: Has(name).
  void MarkInitialized(absl::string_view name);
  // Its value no longer counts; the storage stays. Of a name that is not there: nothing.
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
