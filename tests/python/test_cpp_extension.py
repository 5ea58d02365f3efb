"""keyway.utils.cpp_extension: sources written for PyTorch, built and called. What is computed is compared with NumPy."""

import json

import numpy as np
import pytest

import keyway

cpp_extension = pytest.importorskip("keyway.utils.cpp_extension", reason="setuptools is not installed")
pytest.importorskip("pybind11")

SOURCE = """
#include <torch/script.h>

at::Tensor row_sums(const torch::Tensor& x, at::ScalarType dtype) {
  TORCH_CHECK(x.dim() == 2, "row_sums: x has ", x.dim(), " dimensions, of sizes ", x.sizes());
  auto out = torch::zeros({x.size(0)}, x.options().dtype(dtype));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "row_sums", [&] {
    const auto in = x.accessor<scalar_t, 2>();
    auto sums = out.accessor<double, 1>();
    at::parallel_for(0, x.size(0), 0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < x.size(1); ++j) sum += in[i][j];
        sums[i] = sum;
      }
    });
  });
  return out;
}

std::vector<torch::Tensor> split(const std::vector<torch::Tensor>& xs, c10::optional<double> by) {
  std::vector<torch::Tensor> out;
  for (const auto& x : xs) out.push_back(x / by.value_or(2.0));
  return out;
}

struct Cube : public torch::autograd::Function<Cube> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x, double scale) {
    ctx->save_for_backward({x});
    ctx->saved_data["scale"] = scale;
    return x * x * x * scale;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto x = ctx->get_saved_variables()[0];
    return {grads[0] * x * x * 3 * ctx->saved_data["scale"].toDouble(), torch::Tensor()};
  }
};
at::Tensor cube(const at::Tensor& x, double scale) { return Cube::apply(x, scale); }

static auto registry = torch::RegisterOperators()
    .op("cpp_extension_test::cube", &cube)
    .op("cpp_extension_test::names(Dict(str, Tensor) x) -> str[]", [](c10::Dict<std::string, at::Tensor> x) {
      std::vector<std::string> names;
      for (const auto& entry : x) names.push_back(entry.key());
      return names;
    });
"""


def build(folder):
    return cpp_extension.load_inline(
        "keyway_inline",
        SOURCE,
        functions=["row_sums", "split", "cube"],
        build_directory=str(folder),
        extra_cflags=["-O0", "-std=c++17"],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("extension")


@pytest.fixture(scope="module")
def module(folder):
    return build(folder)


def test_tensors_and_dtypes_go_in_and_out(module):
    x = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    sums = module.row_sums(keyway.from_numpy(x), keyway.float64)
    assert sums.dtype == keyway.float64
    np.testing.assert_allclose(sums.numpy(), x.astype(np.float64).sum(1), rtol=1e-6)
    first, second = module.split([keyway.ones(2), keyway.ones(1)], None)
    assert first.tolist() == [0.5, 0.5] and second.tolist() == [0.5]
    assert module.split([keyway.ones(1)], 4.0)[0].item() == 0.25


def test_errors_are_those_of_keyway(module):
    with pytest.raises(keyway.ValueError, match=r"row_sums: x has 1 dimensions, of sizes \[3\]"):
        module.row_sums(keyway.ones(3), keyway.float32)
    with pytest.raises(keyway.Error, match="'?row_sums'? is not implemented for int64"):
        module.row_sums(keyway.ones(2, 2, dtype=keyway.int64), keyway.float32)
    with pytest.raises(TypeError):
        module.row_sums(3, keyway.float32)


def test_a_function_that_reads_memory_refuses_tensors_inside_vmap(module):
    with pytest.raises(keyway.TypeError, match="a tensor inside vmap has no memory of its own"):
        keyway.vmap(lambda x: module.row_sums(x, keyway.float32))(keyway.ones(3, 2, 2))


def test_a_function_of_pytorchs_form_has_gradients(module):
    x = keyway.randn(4, dtype=keyway.float64, requires_grad=True)
    assert keyway.autograd.gradcheck(lambda x: module.cube(x, 0.5), [x])
    assert keyway.autograd.gradgradcheck(lambda x: module.cube(x, 0.5), [x])


def test_operators_that_it_registers_are_there(module):
    assert keyway.ops.cpp_extension_test.cube(keyway.tensor([2.0]), 0.5).item() == 4.0
    assert keyway.ops.cpp_extension_test.names({"b": keyway.ones(1), "a": keyway.ones(1)}) == ("b", "a")


def test_what_has_not_changed_is_not_built_again(folder, module):
    library, source = folder / "keyway_inline.so", folder / "keyway_inline.cpp"
    before = library.stat().st_mtime_ns

    def extension(*flags):
        return cpp_extension.CppExtension("keyway_inline", [str(source)], extra_compile_args={"cxx": flags, "nvcc": []})

    assert not cpp_extension._is_current(extension("-O0"), folder)  # other flags
    assert build(folder).cube is not None
    assert library.stat().st_mtime_ns == before
    flags, times = json.loads((folder / "build.json").read_text())
    assert str(source) in times and any(file.endswith("keyway/core/tensor/accessor.h") for file in times)


def test_what_does_not_compile_is_an_error(tmp_path, capsys):
    source = tmp_path / "broken.cpp"
    source.write_text("this is no C++")
    for verbose in (False, True):
        with pytest.raises(keyway.Error, match="the extension 'keyway_broken' was not built"):
            cpp_extension.load("keyway_broken", str(source), build_directory=str(tmp_path), verbose=verbose)
        assert (f"-c {source}" in capsys.readouterr().out) == verbose
    assert not list(tmp_path.glob("*.so"))


def test_paths():
    assert all((keyway.utils.cpp_extension.Path(path)).is_dir() for path in cpp_extension.include_paths())
    extension = cpp_extension.CppExtension("a.b", ["a.cpp"], define_macros=[("X", "1")], extra_compile_args=["-O3"])
    assert extension.language == "c++" and extension.define_macros == [("X", "1")]
    assert extension.flags == {"cxx": ["-O3"]}
