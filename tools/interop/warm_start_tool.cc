// Warm-starts a model whose variables are given on the command line, and writes them as a
// checkpoint. tools/verify_interop.sh compares them with the result of TensorFlow's Estimator.
//
//   warm_start_tool OUT_PREFIX [var=NAME:2x3]... [slot=NAME:2x3]...
//       [from=PATH] [regex=TRAINABLE] [all=REGEX]... [only_vocab] [prev=NAME:OLD]...
//       [vocab=NAME:NEW_FILE:SIZE:OOV:OLD_FILE:OLD_SIZE:BACKUP:AXIS]...
//       [init=PATH] [assign=THERE:HERE]...
//       [averages=PREFIX]   restores as evaluation does: moving averages instead of weights
// A variable starts at -1 if nothing else is given.
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/save.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/train/exponential_moving_average.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/compiled_model.h"
#include "estimator/training/warm_start.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

int64_t Number(const std::string& text) {
  int64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  std::cerr << "not a number: " << text << "\n";
  std::exit(2);
}

void AddVariable(const std::string& name, const std::string& sizes, bool trainable) {
  std::vector<int64_t> dims;
  for (const std::string& size : std::vector<std::string>(absl::StrSplit(sizes, 'x')))
    dims.push_back(Number(size));
  GetVariable(name, Shape(dims),
              {.initializer = initializers::Constant(-1), .trainable = trainable});
  // As an optimizer marks its slots.
  if (!trainable) Graph::Current().training_variables().insert(name);
}

absl::Status Write(const std::string& out, const VariableStore& store) {
  std::map<std::string, Array> values;
  for (const std::string& name : store.Names()) values[name] = *store.Peek(name);
  return SaveVariables(out, values);
}

absl::Status Run(const std::vector<std::string>& arguments) {
  const std::string& out = arguments[0];
  Graph graph;
  const GraphScope scope(graph);
  GetOrCreateGlobalStep();
  WarmStartSettings settings;
  std::vector<std::string> all;
  std::string init, averages;
  train::AssignmentMap assignment_map;
  for (const std::string& word : std::vector<std::string>(arguments.begin() + 1, arguments.end())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    std::vector<std::string> values = absl::StrSplit(parts.second, ':');
    values.resize(8);
    if (parts.first == "var" || parts.first == "slot") {
      AddVariable(values[0], values[1], parts.first == "var");
    } else if (parts.first == "from") {
      settings.ckpt_to_initialize_from = parts.second;
    } else if (parts.first == "regex") {
      settings.vars_to_warm_start = parts.second;
    } else if (parts.first == "all") {
      all.push_back(parts.second);
    } else if (parts.first == "only_vocab") {
      settings.vars_to_warm_start = std::nullopt;
    } else if (parts.first == "prev") {
      settings.var_name_to_prev_var_name[values[0]] = values[1];
    } else if (parts.first == "vocab") {
      settings.var_name_to_vocab_info[values[0]] = {
          .new_vocab = values[1],
          .new_vocab_size = Number(values[2]),
          .num_oov_buckets = Number(values[3]),
          .old_vocab = values[4],
          .old_vocab_size = Number(values[5]),
          .backup_initializer = initializers::Constant(static_cast<double>(Number(values[6]))),
          .axis = static_cast<int>(Number(values[7]))};
    } else if (parts.first == "averages") {
      averages = parts.second;
    } else if (parts.first == "init") {
      init = parts.second;
    } else if (parts.first == "assign") {
      assignment_map.emplace_back(values[0], values[1]);
    } else {
      return InvalidArgument("unknown word ", word);
    }
  }
  if (!all.empty()) settings.vars_to_warm_start = VarsToWarmStart(all);
  if (!init.empty()) train::InitFromCheckpoint(init, assignment_map);
  EST_RETURN_IF_ERROR(graph.status());
  if (!averages.empty()) {
    const train::ExponentialMovingAverage ema(0.9);
    ModelState state;
    EST_RETURN_IF_ERROR(
        state.Restore(graph, averages, {.restore_names = RestoreNames(ema.VariablesToRestore())}));
    return Write(out, state.store());
  }
  VariableStore store;
  std::set<std::string> warm_started;
  if (!settings.ckpt_to_initialize_from.empty()) {
    EST_RETURN_IF_ERROR(ValidateWarmStart(settings));
    EST_ASSIGN_OR_RETURN(warm_started, WarmStart(settings, graph, store));
  }
  EST_RETURN_IF_ERROR(LoadCheckpointInitializers(graph, warm_started, store).status());
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store));
  return Write(out, store);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "warm_start_tool OUT_PREFIX [...]", estimator::Run);
}
