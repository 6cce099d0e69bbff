// Looks into the folder of a laboratory again and again.
import type { FileStore } from './file-store.ts'
import { FolderReader, type FolderLook, type FolderReaderOptions } from './folder-reader.ts'
import { LinkLoop, type LinkLoopOptions } from './link-loop.ts'

export interface FolderReceiverOptions extends Omit<LinkLoopOptions, 'round'> {
  open: () => Promise<FileStore>
  reader: FolderReaderOptions
  poll_ms: number
}

export function createFolderReceiver({ open, reader: readerOptions, poll_ms, ...options }: FolderReceiverOptions): LinkLoop {
  const { pauses, onState } = options
  const reader = new FolderReader(readerOptions)
  const look = async (isStopped: () => boolean): Promise<FolderLook> => {
    const store = await open()
    try {
      return await reader.look(store, isStopped)
    } finally {
      await store.close()
    }
  }
  return new LinkLoop({
    ...options,
    round: async (isStopped) => {
      const { failure } = await look(isStopped)
      pauses.endFailures()
      onState(failure?.message)
      await pauses.gap(poll_ms)
    },
  })
}
