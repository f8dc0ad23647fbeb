#include "estimator/training/warm_start/warm_start.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/load.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/training/warm_start/load_variables.h"
#include "estimator/training/warm_start/moving_averages.h"
#include "estimator/training/warm_start/vocab_remap.h"
#include "glog/logging.h"

namespace estimator {
namespace {

using Kind = VarsToWarmStart::Kind;

RestoreAdvice Advice() {
  return {.renamed = "renamed: map it in var_name_to_prev_var_name",
          .missing = "not in the checkpoint: leave it out of vars_to_warm_start",
          .slot =
              "a slot or an average that was not saved: leave it out of "
              "vars_to_warm_start",
          .other_size =
              "another size: use VocabInfo if its rows are words, else leave "
              "it out of vars_to_warm_start",
          .other_network =
              "another size: use VocabInfo if its rows are words, else leave "
              "it out of vars_to_warm_start",
          .unwanted = "",
          .closing = "These are fields of WarmStartSettings"};
}

std::vector<std::string> NamesOf(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return names;
}

absl::StatusOr<std::vector<Variable>> ByName(const std::vector<std::string>& names,
                                             const std::vector<Variable>& variables) {
  std::vector<Variable> chosen;
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    const auto found = std::find_if(variables.begin(), variables.end(),
                                    [&](const Variable& v) { return v.name() == name; });
    if (found != variables.end()) {
      chosen.push_back(*found);
    } else {
      unknown.push_back(absl::StrCat("'", name, "'", DidYouMean(name, NamesOf(variables))));
    }
  }
  if (unknown.empty()) return chosen;
  return InvalidArgument("vars_to_warm_start: the model has no variables ",
                         absl::StrJoin(unknown, ", "), "; it has ",
                         absl::StrJoin(NamesOf(variables), ", "));
}

// Returns the chosen variables, each once, in the order of their creation.
absl::StatusOr<std::vector<Variable>> Choose(const VarsToWarmStart& vars, const Graph& graph) {
  std::vector<Variable> all;
  for (const Variable& variable : graph.variables()) {
    if (!variable.local()) all.push_back(variable);
  }
  // The names of the maps are looked up among these, as in TensorFlow.
  if (vars.kind() == Kind::kOnlyVocab) return graph.TrainableVariables();
  if (vars.kind() == Kind::kNamed) return ByName(vars.words(), all);
  EST_ASSIGN_OR_RETURN(const std::vector<NamePattern> patterns,
                       CompileNamePatterns("vars_to_warm_start", vars.words()));
  std::vector<bool> used(patterns.size(), false);
  std::vector<Variable> chosen;
  for (const Variable& variable : vars.kind() == Kind::kAll ? all : graph.ModelVariables()) {
    bool matches = false;
    for (size_t i = 0; i < patterns.size(); ++i) {
      // Names in TensorFlow end in ":0", so an expression that asks for it matches too.
      for (const std::string& name : {variable.name(), absl::StrCat(variable.name(), ":0")}) {
        EST_ASSIGN_OR_RETURN(const bool matches_name, patterns[i].MatchesStartOf(name));
        if (matches_name) matches = used[i] = true;
      }
    }
    if (matches) chosen.push_back(variable);
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    // TensorFlow does not mention such an expression, so it is no error here.
    if (used[i]) continue;
    LOG(WARNING) << "vars_to_warm_start: '" << patterns[i].text() << "' matches no "
                 << (vars.kind() == Kind::kAll ? "variable" : "variable of the model")
                 << DidYouMean(patterns[i].text(), NamesOf(all));
  }
  return chosen;
}

// Checks that all names in a map are used. Without it, a misspelled name would have no effect.
template <typename Map>
absl::Status CheckUsed(const Map& map, const char* what, const std::vector<Variable>& chosen) {
  const std::vector<std::string> names = NamesOf(chosen);
  std::vector<std::string> unused;
  for (const auto& [name, value] : map) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      unused.push_back(absl::StrCat("'", name, "'", DidYouMean(name, names)));
  }
  if (unused.empty()) return absl::OkStatus();
  return InvalidArgument(
      "You provided the following variables in ", what,
      " that were not used: ", absl::StrJoin(unused, ", "),
      ". Perhaps you misspelled them? Here is the list of viable variable names: ",
      names.empty() ? "(none: vars_to_warm_start chooses no variable)"
                    : absl::StrJoin(names, ", "));
}

