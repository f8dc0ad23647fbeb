#include "estimator/runtime/arena.h"

#include <sys/mman.h>

#include <cstdlib>

#include "glog/logging.h"

namespace estimator {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = 2 << 20;  // x86-64: one TLB entry instead of 512

}  // namespace

Arena::~Arena() { std::free(data_); }

void Arena::Reserve(int64_t bytes) {
  if (bytes <= bytes_) return;
  const size_t alignment = static_cast<size_t>(bytes) >= kHugePage ? kHugePage : kCacheLine;
  const size_t size = (static_cast<size_t>(bytes) + alignment - 1) / alignment * alignment;
  std::free(data_);
  data_ = static_cast<char*>(std::aligned_alloc(alignment, size));
  CHECK(data_ != nullptr) << "out of memory: an arena of " << size << " bytes";
  bytes_ = static_cast<int64_t>(size);
  // A hint: without huge pages it is slower, no more.
  if (alignment == kHugePage) (void)madvise(data_, size, MADV_HUGEPAGE);
}

}  // namespace estimator
