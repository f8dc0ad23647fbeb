#include "estimator/distributed/find_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {

// For messages of tests.
static void PrintTo(const GroupOptions& group, std::ostream* out) {
  *out << "rank " << group.rank << " of " << group.size << " at " << group.rendezvous;
}

namespace {

using Variables = std::map<std::string, std::string>;

absl::StatusOr<GroupOptions> Find(const Variables& variables, const GivenGroup& given = {},
                                  const std::optional<GroupOptions>& cluster = std::nullopt) {
  const Environment environment = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  return FindGroup(given, cluster, environment, /*parent_process=*/71234);
}

MATCHER_P3(IsGroup, rank, size, rendezvous, "") {
  return arg.ok() && arg->rank == rank && arg->size == size && arg->rendezvous == rendezvous;
}

TEST(FindGroup, ByDefaultAProcessIsAlone) { EXPECT_THAT(Find({}), IsGroup(0, 1, "")); }

TEST(FindGroup, FlagsComeFirst) {
  const Variables variables = {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}};
  const GroupOptions cluster = {.rank = 1, .size = 3, .rendezvous = "c:1"};
  EXPECT_THAT(Find(variables, {.rank = 2, .size = 5, .rendezvous = "b:7"}, cluster),
              IsGroup(2, 5, "b:7"));
  EXPECT_THAT(Find(variables, {}, cluster), IsGroup(1, 3, "c:1"));
  EXPECT_THAT(Find(variables, {.rendezvous = "/shared"}, cluster), IsGroup(1, 3, "/shared"));
  EXPECT_THAT(Find(variables), IsGroup(1, 4, "a:29500"));
  EXPECT_THAT(Find(variables, {.rendezvous = "/shared"}), IsGroup(1, 4, "/shared"));
}

TEST(FindGroup, AnEvaluatorIsAlone) {
  EXPECT_THAT(Find({{"RANK", "1"}, {"WORLD_SIZE", "4"}}, {}, GroupOptions()), IsGroup(0, 1, ""));
}

TEST(FindGroup, PyTorchsVariablesSayWhereTheChiefIs) {
  const Variables variables = {{"RANK", "3"}, {"WORLD_SIZE", "4"}};
  EXPECT_THAT(Find(variables), ErrorHas("RANK and WORLD_SIZE say that this is process 3 of 4, but "
                                        "not where the chief is; set MASTER_ADDR"));
  EXPECT_THAT(
      Find({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "5"}}),
      IsGroup(3, 4, "a:5"));
}

TEST(FindGroup, OpenMpiOnOneMachineMeetsAtAPortOfItsLauncher) {
  Variables variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_THAT(Find(variables), IsGroup(1, 2, "127.0.0.1:21234"));
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  EXPECT_THAT(Find(variables), ErrorHas("OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE say"));
  variables["MASTER_ADDR"] = "node1";
  EXPECT_THAT(Find(variables), IsGroup(1, 2, "node1:29500"));
}

TEST(FindGroup, MpichIsFound) {
  EXPECT_THAT(Find({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}}),
              IsGroup(0, 3, "127.0.0.1:21234"));
}

TEST(FindGroup, StepsOfSlurmMeetOnTheirFirstNode) {
  Variables variables = {{"SLURM_PROCID", "5"},
                         {"SLURM_STEP_NUM_TASKS", "8"},
                         {"SLURM_JOB_ID", "10"},
                         {"SLURM_STEP_ID", "2"}};
  for (const auto& [list, first] : Variables{{"node[03-07,12],big1", "node03"},
                                             {"alone", "alone"},
                                             {"a1,b2", "a1"},
                                             {"n[7,9]", "n7"}}) {
    variables["SLURM_STEP_NODELIST"] = list;
    EXPECT_THAT(Find(variables), IsGroup(5, 8, first + ":20162"));
  }
}

TEST(FindGroup, AProgramThatIsStartedAloneInAnAllocationWaitsForNobody) {
  EXPECT_THAT(Find({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "10"}}),
              IsGroup(0, 1, ""));
  EXPECT_THAT(Find({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), IsGroup(0, 1, ""));
  EXPECT_THAT(Find({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}),
              IsGroup(0, 1, ""));
  EXPECT_THAT(Find({{"RANK", "2"}}), IsGroup(0, 1, ""));
}

TEST(FindGroup, OurLauncherCountsBeforeFlags) {
  const auto group = Find({{"RANK", "0"},
                           {"WORLD_SIZE", "2"},
                           {"MASTER_ADDR", "127.0.0.1"},
                           {"MASTER_PORT", "4444"},
                           {kTokenVariable, "secret"},
                           {kLaunchedVariable, "7"}},
                          {}, GroupOptions{.rank = 1, .size = 3, .rendezvous = "c:1"});
  ASSERT_THAT(group, IsGroup(0, 2, "127.0.0.1:4444"));
  EXPECT_EQ(group->token, "secret");
  EXPECT_EQ(group->listener_fd, 7);
}

TEST(FindGroup, WhatIsIncompleteOrWrongIsRefused) {
  EXPECT_THAT(Find({}, {.rank = 1}),
              ErrorHas("must be given together, and --world_size is missing"));
  EXPECT_THAT(Find({}, {.size = 2}), ErrorHas("must be given together, and --rank is missing"));
  EXPECT_THAT(Find({}, {.rank = 2, .size = 2}),
              ErrorHas("--rank must be from 0 to --world_size - 1, given 2 of 2"));
  EXPECT_THAT(Find({}, {.rank = 2, .size = 2}), ErrorHas("given 2 of 2"));
  EXPECT_THAT(Find({}, {.rank = 1, .size = 2}), ErrorHas("--world_size=2 needs --rendezvous"));
  EXPECT_THAT(Find({}, {.rendezvous = "a:1"}), ErrorHas("--rendezvous needs --rank"));
  EXPECT_THAT(Find({{"RANK", "x"}, {"WORLD_SIZE", "2"}}),
              ErrorHas("RANK must be a number, it is \"x\""));
  EXPECT_THAT(Find({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), ErrorHas("RANK is 2, but WORLD_SIZE"));
}

TEST(FindGroup, TokensDiffer) {
  EXPECT_EQ(NewToken().size(), 32u);
  EXPECT_NE(NewToken(), NewToken());
}

}  // namespace
}  // namespace estimator
