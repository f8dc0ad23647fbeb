// Map. If the input is indexed, the result is indexed too, and the elements of a batch are mapped
// in parallel. If the input is a stream, elements are read ahead, mapped in parallel, and returned
// in order. A function that draws random numbers gets a stream of them for each element. Its input
// is read as a stream, because the numbers depend on the position in a pass. So is the input before
// an IgnoreErrors, because an indexed result has an element for every index.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/random_stream.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/pipeline/typed_fn.h"
#include "estimator/data/transforms/mapped_access.h"
#include "estimator/data/transforms/thread_pool.h"

namespace estimator {
namespace {

// Counts the elements of a pass, and gives each a stream of random numbers. After a Shard it is
// that of the whole input, so that the numbers do not depend on how many shards there are.
// State: key, number of elements read; the state of the input (nested).
class Numbered final : public TransformIterator {
 public:
  //   positions: as PositionsBeforeShard.
  Numbered(IteratorPtr input, uint64_t key, std::function<int64_t(int64_t)> positions)
      : TransformIterator(std::move(input)), key_(key), positions_(std::move(positions)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (element) ++num_read_;
    return element;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    EST_ASSIGN_OR_RETURN(const int64_t skipped, input_->Skip(count));
    num_read_ += static_cast<uint64_t>(skipped);
    return skipped;
  }
  absl::Status Save(StateWriter& state) const override {
    return SaveFields(state, key_, num_read_, input_);
  }
  absl::Status Restore(StateReader& state) override {
    return RestoreFields(state, key_, num_read_, input_);
  }
  // The numbers for the last element that was read.
  RandomStream Stream() const {
    if (positions_ == nullptr) return RandomStream(key_, num_read_);
    const int64_t position = positions_(static_cast<int64_t>(num_read_) - 1);
    return RandomStream(key_, static_cast<uint64_t>(position) + 1);
  }

 private:
  uint64_t key_;
  const std::function<int64_t(int64_t)> positions_;
  uint64_t num_read_ = 0;
};

// The input of a map, and the function for each of its elements.
class MapInput {
 public:
  MapInput(IteratorPtr input, MapFunction fn)
      : input_(std::move(input)), fn_(std::make_shared<const MapFunction>(std::move(fn))) {}
  MapInput(IteratorPtr input, RandomMapFn fn, uint64_t key,
           std::function<int64_t(int64_t)> positions)
      : random_fn_(std::make_shared<const RandomMapFn>(std::move(fn))) {
    auto numbered = std::make_unique<Numbered>(std::move(input), key, std::move(positions));
    numbered_ = numbered.get();
    input_ = std::move(numbered);
  }
  NodeIterator& iterator() const { return *input_; }
  // The function for the last element that was read. It may be called in any thread.
  MapFunction Function() const {
    if (numbered_ == nullptr) return [fn = fn_](const Element& element) { return (*fn)(element); };
    return [fn = random_fn_, stream = numbered_->Stream()](const Element& element) {
      RandomStream random = stream;
      return (*fn)(element, random);
    };
  }

 private:
  IteratorPtr input_;
  std::shared_ptr<const MapFunction> fn_;
  std::shared_ptr<const RandomMapFn> random_fn_;
  const Numbered* numbered_ = nullptr;  // input_, if the function draws numbers
};

// Maps one element after another. The state is that of PositionLog.
class SerialMap final : public NodeIterator {
 public:
  SerialMap(MapInput input, std::shared_ptr<SkippedErrors> errors)
      : input_(std::move(input)), errors_(std::move(errors)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    while (true) {
      EST_ASSIGN_OR_RETURN(const std::optional<Element> element, input_.iterator().Next());
      if (!element) return std::nullopt;
      absl::StatusOr<Element> mapped =
          ApplyMap(input_.Function(), *element, [this] { return Where(); });
      if (mapped.ok()) return *std::move(mapped);
      if (errors_ == nullptr) return mapped.status();
      EST_RETURN_IF_ERROR(errors_->Skip(mapped.status(), Where()));
    }
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    // Only the function tells which elements are damaged.
    return errors_ != nullptr ? NodeIterator::Skip(count) : input_.iterator().Skip(count);
  }
  absl::Status Save(StateWriter& state) const override {
    return PositionLog::SaveCurrent(input_.iterator(), state);
  }
  absl::Status Restore(StateReader& state) override {
    return PositionLog::Restore(input_.iterator(), state);
  }
  std::string Where() const override { return input_.iterator().Where(); }

