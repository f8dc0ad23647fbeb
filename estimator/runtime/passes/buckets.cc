#include "estimator/runtime/passes/buckets.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "estimator/array/tree_sum.h"
#include "estimator/runtime/passes/plan_memory.h"
#include "estimator/runtime/passes/select_kernels.h"

namespace estimator::ir {
namespace {

class BucketMaker {
 public:
  BucketMaker(const Module& module, Schedule& schedule)
      : module_(module), schedule_(schedule), readers_(Readers(module)) {
    for (const Node& node : module.nodes) {
      for (const Value& input : node.inputs)
        if (!IsView(node)) ++uses_[Root(module, input)];
    }
    for (const Update& update : module.updates) ++uses_[Root(module, update.value)];
    for (const Value& fetch : module.fetches) fetched_.insert(Root(module, fetch));
    for (int n = 0; n < module.num_nodes(); ++n) {
      if (module.node(n).op == kCollectiveOp && Fits(n)) fitting_.insert(n);
    }
  }

  void Run(bool blocks, int64_t bucket_bytes) {
    for (const Schedule::Segment& segment : schedule_.segments) MoveGradients(segment);
    for (size_t t = 0; t < schedule_.order.size(); ++t)
      position_[schedule_.order[t]] = static_cast<int>(t);
    int64_t offset = 0;
    for (size_t k = 0; k < schedule_.segments.size(); ++k) {
      const Schedule::Segment& segment = schedule_.segments[k];
      std::vector<std::pair<int, int>> sums;  // where the operand is computed, and the sum
      for (int t = segment.end; t < segment.collectives_end; ++t) {
        const int n = At(schedule_.order, t);
        if (fitting_.count(n) > 0) sums.emplace_back(position_.at(Operand(n).node), n);
      }
      std::sort(sums.begin(), sums.end());
      for (const auto& [position, n] : sums) {
        const TensorSpec& spec = module_.node(n).outputs[0];
        std::vector<Schedule::Bucket>& buckets = schedule_.buckets;
        if (buckets.empty() || buckets.back().segment != k || buckets.back().dtype != spec.dtype ||
            buckets.back().bytes >= bucket_bytes)
          buckets.push_back(
              {.segment = k, .dtype = spec.dtype, .collectives = {}, .offset = offset});
        buckets.back().collectives.push_back(n);
        buckets.back().ready = position + 1;
        const int64_t bytes = FirstFit::Rounded(spec.num_bytes());
        buckets.back().bytes += bytes;
        offset += bytes;
        if (blocks) buckets.back().blocks = Blocks(module_.node(Operand(n)), bucket_bytes);
      }
    }
  }

 private:
  Value Operand(int n) const { return Root(module_, module_.node(n).inputs[0]); }

  bool Fits(int n) const {
    const Node& node = module_.node(n);
    const Array* const groups = node.inputs.size() < 2 ? nullptr : module_.constant(node.inputs[1]);
    if (node.inputs.size() > 1 && (groups == nullptr || groups->num_elements() > 0)) return false;
    // Sums of 16-bit floats are exchanged in f32, which have no room there.
    const DType dtype = node.outputs[0].dtype;
    if (!(IsFloating(dtype) || IsInteger(dtype)) || SumDType(dtype) != dtype) return false;
    const Value operand = Operand(n);
    const Node& producer = module_.node(operand);
    // The memory of other values is not free to choose: feeds, variables, derived values, fetches.
    return producer.kind == Node::Kind::kOp && !producer.derived && producer.op != kCollectiveOp &&
           uses_.at(operand) == 1 && fetched_.count(operand) == 0 && fetched_.count({n, 0}) == 0;
  }

  // The blocks of rows in which the output of a node is computed. There are several only if it is
  // larger than a bucket, so it is the last value of its bucket.
  static std::vector<RowRange> Blocks(const Node& node, int64_t bucket_bytes) {
    std::vector<RowRange> blocks;
    const auto bytes = static_cast<int64_t>(node.outputs[0].num_bytes());
    if (!node.kernel->RunsRows() || bytes <= bucket_bytes) return blocks;
    const int64_t rows = node.outputs[0].shape[0], count = (bytes - 1) / bucket_bytes + 1;
    const int64_t unit = RowRange::kMultiple, size = (rows - 1) / (count * unit) * unit + unit;
    for (int64_t begin = 0; begin < rows; begin += size)
      blocks.push_back({.begin = begin, .end = std::min(begin + size, rows)});
    return blocks;
  }

  // Whether only sums in buckets read the outputs of node n, perhaps through views.
  bool OnlySumsRead(int n) const {
    const std::vector<int>& readers = At(readers_, n);
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](int m) {
      return m >= 0 && (fitting_.count(m) > 0 || (IsView(module_.node(m)) && OnlySumsRead(m)));
    });
  }

  // Moves gradients that only their sums need behind the last node that they read. So the gradient
  // of a weight is computed before that of the layer's input, and is sent the earlier.
  void MoveGradients(const Schedule::Segment& segment) {
    std::map<int, int> position;
    for (int t = segment.begin; t < segment.end; ++t) position[At(schedule_.order, t)] = t;
    std::map<int, int> key = position;
    for (const auto& [n, t] : position) {
      if (!OnlySumsRead(n)) continue;
      key[n] = segment.begin;
      for (const Value& input : module_.node(n).inputs) {
        const auto it = position.find(Root(module_, input).node);
        if (it != position.end()) key[n] = std::max(key[n], it->second);
      }
    }
    // A node that is moved has the key of one that was before it, and stays behind it.
    std::stable_sort(schedule_.order.begin() + segment.begin, schedule_.order.begin() + segment.end,
                     [&](int a, int b) { return key.at(a) < key.at(b); });
  }

  const Module& module_;
  Schedule& schedule_;
  const std::vector<std::vector<int>> readers_;
  std::map<int, int> position_;  // node -> its position in the order
  std::map<Value, int> uses_;    // root -> its readers, with updates
  std::set<Value> fetched_;      // roots
  std::set<int> fitting_;        // the sums that are in buckets
};

}  // namespace

void MakeBuckets(const Module& module, Schedule& schedule, bool blocks, int64_t bucket_bytes) {
  BucketMaker(module, schedule).Run(blocks, bucket_bytes);
}

}  // namespace estimator::ir
