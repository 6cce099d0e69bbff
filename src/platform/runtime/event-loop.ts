// Turns of the event loop: callbacks caused by one batch of input.
let nextTick: Promise<void> | undefined

/**
 * Resolves at the end of the current turn. Responses that wait for it are sent one right after the other: the reader is woken once for all
 * of them, and waking it costs more than most responses do (docs/decisions/transactions.md).
 */
export const endOfTick = (): Promise<void> =>
  (nextTick ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTick = undefined
      resolve()
    })
  }))
