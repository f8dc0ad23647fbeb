// The seeds of DropoutWrapper's random ops.
#ifndef ESTIMATOR_NN_RNN_DROPOUT_SEED_H_
#define ESTIMATOR_NN_RNN_DROPOUT_SEED_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace estimator::rnn_cell {

// While it exists, DynamicRnn builds time step `step`. TensorFlow's dynamic_rnn has one random op,
// which draws again in each step; unrolled, each step has its own op, which needs its own seed.
class TimeStepScope {
 public:
  explicit TimeStepScope(int64_t step);
  ~TimeStepScope();
  TimeStepScope(const TimeStepScope&) = delete;
  TimeStepScope& operator=(const TimeStepScope&) = delete;
  static int64_t Current();  // 0 outside, and so in static_rnn

 private:
  const int64_t previous_;
};

// The op seed of dropout `salt` ("input", "state", "output") for tensor `index` of the structure.
// For time step 0 it is TensorFlow's: 31 bits of md5(seed + salt_index).
// Source: TF 2.15 (Keras) legacy_cell_wrappers.DropoutWrapper._gen_seed.
int64_t DropoutSeed(int64_t seed, absl::string_view salt, int index, int64_t time_step);

// The MD5 digest (RFC 1321) as 32 hexadecimal digits.
std::string Md5Hex(absl::string_view text);

}  // namespace estimator::rnn_cell

#endif  // ESTIMATOR_NN_RNN_DROPOUT_SEED_H_
