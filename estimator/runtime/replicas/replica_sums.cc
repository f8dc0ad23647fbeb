#include "estimator/runtime/replicas/replica_sums.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/types/span.h"
#include "estimator/array/tree_sum.h"
#include "estimator/base/status.h"

namespace estimator {

// A group of replicas whose values are summed.
struct ReplicaSums::Members {
  const std::vector<int64_t>& numbers;
  // Of those in this process: their positions in `numbers`, and their buffers.
  std::vector<size_t> positions;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

ReplicaSums::ReplicaSums(const ReplicaLayout& layout, std::shared_ptr<ProcessGroup> group,
                         const std::vector<std::unique_ptr<ProgramRun>>& runs)
    : layout_(layout),
      group_(std::move(group)),
      runs_(runs),
      all_(static_cast<size_t>(layout.num_replicas())) {
  std::iota(all_.begin(), all_.end(), 0);
}

absl::Status ReplicaSums::Sum(const Collective& collective) {
  const TensorSpec& spec = collective.spec;
  const absl::Span<const std::vector<int64_t>> groups =
      collective.groups.empty() ? absl::MakeConstSpan(&all_, 1) : collective.groups;
  for (const std::vector<int64_t>& numbers : groups) {
    Members members{.numbers = numbers, .positions = {}, .inputs = {}, .outputs = {}};
    for (size_t i = 0; i < numbers.size(); ++i) {
      const int local = layout_.Local(static_cast<int>(numbers[i]));
      if (local < 0) continue;
      ProgramRun& run = *runs_[static_cast<size_t>(local)];
      members.positions.push_back(i);
      members.inputs.push_back(run.buffer(collective.input));
      // Run 0 has the lowest number of its process, and its updates take effect.
      if (!collective.only_updates || !collective.groups.empty() || local == 0)
        members.outputs.push_back(run.buffer(collective.output));
    }
    const auto rank_of = [&](size_t i) { return layout_.RankOf(static_cast<int>(numbers[i])); };
    bool one_process = true, parts = true;
    // The number of members in each process, if they are divided into equal parts.
    const size_t part = std::max<size_t>(numbers.size() / layout_.num_processes, 1);
    for (size_t i = 0; i < numbers.size(); ++i) {
      one_process = one_process && rank_of(i) == rank_of(0);
      parts = parts && rank_of(i) == static_cast<int>(i / part);
    }
    parts = parts && std::has_single_bit(part) &&
            part * static_cast<size_t>(layout_.num_processes) == numbers.size();
    if (one_process && members.inputs.empty()) continue;
    EST_RETURN_IF_ERROR(one_process ? TreeSum(spec.dtype, spec.dtype, spec.shape.num_elements(),
                                              members.inputs, members.outputs)
                        : parts     ? SumParts(spec, members)
                                    : SumGathered(spec, members));
  }
  return absl::OkStatus();
}

// Each process has a subtree of the sum.
absl::Status ReplicaSums::SumParts(const TensorSpec& spec, const Members& members) {
  const int64_t count = spec.shape.num_elements();
  // A 16-bit float is rounded after the last sum, as in one process.
  const DType dtype = SumDType(spec.dtype);
  std::vector<char> sum(static_cast<size_t>(count) * DTypeSize(dtype));
  EST_RETURN_IF_ERROR(TreeSum(spec.dtype, dtype, count, members.inputs, {sum.data()}));
  EST_RETURN_IF_ERROR(group_->AllReduceSum(dtype, sum.data(), sum.data(), count));
  return TreeSum(dtype, spec.dtype, count, {sum.data()}, members.outputs);
}

// All processes get the values of all members, and take the sum themselves.
absl::Status ReplicaSums::SumGathered(const TensorSpec& spec, const Members& members) {
  constexpr int64_t kMostElements = 1 << 16;  // at a time, which bounds the memory
  const int64_t size = static_cast<int64_t>(DTypeSize(spec.dtype));
  const int64_t count = spec.shape.num_elements();
  const int64_t words = (std::min(count, kMostElements) * size + 7) / 8;  // of a member
  std::vector<int64_t> values(members.numbers.size() * static_cast<size_t>(words));
  std::vector<const void*> inputs;
  for (size_t i = 0; i < members.numbers.size(); ++i)
    inputs.push_back(values.data() + static_cast<int64_t>(i) * words);
  for (int64_t begin = 0; begin < count; begin += kMostElements) {
    const int64_t n = std::min(kMostElements, count - begin);
    std::fill(values.begin(), values.end(), 0);
    for (size_t k = 0; k < members.positions.size(); ++k) {
      std::memcpy(values.data() + static_cast<int64_t>(members.positions[k]) * words,
                  static_cast<const char*>(members.inputs[k]) + begin * size,
                  static_cast<size_t>(n * size));
    }
    // The bits of one process plus zeros, as integers: the sum is every member's bits.
    EST_RETURN_IF_ERROR(group_->AllReduceSum(DType::kInt64, values.data(), values.data(),
                                             static_cast<int64_t>(values.size())));
    if (members.outputs.empty()) continue;
    std::vector<void*> outputs;
    for (void* output : members.outputs)
      outputs.push_back(static_cast<char*>(output) + begin * size);
    EST_RETURN_IF_ERROR(TreeSum(spec.dtype, spec.dtype, n, inputs, outputs));
  }
  return absl::OkStatus();
}

absl::Status ReplicaSums::Start(const CollectiveBucket& bucket) {
  char* const sum = runs_[0]->bucket_memory() + bucket.offset;
  if (runs_.size() > 1) {
    std::vector<const void*> inputs;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const int number = layout_.rank * layout_.num_local + static_cast<int>(i);
      const auto local = static_cast<size_t>(layout_.Local(number));
      inputs.push_back(runs_[local]->bucket_memory() + bucket.offset);
    }
    EST_RETURN_IF_ERROR(TreeSum(bucket.dtype, bucket.dtype, bucket.count, inputs, {sum}));
  }
  background_.Start([group = group_.get(), dtype = bucket.dtype, count = bucket.count, sum] {
    return group->AllReduceSum(dtype, sum, sum, count);
  });
  return absl::OkStatus();
}

absl::Status ReplicaSums::Finish(const std::vector<CollectiveBucket>& buckets) {
  EST_RETURN_IF_ERROR(background_.Wait());
  for (const CollectiveBucket& bucket : buckets) {
    for (const Collective& collective : bucket.collectives) {
      if (collective.only_updates) continue;
      for (size_t i = 1; i < runs_.size(); ++i) {
        std::memcpy(runs_[i]->buffer(collective.output), runs_[0]->buffer(collective.output),
                    collective.spec.num_bytes());
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace estimator
