// The second thread of a child process: ends it when the process that started it is gone, also in the middle of a loop of the first one, and
// when it holds too much memory, which is how systems notice that have no limit of their kernel for it.
import { workerData } from 'node:worker_threads'
import { MEMORY_SIGNAL, type Watched } from './task-limits.ts'

const CHECK_MS = 100

const { parent_pid, memory_max_mb } = workerData as Watched

setInterval(() => {
  if (process.ppid !== parent_pid) process.kill(process.pid, 'SIGKILL')
  if (process.memoryUsage.rss() > memory_max_mb * 2 ** 20) process.kill(process.pid, MEMORY_SIGNAL)
}, CHECK_MS)
