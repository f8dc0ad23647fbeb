#include "tpu/iterations_per_loop.h"

#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

// Behaviour K2.
TEST(IterationsPerLoop, TakesStepsAndTimes) {
  EXPECT_EQ(IterationsPerLoop(1).value(), 1);
  EXPECT_EQ(IterationsPerLoop("123").value(), 123);
  EXPECT_FALSE(IterationsPerLoop("123").in_seconds());
  EXPECT_EQ(IterationsPerLoop("1h").value(), 3600);
  EXPECT_EQ(IterationsPerLoop("10m").value(), 600);
  EXPECT_TRUE(IterationsPerLoop("30s").in_seconds());
  EXPECT_EQ(IterationsPerLoop(std::string("7")).value(), 7);
  EXPECT_EQ(IterationsPerLoop(std::string_view("8")).value(), 8);
  EXPECT_EQ(IterationsPerLoop(absl::string_view("9")).value(), 9);
}

// Behaviour K2; TensorFlow also lets "10|" pass.
TEST(IterationsPerLoop, RefusesTheRest) {
  for (const char* text : {"0", "-1", "01", "0s", "-1h", "", "s", "10|", "1.5",
                           "99999999999999999999", "9223372036854775807h"}) {
    EXPECT_FALSE(IterationsPerLoop(text).status().ok()) << text;
  }
  EXPECT_FALSE(IterationsPerLoop(0).status().ok());
  EXPECT_FALSE(IterationsPerLoop(-1).status().ok());
}

// Behaviour N9.
TEST(IterationsTuner, FillsTheTargetTime) {
  IterationsTuner ten(10), fifteen(15);
  EXPECT_EQ(ten.iterations(), 1);
  ten.Observe(1, 5);
  fifteen.Observe(1, 5);
  EXPECT_EQ(ten.iterations(), 2);
  EXPECT_EQ(fifteen.iterations(), 3);
}

// Behaviour N9.
TEST(IterationsTuner, IgnoresWhatIsNotATime) {
  IterationsTuner tuner(10);
  tuner.Observe(1, 0);
  tuner.Observe(0, 5);
  tuner.Observe(1, -1);
  EXPECT_EQ(tuner.iterations(), 1);
}

TEST(IterationsTuner, NumbersStayThoseOfSteps) {
  IterationsTuner tuner(4e15);  // "1099511627776h"
  tuner.Observe(1000000, 1e-3);
  EXPECT_EQ(tuner.iterations(), int64_t{1} << 40);
}

TEST(IterationsTuner, SettlesAndForgetsOldLoops) {
  IterationsTuner tuner(1.0);
  for (int i = 0; i < 30; ++i)
    tuner.Observe(tuner.iterations(), 0.1 * static_cast<double>(tuner.iterations()));
  EXPECT_EQ(tuner.iterations(), 10);
  tuner.Observe(10, 100);  // one slow loop does not move a settled one
  EXPECT_EQ(tuner.iterations(), 10);
}

}  // namespace
}  // namespace estimator::tpu
