// NodeBuilder::LoopImporter: a While of TensorFlow, as one loop of ours (ops/while_loop.h).
//
// TensorFlow's loops write their conditions and lists out. Here they get back the form in which a
// loop is planned and differentiated:
//   a variable that grows or shrinks by 1, and a condition that compares it with a number: the
//   trips
//   a list of which trip t sets element t, or to which it appends: a stacked result
//   a list from which each trip takes the last element (a gradient's loop): a scanned operand of a
//   loop in reverse
//   a tensor to which each trip appends rows (the sum of the gradients of look-ups): a stacked
//   result
//   a variable that does not change: a captured tensor
// A condition that depends on nothing but constants is evaluated here, and gives the trips.
// Any other variable is carried, a list as the tensor of its elements.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_LOOPS_LOOP_IMPORTER_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_LOOPS_LOOP_IMPORTER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/ops/building/loop.h"

namespace estimator {

// Builds one While, once. Its Run is called when the operands are built.
class NodeBuilder::LoopImporter {
 public:
  LoopImporter(NodeBuilder& builder, int node)
      : b_(builder),
        nodes_(builder.nodes_),
        node_(node),
        name_(builder.NameOf(node)),
        loop_(builder.nodes_.loop(node)),
        n_(loop_.constant.size()) {}

  // The values of the outputs of the While. Those that are lists are in lists_ instead.
  absl::StatusOr<std::vector<Tensor>> Run();

 private:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  enum class Kind { kConstant, kCarried, kCarriedList, kSet, kPushed, kPopped, kJoined, kDropped };
  struct Variable {
    Kind kind = Kind::kCarried;
    int step = 0;                        // 1 or -1: it grows or shrinks by 1 at each trip
    Tensor first;                        // of a counter
    std::optional<int64_t> counts_from;  // `first`, if it is constant
    FlatTensor value;                    // kSet, kPushed, kJoined: the element of a trip
    FlatTensor popped;                   // kPopped: what takes the last element
    List same = {};                      // kPushed: same.same, if all elements are one tensor;
                                         // same.inner, if they are lists
    bool stacks = false;                 // it is a stacked result

    // Whether each trip gives an element of the result.
    bool collects() const {
      return kind == Kind::kSet || kind == Kind::kPushed || kind == Kind::kJoined;
    }
  };

  FlatTensor Input(size_t k) const { return nodes_.node(node_).inputs[k]; }
  FlatTensor Result(size_t k) const { return Input(n_ + 1 + k); }
  FlatTensor Behind(FlatTensor at) const { return nodes_.BehindIdentities(at); }
  bool IsArg(FlatTensor at, size_t k) const {
    return loop_.body_args[k] >= 0 && Behind(at) == FlatTensor{loop_.body_args[k], 0};
  }
  int Uses(size_t k) const {
    const auto found = uses_.find({loop_.body_args[k], 0});
    return found == uses_.end() ? 0 : found->second;
  }

  // find_loop.cc: what TensorFlow wrote out.
  absl::Status FindMembers();
  std::vector<int> Needed(std::vector<int> roots) const;
  int CounterOf(FlatTensor at, const std::vector<int>& args) const;
  absl::Status FindKinds();
  absl::Status FindListKind(size_t k);
  absl::Status FindCounter(size_t k);
  absl::Status FindTrips();
  absl::StatusOr<bool> FindJoined(size_t k);
  std::optional<int64_t> CountTrips();
  absl::StatusOr<bool> AddLimit(FlatTensor at, std::vector<Tensor>& limits);

  // build_loop.cc
  absl::Status AddOperands();
  static bool IsUnshaped(const List& list);
  absl::Status FindElementShapes();
  absl::Status AddOperand(size_t k);
  void SetArgs(const std::vector<int>& args, const Tensors& carried);
  absl::Status BuildMembers(const std::vector<int>& members, const std::set<int>& left_out);
  Tensor BuildCond(const Tensors& carried);
  Tensors BuildBody(const Tensors& carried, const Tensors& elements);
  absl::Status BuildBodyNodes(const Tensors& carried, const Tensors& elements);
  absl::StatusOr<Tensors> Body(const Tensors& carried, const Tensors& elements);
  Tensor OutsideOf(const Tensor& value) const;
  absl::StatusOr<std::vector<Tensor>> Outputs(const Tensors& results);

  NodeBuilder& b_;
  const FlatGraph& nodes_;
  const int node_;
  const std::string name_;
  const FlatLoop loop_;
  const size_t n_;
  std::vector<int> body_nodes_, cond_nodes_;
  std::map<FlatTensor, int> uses_;
  std::vector<Variable> variables_;
  std::set<size_t> unshaped_;  // lists whose elements have no known shape yet
  bool cond_is_limits_ = false, has_constant_trips_ = false;
  int64_t trips_ = kNoLimit;  // as far as it is a constant
  LoopSpec made_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_LOOPS_LOOP_IMPORTER_H_
