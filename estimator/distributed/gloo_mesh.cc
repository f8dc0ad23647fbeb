#include "estimator/distributed/gloo_mesh.h"

#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <signal.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/array/tree_sum.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

using Buffer = gloo::transport::UnboundBuffer;

// Small enough that sums overlap with transfers, and large beside the costs of a message.
constexpr int64_t kChunkBytes = 1 << 20;
// The membership ends a wait, not a time: a peer may be busy for long.
constexpr auto kNoLimit = std::chrono::hours(1000);
constexpr size_t kKeyBytes = 16;
// A connection that breaks is the first sign of a process that died or left. The time is longer
// than that after which the membership makes an error of one that left.
constexpr Seconds kTimeForCause(0.8);

// Thrown through Gloo's calls: the membership ended a wait.
struct Aborted : std::exception {
  const char* what() const noexcept override { return "the group has failed"; }
};

// Gloo writes to sockets of peers that may have ended, and the signal of that would end this
// process too. While it lives, neither this thread nor the threads that it starts get the signal.
class WithoutSigPipe {
 public:
  WithoutSigPipe() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~WithoutSigPipe() {
    if (sigismember(&before_, SIGPIPE) != 0) return;
    const timespec no_time{};
    while (sigtimedwait(&signals_, nullptr, &no_time) == SIGPIPE) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigPipe(const WithoutSigPipe&) = delete;
  WithoutSigPipe& operator=(const WithoutSigPipe&) = delete;

 private:
  sigset_t signals_, before_;
};

class TcpMesh : public GlooMesh {
 public:
  TcpMesh(Membership& members, int rank, int size) : members_(members), rank_(rank), size_(size) {}

  ~TcpMesh() override { members_.OnFailure(nullptr); }

