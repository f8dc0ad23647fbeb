#include "estimator/runtime/derived_values.h"

#include <algorithm>
#include <utility>

#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<std::shared_ptr<DerivedValues>> DerivedValues::Create(
    const ir::Code& code, const std::vector<ir::Variable>& variables, int64_t bytes,
    VariableStore& store) {
  std::shared_ptr<DerivedValues> values(new DerivedValues(code));
  EST_RETURN_IF_ERROR(values->memory_.Reserve(bytes));
  for (const ir::Code::Derived& derived : code.derived) {
    Entry entry;
    for (const int variable : derived.variables)
      entry.current.push_back(store.VersionCounter(ir::At(variables, variable).name));
    entry.versions.resize(entry.current.size());
    values->entries_.push_back(std::move(entry));
  }
  // No step allocates, so the list has its size from the beginning.
  values->stale_.resize(values->entries_.size());
  return values;
}

bool DerivedValues::IsStale(const Entry& entry) const {
  if (!entry.computed) return true;
  for (size_t v = 0; v < entry.current.size(); ++v) {
    if (*entry.current[v] != entry.versions[v]) return true;
  }
  return false;
}

absl::Span<const char> DerivedValues::FindStale(uint64_t wanted) {
  std::fill(stale_.begin(), stale_.end(), 0);
  // Readers come after what they read, so the last instruction is asked first.
  for (size_t i = entries_.size(); i-- > 0;) {
    const ir::Code::Derived& derived = code_.derived[i];
    const uint64_t groups = code_.instructions[i].groups;
    const bool is_wanted = groups == ir::Instruction::kAlways || (groups & wanted) != 0;
    // A value that is not kept has no state of its own: it is computed whenever a reader is.
    if (derived.kept) stale_[i] = is_wanted && IsStale(entries_[i]);
    if (!stale_[i]) continue;
    // Its inputs are in the arena, which later instructions of the last step have overwritten.
    for (const int need : derived.needs) ir::At(stale_, need) = 1;
  }
  return stale_;
}

void DerivedValues::MarkComputed(size_t i) {
  Entry& entry = entries_[i];
  for (size_t v = 0; v < entry.current.size(); ++v) entry.versions[v] = *entry.current[v];
  entry.computed = true;
}

}  // namespace estimator
