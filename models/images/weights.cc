#include "models/images/weights.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace estimator::images {
namespace {

// The number of a layer that Keras named itself, and the name without it: conv2d_7/kernel is 7 of
// conv2d/kernel, which itself is number 0.
struct NumberedName {
  std::string layer, variable;  // conv2d, /kernel
  int64_t number = 0;
  std::string Key() const { return layer + variable; }
};

std::optional<NumberedName> ParseNumbered(absl::string_view name) {
  for (const absl::string_view layer : {"conv2d", "batch_normalization", "normalization"}) {
    absl::string_view number = name.substr(0, name.find('/'));
    const absl::string_view variable = name.substr(number.size());
    if (!absl::ConsumePrefix(&number, layer)) continue;
    NumberedName result{std::string(layer), std::string(variable), 0};
    if (number.empty()) return result;
    if (absl::ConsumePrefix(&number, "_") && absl::SimpleAtoi(number, &result.number))
      return result;
  }
  return std::nullopt;
}

std::map<std::string, std::set<int64_t>> Numbers(const std::vector<std::string>& names) {
  std::map<std::string, std::set<int64_t>> numbers;
  for (const std::string& name : names) {
    if (const auto parsed = ParseNumbered(name)) numbers[parsed->Key()].insert(parsed->number);
  }
  return numbers;
}

// The name that a file of an earlier Keras has for a variable.
std::string EarlierName(const std::string& name, const std::set<std::string>& stored) {
  const size_t slash = name.find('/');
  if (stored.contains(name) || slash == std::string::npos) return name;
  const std::string layer = name.substr(0, slash), variable = name.substr(slash + 1);
  std::vector<std::string> earlier = {absl::StrCat(layer, variable == "kernel" ? "_W_1"
                                                          : variable == "bias" ? "_b_1"
                                                                               : "")};
  if (layer == "predictions") {
    for (const char* top : {"probs/", "fc1000/", "Logits/"}) earlier.push_back(top + variable);
  }
  for (const std::string& candidate : earlier) {
    if (stored.contains(candidate)) return candidate;
  }
  return name;
}

bool IsOfTop(absl::string_view name) {
  for (const absl::string_view top : {"predictions/", "conv_preds/", "Logits/"}) {
    if (absl::StartsWith(name, top)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> NamesInFile(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& stored) {
  const std::set<std::string> all(stored.begin(), stored.end());
  const auto ours = Numbers(wanted);
  auto theirs = Numbers(stored);
  std::vector<std::string> names;
  for (const std::string& name : wanted) {
    names.push_back(EarlierName(name, all));
    const auto parsed = ParseNumbered(name);
    if (!parsed) continue;
    const std::set<int64_t>& here = ours.at(parsed->Key());
    const std::set<int64_t>& there = theirs[parsed->Key()];
    if (here.size() != there.size()) continue;  // another network: names are compared as they are
    const auto rank = std::distance(here.begin(), here.find(parsed->number));
    const int64_t number = *std::next(there.begin(), rank);
    names.back() =
        absl::StrCat(parsed->layer, number == 0 ? "" : absl::StrCat("_", number), parsed->variable);
  }
  return names;
}

void InitFromWeights(absl::string_view path, absl::string_view scope,
                     const std::vector<Variable>& variables) {
  std::vector<std::string> stored, wanted;
  std::map<std::string, TensorSpec> specs;
  // If the file cannot be read, InitFromCheckpoint says why.
  if (const auto listed = ListVariables(path); listed.ok()) {
    for (const auto& [name, spec] : *listed) {
      stored.push_back(name);
      specs.emplace(name, spec);
    }
  }
  for (const Variable& variable : variables) {
    wanted.emplace_back(absl::StripPrefix(variable.name(), scope));
  }
  const std::vector<std::string> names = NamesInFile(wanted, stored);
  train::AssignmentMap map;
  // If not, InitFromCheckpoint says whether a prefix is the difference.
  const bool some_there = std::any_of(names.begin(), names.end(),
                                      [&](const auto& name) { return specs.contains(name); });
  for (size_t i = 0; i < names.size(); ++i) {
    const auto spec = specs.find(names[i]);
    if (spec != specs.end() && IsOfTop(wanted[i]) && spec->second.shape != variables[i].shape()) {
      variables[i].graph()->Fail(InvalidArgument(
          "weights: '", names[i], "' in ", path, " is ", spec->second.shape.ToString(), ", '",
          variables[i].name(), "' is ", variables[i].shape().ToString(),
          ": for other classes use include_top = false and a layer of your own"));
      return;
    }
    if (spec == specs.end() && some_there && IsOfTop(wanted[i])) {
      variables[i].graph()->Fail(InvalidArgument(
          "weights: ", path, " has no '", names[i],
          "': a file without the top needs include_top = false and a layer of your own"));
      return;
    }
    map.emplace_back(names[i], variables[i]);
  }
  train::InitFromCheckpoint(path, map);
}

}  // namespace estimator::images
