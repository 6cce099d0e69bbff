// Hooks: what modules do within the transactions of a module below them, which does not know them. The lower one makes a hook point and
// notifies it; higher ones name it in their hooks; the process hands the hooks to its databases. They run in the order of the list.
import type { HookPoint, Tx } from './transaction.ts'

type Run<A extends unknown[]> = (tx: Tx, ...args: A) => void | Promise<void>

/** What is done at a hook point. */
export interface Hook {
  readonly point: HookPoint<never>
  readonly run: Run<never>
}

/** @param name of its module and of what happens, as `order.stepped` */
export const hookPoint = <A extends unknown[]>(name: string): HookPoint<A> => ({ name })

/**
 * Do something whenever a hook point is notified, within that transaction: an error undoes it all. What must reach the network is a job.
 * Return no promise where there is nothing to do.
 */
export const on = <A extends unknown[]>(point: HookPoint<A>, run: NoInfer<Run<A>>): Hook => ({
  point: point as HookPoint<never>,
  run: run as Run<never>,
})

export class Hooks {
  readonly #runs = new Map<object, Run<never>[]>()

  constructor(hooks: readonly Hook[] = []) {
    for (const { point, run } of hooks) this.#runs.set(point, [...(this.#runs.get(point) ?? []), run])
  }

  /** Run the hooks of a point, each when the one before has ended. */
  async notify<A extends unknown[]>(tx: Tx, point: HookPoint<A>, ...args: NoInfer<A>): Promise<void> {
    for (const run of (this.#runs.get(point) ?? []) as unknown as Run<A>[]) {
      const running = run(tx, ...args)
      if (running) await running
    }
  }
}
