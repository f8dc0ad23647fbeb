#include "estimator/training/peers/peers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/element_bytes.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator {
namespace {

// What a rank says in an exchange: its purpose, the rank's error, and bytes.
struct Message {
  std::string what;
  absl::Status status;
  std::string bytes;
};

absl::StatusOr<Message> ReadMessage(absl::string_view text) {
  StateReader reader(text);
  EST_ASSIGN_OR_RETURN(const absl::string_view what, reader.Bytes());
  EST_ASSIGN_OR_RETURN(const int64_t code, reader.Int());
  EST_ASSIGN_OR_RETURN(const absl::string_view error, reader.Bytes());
  EST_ASSIGN_OR_RETURN(const absl::string_view bytes, reader.Bytes());
  return Message{.what = std::string(what),
                 .status = absl::Status(static_cast<absl::StatusCode>(code), error),
                 .bytes = std::string(bytes)};
}

// The parts that a StateWriter wrote one after another.
absl::StatusOr<std::vector<std::string>> ReadParts(absl::string_view text) {
  StateReader reader(text);
  std::vector<std::string> parts;
  while (reader.remaining() > 0) {
    EST_ASSIGN_OR_RETURN(const absl::string_view part, reader.Bytes());
    parts.emplace_back(part);
  }
  return parts;
}

}  // namespace

std::string Peers::Name(int rank) const {
  return alone() ? "this process" : absl::StrCat("rank ", rank, " (", group_->host(rank), ")");
}

absl::Status Peers::Failed(absl::Status status) {
  failed_ = true;
  return status;
}

absl::StatusOr<std::vector<std::string>> Peers::Exchange(absl::string_view what,
                                                         const absl::Status& mine,
                                                         absl::string_view bytes) {
  if (alone()) {
    if (!mine.ok()) return mine;
    return std::vector<std::string>{std::string(bytes)};
  }
  StateWriter message;
  message.Bytes(what);
  message.Int(static_cast<int>(mine.code()));
  message.Bytes(mine.message());
  message.Bytes(bytes);
  const absl::StatusOr<std::vector<std::string>> parts = group_->AllGather(message.bytes());
  // This rank's own error is the cause, and the loss of a peer that has it already is not.
  if (!parts.ok()) return Failed(mine.ok() ? parts.status() : mine);
  std::vector<Message> messages;
  for (const std::string& part : *parts) {
    EST_ASSIGN_OR_RETURN(Message read, ReadMessage(part));
    messages.push_back(std::move(read));
  }
  for (int i = 0; i < size(); ++i) {
    const absl::Status& status = messages[static_cast<size_t>(i)].status;
    if (status.ok()) continue;
    // This rank's own error keeps its marks.
    if (i == rank()) return Failed(mine);
    return Failed(absl::Status(status.code(), absl::StrCat(Name(i), ": ", status.message())));
  }
  std::vector<std::string> result;
  for (int i = 0; i < size(); ++i) {
    Message& of_rank = messages[static_cast<size_t>(i)];
    if (of_rank.what != messages[0].what) {
      return Failed(FailedPrecondition(
          "the processes do not do the same: ", Name(0), " is at '", messages[0].what, "', ",
          Name(i), " at '", of_rank.what,
          "'. All processes must run the same program and make the same calls in the same order"));
    }
    result.push_back(std::move(of_rank.bytes));
  }
  return result;
}

absl::Status Peers::Agree(absl::string_view what, const absl::Status& mine) {
  return Exchange(what, mine).status();
}

absl::StatusOr<std::string> Peers::FromChief(absl::string_view what,
                                             const absl::StatusOr<std::string>& bytes) {
  EST_ASSIGN_OR_RETURN(
      std::vector<std::string> all,
      Exchange(what, bytes.status(), is_chief() && bytes.ok() ? *bytes : std::string()));
  return std::move(all[0]);
}

absl::Status Peers::Finish(const absl::Status& mine, bool in_step) {
  // After a failed exchange nobody waits for this rank.
  if (alone() || mine.ok() || failed_) return mine;
  if (in_step) {
    if (!ExitCodeOf(mine).has_value()) group_->Abandon(mine.message());
    return mine;
  }
  return Agree("the end of a call", mine);
}

