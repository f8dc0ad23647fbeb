#include "estimator/graphdef/import/find_training.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/op_support.h"

namespace estimator {
namespace {

// For each node, those that read it or have it as a control input.
std::vector<std::vector<int>> UsersOf(const FlatGraph& nodes) {
  std::vector<std::vector<int>> users(static_cast<size_t>(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    for (const FlatTensor& input : nodes.node(i).inputs)
      users[static_cast<size_t>(input.node)].push_back(i);
    for (const int control : nodes.node(i).controls)
      users[static_cast<size_t>(control)].push_back(i);
  }
  return users;
}

// The nodes that run after one of `from`, and these.
std::vector<int> After(std::vector<int> from, const std::vector<std::vector<int>>& users) {
  std::vector<bool> seen(users.size(), false);
  std::vector<int> after;
  while (!from.empty()) {
    const int at = from.back();
    from.pop_back();
    if (seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    after.push_back(at);
    const std::vector<int>& next = users[static_cast<size_t>(at)];
    from.insert(from.end(), next.begin(), next.end());
  }
  return after;
}

// The ops that train variables: those of optimizers, or else the assignments of trainable variables
// that depend on gradients, as of an optimizer in Python.
std::set<int> Updates(const ImportSource& source, const std::vector<std::vector<int>>& users) {
  const FlatGraph& nodes = *source.nodes;
  std::set<int> updates, trainable;
  std::vector<int> gradients;
  for (int i = 0; i < nodes.size(); ++i) {
    if (absl::StrContains(nodes.op(i), "Apply")) updates.insert(i);
    if (IsGradientName(nodes.node(i).name)) gradients.push_back(i);
  }
  if (!updates.empty()) return updates;
  for (const SourceVariable& variable : source.variables)
    if (variable.trainable) trainable.insert(variable.node);
  for (const int i : After(std::move(gradients), users)) {
    const std::vector<FlatTensor>& inputs = nodes.node(i).inputs;
    if (absl::StartsWith(nodes.op(i), "Assign") && !inputs.empty() &&
        trainable.count(inputs[0].node) > 0)
      updates.insert(i);
  }
  return updates;
}

struct Runner {
  int node = -1;
  std::set<int> runs;      // which of the updates
  size_t num_reached = 0;  // the nodes that it runs
};

// The ops that nothing uses and that run some of `updates`, without those that run no more than
// another. Of equals, the one that runs most nodes or fewest.
std::vector<Runner> Runners(const FlatGraph& nodes, const std::vector<std::vector<int>>& users,
                            const std::set<int>& updates, bool prefer_most) {
  std::map<int, Runner> ends;
  for (const int update : updates) {
    for (const int i : After({update}, users)) {
      // An op that something uses is a part of a larger one.
      if (!users[static_cast<size_t>(i)].empty() || absl::EndsWith(nodes.op(i), "Summary"))
        continue;
      ends[i].node = i;
      ends[i].runs.insert(update);
    }
  }
  std::vector<Runner> best;
  for (auto& entry : ends) {
    Runner& end = entry.second;  // clang 14 captures no structured binding
    end.num_reached = nodes.Reached({end.node}, true).size();
    const auto within = [](const Runner& a, const Runner& b) {
      return std::includes(b.runs.begin(), b.runs.end(), a.runs.begin(), a.runs.end());
    };
    const bool better = std::none_of(best.begin(), best.end(), [&](const Runner& other) {
      const bool preferred =
          prefer_most ? end.num_reached >= other.num_reached : end.num_reached < other.num_reached;
      return within(end, other) && !(within(other, end) && preferred);
    });
    if (!better) continue;
    std::erase_if(best, [&](const Runner& other) { return within(other, end); });
    best.push_back(std::move(end));
  }
  return best;
}

// "loss", "loss_1", "loss_2", ...
bool IsLossTag(absl::string_view tag) {
  if (!absl::ConsumePrefix(&tag, "loss")) return false;
  if (tag.empty()) return true;
  return absl::ConsumePrefix(&tag, "_") && !tag.empty() &&
         std::all_of(tag.begin(), tag.end(), [](char c) { return absl::ascii_isdigit(c); });
}

// The number of the node whose gradient is the first of a scope: "gradients/Mean_grad/mul" is of
// "Mean". -1 if the name is no such.
//   scope: with its slash.
int ForwardNode(FlatGraph& nodes, absl::string_view name, absl::string_view scope) {
  if (!absl::ConsumePrefix(&name, scope)) return -1;
  // Scopes of the forward graph may end in _grad too, so the shortest name that exists is taken.
  for (size_t at = name.find("_grad"); at != absl::string_view::npos;
       at = name.find("_grad", at + 1)) {
    const absl::StatusOr<int> found = nodes.FindOp(name.substr(0, at));
    if (found.ok()) return *found;
  }
  return -1;
}

// The scope of a node with which gradients begin: "train/gradients/" of "train/gradients/Fill".
absl::string_view ScopeOfStart(absl::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == absl::string_view::npos) return "";
  const absl::string_view scope = name.substr(0, slash), leaf = name.substr(slash + 1);
  const bool starts = absl::StartsWith(leaf, "Fill") || absl::StartsWith(leaf, "grad_ys_") ||
                      absl::StartsWith(leaf, "Const");
  const size_t parent = scope.rfind('/');
  const bool of_gradients = IsGradientName(scope.substr(parent + 1));  // npos + 1 is 0
  return starts && of_gradients ? name.substr(0, slash + 1) : "";
}

// The ops whose gradients the train ops use, one for each scope `gradients`.
std::map<std::string, int> Differentiated(ImportSource& source) {
  FlatGraph& nodes = *source.nodes;
  const std::vector<int> reached = nodes.Reached(source.train_ops, true);
  std::map<std::string, int> losses;
  for (const int i : reached) {
    for (const FlatTensor& input : nodes.node(i).inputs) {
      const absl::string_view scope = ScopeOfStart(nodes.node(input.node).name);
      if (scope.empty()) continue;
      const int loss = ForwardNode(nodes, nodes.node(i).name, scope);
      if (loss < 0) continue;
      // The last of the graph is the sum of the others.
      int& last = losses.emplace(scope, -1).first->second;
      last = std::max(last, loss);
    }
  }
  return losses;
}

std::string Flags(absl::string_view flag, const std::vector<std::string>& names) {
  return absl::StrCat(flag, absl::StrJoin(names, absl::StrCat(", ", flag)));
}

}  // namespace

absl::Status FindTrainOps(const TrainGraphOptions& options, ImportSource& source) {
  FlatGraph& nodes = *source.nodes;
  const auto take = [&](int op) {
    source.train_ops.push_back(op);
    absl::StrAppend(&source.info.train_op, source.info.train_op.empty() ? "" : ",",
                    nodes.node(op).name);
  };
  if (!options.train_op.empty()) {
    for (const absl::string_view name : absl::StrSplit(options.train_op, ',', absl::SkipEmpty())) {
      const absl::StatusOr<int> op = nodes.FindOp(name);
      if (!op.ok()) return Annotate(op.status(), "TrainGraphOptions::train_op, --train_op");
      take(*op);
    }
    if (!source.train_ops.empty()) return absl::OkStatus();
    return InvalidArgument("TrainGraphOptions::train_op, --train_op: '", options.train_op,
                           "' names no op");
  }
  // What EstimatorSpec had as its train_op, in a SavedModel.
  const std::vector<std::string> saved = NodeList(source.meta_graph, "saved_model_train_op");
  const std::vector<std::string> names =
      saved.size() == 1 ? saved : NodeList(source.meta_graph, "train_op");
  // Optimizers list their own ops, but what EstimatorSpec had as its train_op may wrap them:
  // tf.group of two optimizers, or a moving average after one.
  std::set<int> listed;
  for (absl::string_view name : names) {
    absl::ConsumePrefix(&name, "^");
    EST_ASSIGN_OR_RETURN(const int op, nodes.FindOp(name));
    listed.insert(op);
  }
  if (saved.size() == 1) {
    take(*listed.begin());
    return absl::OkStatus();
  }
  const std::vector<std::vector<int>> users = UsersOf(nodes);
  const std::set<int> updates = listed.empty() ? Updates(source, users) : listed;
  constexpr size_t kMaxUpdates = 1 << 14;  // each is a walk through the graph
  if (updates.size() > kMaxUpdates) {
    return InvalidArgument("the graph has ", updates.size(), " updates, and at most ", kMaxUpdates,
                           " are looked through; give TrainGraphOptions::train_op (--train_op)");
  }
  const std::vector<Runner> runners = Runners(nodes, users, updates, !listed.empty());
  if (runners.size() == 1 && runners[0].runs == updates) {
    take(runners[0].node);
    if (listed.empty())
      source.info.choices.push_back(
          absl::StrCat("the collection 'train_op' is empty: ", source.info.train_op,
                       " trains, because nothing reads it and it runs all ", updates.size(),
                       " updates of variables; --train_op=NAME chooses another"));
    return absl::OkStatus();
  }
  if (updates.empty()) {
    return InvalidArgument(
        "the collection 'train_op' is empty, and no op updates a variable with a gradient: this is "
        "not the graph of a training; give TrainGraphOptions::train_op (--train_op) if the file "
        "has such an op");
  }
  std::vector<std::string> found;
  for (const Runner& runner : runners) found.push_back(nodes.node(runner.node).name);
  std::vector<std::string> flags = {absl::StrJoin(found, ",")};
  if (found.size() > 1) flags.insert(flags.end(), found.begin(), found.end());
  flags.resize(std::min<size_t>(flags.size(), 20));
  return InvalidArgument("the graph has ", found.size(),
                         " ops that train, and none that runs them all; name those of a step in "
                         "TrainGraphOptions::train_op: ",
                         Flags("--train_op=", flags));
}

absl::Status FindLoss(const TrainGraphOptions& options, ImportSource& source) {
  FlatGraph& nodes = *source.nodes;
  if (!options.loss.empty()) {
    const absl::StatusOr<FlatTensor> found = nodes.Find(options.loss);
    if (!found.ok()) return Annotate(found.status(), "TrainGraphOptions::loss, --loss");
    source.loss = *found;
  } else if (source.loss.node < 0) {  // the signature has none
    // The Estimator adds its summary last. It is loss_1 if the model has a scope or summary `loss`.
    const auto shown =
        std::find_if(source.summaries.rbegin(), source.summaries.rend(), [](const auto& summary) {
          return summary.kind == SummaryRequest::Kind::kScalar && IsLossTag(summary.tag);
        });
    const std::vector<std::string> losses = NodeList(source.meta_graph, "losses");
    std::map<std::string, int> differentiated;
    if (shown != source.summaries.rend()) {
      source.loss = shown->value;
    } else if (losses.size() == 1) {
      EST_ASSIGN_OR_RETURN(source.loss, nodes.Find(losses[0]));
    } else if (differentiated = Differentiated(source); differentiated.size() == 1) {
      source.loss = {differentiated.begin()->second, 0};
      source.info.choices.push_back(
          absl::StrCat("no summary has the tag 'loss': ", nodes.node(source.loss.node).name,
                       ":0 is the loss, because ", differentiated.begin()->first,
                       " begins with its gradient; --loss=NAME chooses another"));
    } else {
      std::set<std::string> names(losses.begin(), losses.end());
      for (const auto& [scope, loss] : differentiated)
        names.insert(absl::StrCat(nodes.node(loss).name, ":0"));
      std::vector<std::string> flags(names.begin(), names.end());
      flags.resize(std::min<size_t>(flags.size(), 20));
      return InvalidArgument(
          "no summary has the tag 'loss' or 'loss_1', and the collection 'losses' has ",
          losses.empty() ? "no tensor" : JoinSome(losses, 5),
          "; give the loss in TrainGraphOptions::loss",
          flags.empty() ? " (--loss)" : absl::StrCat(": ", Flags("--loss=", flags)));
    }
  }
  source.info.loss = absl::StrCat(nodes.node(source.loss.node).name, ":", source.loss.output);
  return absl::OkStatus();
}

absl::Status FindStep(const ImportPlan& plan, StringArg where, ImportSource& source) {
  const auto is_step = [&source](const SourceVariable& variable, absl::string_view name) {
    const absl::StatusOr<TensorSpec> spec = VariableSpec(source.nodes->node(variable.node));
    return variable.name == name && !variable.local && spec.ok() &&
           spec->shape.num_elements() == 1 && IsInteger(spec->dtype);
  };
  const std::string& named = source.stored_step_name;
  source.counts_steps = true;
  for (const SourceVariable& variable : source.variables) {
    if (!named.empty() && named != "global_step" && is_step(variable, named))
      return absl::OkStatus();
    if (!is_step(variable, "global_step")) continue;
    const TensorSpec spec = *VariableSpec(source.nodes->node(variable.node));
    const bool advances = source.info.role != TrainGraphRole::kTrain ||
                          (plan.order && !plan.order->Writes(variable.node).empty());
    const bool counts = spec == TensorSpec{DType::kInt64, Shape{}} && advances;
    if (counts && (named.empty() || named == "global_step")) source.counts_steps = false;
    if (counts && named == "global_step") return absl::OkStatus();
  }
  if (named.empty()) return absl::OkStatus();
  return InvalidArgument(where, ": TrainGraphOptions::global_step, --global_step: '", named,
                         "' is no variable of the graph that is one integer in checkpoints",
                         named == "global_step" ? " and that train_op updates" : "",
                         "; leave it out, and the loop counts the steps");
}

}  // namespace estimator
