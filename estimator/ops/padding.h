// How a convolution or a pool treats the border, as TensorFlow's "SAME" and "VALID".
#ifndef ESTIMATOR_OPS_PADDING_H_
#define ESTIMATOR_OPS_PADDING_H_

#include <string>

namespace estimator {

// kSame:  output = ceil(input / stride). Zeros are added evenly; if their number is odd, there is
//         one more at the end.
// kValid: output = ceil((input - (kernel - 1) * dilation) / stride). Only whole windows are used.
enum class Padding { kSame, kValid };

// TensorFlow's name of the padding: "SAME" or "VALID".
inline std::string PaddingName(Padding padding) {
  return padding == Padding::kSame ? "SAME" : "VALID";
}

}  // namespace estimator

#endif  // ESTIMATOR_OPS_PADDING_H_
