// The program of a worker thread: it runs the tasks that its pool sends, one at a time.
import { parentPort } from 'node:worker_threads'
import { errorReply, runTask } from './run-task.ts'
import type { TaskRequest } from './worker-pool.ts'

parentPort!.on('message', async (request: TaskRequest) => {
  const reply = await runTask(request)
  try {
    parentPort!.postMessage(reply)
  } catch (error) {
    // The result of the task cannot be copied.
    parentPort!.postMessage(errorReply(error))
  }
})
