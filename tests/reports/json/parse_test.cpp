#include "reports/json/parse.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/reports/text.hpp"

namespace taskbench::reports::json {
namespace {

std::string fault(std::string_view text, BareWords words = BareWords::refused) {
  return what_of<ParseError>([&] { (void)parse_json(text, words); });
}

TEST(parse_json, what_is_wrong_is_said_with_its_place) {
  EXPECT_EQ(fault(" \n"), "it is empty");
  EXPECT_EQ(fault("{\n  \"a\": 1,\n"),
            "it is not valid JSON, at line 3, column 1 (byte 12): it is cut off there");
  EXPECT_EQ(
      fault("{\n  \"a\": 1;}"),
      "it is not valid JSON, at line 2, column 9 (byte 10): it is damaged, or something else");
  EXPECT_EQ(fault("[1, -2e999]"),
            "it holds a number that is too large, -2e999, at line 1, column 5 (byte 4)");
  EXPECT_EQ(fault("[\"1e999\", 1e999]"),
            "it holds a number that is too large, 1e999, at line 1, column 11 (byte 10)");
  EXPECT_EQ(fault("[\"ab\xff\"]"),
            "it is not UTF-8, at line 1, column 5 (byte 4): save it in that encoding");
  EXPECT_EQ(fault("\xff\xfe[\0]\0"), "it is UTF-16: save it as UTF-8");
  EXPECT_EQ(fault("[" + std::string(400, '9') + "]"), "it holds a number that is too large, " +
                                                          std::string(30, '9') +
                                                          "…, at line 1, column 2 (byte 1)");
}

TEST(parse_json, what_is_nested_too_deeply_is_refused_before_it_is_read) {
  EXPECT_EQ(fault(std::string(64, '[') + std::string(64, ']')), "nothing was thrown");
  EXPECT_EQ(
      fault(std::string(1'000'000, '[')),
      "it is nested too deeply, at line 1, column 65 (byte 64): no result has more than 64 levels");
  EXPECT_EQ(fault("[\"" + std::string(1'000, '[') + "\\\"[\"]"), "nothing was thrown")
      << "in a string";
}

TEST(parse_json, bare_words_are_texts_where_they_may_be) {
  const auto read = [](std::string_view text) {
    return parse_json(text, BareWords::as_text).dump();
  };
  EXPECT_EQ(read("[NaN, nan, -nan, -NaN, Infinity, -Infinity, inf, -inf]"),
            R"(["NaN","nan","-nan","-NaN","Infinity","-Infinity","inf","-inf"])");
  EXPECT_EQ(read("[NaN,nan,-inf,Infinity,NaN]"), R"(["NaN","nan","-inf","Infinity","NaN"])");
  EXPECT_EQ(read("NaN"), "\"NaN\"");
  EXPECT_EQ(read(R"({"NaN": "inf", "x\\": NaN, "y": null})"),
            R"({"NaN":"inf","x\\":"NaN","y":null})");
  EXPECT_NE(fault("[NaN]"), "nothing was thrown");
  EXPECT_NE(fault("[NaNs]", BareWords::as_text), "nothing was thrown");
}

TEST(parse_json, places_behind_bare_words_are_those_of_the_file) {
  EXPECT_EQ(
      fault("{\"a\": NaN, \"b\": -Infinity, \"c\": ?}", BareWords::as_text),
      "it is not valid JSON, at line 1, column 33 (byte 32): it is damaged, or something else");
}

TEST(parse_json, many_bare_words_take_time_in_proportion) {
  std::string text = "[0";
  for (int i = 0; i < 200'000; ++i) text += ",NaN";
  EXPECT_EQ(parse_json(text + "]", BareWords::as_text).size(), 200'001U);
}

TEST(parse_json, elements_are_taken_as_they_come_and_are_not_in_the_document) {
  std::string taken;
  const auto read = [&](std::string_view text) {
    taken.clear();
    const ElementsOf rows{"rows", [&](const auto& row) { taken += row.dump() + ' '; }};
    return parse_json(text, BareWords::as_text, rows).dump();
  };
  EXPECT_EQ(read(R"({"a": [1], "rows": [{"x": [1, {}]}, 2, NaN, [3], []], "b": {"rows": [4]}})"),
            R"({"a":[1],"rows":[],"b":{"rows":[4]}})");
  EXPECT_EQ(taken, R"({"x":[1,{}]} 2 "NaN" [3] [] )");
  EXPECT_EQ(read(R"({"rows": {"rows": [1]}})"), R"({"rows":{"rows":[1]}})");
  EXPECT_EQ(read(R"([["rows"], {"rows": [1]}])"), R"([["rows"],{"rows":[1]}])");
  EXPECT_EQ(taken, "");
  EXPECT_THROW(read(R"({"rows": [1, 2, )"), ParseError);
}

}  // namespace
}  // namespace taskbench::reports::json
