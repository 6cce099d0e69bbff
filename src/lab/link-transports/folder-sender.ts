// Writes the messages of a link to a folder of the laboratory. Answers, if any, come as files.
import type { DueMessage } from '../link-messages/outbox.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import type { FileStore } from './file-store.ts'
import { withLineEnds, writeMessageFile } from './folder-writer.ts'
import { LinkLoop, type LinkLoopOptions } from './link-loop.ts'

export interface FolderSenderOptions extends Omit<LinkLoopOptions, 'round'> {
  /** Opens the place of the folder. */
  open: () => Promise<FileStore>
  folder: string
  line_end: LinkProfile['text']['line_end']
  outbox: {
    claim(max: number): Promise<DueMessage[]>
    release(messages: readonly DueMessage[]): Promise<void>
    /** The laboratory has the message; whether it accepts it, it says later. */
    markDelivered(message: DueMessage): Promise<void>
  }
}

const BATCH = 50
const POLL_MS = 30_000

export const createFolderSender = (options: FolderSenderOptions): LinkLoop =>
  new LinkLoop({
    ...options,
    round: async (isStopped) => {
      if (!(await sendDue(options, isStopped))) await options.pauses.untilWoken(POLL_MS)
    },
  })

/** @returns whether there may be more */
async function sendDue(
  { open, folder, line_end, outbox, onState, pauses }: FolderSenderOptions,
  isStopped: () => boolean,
): Promise<boolean> {
  const messages = await outbox.claim(BATCH)
  if (messages.length === 0) return false
  let sent = 0
  try {
    const store = await open()
    try {
      for (const message of messages) {
        if (isStopped()) break
        const { control_id, bytes } = message
        await writeMessageFile(store, folder, { control_id, bytes: withLineEnds(bytes, line_end) })
        sent++
        await outbox.markDelivered(message)
      }
    } finally {
      await store.close()
    }
  } finally {
    // Written once more under the same name, the one in progress makes no second file.
    if (sent < messages.length) await outbox.release(messages.slice(sent))
  }
  pauses.endFailures()
  onState(undefined)
  return messages.length === BATCH
}
