// Partitioned variables: the parts that a partitioner of TensorFlow made of one variable. Here the
// whole is one variable, of which a part is a slice, as checkpoints have it.
// Source: TF 2.15 partitioned_variables.py, variable.proto SaveSliceInfoDef.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_PARTITIONED_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_PARTITIONED_H_

#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graphdef/import/import_source.h"

namespace estimator {

// The parts of variable.whole in their order along the axis that is divided.
std::vector<const SourceVariable*> PartsOf(const std::vector<SourceVariable>& variables,
                                           const SourceVariable& variable);
// The axis along which the parts are divided.
int AxisOfParts(const std::vector<const SourceVariable*>& parts);

// Why the parts do not make a whole; empty if they do, or if the variable is no part.
std::string PartProblem(const std::vector<SourceVariable>& variables,
                        const SourceVariable& variable);

// The slice of the whole's value that belongs to the k-th of `parts`.
Tensor ValueOfPart(const Tensor& whole, const std::vector<const SourceVariable*>& parts, size_t k);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_PARTITIONED_H_
