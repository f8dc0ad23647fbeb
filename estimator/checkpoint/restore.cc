#include "estimator/checkpoint/restore.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {
namespace {

bool Widens(const TensorSpec& there, const TensorSpec& here) {
  return there.dtype == DType::kInt32 && here.dtype == DType::kInt64 && here.shape.rank() == 0 &&
         there.shape.rank() == 0;
}

// The nearest name in the checkpoint that is not taken. Variables with the same spec are preferred.
std::optional<std::string> NearestFree(const BundleReader& reader, const WantedVariable& variable,
                                       const std::set<std::string>& taken) {
  std::vector<std::string> same;
  std::vector<std::string> free;
  for (const auto& [other, other_spec] : reader.specs()) {
    if (taken.count(other) > 0) continue;
    free.push_back(other);
    if (other_spec == variable.spec) same.push_back(other);
  }
  // A variable that was renamed keeps its shape and dtype.
  const std::optional<std::string> nearest = NearestName(variable.stored_name, same);
  return nearest ? nearest : NearestName(variable.stored_name, free);
}

// Whether `name` is a slot or an average of a variable that the checkpoint has.
bool IsSlot(const BundleReader& reader, absl::string_view name,
            const std::set<std::string>& taken) {
  const size_t slash = name.rfind('/');
  if (slash == absl::string_view::npos) return false;
  const std::string variable(name.substr(0, slash));
  return taken.count(variable) > 0 && reader.specs().count(variable) > 0;
}

// The scope in which a slot was made, if it is one: the slot of "a/b" made in scope "s" is
// "s/a/b/Momentum". Empty if `name` is not such a slot.
//   variables: the names of the program's variables.
std::string ScopeOfSlot(absl::string_view name, const std::set<std::string>& variables) {
  const size_t end = name.rfind('/');
  if (end == absl::string_view::npos) return "";
  for (size_t slash = name.find('/'); slash < end; slash = name.find('/', slash + 1)) {
    if (variables.count(std::string(name.substr(slash + 1, end - slash - 1))) > 0)
      return std::string(name.substr(0, slash));
  }
  return "";
}

// The scope in which an optimizer made a variable that the checkpoint does not have; empty if it
// made it in none. Variables that are not slots, such as "s/beta1_power", are in the scope of a
// slot, and the checkpoint has them without it.
//   scopes: those of the program's slots.
std::string ScopeOfOptimizer(const BundleReader& reader, absl::string_view name,
                             const std::set<std::string>& variables,
                             const std::set<std::string>& scopes) {
  for (const std::string& scope : scopes) {
    absl::string_view rest = name;
    if (absl::ConsumePrefix(&rest, absl::StrCat(scope, "/")) && reader.Has(rest) &&
        variables.count(std::string(rest)) == 0) {
      return scope;
    }
  }
  return ScopeOfSlot(name, variables);
}

std::string CureOfShape(const Shape& here, const Shape& there, const std::string& other_size) {
  std::vector<int64_t> a = here.dims();
  std::vector<int64_t> b = there.dims();
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a == b) return "transposed: the layouts differ";
  if (here.num_elements() == there.num_elements()) return "reshape it: the element counts match";
  return other_size;
}

// The variables that only the checkpoint has, without scalars and without slots and averages.
std::set<std::string> Unwanted(const BundleReader& reader, const std::set<std::string>& taken) {
  std::set<std::string> unwanted;
  for (const auto& [name, spec] : reader.specs()) {
    const size_t slash = name.rfind('/');
    const bool of_another =
        slash != std::string::npos && reader.specs().count(name.substr(0, slash)) > 0;
    if (taken.count(name) == 0 && spec.shape.rank() > 0 && !of_another &&
        !absl::StrContains(name, "/.OPTIMIZER_SLOT/"))
      unwanted.insert(name);
  }
  return unwanted;
}

// "2 of 5 variables differ, 30 are only in the checkpoint (20 are shown)".
std::string Summary(size_t differing, size_t wanted, size_t unwanted, size_t shown) {
  std::string text = absl::StrCat(differing, " of ", wanted, " variables differ");
  if (unwanted > 0)
    absl::StrAppend(&text, ", ", unwanted, unwanted == 1 ? " is" : " are",
                    " only in the checkpoint");
  if (unwanted > shown) absl::StrAppend(&text, " (", shown, " are shown)");
  return text;
}