// A variable with an axis whose indices are words of a vocabulary.
struct VocabLoad {
  WantedVariable wanted;  // spec: the expected type in the checkpoint
  TensorSpec here;
  const VocabInfo* info;
  VocabRemapping remapping;
};

absl::StatusOr<VocabLoad> PlanVocab(const BundleReader& reader, const WantedVariable& variable,
                                    const VocabInfo& info) {
  VocabLoad load{.wanted = variable, .here = variable.spec, .info = &info, .remapping = {}};
  const auto fail = [&variable](auto&&... what) {
    return InvalidArgument("VocabInfo of '", variable.name, "': ", what...);
  };
  const Shape& shape = variable.spec.shape;
  if (shape.rank() <= info.axis)
    return fail("the variable is ", variable.spec.ToString(), " and has no axis ", info.axis);
  if (shape.dim(info.axis) != info.new_vocab_size + info.num_oov_buckets) {
    return fail("new_vocab_size ", info.new_vocab_size, " and num_oov_buckets ",
                info.num_oov_buckets, " add up to ", info.new_vocab_size + info.num_oov_buckets,
                ", but axis ", info.axis, " of the variable is ", shape.dim(info.axis), " (",
                variable.spec.ToString(), ")");
  }
  EST_ASSIGN_OR_RETURN(load.remapping, ReadVocabRemapping(info));
  const auto there = reader.specs().find(variable.stored_name);
  // CheckAll reports a value that is missing or has another rank.
  if (there == reader.specs().end() || there->second.shape.rank() != shape.rank()) return load;
  const int64_t old_rows = there->second.shape.dim(info.axis);
  if (load.remapping.old_size > old_rows) {
    return fail("the old vocabulary has ", load.remapping.old_size, " words in use, but axis ",
                info.axis, " of '", variable.stored_name, "' in ", reader.prefix(), " is ",
                old_rows, "; set old_vocab_size");
  }
  // Along this axis, the checkpoint has the size of the old vocabulary.
  std::vector<int64_t> dims = shape.dims();
  dims[static_cast<size_t>(info.axis)] = old_rows;
  load.wanted.spec.shape = Shape(dims);
  return load;
}

// Returns an error with the problems of vocabularies, and one table of all other problems.
absl::Status CheckAll(const BundleReader& reader, std::vector<std::string> problems,
                      const std::vector<WantedVariable>& wanted) {
  const absl::Status fits = CheckRestorable(reader, wanted, Advice());
  if (problems.empty()) return fits;
  if (!fits.ok()) problems.emplace_back(fits.message());
  return InvalidArgument(absl::StrJoin(problems, "\n"));
}

// Returns the value of the backup initializer, with random numbers of `graph`'s seed.
absl::StatusOr<Array> BackupValue(const VocabLoad& load, const Graph& graph) {
  // The nodes of the initializer must not become part of the model.
  Graph scratch;
  scratch.set_seed(graph.seed());
  const GraphScope scope(scratch);
  const Tensor value = load.info->backup_initializer(load.here.shape, load.here.dtype);
  EST_RETURN_IF_ERROR(scratch.status());
  if (!(value.spec() == load.here)) {
    return InvalidArgument("backup_initializer returns ", value.spec().ToString(),
                           ", but must return ", load.here.ToString());
  }
  EST_ASSIGN_OR_RETURN(const std::vector<Array> values, Evaluate({value}));
  return values[0];
}

