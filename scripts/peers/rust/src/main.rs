//! The servers, timers, spawns and joins of the workloads, on Tokio, and hyper. See
//! scripts/compare-peers.
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Response};
use std::convert::Infallible;
use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

fn listen() -> tokio::net::TcpListener {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(4096).unwrap(); // as many wait as with the others
    println!("{}", listener.local_addr().unwrap().port());
    listener
}

async fn http() {
    let service = make_service_fn(|_| async {
        Ok::<_, Infallible>(service_fn(|_| async {
            let mut response = Response::new(Body::from("Hello, world!"));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            Ok::<_, Infallible>(response)
        }))
    });
    let server = hyper::Server::from_tcp(listen().into_std().unwrap()).unwrap().tcp_nodelay(true);
    server.serve(service).await.unwrap();
}

async fn echo() {
    let listener = listen();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            loop {
                match stream.read(&mut buffer).await {
                    Ok(size) if size > 0 => {
                        if stream.write_all(&buffer[..size]).await.is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        });
    }
}

#[repr(C)]
struct Time {
    s: i64,
    us: i64,
}
#[repr(C)]
struct Usage {
    user: Time,
    system: Time,
    others: [i64; 14],
}
extern "C" {
    fn getrusage(who: i32, usage: *mut Usage) -> i32;
}

fn cpu_ns() -> f64 {
    let zero = || Time { s: 0, us: 0 };
    let mut usage = Usage { user: zero(), system: zero(), others: [0; 14] };
    unsafe { getrusage(0, &mut usage) };
    let of = |time: Time| time.s as f64 * 1e9 + time.us as f64 * 1e3;
    of(usage.user) + of(usage.system)
}

/// Calls `iterate` again and again for the given time; what an iteration takes, as JSON.
async fn measure<F: Future<Output = ()>>(seconds: u64, mut iterate: impl FnMut() -> F) -> String {
    iterate().await;
    let (mut count, cpu, begin) = (0.0, cpu_ns(), Instant::now());
    while begin.elapsed() < Duration::from_secs(seconds) {
        iterate().await;
        count += 1.0;
    }
    let real_ns = begin.elapsed().as_nanos() as f64 / count;
    format!("\"real_ns\":{real_ns},\"cpu_ns\":{}", (cpu_ns() - cpu) / count)
}

async fn timer(seconds: u64, tasks: u64, longest: u64) {
    let late = std::sync::Mutex::new(Vec::new());
    let figures = measure(seconds, || async {
        let mut random = 1u64;
        let mut handles = Vec::new();
        for _ in 0..tasks {
            random = random * 48271 % 0x7fff_ffff;
            let sleep = Duration::from_millis(1 + random % longest);
            handles.push(tokio::spawn(async move {
                let begin = Instant::now();
                tokio::time::sleep(sleep).await;
                begin.elapsed() - sleep
            }));
        }
        for handle in handles {
            let each = handle.await.unwrap();
            late.lock().unwrap().push(each);
        }
    })
    .await;
    let mut late = late.into_inner().unwrap();
    late.sort_unstable();
    let (p50, p99) = (late[late.len() / 2].as_nanos(), late[late.len() * 99 / 100].as_nanos());
    println!("{{{figures},\"late_p50_ns\":{p50},\"late_p99_ns\":{p99}}}");
}

async fn timeouts(seconds: u64, tasks: u64, timers: u64) {
    let figures = measure(seconds, || async {
        let mut handles = Vec::new();
        for _ in 0..tasks {
            handles.push(tokio::spawn(async move {
                for i in 0..timers {
                    let limit = Duration::from_secs(30) + Duration::from_millis(i % 30_000);
                    tokio::time::timeout(limit, tokio::task::yield_now()).await.unwrap();
                }
            }));
        }
        for handle in handles {
            handle.await.unwrap();
        }
    })
    .await;
    println!("{{{figures}}}");
}

/// Tells when so many have called count().
struct Countdown {
    left: AtomicU64,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

impl Countdown {
    /// One for the whole program, so that no task counts who refers to it.
    fn new() -> &'static Countdown {
        Box::leak(Box::new(Countdown { left: AtomicU64::new(0), done: Mutex::new(None) }))
    }
    fn begin(&self, count: u64) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        *self.done.lock().unwrap() = Some(sender);
        self.left.store(count, Ordering::Relaxed);
        receiver
    }
    fn count(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.lock().unwrap().take().unwrap().send(()).unwrap();
        }
    }
}

