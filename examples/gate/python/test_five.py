import pytest

from five import steps


def test_a(benchmark):
    benchmark(steps, 3000)


def test_b(benchmark):
    benchmark(steps, 1000)


def test_c(benchmark):
    benchmark(steps, 5000)


@pytest.mark.parametrize("n", [100, 200])
def test_sizes(benchmark, n):
    benchmark(steps, n)
