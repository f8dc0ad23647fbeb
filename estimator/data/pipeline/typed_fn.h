// Functions of a dataset that know the spec of their results when the pipeline is built. Map and
// Interleave ask them for it, so that the spec needs no output_signature. For authors of functions
// such as ParseExample; a function of a user declares its spec with MapOptions.output_signature.
//
//   return TypedMapFn(parse, [](const std::optional<ElementSpec>& input) { ... });
#ifndef ESTIMATOR_DATA_PIPELINE_TYPED_FN_H_
#define ESTIMATOR_DATA_PIPELINE_TYPED_FN_H_

#include <functional>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/data/pipeline/nodes.h"

namespace estimator {

// Converts to a MapFunction.
class TypedMapFn {
 public:
  // The spec of the results for elements of the spec `input`, which is nullopt if it is not known.
  // Errors: the function does not take such elements.
  using ResultSpecFn =
      std::function<absl::StatusOr<ElementSpec>(const std::optional<ElementSpec>& input)>;

  TypedMapFn(MapFunction fn, ResultSpecFn result_spec)
      : fn_(std::move(fn)), result_spec_(std::move(result_spec)) {}

  absl::StatusOr<Element> operator()(const Element& element) const { return fn_(element); }
  absl::StatusOr<ElementSpec> ResultSpec(const std::optional<ElementSpec>& input) const {
    return result_spec_(input);
  }

 private:
  MapFunction fn_;
  ResultSpecFn result_spec_;
};

// Converts to an ExpandFn.
class TypedExpandFn {
 public:
  //   joined: a node with the elements of all datasets, in any order. It is asked for its spec, its
  //     examples, its bytes and its advice, and never read.
  TypedExpandFn(ExpandFn fn, NodePtr joined) : fn_(std::move(fn)), joined_(std::move(joined)) {}

  absl::StatusOr<NodePtr> operator()(const Element& element) const { return fn_(element); }
  const NodePtr& joined() const { return joined_; }

 private:
  ExpandFn fn_;
  NodePtr joined_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_TYPED_FN_H_
