#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/train/loss_curve.h>

#include <algorithm>
#include <cmath>

using namespace keyway;

namespace {

tools::LossCurve sample_curve() {
  tools::LossCurve curve;
  curve.ngram = 2;
  for (std::int64_t step = 1; step <= 100; ++step) {
    curve.training.push_back({step, 1 + 3 / static_cast<double>(step)});
    if (step % 25 == 0) curve.held_out.push_back({step, 1.5});
  }
  return curve;
}

}  // namespace

TEST_CASE("a text curve has the asked size, axes, both losses and the level to beat") {
  const std::string text = tools::draw_text(sample_curve(), 60, 10);
  CHECK(std::ranges::count(text, '\n') == 10 + 3);
  CHECK(text.find("  4.00 |") == 0);
  CHECK(text.find("  1.00 |") != std::string::npos);
  CHECK(text.find("100 steps") != std::string::npos);
  const std::size_t level = text.find("---");
  REQUIRE(level != std::string::npos);
  CHECK(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(level), '\n') == 6);  // 2 of [1, 4]
  CHECK(std::ranges::count(text, 'o') >= 4);
}

TEST_CASE("an SVG curve is well-formed and escapes its title") {
  const std::string svg = tools::draw_svg(sample_curve(), "a < b & c");
  CHECK(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\"") == 0);
  CHECK(svg.find("<title>a &lt; b &amp; c</title>") != std::string::npos);
  CHECK(svg.find("</svg>\n") == svg.size() - 7);
  CHECK(std::ranges::count(svg, '<') == std::ranges::count(svg, '>'));
  CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("losses that are not finite are left out") {
  tools::LossCurve curve = sample_curve();
  curve.training.push_back({101, NAN});
  curve.training.push_back({102, INFINITY});
  CHECK(tools::draw_text(curve, 60, 10).find("nan") == std::string::npos);
  CHECK(tools::draw_svg(curve, "").find("inf,") == std::string::npos);
}

TEST_CASE("thinning takes means of neighbours") {
  std::vector<tools::LossPoint> points;
  for (std::int64_t i = 0; i < 10; ++i) points.push_back({i, static_cast<double>(i)});
  const auto thin = tools::thinned(points, 5);
  REQUIRE(thin.size() == 5);
  CHECK(thin[0].loss == 0.5);
  CHECK(thin[4].loss == 8.5);
  CHECK(tools::thinned(points, 20).size() == 10);
}
