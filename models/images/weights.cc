#include "models/images/weights.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace estimator::images {
namespace {

// A layer that Keras named itself: conv2d_7/kernel is conv2d, 7 and /kernel; conv2d is number 0.
struct NumberedName {
  std::string layer;
  int64_t number = 0;
  std::string rest;
};

std::optional<NumberedName> ParseNumbered(absl::string_view name) {
  for (const absl::string_view layer : {"conv2d", "batch_normalization"}) {
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, layer)) continue;
    const size_t slash = rest.find('/');
    if (slash == absl::string_view::npos) continue;
    NumberedName result{std::string(layer), 0, std::string(rest.substr(slash))};
    absl::string_view number = rest.substr(0, slash);
    if (number.empty()) return result;
    if (absl::ConsumePrefix(&number, "_") && absl::SimpleAtoi(number, &result.number)) {
      return result;
    }
  }
  return std::nullopt;
}

// The numbers of each such layer.
std::map<std::string, std::set<int64_t>> Numbers(const std::vector<std::string>& names) {
  std::map<std::string, std::set<int64_t>> numbers;
  for (const std::string& name : names) {
    if (const auto parsed = ParseNumbered(name)) numbers[parsed->layer].insert(parsed->number);
  }
  return numbers;
}

std::string InOrder(const NumberedName& name, const std::set<int64_t>& ours,
                    const std::set<int64_t>& stored) {
  const auto rank = std::distance(ours.begin(), ours.find(name.number));
  const int64_t number = *std::next(stored.begin(), rank);
  return absl::StrCat(name.layer, number == 0 ? "" : absl::StrCat("_", number), name.rest);
}

std::string EarlierNameOfTop(const std::string& name, const std::set<std::string>& stored) {
  absl::string_view variable = name;
  if (stored.contains(name) || !absl::ConsumePrefix(&variable, "predictions/")) return name;
  for (const absl::string_view top : {"probs", "fc1000", "Logits"}) {
    const std::string earlier = absl::StrCat(top, "/", variable);
    if (stored.contains(earlier)) return earlier;
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
    const auto parsed = ParseNumbered(name);
    // Other counts are another network: its names are compared as they are.
    if (parsed && ours.at(parsed->layer).size() == theirs[parsed->layer].size()) {
      names.push_back(InOrder(*parsed, ours.at(parsed->layer), theirs[parsed->layer]));
    } else {
      names.push_back(EarlierNameOfTop(name, all));
    }
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
  for (size_t i = 0; i < names.size(); ++i) {
    const auto spec = specs.find(names[i]);
    if (spec != specs.end() && IsOfTop(wanted[i]) && spec->second.shape != variables[i].shape()) {
      variables[i].graph()->Fail(absl::InvalidArgumentError(
          absl::StrCat("weights: '", names[i], "' in ", path, " is ", spec->second.shape.ToString(),
                       ", '", variables[i].name(), "' is ", variables[i].shape().ToString(),
                       ": for other classes use include_top = false and a layer of your own")));
      return;
    }
    map.emplace_back(names[i], variables[i]);
  }
  train::InitFromCheckpoint(path, map);
}

}  // namespace estimator::images
