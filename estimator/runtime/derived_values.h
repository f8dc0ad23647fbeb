// DerivedValues: what a program has computed from variables and keeps between steps
// (passes/derive_values.h). Internal to runtime.
#ifndef ESTIMATOR_RUNTIME_DERIVED_VALUES_H_
#define ESTIMATOR_RUNTIME_DERIVED_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/runtime/arena.h"
#include "estimator/runtime/passes/emit.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// The replicas of a program share one, because they read the same variables. Not thread-safe: they
// take turns.
class DerivedValues {
 public:
  // `code` and `store` must outlive the result.
  //   variables: those of the program, which the store has.
  // Errors: RESOURCE_EXHAUSTED if the system refuses `bytes` bytes.
  static absl::StatusOr<std::shared_ptr<DerivedValues>> Create(
      const ir::Code& code, const std::vector<ir::Variable>& variables, int64_t bytes,
      VariableStore& store);

  char* data() const { return memory_.data(); }
  // For each derived instruction whether this step must run it: its outputs are not those of the
  // current variables, and the fetches in `wanted` need them. Valid until the next call.
  absl::Span<const char> FindStale(uint64_t wanted);
  // Instruction `i` has computed its outputs from the current variables.
  void MarkComputed(size_t i);

 private:
  struct Entry {
    bool computed = false;
    std::vector<const uint64_t*> current;  // the versions of its variables in the store
    std::vector<uint64_t> versions;        // those that its outputs were computed from
  };

  explicit DerivedValues(const ir::Code& code) : code_(code) {}
  bool IsStale(const Entry& entry) const;

  const ir::Code& code_;
  Arena memory_;
  std::vector<Entry> entries_;  // of each derived instruction
  std::vector<char> stale_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_DERIVED_VALUES_H_
