// The step of an imported graph whose own variable cannot be it: a Session program has no
// `global_step`, calls it otherwise, gives it another dtype, or does not update it. The loop then
// counts the steps itself. Its counter is the variable `global_step` of the Graph as ever, but is
// in no checkpoint: the step is in the checkpoint's name. A variable of the file with that name is
// called kFileStepName in the Graph, and keeps its dtype, its updates and its name in checkpoints.
#ifndef ESTIMATOR_GRAPHDEF_STEP_COUNTER_H_
#define ESTIMATOR_GRAPHDEF_STEP_COUNTER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"

namespace estimator {

inline constexpr char kFileStepName[] = "global_step_of_the_file";

// Marks a graph as one whose steps the loop counts. Calling it again changes nothing.
//   stored_name: the variable of the file that has the step in a checkpoint (--global_step); empty:
//     the checkpoint's name has it.
void MarkCountedSteps(Graph& graph, StringArg stored_name = "");
bool HasCountedSteps(const Graph& graph);
// MarkCountedSteps' stored_name; empty for a graph without the mark.
std::string StoredStepName(const Graph& graph);

// Keeps the name of the only part of a partitioned variable, which has the name of the whole.
void KeepNameOfPart(Graph& graph, StringArg whole, StringArg part);
std::string NameOfPart(const Graph& graph, StringArg whole);  // empty: it is no part

// The name of a variable in checkpoints; empty for a counter that is in none.
std::string NameInCheckpoints(const Graph& graph, const Variable& variable);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_STEP_COUNTER_H_