 private:
  MapInput input_;
  std::shared_ptr<SkippedErrors> errors_;  // null: no element is skipped
};

// Reads ahead in the caller's thread and maps in other threads. The state is that of PositionLog.
class ParallelMap final : public NodeIterator {
 public:
  ParallelMap(MapInput input, std::shared_ptr<SkippedErrors> errors, int num_parallel_calls)
      : input_(std::move(input)),
        errors_(std::move(errors)),
        max_ahead_(static_cast<size_t>(num_parallel_calls) * 4),
        pool_(std::make_unique<ThreadPool>(num_parallel_calls)) {}
  ~ParallelMap() override { pool_.reset(); }  // first, because its tasks use the other members

  absl::StatusOr<std::optional<Element>> Next() override {
    while (true) {
      while (!ended_ && calls_.size() < max_ahead_) Begin();
      if (calls_.empty()) {
        EST_RETURN_IF_ERROR(input_status_);
        return std::nullopt;
      }
      const std::shared_ptr<Call> call = std::move(calls_.front());
      calls_.pop_front();
      {
        std::unique_lock<std::mutex> lock(mutex_);
        finished_.wait(lock, [&call] { return call->finished; });
      }
      last_where_ = std::move(call->where);
      const absl::Status& status = call->result.status();
      if (!status.ok()) {
        if (errors_ == nullptr) return status;
        EST_RETURN_IF_ERROR(errors_->Skip(status, last_where_));
      }
      log_.Consumed();
      if (status.ok()) return *std::move(call->result);
    }
  }
  absl::Status Save(StateWriter& state) const override {
    return log_.Save(input_.iterator(), state);
  }
  absl::Status Restore(StateReader& state) override {
    return PositionLog::Restore(input_.iterator(), state);
  }
  std::string Where() const override { return last_where_; }

 private:
  struct Call {
    Element input;
    std::string where;
    MapFunction fn;
    absl::StatusOr<Element> result = absl::UnknownError("not run");
    bool finished = false;  // guarded by mutex_
  };

  // Reads one element and submits it to the pool. An error of the input is kept until the elements
  // before it are returned.
  void Begin() {
    absl::StatusOr<std::optional<Element>> element = log_.Read(input_.iterator());
    if (!element.ok() || !element->has_value()) {
      ended_ = true;
      input_status_ = element.status();
      return;
    }
    auto call = std::make_shared<Call>();
    call->input = **std::move(element);
    call->where = input_.iterator().Where();
    call->fn = input_.Function();
    calls_.push_back(call);
    pool_->Submit([this, call] {
      absl::StatusOr<Element> result =
          ApplyMap(call->fn, call->input, [&call] { return call->where; });
      const std::lock_guard<std::mutex> lock(mutex_);
      call->input = Element();
      call->result = std::move(result);
      call->finished = true;
      finished_.notify_all();
    });
  }

  MapInput input_;
  std::shared_ptr<SkippedErrors> errors_;  // null: no element is skipped
  size_t max_ahead_;
  PositionLog log_;
  bool ended_ = false;
  absl::Status input_status_;
  std::deque<std::shared_ptr<Call>> calls_;  // in order
  std::string last_where_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::unique_ptr<ThreadPool> pool_;
};

// The node of a map of either kind.
class AnyMap : public TransformNode {
 public:
  AnyMap(NodePtr input, int num_parallel_calls, std::optional<ElementSpec> spec)
      : TransformNode(std::move(input)),
        num_parallel_calls_(num_parallel_calls),
        spec_(std::move(spec)) {}
  std::optional<ElementSpec> element_spec() const override { return spec_; }
  std::string SpeedAdvice() const override {
    const int cores = *NumThreads("Map", kAutotune);
    if (num_parallel_calls_ < cores)
      return absl::StrCat("raise its num_parallel_calls from ", num_parallel_calls_, " to ", cores);
    return "do less in its function, or Cache() its result";
  }

 protected:
  int num_parallel_calls() const { return num_parallel_calls_; }
  IteratorPtr MapElements(MapInput input, const IterationContext& context) const {
    if (num_parallel_calls_ == 1)
      return std::make_unique<SerialMap>(std::move(input), context.errors);
    return std::make_unique<ParallelMap>(std::move(input), context.errors, num_parallel_calls_);
  }

