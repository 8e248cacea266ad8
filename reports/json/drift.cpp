#include "reports/json/drift.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "reports/verdict/drift.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;

bool is_number(double value) { return std::isfinite(value); }
bool is_number(std::int64_t) { return true; }

/// Whether the text holds a value of that type; others would be cut to something else.
bool holds(const Json& value, const double&) { return value.is_number(); }
bool holds(const Json& value, const std::int64_t&) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() &&
           std::cmp_greater(value.get<std::uint64_t>(), std::numeric_limits<std::int64_t>::max()));
}

template <class T>
void add(Json& object, Json& reasons, const std::string& name, const model::Fact<T>& fact) {
  if (fact && is_number(*fact)) {
    object[name] = *fact;
    return;
  }
  object[name] = nullptr;
  reasons[name] = fact ? "it is no finite number" : fact.reason;
}

template <class T>
void read(const Json& object, const std::string& name, model::Fact<T>& fact) {
  const auto found = object.find(name);
  if (found != object.end() && holds(*found, T{})) {
    fact = model::Fact<T>::known(found->template get<T>());
  }
}

}  // namespace

Json drift_object(const model::Drift& drift) {
  Json object;
  Json reasons = Json::object();
  object["seconds"] = std::isfinite(drift.seconds) ? drift.seconds : 0;
  add(object, reasons, "stolen_share", drift.stolen_share);
  add(object, reasons, "others_share", drift.others_share);
  add(object, reasons, "mhz_before", drift.mhz_before);
  add(object, reasons, "mhz_after", drift.mhz_after);
  add(object, reasons, "thermal_throttles", drift.thermal_throttles);
  add(object, reasons, "quota_throttles", drift.quota_throttles);
  add(object, reasons, "swapped_pages", drift.swapped_pages);
  object["reasons"] = std::move(reasons);
  object["moved"] = Json::array();
  for (const verdict::Movement& each : verdict::movements(drift)) {
    object["moved"].push_back(each.quantity);
  }
  return object;
}

model::Drift drift_from(const Json& object) {
  model::Drift drift;
  if (!object.is_object()) return drift;
  if (const auto found = object.find("seconds"); found != object.end() && found->is_number()) {
    drift.seconds = found->get<double>();
  }
  read(object, "stolen_share", drift.stolen_share);
  read(object, "others_share", drift.others_share);
  read(object, "mhz_before", drift.mhz_before);
  read(object, "mhz_after", drift.mhz_after);
  read(object, "thermal_throttles", drift.thermal_throttles);
  read(object, "quota_throttles", drift.quota_throttles);
  read(object, "swapped_pages", drift.swapped_pages);
  return drift;
}

}  // namespace taskbench::reports::json