// The message for variables that the checkpoint has all with one more scope in front, or with one
// less. Empty if there are other differences.
std::string PrefixMessage(const BundleReader& reader, const std::vector<WantedVariable>& wanted) {
  if (wanted.size() < 2) return "";  // the table is as short
  const std::string& first = wanted[0].stored_name;
  // Whether each value is at `more` and the name without its first `drop` bytes.
  const auto fits = [&](absl::string_view more, size_t drop) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const WantedVariable& variable) {
      const std::string& name = variable.stored_name;
      if (reader.Has(name) || name.compare(0, drop, first, 0, drop) != 0) return false;
      const auto found = reader.specs().find(absl::StrCat(more, name.substr(drop)));
      return found != reader.specs().end() && found->second == variable.spec;
    });
  };
  std::string more;
  size_t drop = 0;
  for (const auto& [name, spec] : reader.specs()) {
    absl::string_view scope = name;
    if (absl::ConsumeSuffix(&scope, first) && absl::EndsWith(scope, "/") && fits(scope, 0))
      more = std::string(scope);
  }
  for (size_t at = first.find('/'); at != std::string::npos; at = first.find('/', at + 1)) {
    if (more.empty() && drop == 0 && fits("", at + 1)) drop = at + 1;
  }
  if (more.empty() && drop == 0) return "";
  const std::string there = more + first.substr(drop);
  std::string text = absl::StrCat(
      "only a prefix differs: the checkpoint has all ", wanted.size(), " variables with their ",
      "types, but ", more.empty() ? "without" : "with", " the scope \"",
      more.empty() ? first.substr(0, drop) : more, "\" (", there, ", asked for as ", first, "). ");
  // The scope of the variables here, which the map's entry needs.
  const auto scope_of = [&](const WantedVariable& variable) -> std::optional<std::string> {
    absl::string_view scope = variable.name;
    if (!absl::ConsumeSuffix(&scope, variable.stored_name.substr(drop))) return std::nullopt;
    return std::string(scope);
  };
  const std::optional<std::string> into = scope_of(wanted[0]);
  const bool same = std::all_of(wanted.begin(), wanted.end(),
                                [&](const auto& variable) { return scope_of(variable) == into; });
  if (!into.has_value() || !same) return text + "Add it in assignment_map";
  const auto shown = [](const std::string& scope) { return scope.empty() ? "/" : scope; };
  absl::StrAppend(&text, "Call train::InitFromCheckpoint(path, {{\"", shown(more), "\", \"",
                  shown(*into), "\"}}) when these variables are built, and not yet others; ",
                  "leave the option .weights of a network empty then");
  return text;
}

}  // namespace

