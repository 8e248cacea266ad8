#include "runtime/scheduler/work_stealing/pool.hpp"

#include "runtime/scheduler/root.hpp"
#include "runtime/task/context.hpp"

namespace taskbench::rt::work_stealing {

base::Ref<Pool> Pool::make(RuntimeOptions options) {
  base::Ref<Pool> pool(new Pool(std::move(options)));
  pool->threads_.start(*pool, *pool, pool->options());
  return pool;
}

base::Ref<scheduler::Engine> make(RuntimeOptions options) { return Pool::make(std::move(options)); }

void Pool::run_worker(std::uint32_t index) noexcept {
  Worker& own = worker(index);
  const task::EnterContext enter(this, &own);
  own.run();
}

void Pool::run_root(task::Header* root) noexcept { scheduler::Root(*this).run(root); }

bool Pool::join(Clock::time_point deadline) noexcept {
  return local_worker() == nullptr && threads_.join(deadline);
}

}  // namespace taskbench::rt::work_stealing
