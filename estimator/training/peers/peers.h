// Peers: the processes that train one model together, as the loops see them. What one of them says
// in an exchange, all learn, errors included. So all of them take the same decisions.
#ifndef ESTIMATOR_TRAINING_PEERS_PEERS_H_
#define ESTIMATOR_TRAINING_PEERS_PEERS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/distributed/process_group.h"
#include "estimator/runtime/backend.h"

namespace estimator {

// The functions that return a status are collective: all ranks make the same calls in the same
// order. A process that is alone exchanges nothing, at no cost. Not thread-safe.
class Peers {
 public:
  // null, or a group of one: this process is alone.
  explicit Peers(std::shared_ptr<ProcessGroup> group = nullptr)
      : group_(group != nullptr && group->size() > 1 ? std::move(group) : nullptr) {}

  bool alone() const { return group_ == nullptr; }
  int rank() const { return alone() ? 0 : group_->rank(); }
  int size() const { return alone() ? 1 : group_->size(); }
  bool is_chief() const { return rank() == 0; }
  std::string Name(int rank) const;  // "rank 1 (host2)"
  // A call of the loops begins.
  void Begin() { failed_ = false; }

  // Returns the bytes of all ranks, in their order.
  //   what: what the exchange is for, the same on all ranks.
  //   mine: an error of this rank. All ranks then return the error of the lowest rank that has one,
  //     with its name.
  // Errors: FAILED_PRECONDITION if another rank exchanges something else; those of the group, which
  // have the exit code kLostPeerExitCode.
  absl::StatusOr<std::vector<std::string>> Exchange(absl::string_view what,
                                                    const absl::Status& mine,
                                                    absl::string_view bytes = "");
  // The same without bytes: OK if all ranks are.
  absl::Status Agree(absl::string_view what, const absl::Status& mine);
  // The bytes of the chief. `bytes` of other ranks are not used, their errors are.
  absl::StatusOr<std::string> FromChief(absl::string_view what,
                                        const absl::StatusOr<std::string>& bytes);
  // Whether an exchange has failed in this call, so that all ranks have its error.
  bool failed() const { return failed_; }
  // The result of a call in which this rank may have failed alone: the others, which wait for its
  // next exchange, get the error.
  //   in_step: they may wait for it in a step instead.
  absl::Status Finish(const absl::Status& mine, bool in_step = false);

  // While it lives, the chief does something that its peers do not do, such as an export for which
  // they wait. The Estimator then evaluates, predicts and exports without an exchange.
  struct ChiefAlone {
    explicit ChiefAlone(Peers& of) : peers(of) { ++peers.num_alone_; }
    ~ChiefAlone() { --peers.num_alone_; }
    ChiefAlone(const ChiefAlone&) = delete;
    ChiefAlone& operator=(const ChiefAlone&) = delete;
    Peers& peers;
  };
  bool chief_is_alone() const { return num_alone_ > 0; }

  // Facts by name that must be the same on all ranks.
  using Facts = std::map<std::string, std::string>;
  // Errors: FAILED_PRECONDITION naming each fact that differs from the chief's, and its rank.
  absl::Status CheckSame(const Facts& facts);
  // What a rank says of a step.
  struct StepNote {
    uint64_t flags = 0;
    std::string position = {};
  };
  // The fetches `indices` of the replicas of all ranks; other fetches are left empty. Returns the
  // notes of all ranks.
  //   parts: RunConfig.accumulate_steps: the replicas of the first part come first, those of all
  //     ranks.
  absl::StatusOr<std::vector<StepNote>> GatherFetches(absl::string_view what,
                                                      const StepFetches& mine,
                                                      absl::Span<const size_t> indices, int parts,
                                                      const StepNote& note, StepFetches& all);

 private:
  absl::Status Failed(absl::Status status);

  const std::shared_ptr<ProcessGroup> group_;
  int num_alone_ = 0;
  bool failed_ = false;  // an exchange returned an error, so all ranks have it
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_PEERS_PEERS_H_
