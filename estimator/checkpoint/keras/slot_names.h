// The names of the variables of Keras' optimizers, and those of ours for the same values.
#ifndef ESTIMATOR_CHECKPOINT_KERAS_SLOT_NAMES_H_
#define ESTIMATOR_CHECKPOINT_KERAS_SLOT_NAMES_H_

#include <map>
#include <set>
#include <string>

namespace estimator {

// Returns the new names of those of `names` that have one, by the old name:
//
//   optimizer   Keras, and its legacy optimizers                       here
//   Adam        Adam/m/dense/kernel, Adam/dense/kernel/m               dense/kernel/Adam
//               Adam/v/dense/kernel                                    dense/kernel/Adam_1
//   AdamW       AdamW/m/..., AdamW/v/...                               .../adam_m, .../adam_v
//   RMSprop     RMSprop/velocity/..., legacy rms                       .../RMSProp
//               RMSprop/momentum/...                                   .../RMSProp_1
//               if centered: average_gradient, legacy mg               .../RMSProp_1
//                            momentum                                  .../RMSProp_2
//   Adagrad     Adagrad/accumulator/...                                .../Adagrad
//   Adadelta    accumulated_grad, legacy accum_grad                    .../Adadelta
//               accumulated_delta_var, legacy accum_var                .../Adadelta_1
//   Ftrl        accumulator, linear                                    .../Ftrl, .../Ftrl_1
//   any         iteration, Adam/iter                                   global_step
//
// Keras' momentum of SGD is another number: it contains the learning rate, and its sign differs.
// A slot is renamed only if `names` has its variable, and if no other has the new name.
std::map<std::string, std::string> OurSlotNames(const std::set<std::string>& names);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_KERAS_SLOT_NAMES_H_
