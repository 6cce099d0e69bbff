// Runs a task in a worker: the export of a module that a request names.
import type { TaskReply, TaskRequest } from './worker-pool.ts'

/** Runs a task and sends its reply, or why that cannot be copied. */
export async function answerTask(request: TaskRequest, send: (reply: TaskReply) => void): Promise<void> {
  const reply = await runTask(request)
  try {
    send(reply)
  } catch (error) {
    send(errorReply(error))
  }
}

async function runTask({ task, name, input }: TaskRequest): Promise<TaskReply> {
  try {
    const module = (await import(task)) as Record<string, unknown>
    const call = module[name]
    if (typeof call !== 'function') throw new Error(`No handler function exported as ${name}`)
    return { value: await (call as (input: unknown) => unknown)(input) }
  } catch (error) {
    return errorReply(error)
  }
}

function errorReply(error: unknown): TaskReply {
  const { name = 'Error', message = '' } = error as Partial<Error>
  return { error: { name, message } }
}
