#include "estimator/training/input/host_positions.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator {
namespace {

constexpr absl::string_view kHosts = " hosts";

// Takes a number from the beginning of the text.
bool TakeNumber(absl::string_view& text, int64_t& number) {
  const size_t end = text.find_first_not_of("0123456789");
  const absl::string_view digits = text.substr(0, end);
  text.remove_prefix(digits.size());
  return absl::SimpleAtoi(digits, &number);
}

// The end of a pipeline, "... > Shard(2, 1, block 8) > Map > Batch(8, drop_remainder) > Prefetch".
struct HostShard {
  std::string before;   // the steps before Shard, which all hosts share
  int64_t block = 1;    // elements that a host takes in a row
  std::string maps;     // the steps between Shard and Batch
  int64_t batch = 0;    // elements
  std::string options;  // of Batch
  bool prefetch = false;
};

// Errors: INVALID_ARGUMENT saying what the pipeline has in place of such an end.
absl::StatusOr<HostShard> FindHostShard(absl::string_view pipeline, int64_t num_hosts) {
  HostShard found;
  absl::string_view rest = pipeline;
  const auto take_last = [&rest] {
    const absl::string_view last = LastStep(rest);
    rest.remove_suffix(last.size());
    absl::ConsumeSuffix(&rest, " > ");
    return last;
  };
  absl::string_view step = take_last();
  found.prefetch = absl::StartsWith(step, "Prefetch");
  if (found.prefetch) step = take_last();
  if (!absl::ConsumePrefix(&step, "Batch(") || !TakeNumber(step, found.batch))
    return InvalidArgument("the input does not end with Batch");
  found.options = std::string(step);
  step = take_last();
  for (; absl::StartsWith(step, "Map") || absl::StartsWith(step, "RandomMap"); step = take_last())
    found.maps = absl::StrCat(step, found.maps);
  if (num_hosts == 1) {  // Dataset::Shard(1, 0) adds no step
    found.before = rest.empty() ? std::string(step) : absl::StrCat(rest, " > ", step);
    return found;
  }
  int64_t shards = 0, index = 0;
  if (!absl::ConsumePrefix(&step, "Shard(") || !TakeNumber(step, shards) ||
      !absl::ConsumePrefix(&step, ", ") || !TakeNumber(step, index) || shards != num_hosts) {
    return InvalidArgument("no Shard(context.num_hosts, context.current_host, params.batch_size) ",
                           "comes directly before Map and Batch");
  }
  if (absl::ConsumePrefix(&step, ", block ")) TakeNumber(step, found.block);
  found.before = std::string(rest);
  return found;
}

// The batches that a pipeline with such an end has given.
absl::StatusOr<int64_t> BatchesOf(const HostShard& shard, absl::string_view nodes) {
  int64_t skip = 0;
  if (shard.prefetch) {  // PositionLog::Save
    StateReader log(nodes);
    EST_ASSIGN_OR_RETURN(nodes, log.Bytes());
    EST_ASSIGN_OR_RETURN(skip, log.Int());
  }
  StateReader batch(nodes);
  EST_ASSIGN_OR_RETURN(const int64_t returned, batch.Int());
  return returned + skip;
}

}  // namespace

std::string JoinHostPositions(const std::vector<std::string>& positions) {
  if (positions.size() == 1) return positions[0];
  StateWriter all;
  for (const std::string& position : positions) all.Bytes(position);
  return SealState(absl::StrCat(positions.size(), kHosts), all.bytes());
}

absl::StatusOr<std::vector<std::string>> SplitHostPositions(absl::string_view position) {
  EST_ASSIGN_OR_RETURN(const SealedState all, ReadSealedState(position));
  absl::string_view text = all.description;
  int64_t num_hosts = 0;
  if (!TakeNumber(text, num_hosts) || text != kHosts)
    return std::vector<std::string>{std::string(position)};
  std::vector<std::string> positions;
  StateReader reader(all.nodes);
  for (int64_t i = 0; i < num_hosts; ++i) {
    EST_ASSIGN_OR_RETURN(const absl::string_view part, reader.Bytes());
    positions.emplace_back(part);
  }
  return positions;
}

absl::StatusOr<int64_t> BatchesBefore(const std::vector<std::string>& saved,
                                      absl::string_view pipeline, int num_hosts) {
  EST_ASSIGN_OR_RETURN(const SealedState first, ReadSealedState(saved[0]));
  const auto num_saved = static_cast<int64_t>(saved.size());
  EST_ASSIGN_OR_RETURN(const HostShard before, FindHostShard(first.description, num_saved));
  EST_ASSIGN_OR_RETURN(const HostShard now, FindHostShard(pipeline, num_hosts));
  if (before.before != now.before || before.maps != now.maps || before.options != now.options) {
    return InvalidArgument("the input is another one: it was \"", first.description,
                           "\", and is now \"", pipeline, "\"");
  }
  // A Shuffle or a Repeat after Shard would give each host an order of its own; FindHostShard has
  // found none. So the hosts have read a beginning of the same examples, if they have read whole
  // blocks.
  EST_ASSIGN_OR_RETURN(const int64_t batches, BatchesOf(before, first.nodes));
  const int64_t of_host = batches * before.batch, of_all = of_host * num_saved;
  const int64_t now_of_host = of_all / num_hosts;
  if (of_host % before.block != 0 || of_all % num_hosts != 0 || now_of_host % now.batch != 0 ||
      now_of_host % now.block != 0) {
    return InvalidArgument("the ", of_all, " examples before it are no whole batches of ",
                           num_hosts, " processes");
  }
  return now_of_host / now.batch;
}

}  // namespace estimator