absl::Status Peers::CheckSame(const Facts& facts) {
  if (alone()) return absl::OkStatus();
  StateWriter mine;
  for (const auto& [name, value] : facts) {
    mine.Bytes(name);
    mine.Bytes(value);
  }
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                       Exchange("the comparison of the processes", absl::OkStatus(), mine.bytes()));
  std::vector<Facts> of_ranks;
  for (const std::string& bytes : all) {
    EST_ASSIGN_OR_RETURN(const std::vector<std::string> parts, ReadParts(bytes));
    Facts read;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) read[parts[i]] = parts[i + 1];
    of_ranks.push_back(std::move(read));
  }
  constexpr size_t kMaxShown = 5;
  std::vector<std::string> differences;
  for (size_t i = 1; i < of_ranks.size(); ++i) {
    Facts& chief = of_ranks[0];
    for (const auto& [name, value] : chief) {
      const auto found = of_ranks[i].find(name);
      const std::string other = found == of_ranks[i].end() ? "nothing" : found->second;
      if (other == value) continue;
      differences.push_back(absl::StrCat("the ", name, " of ", Name(static_cast<int>(i)), " is ",
                                         other, ", that of ", Name(0), " ", value));
    }
    for (const auto& [name, value] : of_ranks[i]) {
      if (chief.count(name) > 0) continue;
      differences.push_back(absl::StrCat(Name(static_cast<int>(i)), " has the ", name, " ", value,
                                         ", ", Name(0), " has none"));
    }
  }
  if (differences.empty()) return absl::OkStatus();
  const size_t num_more = differences.size() - std::min(differences.size(), kMaxShown);
  differences.resize(std::min(differences.size(), kMaxShown));
  return Failed(FailedPrecondition(
      "the processes would not compute the same: ", absl::StrJoin(differences, "; "),
      num_more > 0 ? absl::StrCat("; and ", num_more, " more") : "",
      ". Start all of them with the same program, flags and environment"));
}

absl::StatusOr<std::vector<Peers::StepNote>> Peers::GatherFetches(absl::string_view what,
                                                                  const StepFetches& mine,
                                                                  absl::Span<const size_t> indices,
                                                                  int parts, const StepNote& note,
                                                                  StepFetches& all) {
  StateWriter writer;
  writer.Int(note.flags);
  writer.Bytes(note.position);
  for (const std::vector<Array>& replica : mine) {
    Element element;
    for (const size_t index : indices) element.features[absl::StrCat(index)] = replica[index];
    writer.Bytes(ElementToBytes(element));
  }
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> of_ranks,
                       Exchange(what, absl::OkStatus(), writer.bytes()));
  std::vector<StepNote> notes;
  all.assign(mine.size() * of_ranks.size(), std::vector<Array>(mine[0].size()));
  const size_t num_parts = static_cast<size_t>(parts), in_part = mine.size() / num_parts;
  for (size_t rank = 0; rank < of_ranks.size(); ++rank) {
    StateReader reader(of_ranks[rank]);
    StepNote& of_rank = notes.emplace_back();
    EST_ASSIGN_OR_RETURN(of_rank.flags, reader.Unsigned());
    EST_ASSIGN_OR_RETURN(const absl::string_view position, reader.Bytes());
    of_rank.position = std::string(position);
    for (size_t i = 0; i < mine.size(); ++i) {
      EST_ASSIGN_OR_RETURN(const absl::string_view bytes, reader.Bytes());
      EST_ASSIGN_OR_RETURN(const Element element, ElementFromBytes(bytes));
      const size_t part = i / in_part;
      std::vector<Array>& replica = all[(part * of_ranks.size() + rank) * in_part + i % in_part];
      for (const size_t index : indices) {
        EST_ASSIGN_OR_RETURN(replica[index], element.features.Get(absl::StrCat(index)));
      }
    }
  }
  return notes;
}

}  // namespace estimator
