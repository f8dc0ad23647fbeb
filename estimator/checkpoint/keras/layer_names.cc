#include "estimator/checkpoint/keras/layer_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace estimator {
namespace {

using Json = nlohmann::json;

constexpr int kMaxNested = 64;  // models in models

// Containers of a model's layers; the second is that of Keras 2.12.
constexpr const char* kContainers[] = {"layers", "_layer_checkpoint_dependencies"};

// The variables of a layer in the order of their creation, by the class in snake case.
struct ClassVariables {
  absl::string_view names_of_classes;
  absl::string_view variables;
};
constexpr ClassVariables kClassVariables[] = {
    {"dense einsum_dense conv1d conv2d conv3d conv1d_transpose conv2d_transpose conv3d_transpose",
     "kernel bias"},
    {"depthwise_conv1d depthwise_conv2d", "depthwise_kernel bias"},
    {"separable_conv1d separable_conv2d", "depthwise_kernel pointwise_kernel bias"},
    {"lstm_cell gru_cell simple_rnn_cell", "kernel recurrent_kernel bias"},
    {"batch_normalization sync_batch_normalization", "gamma beta moving_mean moving_variance"},
    {"layer_normalization group_normalization", "gamma beta"},
    {"embedding", "embeddings"},
    {"p_re_lu", "alpha"},
    {"normalization", "mean variance count"},
};

// The names of sublayers in attributes, which are groups of the file.
constexpr std::pair<absl::string_view, absl::string_view> kAttributes[] = {
    {"_query_dense", "query"},
    {"_key_dense", "key"},
    {"_value_dense", "value"},
    {"_output_dense", "attention_output"}};

// Null if there is no such member, or `json` is null.
const Json* Member(const Json* json, const char* key) {
  if (json == nullptr || !json->is_object()) return nullptr;
  const auto found = json->find(key);
  return found == json->end() ? nullptr : &*found;
}
std::string TextOf(const Json* json, const char* key) {
  const Json* const member = Member(json, key);
  return member != nullptr && member->is_string() ? member->get<std::string>() : "";
}
bool IsFalse(const Json* json, const char* key) {
  const Json* const member = Member(json, key);
  return member != nullptr && member->is_boolean() && !member->get<bool>();
}
bool IsSet(const Json* json, const char* key) {
  const Json* const member = Member(json, key);
  return member != nullptr && ((member->is_boolean() && member->get<bool>()) ||
                               (member->is_number() && member->get<double>() != 0));
}

// "SeparableConv2D" is "separable_conv2d".
// Source: Keras 2.15 generic_utils.to_snake_case, of which these are the regular expressions
// (.)([A-Z][a-z]+) and ([a-z])([A-Z]).
std::string SnakeCase(const std::string& name) {
  const auto upper = [](const std::string& text, size_t i) {
    return i < text.size() && std::isupper(static_cast<unsigned char>(text[i])) != 0;
  };
  const auto lower = [](const std::string& text, size_t i) {
    return i < text.size() && std::islower(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string words, result;
  for (size_t i = 0; i < name.size();) {
    words += name[i++];
    if (!upper(name, i) || !lower(name, i + 1)) continue;
    words += '_';
    words += name[i++];
    while (lower(name, i)) words += name[i++];
  }
  for (size_t i = 0; i < words.size(); ++i) {
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(words[i])));
    if (lower(words, i) && upper(words, i + 1)) result += '_';
  }
  return result;
}

// "conv2d" of "conv2d_1".
std::string WithoutNumber(const std::string& group) {
  const size_t end = group.find_last_not_of("0123456789");
  const bool is_numbered = end != std::string::npos && end + 1 < group.size() && group[end] == '_';
  return is_numbered ? group.substr(0, end) : group;
}

std::string Join(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : absl::StrCat(scope, "/", name);
}

class Namer {
 public:
  using NamedShape = std::pair<std::string, Shape>;

  explicit Namer(const std::vector<Hdf5Dataset>& datasets) {
    for (const Hdf5Dataset& dataset : datasets) {
      std::vector<std::string> parts = absl::StrSplit(dataset.path, '/');
      int number = 0;
      if (parts.size() < 2 || parts[parts.size() - 2] != "vars" ||
          !absl::SimpleAtoi(parts.back(), &number))
        continue;
      parts.resize(parts.size() - 2);
      groups_[absl::StrJoin(parts, "/")][number] = &dataset;
    }
  }

