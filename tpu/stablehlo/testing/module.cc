#include "tpu/stablehlo/testing/module.h"

#include <cctype>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

// The numbers of a text, in order: "[[0, -1], [2, 3]]" has four.
Ints NumbersOf(absl::string_view text) {
  Ints numbers;
  for (const absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" ,[]<>:="))) {
    int64_t number = 0;
    if (absl::SimpleAtoi(word, &number)) numbers.push_back(number);
  }
  return numbers;
}

// The text after `open` up to `close`.
absl::string_view Within(absl::string_view text, absl::string_view open, absl::string_view close) {
  const size_t begin = text.find(open);
  if (begin == absl::string_view::npos) throw InvalidArgument("no ", open, " in: ", text);
  text.remove_prefix(begin + open.size());
  return text.substr(0, text.find(close));
}

// What follows "attribute = "; null if it is absent.
const char* ValueOf(const Op& op, absl::string_view attribute) {
  const std::string wanted = absl::StrCat(attribute, " = ");
  for (size_t at = op.attributes.find(wanted); at != std::string::npos;
       at = op.attributes.find(wanted, at + 1)) {
    const char before = at == 0 ? ' ' : op.attributes[at - 1];
    // "strides" is the end of "window_strides" too.
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_')
      return op.attributes.c_str() + at + wanted.size();
  }
  return nullptr;
}

absl::string_view Required(const Op& op, absl::string_view attribute) {
  const char* const value = ValueOf(op, attribute);
  if (value == nullptr) throw InvalidArgument(op.name, " has no attribute ", attribute);
  return value;
}

class Parser {
 public:
  explicit Parser(absl::string_view text) : rest_(text) {}

  Block Main() {
    const size_t main = rest_.find("func.func public @main(");
    if (main == absl::string_view::npos) throw InvalidArgument("no function @main");
    rest_.remove_prefix(main);
    Expect("func.func public @main(");
    Block block;
    while (!Take(")")) {
      Argument(&block);
      // tf.aliasing_output: who may reuse the memory of an argument does not change a number.
      if (Take(" {")) Until('}');
      Take(", ");
    }
    Expect(" -> (");
    const std::vector<Type> results = Types();
    Expect(" {");
    Body(&block);
    if (block.ops.back().operand_types != results)
      throw InvalidArgument("@main does not return the types that it declares");
    return block;
  }

 private:
  bool Take(absl::string_view text) { return absl::ConsumePrefix(&rest_, text); }
  void Expect(absl::string_view text) {
    if (!Take(text)) throw InvalidArgument("expected ", text, " before: ", rest_.substr(0, 80));
  }
  // The text before `end`, which is skipped.
  std::string Until(char end) {
    const size_t size = rest_.find(end);
    if (size == absl::string_view::npos) throw InvalidArgument("no ", std::string(1, end));
    const std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size + 1);
    return text;
  }
  void SkipSpaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  Type TypeHere() {
    Expect("tensor<");
    const std::string text = Until('>');
    std::vector<std::string> parts = absl::StrSplit(text, 'x');
    std::string element = parts.back();
    parts.pop_back();
    Type type;
    for (const std::string& size : parts) type.shape.push_back(std::atoll(size.c_str()));
    if (element == "ui8") element = "u8";
    if (element == "i1") element = "bool";
    type.is_unsigned = element[0] == 'u' && element != "u8";
    if (type.is_unsigned) element.erase(0, 1);
    const absl::StatusOr<DType> dtype = DTypeFromName(element);
    if (!dtype.ok()) throw dtype.status();
    type.dtype = *dtype;
    return type;
  }
  // Up to the closing parenthesis.
  std::vector<Type> Types() {
    std::vector<Type> types;
    while (!Take(")")) {
      types.push_back(TypeHere());
      Take(", ");
    }
    return types;
  }
  void Argument(Block* block) {
    block->arguments.push_back(Until(':'));
    Expect(" ");
    block->types.push_back(TypeHere());
  }

  // The ops of a block and its closing brace.
  void Body(Block* block) {
    for (SkipSpaces(); !Take("}"); SkipSpaces()) block->ops.push_back(OpHere());
    if (block->ops.empty() || block->ops.back().name != "return")
      throw InvalidArgument("a block does not end with a return");
  }
  Block RegionHere() {
    Block block;
    SkipSpaces();
    Expect("^bb0(");
    while (!Take("):\n")) {
      Argument(&block);
      Take(", ");
    }
    Body(&block);
    return block;
  }

  Op OpHere() {
    Op op;
    std::string name;
    int64_t num_results = 0;
    if (rest_[0] == '%') {
      name = Until(' ');
      const std::vector<std::string> parts = absl::StrSplit(name, ':');
      name = parts[0];
      num_results = parts.size() > 1 ? std::atoll(parts[1].c_str()) : 1;
      Expect("= ");
    }
    for (int64_t i = 0; i < num_results; ++i)
      op.results.push_back(num_results == 1 ? name : absl::StrCat(name, "#", i));
    Expect("\"");
    op.name = Until('"');
    op.name.erase(0, op.name.find('.') + 1);
    Expect("(");
    op.operands = absl::StrSplit(Until(')'), ", ", absl::SkipEmpty());
    if (Take(" ({\n")) {
      do op.regions.push_back(RegionHere());
      while (Take(", {\n"));
      Expect(")");
    }
    if (Take(" {")) op.attributes = Until('}');
    Expect(" : (");
    op.operand_types = Types();
    Expect(" -> ");
    if (Take("("))
      op.result_types = Types();
    else
      op.result_types = {TypeHere()};
    if (Take(" loc(#loc")) Until(')');
    if (op.operand_types.size() != op.operands.size() ||
        op.result_types.size() != op.results.size())
      throw InvalidArgument(op.name, " has operands or results without types");
    return op;
  }

  absl::string_view rest_;
};

}  // namespace

bool Op::has(absl::string_view attribute) const { return ValueOf(*this, attribute) != nullptr; }

int64_t Op::Int(absl::string_view attribute) const {
  return std::atoll(std::string(Required(*this, attribute)).c_str());
}

Ints Op::List(absl::string_view attribute) const {
  const char* const value = ValueOf(*this, attribute);
  if (value == nullptr) return {};
  if (value[0] == '[') return NumbersOf(Within(value, "[", "]"));
  return NumbersOf(Within(value, "array<i64", ">"));
}

std::vector<Ints> Op::Rows(absl::string_view attribute) const {
  const absl::string_view value = Required(*this, attribute);
  const Ints numbers = NumbersOf(Within(value, "dense<", ">"));
  // "tensor<2x3xi64>" says how many columns there are.
  const std::vector<std::string> sizes = absl::StrSplit(Within(value, "tensor<", ">"), 'x');
  const auto columns = std::atoll(sizes.at(1).c_str());
  std::vector<Ints> rows;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (static_cast<int64_t>(i) % columns == 0) rows.emplace_back();
    rows.back().push_back(numbers[i]);
  }
  return rows;
}

std::string Op::Word(absl::string_view attribute) const {
  absl::string_view value = Required(*this, attribute);
  value = value.substr(0, value.find_first_of(",>"));
  const size_t space = value.rfind(' ');
  return std::string(space == absl::string_view::npos ? value : value.substr(space + 1));
}

Block ParseModule(absl::string_view text) { return Parser(text).Main(); }

}  // namespace estimator::tpu::stablehlo::testing
