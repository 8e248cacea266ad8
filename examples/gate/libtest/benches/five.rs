use bencher::{benchmark_group, benchmark_main, Bencher};
use five::steps;

fn a(b: &mut Bencher) {
    b.iter(|| steps(3000));
}

fn b(b: &mut Bencher) {
    b.iter(|| steps(1000));
}

fn c(b: &mut Bencher) {
    b.iter(|| steps(5000));
}

fn hundred(b: &mut Bencher) {
    b.iter(|| steps(100));
}

fn two_hundred(b: &mut Bencher) {
    b.iter(|| steps(200));
}

benchmark_group!(benches, a, b, c, hundred, two_hundred);
benchmark_main!(benches);
