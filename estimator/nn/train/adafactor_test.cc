// Three steps by hand in NumPy, float64.
#include "estimator/nn/train/adafactor.h"

#include "estimator/array/array.h"
#include "estimator/nn/testing/three_steps.h"
#include "gtest/gtest.h"

namespace estimator::train {
namespace {

using testing::ExpectAfterThreeSteps;
using testing::Parabola;

const Parabola& Matrix() {
  static const Parabola* const matrix =
      new Parabola{.w = Array::Of<float>({2, 3}, {1.f, -2.f, 3.f, .5f, 4.f, -1.f}),
                   .slope = Array::Of<float>({2, 3}, {.5f, -1.f, 2.f, 1.f, .25f, -.5f})};
  return *matrix;
}

TEST(AdafactorTest, KeepsTheWholeSecondMomentOfAVector) {
  ExpectAfterThreeSteps(Adafactor(), {0.935984827, -2.064901901, 2.935582793}, {"w/Adafactor"});
}

TEST(AdafactorTest, KeepsRowsAndColumnsOfAMatrix) {
  ExpectAfterThreeSteps(
      Adafactor(), {0.972962891, -2.033670505, 2.962695139, 0.370509693, 3.91315161, -1.016401813},
      {"w/Adafactor", "w/Adafactor_1"}, Matrix());
}

TEST(AdafactorTest, AMomentumTakesTheFirstSlot) {
  ExpectAfterThreeSteps(
      Adafactor(0.1, {.beta1 = 0.9}),
      {0.949726634, -2.062828498, 2.930354292, 0.257320875, 3.837941081, -1.03053614},
      {"w/Adafactor", "w/Adafactor_1", "w/Adafactor_2"}, Matrix());
}

TEST(AdafactorTest, EachPartCanBeTurnedOff) {
  ExpectAfterThreeSteps(
      Adafactor(0.1, {.multiply_by_parameter_scale = false,
                      .decay_rate = 0.9,
                      .clipping_threshold = std::nullopt,
                      .factored = false}),
      {0.369180553, -2.772603566, 2.291765789, 0.024435295, 3.283858147, -1.798768792},
      {"w/Adafactor"}, Matrix());
}

TEST(AdafactorTest, TheDecayMayBeAdams) {
  ExpectAfterThreeSteps(Adafactor(0.1, {.decay_rate = AdafactorDecayRateAdam(0.99)}),
                        {0.446267141, -2.664354338, 2.389391831}, {"w/Adafactor"});
}

TEST(AdafactorTest, ItsOwnRateIsSmallerWithoutTheScaleOfTheParameters) {
  ExpectAfterThreeSteps(Adafactor({.multiply_by_parameter_scale = false}),
                        {0.998500315, -2.001500157, 2.998500105}, {"w/Adafactor"});
}

}  // namespace
}  // namespace estimator::train
