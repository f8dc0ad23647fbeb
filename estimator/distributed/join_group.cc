#include "estimator/distributed/join_group.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/tree_sum.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/distributed/find_group.h"
#include "estimator/distributed/gloo_mesh.h"
#include "estimator/distributed/membership.h"
#include "estimator/distributed/rendezvous_server.h"
#include "estimator/distributed/shared_memory.h"
#include "estimator/distributed/socket.h"

namespace estimator {
namespace {

// Buffers that are not shared are copied through a window in pieces of this size, which stay in
// the caches.
constexpr int64_t kPieceBytes = 512 << 10;

// Processes that reach each other by TCP. Those of one machine sum in shared memory.
class NetworkGroup : public ProcessGroup {
 public:
  NetworkGroup(int rank, int size, std::unique_ptr<RendezvousServer> server,
               std::unique_ptr<Membership> members)
      : rank_(rank), size_(size), server_(std::move(server)), members_(std::move(members)) {}

  // Collective: makes what sums need.
  absl::Status Connect(const GroupOptions& options) {
    const std::string mine = absl::StrCat(HostName(), "\n", members_->LocalHost());
    EST_ASSIGN_OR_RETURN(const Fields all, AllGather(mine));
    bool local = true;
    for (const std::string& of_rank : all) {
      const std::vector<std::string> parts = absl::StrSplit(of_rank, '\n');
      hosts_.push_back(parts[0]);
      local = local && parts.size() == 2 && IsLoopback(parts[1]);
    }
    if (options.use_shared_memory) {
      EST_ASSIGN_OR_RETURN(barrier_,
                           SharedWindow::Create(*members_, rank_, size_, /*part_bytes=*/1));
      if (barrier_ != nullptr) {
        EST_ASSIGN_OR_RETURN(pieces_,
                             SharedWindow::Create(*members_, rank_, size_, 2 * kPieceBytes));
      }
      if (pieces_ != nullptr) return absl::OkStatus();
    }
    // A process beside the chief may have reached it by the loopback address, which others cannot.
    const std::string host = members_->LocalHost();
    EST_ASSIGN_OR_RETURN(mesh_, GlooMesh::Connect(*members_, rank_, size_,
                                                  !local && IsLoopback(host) ? HostAddress() : host,
                                                  options.peer_timeout_secs));
    return absl::OkStatus();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host(int rank) const override { return hosts_[rank]; }

  absl::StatusOr<void*> SharedBuffer(int64_t size_bytes) override {
    std::unique_ptr<SharedWindow> window;
    if (pieces_ != nullptr) {
      EST_ASSIGN_OR_RETURN(window, SharedWindow::Create(*members_, rank_, size_, size_bytes));
    }
    if (window == nullptr) {
      constexpr std::align_val_t kLine{64};
      const auto bytes = static_cast<size_t>(size_bytes);
      buffers_.emplace_back(static_cast<char*>(::operator new[](bytes, kLine)),
                            [](char* data) { ::operator delete[](data, kLine); });
      std::memset(buffers_.back().get(), 0, bytes);
      return static_cast<void*>(buffers_.back().get());
    }
    windows_.push_back(std::move(window));
    return static_cast<void*>(windows_.back()->part(rank_));
  }

  absl::Status AllReduceSum(DType dtype, const void* input, void* output, int64_t count) override {
    if (mesh_ != nullptr) return mesh_->AllReduceSum(dtype, input, output, count);
    EST_RETURN_IF_ERROR(members_->error());
    const int64_t size_bytes = count * static_cast<int64_t>(DTypeSize(dtype));
    for (const auto& window : windows_) {
      if (!window->Contains(input, size_bytes) || !window->Contains(output, size_bytes)) continue;
      return SumInWindow(dtype, *window, static_cast<const char*>(input) - window->part(rank_),
                         static_cast<char*>(output) - window->part(rank_), count);
    }
    return SumByPieces(dtype, static_cast<const char*>(input), static_cast<char*>(output), count);
  }

  void Abandon(absl::string_view cause) override {
    members_->Report(absl::UnavailableError(cause), Seconds(0)).IgnoreError();
  }

 protected:
  absl::StatusOr<std::vector<std::string>> Exchange(absl::string_view call,
                                                    absl::string_view bytes) override {
    return members_->Call(call, bytes);
  }

 private:
  absl::Status Wait() { return WaitAtBarrier(*barrier_, size_, *members_); }

  // Sums what is at `in` of each part to `out` of each part: this rank does its share of it.
  absl::Status SumInWindow(DType dtype, const SharedWindow& window, int64_t in, int64_t out,
                           int64_t count) {
    const auto element = static_cast<int64_t>(DTypeSize(dtype));
    const int64_t begin = count * rank_ / size_, end = count * (rank_ + 1) / size_;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (int rank = 0; rank < size_; ++rank) {
      inputs.push_back(window.part(rank) + in + begin * element);
      outputs.push_back(window.part(rank) + out + begin * element);
    }
    EST_RETURN_IF_ERROR(Wait());
    const absl::Status status = TreeSum(dtype, dtype, end - begin, inputs, outputs);
    EST_RETURN_IF_ERROR(Wait());
    return status;
  }

  // The same with copies to and from a window. Its parts have room for a piece of the input, and
  // for the sum.
  absl::Status SumByPieces(DType dtype, const char* input, char* output, int64_t count) {
    const auto element = static_cast<int64_t>(DTypeSize(dtype));
    EST_RETURN_IF_ERROR(TreeSum(dtype, dtype, 0, {input}, {output}));
    char* const mine = pieces_->part(rank_);
    for (int64_t done = 0; done < count;) {
      const int64_t part = std::min(count - done, kPieceBytes / element);
      const size_t bytes = static_cast<size_t>(part * element);
      std::memcpy(mine, input + done * element, bytes);
      // The first barrier inside also says that all have read the sum before.
      EST_RETURN_IF_ERROR(SumInWindow(dtype, *pieces_, 0, kPieceBytes, part));
      std::memcpy(output + done * element, mine + kPieceBytes, bytes);
      done += part;
    }
    return absl::OkStatus();
  }

  const int rank_;
  const int size_;
  // In this order: the members leave before the server ends.
  const std::unique_ptr<RendezvousServer> server_;
  const std::unique_ptr<Membership> members_;
  std::vector<std::string> hosts_;
  std::unique_ptr<SharedWindow> barrier_;
  std::unique_ptr<SharedWindow> pieces_;  // null: sums go through mesh_
  std::vector<std::unique_ptr<SharedWindow>> windows_;
  std::vector<std::unique_ptr<char, void (*)(char*)>> buffers_;
  std::unique_ptr<GlooMesh> mesh_;
};

// The file in a shared folder: the chief's address and a number, without which a process is
// refused. So a file of an earlier run does no harm.
std::string RendezvousFile(const GroupOptions& options) {
  return JoinPath(options.rendezvous, "rendezvous");
}

bool IsFolder(const GroupOptions& options) { return absl::StrContains(options.rendezvous, '/'); }

struct Server {
  std::unique_ptr<RendezvousServer> server;
  HostPort address;
  std::string token;
};

absl::StatusOr<Server> StartServer(const GroupOptions& options) {
  Server result;
  const bool folder = IsFolder(options);
  Socket listener(options.listener_fd);
  if (options.listener_fd < 0) {
    HostPort address{HostAddress(), 0};
    if (!folder) {
      EST_ASSIGN_OR_RETURN(address, HostPort::Parse(options.rendezvous));
    }
    EST_ASSIGN_OR_RETURN(listener, ListenAt(address));
  }
  result.address = listener.Local();
  if (result.address.host == "0.0.0.0" || result.address.host == "::")
    result.address.host = HostAddress();
  result.token = options.token;
  RendezvousServer::Options server{.size = options.size,
                                   .peer_timeout_secs = options.peer_timeout_secs};
  if (folder) {
    const std::string number = NewToken();
    absl::StrAppend(&result.token, " ", number);
    EST_RETURN_IF_ERROR(CreateDirectories(options.rendezvous));
    EST_RETURN_IF_ERROR(WriteFileAtomically(RendezvousFile(options),
                                            absl::StrCat(result.address.ToString(), " ", number)));
    server.all_arrived = [file = RendezvousFile(options)] { RemoveFile(file).IgnoreError(); };
  }
  server.token = result.token;
  result.server = std::make_unique<RendezvousServer>(std::move(listener), std::move(server));
  return result;
}

absl::StatusOr<std::unique_ptr<Membership>> JoinAt(const GroupOptions& options,
                                                   const HostPort& address, absl::string_view token,
                                                   Clock::time_point deadline) {
  EST_ASSIGN_OR_RETURN(Socket socket, ConnectTo(address, deadline));
  return Membership::Join(std::move(socket), options.rank, options.size, token,
                          options.peer_timeout_secs, deadline);
}

// Reads the file of the chief until it leads to the chief of this run.
absl::StatusOr<std::unique_ptr<Membership>> JoinByFolder(const GroupOptions& options,
                                                         Clock::time_point deadline) {
  absl::Status reason = absl::UnavailableError("the time is over");
  do {
    const absl::StatusOr<std::string> text = ReadFile(RendezvousFile(options), 4096);
    reason = text.status();
    if (text.ok()) {
      const std::vector<std::string> parts = absl::StrSplit(*text, ' ');
      const absl::StatusOr<HostPort> address = HostPort::Parse(parts[0]);
      reason = address.status();
      if (address.ok() && parts.size() == 2) {
        // One attempt: the file may be another one the next time.
        auto member = JoinAt(options, *address, absl::StrCat(options.token, " ", parts[1]),
                             std::min(deadline, Clock::now() + std::chrono::seconds(1)));
        if (member.ok()) return member;
        reason = member.status();
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (Clock::now() < deadline);
  return reason;
}

absl::StatusOr<std::unique_ptr<ProcessGroup>> Join(const GroupOptions& options) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           Seconds(options.peer_timeout_secs));
  Server chief;
  absl::StatusOr<std::unique_ptr<Membership>> members;
  if (options.rank == 0) {
    EST_ASSIGN_OR_RETURN(chief, StartServer(options));
    members = JoinAt(options, chief.address, chief.token, deadline);
  } else if (IsFolder(options)) {
    members = JoinByFolder(options, deadline);
  } else {
    EST_ASSIGN_OR_RETURN(const HostPort address, HostPort::Parse(options.rendezvous));
    members = JoinAt(options, address, options.token, deadline);
  }
  if (!members.ok()) {
    if (absl::IsFailedPrecondition(members.status())) return members.status();
    return Annotate(members.status(),
                    absl::StrCat("rank ", options.rank, " did not find the chief, rank 0 of ",
                                 options.size, ", within ", options.peer_timeout_secs, " s"));
  }
  auto group = std::make_unique<NetworkGroup>(options.rank, options.size, std::move(chief.server),
                                              *std::move(members));
  EST_RETURN_IF_ERROR(group->Connect(options));
  return group;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProcessGroup>> JoinGroup(const GroupOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return InvalidArgument("rank ", options.rank, " of ", options.size,
                           " processes cannot be: ranks are 0 to the number of processes - 1");
  }
  if (options.size == 1) return SingleProcess();
  if (options.rendezvous.empty()) {
    return InvalidArgument(options.size,
                           " processes need a place to meet: HOST:PORT of the chief, ",
                           "or a folder that all share");
  }
  absl::StatusOr<std::unique_ptr<ProcessGroup>> group = Join(options);
  if (group.ok() || absl::IsInvalidArgument(group.status())) return group;
  return WithExitCode(group.status(), kLostPeerExitCode);
}

}  // namespace estimator