  absl::Status Connect(const std::string& local_host, double timeout_secs) {
    std::string key(kKeyBytes, '\0');
    if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
      return absl::InternalError("getrandom fails");
    // A connection is accepted from anybody, so the first bytes on it are a key that only members
    // of the group know. A message has the key and an address for each rank.
    Fields all;
    EST_RETURN_IF_ERROR(WithoutExceptions([&] {
      gloo::transport::tcp::attr attributes(local_host.c_str());
      device_ = gloo::transport::tcp::CreateDevice(attributes);
      context_ = device_->createContext(rank_, size_);
      context_->setTimeout(std::chrono::milliseconds(static_cast<int64_t>(timeout_secs * 200)));
      std::vector<std::vector<char>> addresses(size_);  // all of one length
      ForEachPeer([&](int peer) {
        addresses[peer] = context_->createPair(peer)->address().bytes();
        addresses[rank_].resize(addresses[peer].size());
      });
      std::string message = key;
      for (const auto& address : addresses) message.append(address.data(), address.size());
      auto gathered = members_.Call("addresses", message);
      if (!gathered.ok()) throw Aborted();
      all = *std::move(gathered);
    }));
    members_.OnFailure([this] { Abort(); });
    std::string keys(kKeyBytes * size_, '\0');
    EST_RETURN_IF_ERROR(WithoutExceptions([&] {
      for (int peer = 0; peer < size_; ++peer) {
        if (peer == rank_) continue;
        const size_t length = (all[peer].size() - kKeyBytes) / size_;
        const char* const address = all[peer].data() + kKeyBytes + rank_ * length;
        context_->getPair(peer)->connect({address, address + length});
      }
      Buffers buffers(*this);
      Buffer& mine = buffers.Make(key.data(), key.size());
      Buffer& others = buffers.Make(keys.data(), keys.size());
      ForEachPeer([&](int peer) { others.recv(peer, 0, peer * kKeyBytes, kKeyBytes); });
      ForEachPeer([&](int peer) { mine.send(peer, 0); });
      WaitRecv(others, size_ - 1);
      WaitSend(mine, size_ - 1);
    }));
    for (int peer = 0; peer < size_; ++peer) {
      if (peer != rank_ &&
          keys.compare(peer * kKeyBytes, kKeyBytes, all[peer], 0, kKeyBytes) != 0) {
        return members_.Report(absl::UnavailableError(absl::StrCat(
                                   "a stranger connected in the place of rank ", peer)),
                               Seconds(0));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AllReduceSum(DType dtype, const void* input, void* output, int64_t count) override {
    EST_RETURN_IF_ERROR(members_.error());
    // Refuses a dtype before a peer waits for it.
    EST_RETURN_IF_ERROR(TreeSum(dtype, dtype, 0, {input}, {output}));
    absl::Status sum;
    EST_RETURN_IF_ERROR(WithoutExceptions([&] { sum = Sum(dtype, input, output, count); }));
    return sum;
  }

 private:
  // The buffers of a call, which a failure of the group aborts.
  class Buffers {
   public:
    explicit Buffers(TcpMesh& mesh) : mesh_(mesh) {}
    ~Buffers() {
      const std::lock_guard<std::mutex> lock(mesh_.mutex_);
      mesh_.buffers_.clear();
    }
    Buffer& Make(void* data, size_t size_bytes) {
      const std::lock_guard<std::mutex> lock(mesh_.mutex_);
      if (mesh_.members_.failed()) throw Aborted();
      mesh_.buffers_.push_back(mesh_.context_->createUnboundBuffer(data, size_bytes));
      return *mesh_.buffers_.back();
    }

   private:
    TcpMesh& mesh_;
  };

  void Abort() {
    // A pair that is closed ends a Connect.
    ForEachPeer([&](int peer) { context_->getPair(peer)->close(); });
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& buffer : buffers_) {
      buffer->abortWaitRecv();
      buffer->abortWaitSend();
    }
  }

  void WaitRecv(Buffer& buffer, int64_t times) {
    while (times-- > 0) {
      if (!buffer.waitRecv(kNoLimit)) throw Aborted();
    }
  }
  void WaitSend(Buffer& buffer, int64_t times) {
    while (times-- > 0) {
      if (!buffer.waitSend(kNoLimit)) throw Aborted();
    }
  }

  template <typename Fn>
  void ForEachPeer(const Fn& fn) {
    // Each rank begins with its successor, so that not all send to rank 0 first.
    for (int i = 1; i < size_; ++i) fn((rank_ + i) % size_);
  }

  absl::Status WithoutExceptions(const std::function<void()>& body) {
    const WithoutSigPipe no_signal;
    try {
      body();
    } catch (const std::exception& error) {
      return members_.Report(absl::UnavailableError(error.what()), kTimeForCause);
    }
    return absl::OkStatus();
  }

  absl::Status Sum(DType dtype, const void* input, void* output, int64_t count) {
    const auto element = static_cast<int64_t>(DTypeSize(dtype));
    const int64_t chunk = kChunkBytes / element;
    const auto begin = [&](int rank) { return count * rank / size_; };
    // Calls fn(first element, elements, slot) for each chunk of a rank's part.
    const auto for_each_chunk = [&](int rank, auto&& fn) {
      uint64_t slot = next_slot_;
      for (int64_t i = begin(rank); i < begin(rank + 1); i += chunk, slot += 2)
        fn(i, std::min(chunk, begin(rank + 1) - i), slot);
    };

    Buffers buffers(*this);
    const size_t size_bytes = static_cast<size_t>(count * element);
    Buffer& in = buffers.Make(const_cast<void*>(input), size_bytes);  // only sent
    Buffer& out = buffers.Make(output, size_bytes);
    // For each chunk of this rank's part: those of the other ranks, in the order of ForEachPeer.
    std::vector<Buffer*> received;
    const int64_t part = begin(rank_ + 1) - begin(rank_);
    scratch_.resize(std::max(scratch_.size(), static_cast<size_t>(part * element * (size_ - 1))));
    char* next = scratch_.data();
    for_each_chunk(rank_, [&](int64_t, int64_t elements, uint64_t slot) {
      const int64_t bytes = elements * element;
      received.push_back(&buffers.Make(next, bytes * (size_ - 1)));
      size_t offset = 0;
      ForEachPeer([&](int peer) {
        received.back()->recv(peer, slot, offset, bytes);
        offset += bytes;
      });
      next += bytes * (size_ - 1);
    });
    int64_t num_sent = 0, num_results = 0;
    ForEachPeer([&](int peer) {
      for_each_chunk(peer, [&](int64_t first, int64_t elements, uint64_t slot) {
        // The peer sends the sum only after it has our numbers, so they may be in the same memory.
        out.recv(peer, slot + 1, first * element, elements * element);
        in.send(peer, slot, first * element, elements * element);
        ++num_sent;
      });
    });

    next = scratch_.data();
    auto arrived = received.begin();
    absl::Status status;
    for_each_chunk(rank_, [&](int64_t first, int64_t elements, uint64_t slot) {
      const int64_t bytes = elements * element;
      WaitRecv(**arrived++, size_ - 1);
      std::vector<const void*> inputs(size_);
      inputs[rank_] = static_cast<const char*>(input) + first * element;
      ForEachPeer([&](int peer) {
        inputs[peer] = next;
        next += bytes;
      });
      status.Update(
          TreeSum(dtype, dtype, elements, inputs, {static_cast<char*>(output) + first * element}));
      ForEachPeer([&](int peer) {
        out.send(peer, slot + 1, first * element, bytes);
        ++num_results;
      });
    });
    WaitSend(in, num_sent);
    WaitRecv(out, num_sent);  // a result for each chunk that was sent
    WaitSend(out, num_results);
    next_slot_ += 2 * (count / size_ / chunk + 2);
    return status;
  }

  Membership& members_;
  const int rank_;
  const int size_;
  std::shared_ptr<gloo::transport::Device> device_;
  std::shared_ptr<gloo::transport::Context> context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<char> scratch_;
  uint64_t next_slot_ = 2;  // the same on every rank
};

}  // namespace

absl::StatusOr<std::unique_ptr<GlooMesh>> GlooMesh::Connect(Membership& members, int rank, int size,
                                                            const std::string& local_host,
                                                            double timeout_secs) {
  auto mesh = std::make_unique<TcpMesh>(members, rank, size);
  EST_RETURN_IF_ERROR(mesh->Connect(local_host, timeout_secs));
  return mesh;
}

}  // namespace estimator