absl::Status CheckRestorable(const BundleReader& reader, const std::vector<WantedVariable>& wanted,
                             const RestoreAdvice& advice) {
  if (advice.maps_scopes) {
    const std::string text = PrefixMessage(reader, wanted);
    if (!text.empty()) return NotFound("checkpoint ", reader.prefix(), " does not fit: ", text);
  }
  constexpr size_t kMaxUnwanted = 20;  // rows
  std::vector<std::vector<std::string>> rows = {
      {"variable", "here", "checkpoint", "nearest", "likely cure"}};
  std::set<std::string> taken, unwanted;
  for (const WantedVariable& variable : wanted) taken.insert(variable.stored_name);
  if (!advice.unwanted.empty()) unwanted = Unwanted(reader, taken);
  // Before the rows: a variable that is not a slot is recognized by the scopes of all slots.
  std::set<std::string> open_scopes;  // in which an optimizer made slots
  for (const WantedVariable& variable : wanted) {
    if (reader.Has(variable.stored_name)) continue;
    const std::string scope = ScopeOfSlot(variable.stored_name, taken);
    if (!scope.empty()) open_scopes.insert(scope);
  }
  bool missing = false, other_names = false;
  std::vector<size_t> slots_of_others;   // rows of slots whose variable has another shape
  std::map<size_t, Shape> other_shapes;  // by row; the cure of these depends on the other rows
  for (const WantedVariable& variable : wanted) {
    const TensorSpec& here = variable.spec;
    const std::string label =
        variable.stored_name == variable.name
            ? variable.name
            : absl::StrCat(variable.name, " (there ", variable.stored_name, ")");
    const auto found = reader.specs().find(variable.stored_name);
    if (found == reader.specs().end()) {
      missing = true;
      if (IsSlot(reader, variable.stored_name, taken)) {
        const std::string of(
            absl::string_view(variable.stored_name).substr(0, variable.stored_name.rfind('/')));
        if (reader.specs().at(of).shape != here.shape) slots_of_others.push_back(rows.size());
        rows.push_back({label, here.ToString(), "-", "-", advice.slot});
        continue;
      }
      const std::string scope = ScopeOfOptimizer(reader, variable.stored_name, taken, open_scopes);
      if (!scope.empty()) {
        const std::string in_checkpoint = variable.stored_name.substr(scope.size() + 1);
        unwanted.erase(in_checkpoint);
        rows.push_back({label, here.ToString(), "-",
                        reader.specs().count(in_checkpoint) > 0 ? in_checkpoint : "-",
                        absl::StrCat("made by an optimizer while the VariableScope \"", scope,
                                     "\" was open: end the scope, in a block of its own, before "
                                     "Minimize or ApplyGradients")});
        continue;
      }
      const auto nearest = NearestFree(reader, variable, taken);
      // It is in this row, so it needs none of its own.
      if (nearest) unwanted.erase(*nearest);
      other_names = other_names || !nearest;
      rows.push_back({label, here.ToString(), "-", nearest.value_or("-"),
                      nearest ? advice.renamed : advice.missing});
      continue;
    }
    const TensorSpec& there = found->second;
    if (there == here || Widens(there, here)) continue;
    if (there.shape != here.shape) other_shapes.emplace(rows.size(), here.shape);
    rows.push_back({label, here.ToString(), there.ToString(), variable.stored_name,
                    "another dtype: declare the variable with the checkpoint's dtype"});
  }
  if (rows.size() == 1) return absl::OkStatus();
  const size_t differing = rows.size() - 1;
  // If names have no counterpart, this is another network. Else only the sizes differ.
  other_names = other_names || !unwanted.empty();
  for (const auto& [row, here] : other_shapes) {
    // Set now, because it depends on whether other variables lack a counterpart.
    rows[row].back() = CureOfShape(here, reader.specs().at(rows[row][3]).shape,
                                   other_names ? advice.other_network : advice.other_size);
  }
  for (const size_t row : slots_of_others) {
    if (other_names) rows[row].back() = advice.other_network;
  }
  for (const std::string& name : unwanted) {
    if (rows.size() - 1 == differing + kMaxUnwanted) break;
    rows.push_back({name, "-", reader.specs().at(name).ToString(), "-", advice.unwanted});
  }
  const std::string text = absl::StrCat(
      "checkpoint ", reader.prefix(),
      " does not fit: ", Summary(differing, wanted.size(), unwanted.size(), kMaxUnwanted), "\n",
      FormatTable(rows), advice.closing);
  // TensorFlow has the same codes: NotFoundError for a key, InvalidArgumentError for a shape.
  return missing ? NotFound(text) : InvalidArgument(text);
}

absl::Status RestoreInto(const BundleReader& reader, const WantedVariable& wanted, Array* value) {
  const auto found = reader.specs().find(wanted.stored_name);
  if (found == reader.specs().end() || !Widens(found->second, wanted.spec)) {
    return reader.ReadInto(wanted.stored_name, value);
  }
  EST_ASSIGN_OR_RETURN(const Array narrow, reader.Read(wanted.stored_name));
  LOG(INFO) << reader.prefix() << ": " << wanted.stored_name
            << " is int32 in the checkpoint and int64 in this program, which saves it as int64; "
               "`checkpoint cast --to=int32 --include='^"
            << wanted.stored_name << "$'` converts it back";
  value->data<int64_t>()[0] = narrow.scalar<int32_t>();
  return absl::OkStatus();
}

}  // namespace estimator
