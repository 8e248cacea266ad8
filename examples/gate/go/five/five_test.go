package five

import "testing"

var sink int

func benchmark(b *testing.B, n int) {
	for i := 0; i < b.N; i++ {
		for j := 0; j < n; j++ {
			sink += j ^ (sink << 1)
		}
	}
}

func BenchmarkA(b *testing.B) { benchmark(b, 3000) }
func BenchmarkB(b *testing.B) { benchmark(b, 1000) }
func BenchmarkC(b *testing.B) { benchmark(b, 5000) }

func BenchmarkSizes(b *testing.B) {
	b.Run("n=100", func(b *testing.B) { benchmark(b, 100) })
	b.Run("n=200", func(b *testing.B) { benchmark(b, 200) })
}
