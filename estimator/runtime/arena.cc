#include "estimator/runtime/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = 2 << 20;  // x86-64: one TLB entry instead of 512

}  // namespace

Arena::~Arena() { std::free(data_); }

absl::Status Arena::Reserve(int64_t bytes) {
  if (bytes <= bytes_) return absl::OkStatus();
  const size_t alignment = static_cast<size_t>(bytes) >= kHugePage ? kHugePage : kCacheLine;
  const size_t size = (static_cast<size_t>(bytes) + alignment - 1) / alignment * alignment;
  // The old values are not needed: a step begins with an empty arena.
  std::free(data_);
  data_ = static_cast<char*>(std::aligned_alloc(alignment, size));
  bytes_ = data_ == nullptr ? 0 : static_cast<int64_t>(size);
  if (data_ == nullptr) {
    return ResourceExhausted("out of memory: the system refuses to allocate ", HumanBytes(bytes),
                             " for a step; take a smaller batch, or raise the limit (ulimit -v)");
  }
  // This is only a hint; without huge pages the step is a little slower.
  if (alignment == kHugePage) (void)madvise(data_, size, MADV_HUGEPAGE);
  return absl::OkStatus();
}

Arenas::Arenas(int num_replicas) : shared(std::make_shared<Arena>()) {
  for (int i = 0; i < num_replicas; ++i) own.push_back(std::make_shared<Arena>());
}

int64_t MissingBytes(const Arenas& arenas, int64_t bytes, int64_t shared_bytes,
                     int64_t derived_bytes) {
  int64_t missing = derived_bytes + std::max<int64_t>(shared_bytes - arenas.shared->bytes(), 0);
  for (const auto& arena : arenas.own) missing += std::max<int64_t>(bytes - arena->bytes(), 0);
  return missing;
}

absl::Status CheckMemory(const Arenas& arenas, int64_t bytes, int64_t shared_bytes,
                         const std::optional<AvailableMemory>& available, int64_t derived_bytes) {
  const int64_t more = MissingBytes(arenas, bytes, shared_bytes, derived_bytes);
  // Where the system does not tell what is free, nothing is refused.
  if (!available.has_value() || more <= available->bytes) return absl::OkStatus();
  const auto replicas = static_cast<int64_t>(arenas.own.size());
  const int64_t common = shared_bytes + derived_bytes;
  const int64_t total = bytes * replicas + common;
  const std::string sum =
      absl::StrCat(" (", replicas, " replicas x ", HumanBytes(bytes),
                   common == 0 ? "" : absl::StrCat(" + ", HumanBytes(common)), ")");
  const std::string planned = absl::StrCat(HumanBytes(total), replicas == 1 ? "" : sum);
  const std::string there =
      absl::StrCat(HumanBytes(available->bytes), " of ", available->bound, " are free");
  // Swapping is slow but works, so it is the user's choice.
  if (more <= available->bytes + available->swap_bytes) {
    LOG(WARNING) << "a step is planned to take " << planned << ", but only " << there
                 << ": it will swap to disk and be slow; take a smaller batch";
    return absl::OkStatus();
  }
  return ResourceExhausted("out of memory: a step is planned to take ", planned, ", but only ",
                           there, "; take a smaller batch");
}

absl::Status ReserveArenas(const Arenas& arenas, int64_t bytes, int64_t shared_bytes,
                           int64_t derived_bytes) {
  // What is available is read from files, which takes time.
  if (MissingBytes(arenas, bytes, shared_bytes, derived_bytes) == 0) return absl::OkStatus();
  EST_RETURN_IF_ERROR(
      CheckMemory(arenas, bytes, shared_bytes, ReadAvailableMemory(), derived_bytes));
  for (const auto& arena : arenas.own) EST_RETURN_IF_ERROR(arena->Reserve(bytes));
  return arenas.shared->Reserve(shared_bytes);
}

}  // namespace estimator