absl::Status LoadVocab(const BundleReader& reader, const VocabLoad& load, const Graph& graph,
                       VariableStore& store) {
  store.MarkUninitialized(load.wanted.name);
  EST_ASSIGN_OR_RETURN(Array * value, store.Allocate(load.wanted.name, load.here));
  // All rows get the backup first. RemapAxis then overwrites those of the words that were known.
  if (load.info->backup_initializer) {
    EST_ASSIGN_OR_RETURN(const Array backup, BackupValue(load, graph));
    std::memcpy(value->raw(), backup.raw(), value->num_bytes());
  } else {
    std::memset(value->raw(), 0, value->num_bytes());
  }
  EST_ASSIGN_OR_RETURN(const Array old_value, reader.Read(load.wanted.stored_name));
  RemapAxis(old_value, load.remapping, load.info->axis, value);
  store.MarkInitialized(load.wanted.name);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::set<std::string>> WarmStart(const WarmStartSettings& settings,
                                                const Graph& graph, VariableStore& store) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader,
                       LoadCheckpoint(settings.ckpt_to_initialize_from));
  EST_ASSIGN_OR_RETURN(const std::vector<Variable> chosen,
                       Choose(settings.vars_to_warm_start, graph));
  EST_RETURN_IF_ERROR(
      CheckUsed(settings.var_name_to_prev_var_name, "var_name_to_prev_var_name", chosen));
  EST_RETURN_IF_ERROR(CheckUsed(settings.var_name_to_vocab_info, "var_name_to_vocab_info", chosen));
  std::vector<WantedVariable> plain, all;
  std::vector<VocabLoad> vocab;
  std::vector<std::string> kept;
  std::vector<std::string> problems;
  for (const Variable& variable : chosen) {
    const auto renamed = settings.var_name_to_prev_var_name.find(variable.name());
    const WantedVariable wanted{
        .name = variable.name(),
        .spec = variable.spec(),
        .stored_name =
            reader->NameOf(renamed == settings.var_name_to_prev_var_name.end() ? variable.name()
                                                                               : renamed->second)};
    const auto info = settings.var_name_to_vocab_info.find(variable.name());
    if (info != settings.var_name_to_vocab_info.end()) {
      absl::StatusOr<VocabLoad> load = PlanVocab(*reader, wanted, info->second);
      if (!load.ok()) {
        problems.emplace_back(load.status().message());
        continue;
      }
      all.push_back(load->wanted);
      vocab.push_back(*std::move(load));
    } else if (settings.vars_to_warm_start.kind() == Kind::kModel && !variable.trainable() &&
               !reader->Has(wanted.stored_name)) {
      kept.push_back(variable.name());
    } else if (settings.vars_to_warm_start.kind() != Kind::kOnlyVocab) {
      all.push_back(wanted);
      plain.push_back(wanted);
    }
  }
  // All mismatches are found before the first load, so a mismatch changes no variable.
  EST_RETURN_IF_ERROR(CheckAll(*reader, std::move(problems), all));
  EST_RETURN_IF_ERROR(LoadVariables(*reader, plain, store));
  for (const VocabLoad& load : vocab) {
    EST_RETURN_IF_ERROR(Annotate(LoadVocab(*reader, load, graph, store),
                                 absl::StrCat("VocabInfo of '", load.wanted.name, "'")));
  }
  LogLoaded("Warm-started", reader->prefix(), all, graph);
  LOG_IF(WARNING, !kept.empty()) << kept.size() << " variables that are not trainable are not in "
                                 << reader->prefix()
                                 << " and start at their initial values: " << JoinSome(kept, 6);
  std::set<std::string> names;
  for (const WantedVariable& variable : all) names.insert(variable.name);
  WarnOfMovingAverages(graph, *reader, all, names);
  return names;
}

}  // namespace estimator
