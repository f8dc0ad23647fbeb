// Functions of a dataset that know the spec of their results when the pipeline is built. Map and
// Interleave ask them for it, so that the spec needs no output_signature. For authors of functions
// such as ParseExample; a function of a user declares its spec with MapOptions.output_signature.
//
//   return TypedMapFn(parse, [](const std::optional<ElementSpec>& input) { ... });
#ifndef ESTIMATOR_DATA_PIPELINE_TYPED_FN_H_
#define ESTIMATOR_DATA_PIPELINE_TYPED_FN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/data/pipeline/nodes.h"

namespace estimator {

// Converts to a MapFn.
class TypedMapFn {
 public:
  // The spec of the results for elements of the spec `input`, which is nullopt if it is not known.
  // Errors: the function does not take such elements.
  using ResultSpecFn =
      std::function<absl::StatusOr<ElementSpec>(const std::optional<ElementSpec>& input)>;

  TypedMapFn(MapFn fn, ResultSpecFn result_spec)
      : fn_(std::move(fn)), result_spec_(std::move(result_spec)) {}

  absl::StatusOr<Element> operator()(const Element& element) const { return fn_(element); }
  absl::StatusOr<ElementSpec> ResultSpec(const std::optional<ElementSpec>& input) const {
    return result_spec_(input);
  }

 private:
  MapFn fn_;
  ResultSpecFn result_spec_;
};

// Converts to an ExpandFn. All datasets have elements of the spec `elements`.
class TypedExpandFn {
 public:
  //   examples_per_epoch: the number of elements of all datasets together, as
  //     Dataset::ExamplesPerEpoch; -1 if it is not known.
  TypedExpandFn(ExpandFn fn, ElementSpec elements, int64_t examples_per_epoch = -1)
      : fn_(std::move(fn)),
        elements_(std::move(elements)),
        examples_per_epoch_(examples_per_epoch) {}

  absl::StatusOr<NodePtr> operator()(const Element& element) const { return fn_(element); }
  const ElementSpec& elements() const { return elements_; }
  int64_t examples_per_epoch() const { return examples_per_epoch_; }

 private:
  ExpandFn fn_;
  ElementSpec elements_;
  int64_t examples_per_epoch_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_TYPED_FN_H_
