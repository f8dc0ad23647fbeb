// Which nodes run in a branch of ours (ops/branches.h), and not in each step.
//
// A node that TensorFlow runs only if a condition holds is built in the body of an If or a Case, if
// nothing outside of that branch reads it. The results of the body are what Merges choose, or an
// If or a Case of the file.
//   The Merges of one condition and one stage (Branches::StageOf) become one If.
//   The branches of a gradient read tensors of the branches before them. Such a tensor is one more
//   result of its If (Body::passed), which is zero if the branch is not taken.
//   Updates are built outside, where they select, and so is what they read.
//   Branches whose ops are cheap and cannot fail are built outside too: selecting costs less.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_BRANCHES_BRANCH_BODIES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_BRANCHES_BRANCH_BODIES_H_

#include <map>
#include <set>
#include <vector>

#include "estimator/graphdef/import/branches.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/graphdef/import/variable_order.h"

namespace estimator {

struct BranchBodies {
  struct Body {
    int group = 0, side = 0;
    std::vector<int> nodes;       // each after its inputs
    std::set<FlatTensor> passed;  // to later bodies of the same condition and side
  };
  struct Group {              // becomes one If or Case
    std::vector<int> chosen;  // Merges, or one If or Case of the file; the first builds all
    std::vector<int> bodies;  // by side
  };

  // The body that builds a node; -1: none, but the graph or the loop that the node is in.
  int BodyOf(int node) const { return body_of.empty() ? -1 : body_of[static_cast<size_t>(node)]; }
  // The group of a Merge, an If or a Case; null if all of its branches are built outside.
  const Group* GroupOf(int node) const {
    const auto found = group_of.find(node);
    return found == group_of.end() ? nullptr : &groups[static_cast<size_t>(found->second)];
  }
  // Whether something reads an output of a group: TensorFlow adds outputs for gradients.
  bool IsRead(FlatTensor output) const { return read.count(output) > 0; }

  std::vector<Group> groups;
  std::vector<Body> bodies;
  std::vector<int> body_of;  // by node
  std::map<int, int> group_of;
  std::set<FlatTensor> read;  // of groups
};

//   results: what is read from outside of the graph.
//   average_gradients: what leaves a scope `gradients` is built outside, because a body cannot sum
//   over replicas.
BranchBodies FindBranchBodies(const FlatGraph& nodes, const Branches& branches,
                              const VariableOrder& order, const std::vector<bool>& needed,
                              const std::vector<FlatTensor>& results, bool average_gradients);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_BRANCHES_BRANCH_BODIES_H_