  // Names the layers of a model.
  //   group: the model's.
  void NameModel(const Json* config, const std::string& group, bool trainable, int depth) {
    const Json* const layers = Member(config, "layers");
    if (layers == nullptr || !layers->is_array() || depth > kMaxNested) return;
    for (const char* const container : kContainers) {
      const std::string path = Join(group, container);
      if (!HasGroupsIn(path)) continue;
      std::map<std::string, int> uses;
      for (const Json& layer : *layers) {
        const std::string class_name = SnakeCase(TextOf(&layer, "class_name"));
        const int use = uses[class_name]++;
        NameLayer(layer, class_name,
                  absl::StrCat(path, "/", class_name, use == 0 ? "" : absl::StrCat("_", use)),
                  trainable, depth);
      }
      return;
    }
  }

  // Names what has no name yet by its groups.
  void NameOthers() {
    for (const auto& [group, variables] : groups_) {
      if (named_groups_.count(group) > 0 || group == "optimizer" ||
          absl::StartsWith(group, "metrics/"))
        continue;
      NameInside("", "", nullptr, "", group, /*trainable=*/true);
    }
  }

  void NameOptimizer(const Json* config) {
    const auto found = groups_.find("optimizer");
    if (found == groups_.end()) return;
    const std::map<int, const Hdf5Dataset*>& variables = found->second;
    for (const auto& [number, dataset] : variables)
      names_[dataset->path] = absl::StrCat("optimizer/", number);
    const auto step = variables.find(0);
    if (step != variables.end() && step->second->shape.rank() == 0)
      names_[step->second->path] = "iteration";
    const std::vector<NamedShape> slots = SlotsOf(config, variables.size());
    for (size_t i = 0; i < slots.size(); ++i) {
      const auto dataset = variables.find(static_cast<int>(i) + 1);
      if (dataset == variables.end() || dataset->second->shape != slots[i].second) return;
    }
    const std::string optimizer = TextOf(Member(config, "config"), "name");
    for (size_t i = 0; i < slots.size(); ++i) {
      names_[variables.at(static_cast<int>(i) + 1)->path] =
          absl::StrCat(optimizer, "/", slots[i].first);
    }
  }

  // Two datasets never have one name: both have their paths then.
  std::map<std::string, std::string> TakeNames() {
    std::map<std::string, int> uses;
    for (const auto& [path, name] : names_) ++uses[name];
    for (auto& [path, name] : names_) {
      if (uses[name] > 1) name = path;
    }
    return std::move(names_);
  }

 private:
  bool HasGroupsIn(const std::string& path) const {
    const auto next = groups_.lower_bound(path + "/");
    return next != groups_.end() && absl::StartsWith(next->first, path + "/");
  }

  void NameLayer(const Json& layer, const std::string& class_name, const std::string& group,
                 bool trainable, int depth) {
    const Json* const config = Member(&layer, "config");
    std::string name = TextOf(config, "name");
    if (name.empty()) name = TextOf(&layer, "name");
    trainable = trainable && !IsFalse(config, "trainable");
    NameOwn(group, class_name, config, name, trainable);
    if (Member(config, "layers") != nullptr) return NameModel(config, group, trainable, depth + 1);
    const std::string inside = group + "/";
    for (auto it = groups_.lower_bound(inside);
         it != groups_.end() && absl::StartsWith(it->first, inside); ++it) {
      NameInside(name, class_name, config, inside, it->first, trainable);
    }
  }

  // Names the variables of a layer that is an attribute of another.
  //   outer: the name of the outer layer, of class `class_name`.  begin: its group and a slash.
  void NameInside(const std::string& outer, std::string class_name, const Json* config,
                  const std::string& begin, const std::string& group, bool trainable) {
    std::string name = outer;
    const std::vector<std::string> parts =
        absl::StrSplit(absl::StripPrefix(group, begin), '/', absl::SkipEmpty());
    for (const std::string& part : parts) {
      if (std::find(std::begin(kContainers), std::end(kContainers), part) != std::end(kContainers))
        continue;
      const Json* const inner = Member(config, "layer");
      std::string label = part;
      if (part == "cell") {
        class_name += "_cell";
        label = class_name;
      } else if (inner != nullptr && absl::EndsWith(part, "layer")) {
        // Bidirectional has forward_layer and backward_layer, TimeDistributed has layer.
        class_name = SnakeCase(TextOf(inner, "class_name"));
        config = Member(inner, "config");
        label = part == "layer"
                    ? ""
                    : absl::StrCat(absl::StripSuffix(part, "layer"), TextOf(config, "name"));
      } else {
        class_name = WithoutNumber(part);
        config = nullptr;
        for (const auto& [attribute, word] : kAttributes) {
          if (part != attribute) continue;
          class_name = "einsum_dense";
          label = std::string(word);
        }
      }
      if (!label.empty()) name = Join(name, label);
    }
    // Keras' order of sublayers is not that of their groups.
    if (parts != std::vector<std::string>{"cell"}) order_is_known_ = false;
    NameOwn(group, class_name, config, name, trainable);
  }

