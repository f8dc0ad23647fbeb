// SavedSignature: the inputs and outputs of a signature, as a file describes them.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_SAVED_SIGNATURE_H_
#define ESTIMATOR_EXPORT_SIGNATURE_SAVED_SIGNATURE_H_

#include <map>
#include <optional>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"

namespace estimator {

struct SavedTensor {
  std::string tensor_name;        // "Placeholder:0"; empty for a sparse tensor
  DType dtype = DType::kInvalid;  // kInvalid for types that have no DType (complex64, variant)
  std::optional<Shape> shape;     // unknown sizes are kUnknownDim; nullopt: the rank is unknown

  std::string ToString() const;  // for example "f32 [?,28,28,1]"
  // Whether an array of this dtype and shape may be fed.
  bool Takes(DType given, const Shape& given_shape) const;
};

struct SavedSignature {
  std::string method_name;  // "tensorflow/serving/predict"
  std::map<std::string, SavedTensor> inputs;
  std::map<std::string, SavedTensor> outputs;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_SAVED_SIGNATURE_H_
