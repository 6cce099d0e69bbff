// The program of a worker thread: it runs the tasks that its pool sends, one at a time.
import { parentPort } from 'node:worker_threads'
import { answerTask } from './run-task.ts'
import type { TaskRequest } from './worker-pool.ts'

parentPort!.on('message', (request: TaskRequest) => void answerTask(request, (reply) => parentPort!.postMessage(reply)))
