// Turns of the event loop: what was made possible by one batch of input.
let nextTick: Promise<void> | undefined

/**
 * The end of the present turn. Answers that wait for it leave one right behind the other: the reader is woken once for all of them,
 * and waking it costs more than most answers do (docs/decisions/transactions.md).
 */
export const endOfTick = (): Promise<void> =>
  (nextTick ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTick = undefined
      resolve()
    })
  }))
