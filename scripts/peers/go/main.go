// The servers, timers, spawns, joins and the channel of the workloads, in Go. See scripts/compare-peers.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(index int) int {
	value, err := strconv.Atoi(os.Args[index])
	check(err)
	return value
}

func listen() net.Listener {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	return listener
}

func serveHTTP() {
	greeting := []byte("Hello, world!")
	check(http.Serve(listen(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(greeting)
	})))
}

func serveEcho() {
	listener := listen()
	for {
		connection, err := listener.Accept()
		check(err)
		go func() {
			defer connection.Close()
			buffer := make([]byte, 4096)
			for {
				size, err := connection.Read(buffer)
				if err != nil {
					return
				}
				if _, err = connection.Write(buffer[:size]); err != nil {
					return
				}
			}
		}()
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Calls iterate again and again for the given time, and prints what an iteration takes.
func measure(seconds int, iterate func(), figures map[string]float64) {
	iterate()
	count, cpu, begin := 0, cpuTime(), time.Now()
	for time.Since(begin) < time.Duration(seconds)*time.Second {
		iterate()
		count++
	}
	figures["real_ns"] = float64(time.Since(begin).Nanoseconds()) / float64(count)
	figures["cpu_ns"] = float64((cpuTime() - cpu).Nanoseconds()) / float64(count)
}

func timer(seconds, tasks, longest int) {
	figures, late := map[string]float64{}, []time.Duration{}
	each := make([]time.Duration, tasks)
	measure(seconds, func() {
		var all sync.WaitGroup
		all.Add(tasks)
		random := rand.New(rand.NewSource(1))
		for i := range each {
			i, sleep := i, time.Duration(1+random.Intn(longest))*time.Millisecond
			go func() {
				begin := time.Now()
				time.Sleep(sleep)
				each[i] = time.Since(begin) - sleep
				all.Done()
			}()
		}
		all.Wait()
		late = append(late, each...)
	}, figures)
	sort.Slice(late, func(i, j int) bool { return late[i] < late[j] })
	figures["late_p50_ns"] = float64(late[len(late)/2])
	figures["late_p99_ns"] = float64(late[len(late)*99/100])
	check(json.NewEncoder(os.Stdout).Encode(figures))
}

func timeouts(seconds, tasks, timers int) {
	figures := map[string]float64{}
	measure(seconds, func() {
		var all sync.WaitGroup
		all.Add(tasks)
		for i := 0; i < tasks; i++ {
			go func() {
				for i := 0; i < timers; i++ {
					timer := time.NewTimer(30*time.Second + time.Duration(i%30000)*time.Millisecond)
					runtime.Gosched()
					timer.Stop()
				}
				all.Done()
			}()
		}
		all.Wait()
	}, figures)
	check(json.NewEncoder(os.Stdout).Encode(figures))
}

func channel(seconds, numbers, senders, receivers, capacity int) {
	figures := map[string]float64{}
	measure(seconds, func() {
		var sending, receiving sync.WaitGroup
		messages, sums := make(chan int, capacity), make(chan int, receivers)
		for i := 0; i < receivers; i++ {
			receiving.Add(1)
			go func() {
				sum := 0
				for number := range messages {
					sum += number
				}
				sums <- sum
				receiving.Done()
			}()
		}
		for i := 0; i < senders; i++ {
			begin, end := numbers*i/senders, numbers*(i+1)/senders
			sending.Add(1)
			go func() {
				for number := begin; number < end; number++ {
					messages <- number
				}
				sending.Done()
			}()
		}
		sending.Wait()
		close(messages)
		receiving.Wait()
		sum := 0
		for i := 0; i < receivers; i++ {
			sum += <-sums
		}
		if sum != numbers*(numbers-1)/2 {
			check(fmt.Errorf("a wrong sum: %d", sum))
		}
	}, figures)
	check(json.NewEncoder(os.Stdout).Encode(figures))
}

// Starts a goroutine that starts the next, so many in all.
func chain(left int, done chan struct{}) {
	if left == 0 {
		done <- struct{}{}
		return
	}
	go chain(left-1, done)
}

func ping(all *sync.WaitGroup) {
	question, answer := make(chan struct{}, 1), make(chan struct{}, 1)
	go func() {
		<-question
		answer <- struct{}{}
	}()
	question <- struct{}{}
	<-answer
	all.Done()
}

func spawning(what string, seconds, tasks, yields int) {
	figures := map[string]float64{}
	measure(seconds, func() {
		if what == "chained_spawn" {
			done := make(chan struct{}, 1)
			chain(tasks, done)
			<-done
			return
		}
		var all sync.WaitGroup
		all.Add(tasks)
		switch what {
		case "ping_pong":
			go func() {
				for i := 0; i < tasks; i++ {
					go ping(&all)
				}
			}()
		case "spawn_many":
			for i := 0; i < tasks; i++ {
				go all.Done()
			}
		case "spawn_local":
			go func() {
				for i := 0; i < tasks; i++ {
					go all.Done()
				}
			}()
		case "yield_many":
			for i := 0; i < tasks; i++ {
				go func() {
					for i := 0; i < yields; i++ {
						runtime.Gosched()
					}
					all.Done()
				}()
			}
		}
		all.Wait()
	}, figures)
	check(json.NewEncoder(os.Stdout).Encode(figures))
}

// As workloads/fib.cpp, with a goroutine and a channel where that has a fork.
func fib(n int) int {
	if n < 2 {
		return n
	}
	one := make(chan int, 1)
	go func() { one <- fib(n - 1) }()
	two := fib(n - 2)
	return <-one + two
}

// As workloads/skynet.cpp, likewise.
func skynet(first, count int) int {
	const forks = 10
	if count < 2 {
		return count * first
	}
	sums, begin := make(chan int, forks-1), 0
	for i := 1; i < forks; i++ {
		end := count * i / forks
		from, size := first+begin, end-begin
		go func() { sums <- skynet(from, size) }()
		begin = end
	}
	sum := skynet(first+begin, count-begin)
	for i := 1; i < forks; i++ {
		sum += <-sums
	}
	return sum
}

func joins(what string, seconds, size int) {
	figures, expected := map[string]float64{}, size*(size-1)/2
	if what == "spawned_fib" {
		expected = 0
		for i, next := 0, 1; i < size; i++ {
			expected, next = next, expected+next
		}
	}
	measure(seconds, func() {
		result := 0
		if what == "spawned_fib" {
			result = fib(size)
		} else {
			result = skynet(0, size)
		}
		if result != expected {
			check(fmt.Errorf("%d instead of %d", result, expected))
		}
	}, figures)
	check(json.NewEncoder(os.Stdout).Encode(figures))
}

// main.go WHAT THREADS [SECONDS A B...]
func main() {
	runtime.GOMAXPROCS(number(2))
	go func() { // ends with the standard input
		if os.Args[1] == "http" || os.Args[1] == "echo" {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}
	}()
	switch os.Args[1] {
	case "http":
		serveHTTP()
	case "echo":
		serveEcho()
	case "spawned_fib", "spawned_skynet":
		joins(os.Args[1], number(3), number(4))
	case "timer":
		timer(number(3), number(4), number(5))
	case "timeouts":
		timeouts(number(3), number(4), number(5))
	case "channel":
		channel(number(3), number(4), number(5), number(6), number(7))
	default:
		yields := 0
		if len(os.Args) > 5 {
			yields = number(5)
		}
		spawning(os.Args[1], number(3), number(4), yields)
	}
}
