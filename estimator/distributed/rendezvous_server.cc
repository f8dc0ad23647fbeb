#include "estimator/distributed/rendezvous_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// A hello is small; a collective call may have the positions of an input.
constexpr uint32_t kMaxHelloBytes = 4096;
constexpr uint32_t kMaxCallBytes = 1 << 30;
// Time for a connection to say who it is.
constexpr Seconds kHelloTime(5);

// The time does not depend on where the two differ, so a token cannot be guessed byte by byte.
bool SameToken(absl::string_view a, absl::string_view b) {
  unsigned difference = a.size() != b.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned>(a[i]) ^ static_cast<unsigned>(b[i]);
  }
  return difference == 0;
}

}  // namespace

double HeartbeatSecs(double peer_timeout_secs) { return std::min(1., peer_timeout_secs / 10); }

double SilenceSecs(double peer_timeout_secs) {
  return peer_timeout_secs - 2 * HeartbeatSecs(peer_timeout_secs);
}

struct RendezvousServer::Peer {
  explicit Peer(Socket s) : socket(std::move(s)), remote(socket.Remote().ToString()) {}

  // Sends as much as the connection takes; the rest is sent when it takes more.
  void Flush() {
    const ssize_t sent = ::send(socket.fd(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) out.erase(0, static_cast<size_t>(sent));
  }
  void Send(FrameType type, const Fields& fields = {}) {
    out += EncodeFrame(type, fields);
    Flush();
  }

  Socket socket;
  const std::string remote;
  FrameReader reader{kMaxHelloBytes};
  std::string out;
  int rank = -1;     // -1: it has not said who it is
  std::string name;  // "rank 1 on host b (process 123)"
  Clock::time_point last_heard = Clock::now();
  bool left = false;
  std::optional<Frame> call;
};

RendezvousServer::RendezvousServer(Socket listener, Options options)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Run(); }) {}

RendezvousServer::~RendezvousServer() {
  stop_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.fd(), &one, sizeof(one));
  thread_.join();
}

void RendezvousServer::Run() {
  const auto interval = Seconds(HeartbeatSecs(options_.peer_timeout_secs));
  Clock::time_point last_loop = Clock::now();
  std::optional<Clock::time_point> end;
  for (;;) {
    const bool sending =
        std::any_of(peers_.begin(), peers_.end(), [](const Peer& p) { return !p.out.empty(); });
    // Answers that were not sent yet: a process that reads them takes no second.
    if (stop_ && !end.has_value()) {
      end = Clock::now() + std::chrono::seconds(1);
      SendToAll(FrameType::kLeft, {"the chief, rank 0, has left the group"});
      continue;
    }
    if (stop_ && (!sending || Clock::now() > *end)) return;

    std::vector<pollfd> waiting = {{wake_.fd(), static_cast<short>(stop_ ? 0 : POLLIN), 0},
                                   {listener_.fd(), POLLIN, 0}};
    for (const Peer& peer : peers_) {
      const int events = POLLIN | (peer.out.empty() ? 0 : POLLOUT);
      waiting.push_back({peer.socket.fd(), static_cast<short>(events), 0});
    }
    ::poll(waiting.data(), waiting.size(), static_cast<int>(interval.count() * 500) + 1);
    size_t next = 2;
    for (auto peer = peers_.begin(); peer != peers_.end(); ++next) {
      if ((waiting[next].revents & POLLOUT) != 0) peer->Flush();
      const bool readable = (waiting[next].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
      peer = readable && !Read(*peer) ? peers_.erase(peer) : std::next(peer);
    }
    if (waiting[1].revents != 0) AcceptAll();
    AnswerCalls();
    CheckTimes(last_loop);
    last_loop = Clock::now();
  }
}

void RendezvousServer::AcceptAll() {
  for (;;) {
    Socket socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.fd() < 0) return;
    peers_.emplace_back(std::move(socket));
  }
}

bool RendezvousServer::Read(Peer& peer) {
  std::array<char, 1 << 16> bytes;
  const ssize_t count = ::recv(peer.socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) {
    if (peer.rank >= 0 && !peer.left) {
      Fail(absl::UnavailableError(
          absl::StrCat(peer.name, count == 0 ? " died: it closed its connection" : " was lost: ",
                       count == 0 ? "" : std::strerror(errno))));
    }
    return false;
  }
  peer.last_heard = Clock::now();
  peer.reader.Append(absl::string_view(bytes.data(), static_cast<size_t>(count)));
  for (;;) {
    const auto frame = peer.reader.Next();
    if (!frame.ok()) {
      if (peer.rank >= 0) Fail(absl::InternalError(absl::StrCat(peer.name, " sent no frame")));
      return false;
    }
    if (!frame->has_value()) return true;
    if (!Handle(peer, **frame)) return false;
  }
}

std::string RendezvousServer::ReasonToRefuse(const Frame& hello) const {
  const Fields& fields = hello.fields;
  if (hello.type != FrameType::kHello || fields.size() != 6 || fields[0] != kProtocol)
    return "it does not speak this program's protocol; all processes must be of one version";
  if (!SameToken(fields[1], options_.token))
    return "its --rendezvous_token is not that of this run";
  int rank = -1;
  if (!absl::SimpleAtoi(fields[2], &rank) || rank < 0 || rank >= options_.size ||
      fields[3] != absl::StrCat(options_.size)) {
    return absl::StrCat("it is rank ", fields[2], " of ", fields[3],
                        ", but the chief was started for ", options_.size, " processes");
  }
  for (const Peer& other : peers_) {
    if (other.rank == rank) return absl::StrCat("there is already a ", other.name);
  }
  return "";
}

