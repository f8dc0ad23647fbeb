// Reads ahead of one of several iterators, on threads that they share. The elements and errors of
// each are in its order, and its position is that of the consumer.
#ifndef ESTIMATOR_DATA_TRANSFORMS_READ_AHEAD_H_
#define ESTIMATOR_DATA_TRANSFORMS_READ_AHEAD_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/transforms/thread_pool.h"

namespace estimator {

// input.Next(), or an error if it throws std::bad_alloc. An exception that leaves a thread would
// end the process before training saves.
absl::StatusOr<std::optional<Element>> NextInThread(NodeIterator& input);

// Use it from one thread. After Start only the pool uses the iterator.
class ReadAhead {
 public:
  //   pool: must outlive this object.
  //   capacity: the number of elements that it keeps, at least 1.
  ReadAhead(IteratorPtr input, ThreadPool* pool, size_t capacity)
      : input_(std::move(input)), pool_(pool), capacity_(capacity) {}
  ~ReadAhead();  // waits for a read that is running
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Begins to read. REQUIRES: it is called once, before Next. Errors: those of saving the input.
  absl::Status Start();
  absl::StatusOr<std::optional<Element>> Next();
  // The origin of the last returned element.
  const std::string& where() const { return where_; }

  // The position of the consumer: a state of the iterator, and the number of elements to skip from
  // there. REQUIRES: Start was called.
  struct Position {
    std::string state;
    int64_t skip = 0;
  };
  absl::StatusOr<Position> position() const;

 private:
  struct Item {
    Element element;
    std::string where;
  };
  void Schedule();  // REQUIRES: mutex_ is locked
  void Run();

  const IteratorPtr input_;
  ThreadPool* const pool_;
  const size_t capacity_;
  std::string where_;
  mutable std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  PositionLog log_;
  std::deque<Item> queue_;
  bool reading_ = false;   // a task of the pool is queued or runs
  bool recorded_ = false;  // log_ knows of the next read
  bool stopping_ = false;
  bool ended_ = false;
  absl::Status final_status_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_READ_AHEAD_H_
