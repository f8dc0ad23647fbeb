#include "estimator/distributed/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// At the beginning of the part of rank 0, until all have mapped the window.
using Nonce = uint64_t;

struct BarrierState {
  std::atomic<uint32_t> num_arrived;
  std::atomic<uint32_t> round;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "processes share it");

void Futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

Nonce RandomNonce() {
  Nonce nonce = 1;
  [[maybe_unused]] const ssize_t size = ::getrandom(&nonce, sizeof(nonce), 0);
  return nonce;
}

char* Map(int fd, int64_t size_bytes) {
  void* const base =
      ::mmap(nullptr, static_cast<size_t>(size_bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return base == MAP_FAILED ? nullptr : static_cast<char*>(base);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedWindow>> SharedWindow::Create(Membership& members, int rank,
                                                                   int size, int64_t part_bytes) {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  part_bytes = (std::max<int64_t>(part_bytes, 1) + page - 1) / page * page;
  std::unique_ptr<SharedWindow> window(new SharedWindow(rank, size, part_bytes));
  // The chief makes the memory, and the others open it by the chief's descriptor. A memfd needs no
  // /dev/shm, which is small in containers.
  Socket memory;
  std::string where;
  if (rank == 0) {
    memory = Socket(static_cast<int>(::syscall(SYS_memfd_create, "estimator", MFD_CLOEXEC)));
    if (memory.fd() >= 0 && ::ftruncate(memory.fd(), part_bytes * size) == 0)
      window->base_ = Map(memory.fd(), part_bytes * size);
    const Nonce nonce = RandomNonce();
    if (window->base_ != nullptr) std::memcpy(window->base_, &nonce, sizeof(nonce));
    where = absl::StrCat("/proc/", ::getpid(), "/fd/", memory.fd(), " ", nonce);
  }
  EST_ASSIGN_OR_RETURN(const Fields sent, members.Call("SharedWindow", where));
  bool mapped = window->base_ != nullptr;
  if (rank != 0) {
    const size_t space = sent[0].find(' ');
    memory = Socket(::open(sent[0].substr(0, space).c_str(), O_RDWR | O_CLOEXEC));
    // In another container the name may be that of another file, so its size and a number that only
    // the chief knows are checked.
    if (memory.fd() >= 0 && ::lseek(memory.fd(), 0, SEEK_END) == part_bytes * size)
      window->base_ = Map(memory.fd(), part_bytes * size);
    Nonce expected = 0;
    mapped = window->base_ != nullptr && space != std::string::npos &&
             absl::SimpleAtoi(sent[0].substr(space + 1), &expected) &&
             std::memcmp(window->base_, &expected, sizeof(expected)) == 0;
  }
  EST_ASSIGN_OR_RETURN(const Fields answers, members.Call("SharedWindow", mapped ? "1" : "0"));
  for (const std::string& answer : answers) {
    if (answer != "1") return std::unique_ptr<SharedWindow>();
  }
  if (rank == 0) std::memset(window->base_, 0, sizeof(Nonce));
  EST_RETURN_IF_ERROR(members.Call("SharedWindow", "").status());
  return window;
}

SharedWindow::~SharedWindow() {
  if (base_ != nullptr) ::munmap(base_, static_cast<size_t>(part_bytes_ * size_));
}

bool SharedWindow::Contains(const void* begin, int64_t size_bytes) const {
  const char* const first = static_cast<const char*>(begin);
  return first >= part(rank_) && size_bytes <= part_bytes_ &&
         first - part(rank_) <= part_bytes_ - size_bytes;
}

absl::Status WaitAtBarrier(const SharedWindow& window, int size, const Membership& members) {
  auto& state = *reinterpret_cast<BarrierState*>(window.part(0));
  const uint32_t round = state.round.load(std::memory_order_acquire);
  if (state.num_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      static_cast<uint32_t>(size)) {
    state.num_arrived.store(0, std::memory_order_relaxed);
    state.round.fetch_add(1, std::memory_order_release);
    Futex(state.round, FUTEX_WAKE, INT_MAX, nullptr);
    return absl::OkStatus();
  }
  // The others are usually a few microseconds apart; a sleep costs more than that.
  for (int i = 0; i < 2000; ++i) {
    if (state.round.load(std::memory_order_acquire) != round) return absl::OkStatus();
    __builtin_ia32_pause();
  }
  // A process that dies does not wake the others, so they look now and then.
  const timespec timeout = {0, 50'000'000};
  while (state.round.load(std::memory_order_acquire) == round) {
    if (members.failed()) return members.error();
    Futex(state.round, FUTEX_WAIT, round, &timeout);
  }
  return absl::OkStatus();
}

}  // namespace estimator
