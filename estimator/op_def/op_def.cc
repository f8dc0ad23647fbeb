#include "estimator/op_def/op_def.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "estimator/op_def/op_table.h"
#include "glog/logging.h"

namespace estimator {
namespace {

using Names = std::vector<absl::string_view>;

// The names before (part 0) or after (part 1) "->".
Names NamesOf(absl::string_view signature, size_t part) {
  const Names parts = absl::StrSplit(signature, "->");
  if (part >= parts.size()) return {"output"};
  return absl::StrSplit(parts[part], ' ', absl::SkipEmpty());
}

int Count(const Names& names) {
  const bool any = std::any_of(names.begin(), names.end(),
                               [](absl::string_view name) { return absl::EndsWith(name, "*"); });
  return any ? -1 : static_cast<int>(names.size());
}

struct Rows {
  std::map<absl::string_view, const OpDef*> by_name;
  // The rows of users' ops and their names, which keep their addresses.
  std::deque<std::pair<std::string, OpDef>> added;

  Rows() {
    for (const OpDef& row : OpTable()) {
      CHECK(by_name.emplace(row.name, &row).second) << row.name << " has two rows";
    }
  }
};

Rows& AllRows() {
  // Made on first use, because EST_REGISTER_OP adds rows before main. Never destroyed, because ops
  // may still be looked up while static objects are destroyed.
  static auto* const rows = new Rows;
  return *rows;
}

}  // namespace

Names OpDef::inputs() const { return NamesOf(signature, 0); }
int OpDef::num_inputs() const { return Count(inputs()); }
int OpDef::num_outputs() const { return Count(NamesOf(signature, 1)); }

const OpDef* FindOpDef(absl::string_view name) {
  const auto& rows = AllRows().by_name;
  const auto found = rows.find(name);
  return found == rows.end() ? nullptr : found->second;
}

std::vector<const OpDef*> OpDefs() {
  std::vector<const OpDef*> rows;
  for (const auto& [name, row] : AllRows().by_name) rows.push_back(row);
  return rows;
}

void AddOpDef(absl::string_view name, const OpTraits& traits) {
  if (FindOpDef(name) != nullptr) return;
  OpTraits all = traits;
  // A user's optimizer is in the update phase by its name ("Apply..."). A row must not move it out
  // of there.
  all.failure = TraitsOf(name).failure;
  auto& [own_name, row] = AllRows().added.emplace_back(std::string(name), OpDef());
  row = {own_name.c_str(), "input* -> output*", "", std::move(all)};
  AllRows().by_name.emplace(own_name, &row);
}

const OpTraits& TraitsOf(absl::string_view op) {
  static const auto& none = *new OpTraits{.read_as_is = false};
  // A user's optimizer is scheduled with the updates, as those of the framework are.
  static const auto& update =
      *new OpTraits{.failure = OpTraits::Failure::kNever, .read_as_is = false};
  if (const OpDef* const row = FindOpDef(op); row != nullptr) return row->traits;
  return absl::StartsWith(op, "Apply") ? update : none;
}

}  // namespace estimator
