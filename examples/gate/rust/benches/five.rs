use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use five::steps;

fn five(c: &mut Criterion) {
    c.bench_function("a", |b| b.iter(|| steps(3000)));
    c.bench_function("b", |b| b.iter(|| steps(1000)));
    c.bench_function("c", |b| b.iter(|| steps(5000)));
    let mut sizes = c.benchmark_group("sizes");
    for n in [100, 200] {
        sizes.bench_with_input(BenchmarkId::from_parameter(n), &n, |b, n| b.iter(|| steps(*n)));
    }
    sizes.finish();
}

criterion_group!(benches, five);
criterion_main!(benches);
