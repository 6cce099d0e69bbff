// Documents that are drawn when they are asked for: read, then draw, so that no connection is held while a thread draws.
import type { Tx } from '../db/transaction.ts'
import { unavailable } from '../runtime/problem.ts'
import { WorkerPoolBusy, type WorkerPool } from '../runtime/worker-threads.ts'
import { FileReply, type MultiTransactionContext } from '../http/operation.ts'

/** What is to be drawn: the name of the file, and what the task takes. */
export interface RenderJob<I = unknown> {
  name: string
  input: I
}

/** `<id>.pdf`, with nothing in it that a header or a file system would mind. */
export const pdfFileName = (id: string): string => `${id.replace(/[^\w.-]/g, '_').slice(0, 100)}.pdf`

/** Draw what `read` finds with a task, by the default export of its module or the one named. 503: too many documents are being drawn. */
export async function renderPdf(
  pool: WorkerPool,
  { tenant, cells }: MultiTransactionContext,
  task: { url: URL; name?: string },
  read: (tx: Tx) => Promise<RenderJob>,
): Promise<FileReply> {
  const { name, input } = await cells.of(tenant.cell).read(tenant, read)
  try {
    const bytes = await pool.run<Uint8Array>(task.url, input, task.name === undefined ? {} : { name: task.name })
    return new FileReply('application/pdf', name, bytes)
  } catch (error) {
    throw error instanceof WorkerPoolBusy ? unavailable('Too many documents are being rendered; try again', 2) : error
  }
}