 private:
  const int num_parallel_calls_;
  const std::optional<ElementSpec> spec_;
};

class Map final : public AnyMap {
 public:
  Map(NodePtr input, MapFunction fn, int num_parallel_calls, std::optional<ElementSpec> spec)
      : AnyMap(std::move(input), num_parallel_calls, std::move(spec)), fn_(std::move(fn)) {
    if (SourcePtr source = this->input()->random_access()) source_ = Mapped(std::move(source));
  }
  std::string Label() const override { return "Map"; }
  SourcePtr random_access() const override { return source_; }

 private:
  void ForInput(IterationContext&) const override {}
  absl::StatusOr<IteratorPtr> Over(IteratorPtr iterator,
                                   const IterationContext& context) const override {
    const IndexStream* stream = iterator->AsIndexStream();
    if (stream != nullptr && context.errors == nullptr &&
        (context.wants_indices || num_parallel_calls() == 1)) {
      SourcePtr source =
          stream->source() == input()->random_access() ? source_ : Mapped(stream->source());
      return MappedStream(std::move(iterator), std::move(source));
    }
    return MapElements(MapInput(std::move(iterator), fn_), context);
  }
  SourcePtr Mapped(SourcePtr input) const {
    return MappedAccess(std::move(input), fn_, num_parallel_calls());
  }

  MapFunction fn_;
  SourcePtr source_;
};

class RandomMap final : public AnyMap {
 public:
  RandomMap(NodePtr input, RandomMapFn fn, int num_parallel_calls, uint64_t seed,
            std::optional<ElementSpec> spec)
      : AnyMap(std::move(input), num_parallel_calls, std::move(spec)),
        fn_(std::move(fn)),
        seed_(seed) {}
  std::string Label() const override { return "RandomMap"; }
  int num_seeded() const override { return input()->num_seeded() + 1; }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr iterator,
                                   const IterationContext& context) const override {
    return MapElements(MapInput(std::move(iterator), fn_, HashSeed(seed_, context.epoch_key),
                                PositionsBeforeShard(*input())),
                       context);
  }

  RandomMapFn fn_;
  uint64_t seed_;
};

// The spec of the results: the declared one, or else that of a function that knows it.
absl::StatusOr<std::optional<ElementSpec>> ResultSpec(const DatasetNode& input,
                                                      const MapFunction& fn,
                                                      const std::optional<ElementSpec>& declared) {
  const auto* const typed = fn.target<TypedMapFn>();
  if (typed == nullptr) return declared;
  EST_ASSIGN_OR_RETURN(ElementSpec results, typed->ResultSpec(input.element_spec()));
  if (!declared) return std::optional<ElementSpec>(std::move(results));
  EST_RETURN_IF_ERROR(CheckSpec(*declared, "output_signature", results,
                                "the results of the function", CompareShapes::kYes));
  return declared;
}

// fn, with the check of SpecGuard after each call.
template <typename Fn>
Fn Guarded(Fn fn, const std::optional<ElementSpec>& output_signature) {
  return [fn = std::move(fn), guard = std::make_shared<const SpecGuard>(output_signature)](
             const Element& element, auto&... random) -> absl::StatusOr<Element> {
    absl::StatusOr<Element> mapped = fn(element, random...);
    if (mapped.ok()) EST_RETURN_IF_ERROR(guard->Check(*mapped));
    return mapped;
  };
}

}  // namespace

NodePtr MapNode(NodePtr input, MapFunction fn, const MapOptions& options) {
  absl::StatusOr<std::optional<ElementSpec>> spec =
      ResultSpec(*input, fn, options.output_signature);
  if (!spec.ok()) return ErrorNode(Annotate(spec.status(), "Map"));
  const absl::StatusOr<int> num_threads = NumThreads("Map", options.num_parallel_calls);
  if (!num_threads.ok()) return ErrorNode(num_threads.status());
  return std::make_shared<Map>(std::move(input), Guarded(std::move(fn), options.output_signature),
                               *num_threads, *std::move(spec));
}

NodePtr RandomMapNode(NodePtr input, RandomMapFn fn, const MapOptions& options, uint64_t seed) {
  const absl::StatusOr<int> num_threads = NumThreads("Map", options.num_parallel_calls);
  if (!num_threads.ok()) return ErrorNode(num_threads.status());
  return std::make_shared<RandomMap>(std::move(input),
                                     Guarded(std::move(fn), options.output_signature), *num_threads,
                                     seed, options.output_signature);
}

}  // namespace estimator
