#include "estimator/graphdef/step_counter.h"

#include "absl/strings/str_cat.h"

namespace estimator {
namespace {

constexpr char kMark[] = "loop_counts_steps";  // a NoOp that nothing runs
constexpr char kStoredName[] = "stored_name";

}  // namespace

void MarkCountedSteps(Graph& graph, StringArg stored_name) {
  if (HasCountedSteps(graph)) return;
  graph.AddNode("NoOp", {}, {{kStoredName, std::string(stored_name)}}, kMark);
}

bool HasCountedSteps(const Graph& graph) { return graph.FindNode(kMark) != nullptr; }

std::string StoredStepName(const Graph& graph) {
  const Node* const mark = graph.FindNode(kMark);
  return mark == nullptr ? "" : mark->attrs().s(kStoredName);
}

void KeepNameOfPart(Graph& graph, StringArg whole, StringArg part) {
  graph.AddNode("NoOp", {}, {{kStoredName, std::string(part)}}, absl::StrCat("whole_of/", whole));
}

std::string NameOfPart(const Graph& graph, StringArg whole) {
  const Node* const kept = graph.FindNode(absl::StrCat("whole_of/", whole));
  return kept == nullptr ? "" : kept->attrs().s(kStoredName);
}

std::string NameInCheckpoints(const Graph& graph, const Variable& variable) {
  if (!HasCountedSteps(graph)) return variable.name();
  if (variable.name() == "global_step") return "";
  return variable.name() == kFileStepName ? NameOfPart(graph, kFileStepName) : variable.name();
}

}  // namespace estimator
