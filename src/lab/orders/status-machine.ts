// A lifecycle: a table of statuses and the next statuses of each.

export const topLevelStatuses = ['received', 'collecting_sample', 'sample_with_lab', 'completed', 'cancelled', 'failed'] as const
export type TopLevelStatus = (typeof topLevelStatuses)[number]

export interface Lifecycle<K extends string = string> {
  /** The collection method: the middle part of a published status. */
  method: string
  start: K
  /** Status → its top-level status and the next statuses. The first row is the initial status; a row without next statuses is final. */
  steps: Record<K, readonly [TopLevelStatus, ...K[]]>
}

/** Declares a lifecycle. The compiler rejects a next status that has no row. */
export const defineLifecycle = <K extends string>(
  method: string,
  steps: Record<K, readonly [TopLevelStatus, ...NoInfer<K>[]]>,
): Lifecycle<K> => ({
  method,
  start: Object.keys(steps)[0] as K,
  steps,
})

export const nextStatuses = (cycle: Lifecycle, status: string): readonly string[] => cycle.steps[status]?.slice(1) ?? []

export const isFinal = (cycle: Lifecycle, status: string): boolean => nextStatuses(cycle, status).length === 0

/** The published spelling of statuses whose spelling differs from the low-level one. */
const published: Record<string, string> = { registered: 'testkit_registered' }
const shortName: Record<string, string> = { testkit_registered: 'registered' }

/** `<top>.<method>.<low>`, as an event shows it. Source: lab-testing.md 9.1. */
export const publishedStatus = (cycle: Lifecycle, lowLevelStatus: string): string =>
  `${cycle.steps[lowLevelStatus]![0]}.${cycle.method}.${published[lowLevelStatus] ?? lowLevelStatus}`

/** The low-level status for either spelling. */
export const toLowLevelStatus = (word: string): string => shortName[word] ?? word

/** The shortest path between two statuses, without the first and with the last; undefined if there is none. */
export function shortestPath(cycle: Lifecycle, startStatus: string, targetStatus: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [startStatus]
  for (const status of queue)
    for (const next of nextStatuses(cycle, status)) {
      if (cameFrom.has(next)) continue
      cameFrom.set(next, status)
      if (next === targetStatus) return tracePath(cameFrom, startStatus, targetStatus)
      queue.push(next)
    }
  return undefined
}

function tracePath(cameFrom: Map<string, string>, startStatus: string, targetStatus: string): string[] {
  const path = [targetStatus]
  for (let at = cameFrom.get(targetStatus)!; at !== startStatus; at = cameFrom.get(at)!) path.unshift(at)
  return path
}
