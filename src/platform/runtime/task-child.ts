// The program of a child process that runs tasks: it reads requests from its standard input and answers on descriptor 3, one at a time, until
// it is killed. Only src/platform/runtime/task-limits.ts knows how it is started.
import { Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { lowerPriority } from './low-priority.ts'
import { answerTask } from './run-task.ts'
import { frameReader, toFrame } from './task-frames.ts'
import type { ChildReply, Watched } from './task-limits.ts'
import type { TaskReply, TaskRequest } from './worker-pool.ts'

// Before it starts a thread: threads have the priority of the one that starts them.
lowerPriority('waited')

const REQUEST_BYTES_MAX = 2 ** 31
const [parent_pid, memory_max_mb] = process.argv.slice(2).map(Number) as [number, number]
const watched: Watched = { parent_pid, memory_max_mb }
const small = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 4 }
new Worker(new URL('./task-watch.ts', import.meta.url), { workerData: watched, resourceLimits: small }).unref()

const replies = new Socket({ fd: 3, readable: false, writable: true })
const read = frameReader(REQUEST_BYTES_MAX, (request) => void answerTask(request as TaskRequest, send))
// An orderly exit would wait for the other thread.
process.stdin.on('data', read).on('end', () => process.kill(process.pid, 'SIGKILL'))

function send(reply: TaskReply): void {
  const sent: ChildReply = { ...reply, ...readUsage() }
  for (const part of toFrame(sent)) replies.write(part)
}

const readUsage = () => {
  const { user, system } = process.cpuUsage()
  return { cpu_s: (user + system) / 1e6, rss_mb: process.memoryUsage.rss() / 2 ** 20 }
}
