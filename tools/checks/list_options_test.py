#!/usr/bin/env python3
"""list_options.py finds the structs and fields of a header."""
import sys

import list_options

HEADER = """
namespace estimator {
namespace layers {
struct DenseOptions {
  int64_t units = 0;
  std::function<Tensor(const Tensor&, int)> activation = nullptr;
  std::map<std::string, Shape> shapes = {{"a", {1, 2}}};
  Hooks first = {}, second;
  Shape shape{1, 2};
  std::string delimiter = ",";
  static DenseOptions Default() { return {}; }
  bool valid() const { return units > 0; }
  enum class Kind { kA, kB };
};
}
struct WithConstructorOptions {
  explicit WithConstructorOptions(int x);
  WithConstructorOptions(double x) : x_(x) {}
  int x_;
};
struct DerivedConfig : Base { int x = 0; };
struct EmptyOptions {};
struct Other { int x = 0; };
enum class FakeOptions { kOne };
namespace internal { struct HiddenOptions { int x = 0; }; }
template <typename P>
class Estimator : public Base<P> {
 public:
  struct Options {
    P params = {};
  };
 private:
  struct PrivateOptions { int x = 0; };
};
}
"""

EXPECTED = [
    ("estimator::layers::DenseOptions",
     [("units", "0"), ("activation", "nullptr"), ("shapes", '{{"a", {1, 2}}}'), ("first", "{}"),
      ("second", None), ("shape", "{1, 2}"), ("delimiter", '","')]),
    ("estimator::Estimator::Options", [("params", "{}")]),
]


def main():
    found = [(s.name, s.fields) for s in list_options.structs_in(HEADER, "", "header.h")]
    assert found == EXPECTED, found
    return 0


if __name__ == "__main__":
    sys.exit(main())