  static std::vector<std::string> VariablesOf(const std::string& class_name, const Json* config,
                                              size_t count) {
    std::vector<std::string> variables;
    for (const ClassVariables& row : kClassVariables) {
      const std::vector<absl::string_view> classes = absl::StrSplit(row.names_of_classes, ' ');
      if (std::find(classes.begin(), classes.end(), class_name) == classes.end()) continue;
      variables = absl::StrSplit(row.variables, ' ');
    }
    if (IsFalse(config, "use_bias")) std::erase(variables, "bias");
    if (IsFalse(config, "scale")) std::erase(variables, "gamma");
    if (IsFalse(config, "center")) std::erase(variables, "beta");
    // Without the config, a missing bias shows in the number of variables.
    if (variables.size() == count + 1 && variables.back() == "bias") variables.pop_back();
    return variables.size() == count ? variables : std::vector<std::string>();
  }

  void NameOwn(const std::string& group, const std::string& class_name, const Json* config,
               const std::string& name, bool trainable) {
    const auto found = groups_.find(group);
    if (found == groups_.end() || !named_groups_.insert(group).second) return;
    const std::map<int, const Hdf5Dataset*>& datasets = found->second;
    const std::vector<std::string> variables = VariablesOf(class_name, config, datasets.size());
    if (variables.empty()) order_is_known_ = false;
    size_t i = 0;
    for (const auto& [number, dataset] : datasets) {
      const std::string variable =
          Join(name, variables.empty() ? absl::StrCat(number) : variables[i]);
      names_[dataset->path] = variable;
      const bool is_statistic = class_name == "normalization" ||
                                (!variables.empty() && absl::StartsWith(variables[i], "moving_"));
      if (trainable && !is_statistic) trainable_.emplace_back(variable, dataset->shape);
      ++i;
    }
  }

  // The slots of an optimizer with `count` variables in their order, without the optimizer's name;
  // empty if the order is not known.
  std::vector<NamedShape> SlotsOf(const Json* config, size_t count) const {
    const std::string class_name = TextOf(config, "class_name");
    const Json* const options = Member(config, "config");
    // The slots that alternate, and those that follow them variable by variable.
    std::vector<std::string> alternating, following;
    if (class_name == "Adam" || class_name == "AdamW") {
      alternating = {"m", "v"};
      if (IsSet(options, "amsgrad")) following = {"vhat"};
    } else if (class_name == "SGD") {
      if (IsSet(options, "momentum")) following = {"m"};
    } else if (class_name == "RMSprop") {
      following = {"velocity"};
      if (IsSet(options, "momentum")) following.emplace_back("momentum");
      if (IsSet(options, "centered")) following.emplace_back("average_gradient");
    } else if (class_name == "Adagrad") {
      following = {"accumulator"};
    } else if (class_name == "Adadelta") {
      alternating = {"accumulated_grad", "accumulated_delta_var"};
    } else if (class_name == "Ftrl") {
      alternating = {"accumulator", "linear"};
    }
    std::vector<NamedShape> slots;
    for (const auto& [variable, shape] : trainable_) {
      for (const std::string& slot : alternating) slots.emplace_back(Join(slot, variable), shape);
    }
    for (const std::string& slot : following) {
      for (const auto& [variable, shape] : trainable_)
        slots.emplace_back(Join(slot, variable), shape);
    }
    const bool fits = order_is_known_ && slots.size() + 1 == count;
    return fits ? slots : std::vector<NamedShape>();
  }

  std::map<std::string, std::map<int, const Hdf5Dataset*>> groups_;  // by path, without "vars"
  std::set<std::string> named_groups_;
  std::map<std::string, std::string> names_;  // by the dataset's path
  std::vector<NamedShape> trainable_;         // in Keras' order
  bool order_is_known_ = true;
};

}  // namespace

std::map<std::string, std::string> NamesOfLayers(const std::vector<Hdf5Dataset>& datasets,
                                                 absl::string_view config) {
  const Json json = Json::parse(config.begin(), config.end(), nullptr, /*allow_exceptions=*/false);
  const Json* const model = json.is_discarded() ? nullptr : &json;
  Namer namer(datasets);
  namer.NameModel(Member(model, "config"), "", true, 0);
  namer.NameOthers();
  namer.NameOptimizer(Member(Member(model, "compile_config"), "optimizer"));
  return namer.TakeNames();
}

}  // namespace estimator
