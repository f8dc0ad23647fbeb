// Memory that the processes of one machine share, and a barrier in it.
#ifndef ESTIMATOR_DISTRIBUTED_SHARED_MEMORY_H_
#define ESTIMATOR_DISTRIBUTED_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "estimator/distributed/membership.h"

namespace estimator {

// A part of equal size for each rank. It has no name in any file system, so nothing stays behind
// when the processes end, however they end.
class SharedWindow {
 public:
  // Collective. Null on all ranks if one of them cannot map it: it is on another machine, or in
  // another container.
  //   part_bytes: of each rank; rounded up to pages, and zero.
  static absl::StatusOr<std::unique_ptr<SharedWindow>> Create(Membership& members, int rank,
                                                              int size, int64_t part_bytes);
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  char* part(int rank) const { return base_ + rank * part_bytes_; }
  int64_t part_bytes() const { return part_bytes_; }
  // Whether [begin, begin + size_bytes) is in this rank's part.
  bool Contains(const void* begin, int64_t size_bytes) const;

 private:
  SharedWindow(int rank, int size, int64_t part_bytes)
      : rank_(rank), size_(size), part_bytes_(part_bytes) {}
  const int rank_;
  const int size_;
  const int64_t part_bytes_;
  char* base_ = nullptr;
};

// Waits until all ranks have called it. `window` is memory of this barrier alone.
// Errors: that of the membership, if it fails while this rank waits.
absl::Status WaitAtBarrier(const SharedWindow& window, int size, const Membership& members);

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_SHARED_MEMORY_H_
