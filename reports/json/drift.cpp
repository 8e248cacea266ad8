#include "reports/json/drift.hpp"

#include <cmath>

#include "reports/json/field.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::json {
namespace {

/// Each quantity with its name.
template <class Drift, class Visitor>
void for_each_fact(Drift& drift, const Visitor& visit) {
  visit("stolen_share", drift.stolen_share);
  visit("others_share", drift.others_share);
  visit("mhz_before", drift.mhz_before);
  visit("mhz_after", drift.mhz_after);
  visit("thermal_throttles", drift.thermal_throttles);
  visit("quota_throttles", drift.quota_throttles);
  visit("swapped_pages", drift.swapped_pages);
}

}  // namespace

Json drift_object(const model::Drift& drift) {
  Json object{{"seconds", std::isfinite(drift.seconds) ? drift.seconds : 0}};
  Json reasons = Json::object();
  for_each_fact(drift, [&](const char* name, const auto& fact) {
    if (fact && std::isfinite(static_cast<double>(*fact))) {
      object[name] = *fact;
      return;
    }
    object[name] = nullptr;
    reasons[name] = fact ? "it is not a finite number" : fact.reason;
  });
  object["reasons"] = std::move(reasons);
  object["moved"] = Json::array();
  for (const verdict::Movement& each : verdict::movements(drift)) {
    object["moved"].push_back(each.quantity);
  }
  return object;
}

model::Drift drift_from(const Json& object) {
  model::Drift drift;
  drift.seconds = found_in<double>(object, "seconds").value_or(0);
  for_each_fact(drift, [&]<class T>(const char* name, model::Fact<T>& fact) {
    if (const auto found = found_in<T>(object, name)) fact = model::Fact<T>::known(*found);
  });
  return drift;
}

}  // namespace taskbench::reports::json
