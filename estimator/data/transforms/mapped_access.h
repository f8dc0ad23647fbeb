// The part of Map that keeps an indexed input indexed.
#ifndef ESTIMATOR_DATA_TRANSFORMS_MAPPED_ACCESS_H_
#define ESTIMATOR_DATA_TRANSFORMS_MAPPED_ACCESS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/dataset_node.h"

namespace estimator {

// Returns fn(element). An error begins with "Map: " and the origin of the element.
//   where: gives the origin; it is called after an error only.
absl::StatusOr<Element> ApplyMap(const MapFunction& fn, const Element& element,
                                 const std::function<std::string()>& where);

// The elements of `input`, each mapped when it is read.
//   num_parallel_calls: the number of elements that are mapped at the same time; at least 1.
SourcePtr MappedAccess(SourcePtr input, MapFunction fn, int num_parallel_calls);

// The indices of `input`, which is an IndexStream, for the mapped source.
IteratorPtr MappedStream(IteratorPtr input, SourcePtr source);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_MAPPED_ACCESS_H_
