#include "estimator/data/transforms/cast_arrays.h"

#include "estimator/base/status.h"

namespace estimator {

Dataset CastArrays(const Dataset& dataset, DType from, DType to) {
  MapOptions options;
  options.output_signature = dataset.element_spec();
  if (options.output_signature.has_value()) {
    for (ArraySpecMap* specs :
         {&options.output_signature->features, &options.output_signature->labels}) {
      for (auto& [name, spec] : *specs) {
        if (spec.dtype == from) spec.dtype = to;
      }
    }
  }
  const auto cast = [from, to](const Element& element) -> absl::StatusOr<Element> {
    if (DTypeSize(from) == 0 || DTypeSize(to) == 0) {
      return InvalidArgument("CastArrays casts numbers to numbers, not ", DTypeName(from), " to ",
                             DTypeName(to));
    }
    Element result = element;
    for (ArrayMap* arrays : {&result.features, &result.labels}) {
      for (auto& [name, array] : *arrays) {
        if (array.dtype() == from) array = array.Cast(to);
      }
    }
    return result;
  };
  return dataset.Map(cast, options);
}

}  // namespace estimator