/// Spawns a task that spawns the next, `left` in all.
fn chain(left: u64, all: &'static Countdown) {
    tokio::spawn(async move {
        if left == 1 {
            all.count();
        } else {
            chain(left - 1, all);
        }
    });
}

async fn ping(all: &'static Countdown) {
    let (question, asked) = oneshot::channel::<()>();
    let (answer, answered) = oneshot::channel::<()>();
    tokio::spawn(async move {
        asked.await.unwrap();
        answer.send(()).unwrap();
    });
    question.send(()).unwrap();
    answered.await.unwrap();
    all.count();
}

/// One of the workloads that spawn, from a thread that is no worker.
async fn spawning(what: &str, seconds: u64, tasks: u64, yields: u64) {
    let all = Countdown::new();
    let figures = measure(seconds, || async {
        let done = all.begin(if what == "chained_spawn" { 1 } else { tasks });
        match what {
            "chained_spawn" => chain(tasks, all),
            "ping_pong" => {
                tokio::spawn(async move {
                    for _ in 0..tasks {
                        tokio::spawn(ping(all));
                    }
                });
            }
            "spawn_many" => {
                for _ in 0..tasks {
                    tokio::spawn(async move { all.count() });
                }
            }
            "spawn_local" => {
                tokio::spawn(async move {
                    for _ in 0..tasks {
                        tokio::spawn(async move { all.count() });
                    }
                });
            }
            _ => {
                for _ in 0..tasks {
                    tokio::spawn(async move {
                        for _ in 0..yields {
                            tokio::task::yield_now().await;
                        }
                        all.count();
                    });
                }
            }
        }
        done.await.unwrap();
    })
    .await;
    println!("{{{figures}}}");
}

/// A task whose future contains others of its kind.
type Recursive = Pin<Box<dyn Future<Output = u64> + Send>>;

/// As workloads/fib.cpp, with a task and its join handle where that has a fork.
fn fib(n: u64) -> Recursive {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let one = tokio::spawn(fib(n - 1));
        let two = fib(n - 2).await;
        one.await.unwrap() + two
    })
}

/// As workloads/skynet.cpp, likewise.
fn skynet(first: u64, count: u64) -> Recursive {
    const FORKS: u64 = 10;
    Box::pin(async move {
        if count < 2 {
            return count * first;
        }
        let (mut tasks, mut begin) = (Vec::with_capacity(FORKS as usize - 1), 0);
        for i in 1..FORKS {
            let end = count * i / FORKS;
            tasks.push(tokio::spawn(skynet(first + begin, end - begin)));
            begin = end;
        }
        let mut sum = skynet(first + begin, count - begin).await;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    })
}

/// From a task, so that the first one runs on a worker, as all others.
async fn joins(is_fib: bool, seconds: u64, size: u64) {
    let expected = if is_fib {
        (0..size).fold((0, 1), |(this, next), _| (next, this + next)).0
    } else {
        size * (size - 1) / 2
    };
    let figures = measure(seconds, || async {
        let result = if is_fib { fib(size).await } else { skynet(0, size).await };
        assert_eq!(result, expected);
    })
    .await;
    println!("{{{figures}}}");
}

/// main.rs WHAT THREADS [SECONDS A [B]]
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |index: usize| words[index].parse::<u64>().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(number(2) as usize)
        .enable_all()
        .build()
        .unwrap();
    // As `runtime.spawn` does for whatever a program has to do: block_on's thread is no worker.
    let until_end = || {
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        std::process::exit(0);
    };
    match words[1].as_str() {
        "http" => {
            runtime.spawn(http());
            until_end();
        }
        "echo" => {
            runtime.spawn(echo());
            until_end();
        }
        "timer" => {
            let (seconds, tasks, longest) = (number(3), number(4), number(5));
            runtime.block_on(async { tokio::spawn(timer(seconds, tasks, longest)).await.unwrap() });
        }
        "timeouts" => {
            let (seconds, tasks, timers) = (number(3), number(4), number(5));
            runtime.block_on(async { tokio::spawn(timeouts(seconds, tasks, timers)).await.unwrap() });
        }
        "spawned_fib" | "spawned_skynet" => {
            let (is_fib, seconds, size) = (words[1] == "spawned_fib", number(3), number(4));
            runtime.block_on(async { tokio::spawn(joins(is_fib, seconds, size)).await.unwrap() });
        }
        what => {
            let yields = if words.len() > 5 { number(5) } else { 0 };
            runtime.block_on(spawning(what, number(3), number(4), yields));
        }
    }
}