bool RendezvousServer::Handle(Peer& peer, const Frame& frame) {
  if (peer.rank < 0) {
    const std::string reason = ReasonToRefuse(frame);
    if (!reason.empty()) {
      refused_ = absl::StrCat("a process at ", peer.remote, " was refused: ", reason);
      LOG(WARNING) << refused_;
      peer.Send(FrameType::kRefused, {reason});
      return false;
    }
    CHECK(absl::SimpleAtoi(frame.fields[2], &peer.rank));
    peer.name = absl::StrCat("rank ", peer.rank, " on host ", frame.fields[4], " (process ",
                             frame.fields[5], ")");
    peer.reader.set_max_bytes(kMaxCallBytes);
    peer.Send(FrameType::kWelcome);
    if (failed_.has_value()) peer.Send(failed_->type, failed_->fields);
    if (++num_arrived_ == options_.size) options_.all_arrived();
  } else if (frame.type == FrameType::kCall && frame.fields.size() == 2) {
    peer.call = frame;
  } else if (frame.type == FrameType::kFailed && frame.fields.size() == 2) {
    Fail(absl::UnavailableError(absl::StrCat(peer.name, ": ", frame.fields[1])));
  } else if (frame.type == FrameType::kLeaving) {
    peer.left = true;
    if (left_.empty()) left_ = absl::StrCat(peer.name, " has left the group");
    SendToAll(FrameType::kLeft, {absl::StrCat(peer.name, " has left the group")});
  }
  return true;
}

RendezvousServer::Peer* RendezvousServer::Find(int rank) {
  for (Peer& peer : peers_) {
    if (peer.rank == rank) return &peer;
  }
  return nullptr;
}

void RendezvousServer::AnswerCalls() {
  Peer* caller = nullptr;
  std::vector<Peer*> peers;
  for (int rank = 0; rank < options_.size; ++rank) {
    peers.push_back(Find(rank));
    if (peers.back() != nullptr && peers.back()->call.has_value()) caller = peers.back();
  }
  if (failed_.has_value() || caller == nullptr) return;
  if (!left_.empty()) return Fail(absl::UnavailableError(left_));
  for (const Peer* peer : peers) {
    if (peer == nullptr || !peer->call.has_value()) return;
  }
  const Fields& first = peers[0]->call->fields;
  Fields all;
  for (const Peer* peer : peers) {
    const Fields& call = peer->call->fields;
    if (call[0] != first[0]) {
      return Fail(absl::InternalError(
          absl::StrCat(peer->name, " calls ", call[0], ", but ", peers[0]->name, " calls ",
                       first[0], "; all processes must run the same program with the same flags")));
    }
    all.push_back(call[1]);
  }
  for (Peer* peer : peers) {
    peer->call.reset();
    peer->Send(FrameType::kResult, all);
  }
}

void RendezvousServer::CheckTimes(Clock::time_point last_loop) {
  const Clock::time_point now = Clock::now();
  const Seconds limit(SilenceSecs(options_.peer_timeout_secs));
  if (const Seconds gap = now - last_loop; gap > limit) {
    return Fail(absl::DeadlineExceededError(absl::StrFormat(
        "the chief was stopped for %.1f s, so the others have given up", gap.count())));
  }
  peers_.remove_if(
      [now](const Peer& peer) { return peer.rank < 0 && now - peer.last_heard > kHelloTime; });
  for (const Peer& peer : peers_) {
    const Seconds silent = now - peer.last_heard;
    if (peer.rank < 0 || peer.left || silent <= limit) continue;
    return Fail(absl::DeadlineExceededError(
        absl::StrFormat("%s did not answer for %.1f s", peer.name, silent.count())));
  }
  if (num_arrived_ < options_.size && now - start_ > Seconds(options_.peer_timeout_secs)) {
    std::vector<int> missing;
    for (int rank = 0; rank < options_.size; ++rank) {
      if (Find(rank) == nullptr) missing.push_back(rank);
    }
    return Fail(absl::DeadlineExceededError(absl::StrCat(
        "rank ", absl::StrJoin(missing, ", "), " of ", options_.size, " did not arrive within ",
        options_.peer_timeout_secs, " s", refused_.empty() ? "" : "; ", refused_)));
  }
  if (now >= next_heartbeat_) {
    next_heartbeat_ = now + std::chrono::duration_cast<Clock::duration>(
                                Seconds(HeartbeatSecs(options_.peer_timeout_secs)));
    SendToAll(FrameType::kHeartbeat, {});
  }
}

void RendezvousServer::Fail(const absl::Status& status) {
  if (failed_.has_value()) return;  // the first error is the cause of the others
  failed_ = Frame{FrameType::kFailed,
                  {absl::StrCat(static_cast<int>(status.code())), std::string(status.message())}};
  SendToAll(failed_->type, failed_->fields);
}

void RendezvousServer::SendToAll(FrameType type, const Fields& fields) {
  for (Peer& peer : peers_) {
    if (peer.rank >= 0) peer.Send(type, fields);
  }
}

}  // namespace estimator
