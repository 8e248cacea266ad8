#![feature(test)]
extern crate test;

use five::steps;
use test::Bencher;

#[bench]
fn a(b: &mut Bencher) {
    b.iter(|| steps(3000));
}

#[bench]
fn b(b: &mut Bencher) {
    b.iter(|| steps(1000));
}

#[bench]
fn c(b: &mut Bencher) {
    b.iter(|| steps(5000));
}

#[bench]
fn hundred(b: &mut Bencher) {
    b.iter(|| steps(100));
}

#[bench]
fn two_hundred(b: &mut Bencher) {
    b.iter(|| steps(200));
}
