// Gauges in /metrics whose values are read from the databases of the cells. A request reads them, at most every 5 s. They are omitted for a
// cell whose database does not respond.
import { Gauge, type Registry } from 'prom-client'
import type { Cells } from '../db/cells.ts'
import type { Db } from '../db/database.ts'
import { withTimeout } from '../runtime/with-timeout.ts'

const FRESH_MS = 5000
const WAIT_MS = 2000

export interface CellGauges<V> {
  registry: Registry
  cells: Cells
  /** Whether the control plane has such rows too. */
  isInControl?: boolean
  /** Reads the values of one cell, in one statement. */
  read: (db: Pick<Db, 'queries'>) => Promise<V>
  /** Names without the prefix `drawbridge_`. */
  gauges: { name: string; help: string; value: (values: V) => number }[]
  /** The maximum age of the reported values, for tests. */
  fresh_ms?: number | undefined
}

/** Adds gauges with the label `cell` to a registry. */
export function addCellGauges<V>({ registry, fresh_ms = FRESH_MS, gauges, ...source }: CellGauges<V>): void {
  let reading: Promise<Map<string, V>> | undefined
  let read_ms = -Infinity
  const values = () => {
    if (performance.now() - read_ms >= fresh_ms) reading = undefined
    if (!reading) {
      read_ms = performance.now()
      reading = readAll(source)
    }
    return reading
  }
  for (const { name, help, value } of gauges)
    new Gauge({
      name: `drawbridge_${name}`,
      help,
      labelNames: ['cell'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const [cell, found] of await values()) this.set({ cell }, value(found))
      },
    })
}

/** The values of the cells that respond in time. */
async function readAll<V>({ cells, isInControl, read }: Pick<CellGauges<V>, 'cells' | 'isInControl' | 'read'>) {
  const found = new Map<string | 'control', V>()
  const all = [...(isInControl ? (['control'] as const) : []), ...cells.names].map(async (name) => {
    const values = await read(name === 'control' ? cells.control : cells.db(name)).catch(() => undefined)
    if (values) found.set(name, values)
  })
  // Nothing but the deadline rejects here: a read that fails has no values.
  await withTimeout(WAIT_MS, Promise.all(all)).catch(() => {})
  return new Map<string, V>(found)
}
