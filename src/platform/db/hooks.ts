// Hooks: what modules do within the transactions of a module below them, which does not know them. The lower one makes a hook point and
// notifies it; higher ones name it in their hooks; the process hands the hooks to its databases. They run in the order of the list.
import type { HookPoint, PlainTx, Tx } from './transaction.ts'

type Run<A extends unknown[], X extends PlainTx> = (tx: X, ...args: A) => void | Promise<void>

/** What is done at a hook point. */
export interface Hook {
  readonly point: HookPoint<never, never>
  readonly run: Run<never, never>
  /** The module above, listed later, whose hooks run before this one. */
  readonly after?: string
}

/** @param name of its module and of what happens, as `order.stepped`. `X` is the kind of transaction in which it happens. */
export const hookPoint = <A extends unknown[], X extends PlainTx = Tx>(name: string): HookPoint<A, X> => ({ name })

/**
 * Do something whenever a hook point is notified, within that transaction: an error undoes it all. What must reach the network is a job.
 * Return no promise where there is nothing to do.
 */
export const on = <A extends unknown[], X extends PlainTx>(
  point: HookPoint<A, X>,
  run: NoInfer<Run<A, X>>,
  { after }: { after?: string } = {},
): Hook => ({
  point: point as unknown as HookPoint<never, never>,
  run: run as unknown as Run<never, never>,
  ...(after !== undefined && { after }),
})

export class Hooks {
  readonly #runs = new Map<object, Run<never, never>[]>()

  constructor(hooks: readonly Hook[] = []) {
    for (const { point, run } of hooks) this.#runs.set(point, [...(this.#runs.get(point) ?? []), run])
  }

  /** Run the hooks of a point, each when the one before has ended. */
  async notify<A extends unknown[], X extends PlainTx>(
    tx: NoInfer<X>,
    point: HookPoint<A, X>,
    ...args: NoInfer<A>
  ): Promise<void> {
    for (const run of (this.#runs.get(point) ?? []) as unknown as Run<A, X>[]) {
      const running = run(tx, ...args)
      if (running) await running
    }
  }
}
