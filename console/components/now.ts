// The present of the page: a team's clock in a sandbox, the system clock elsewhere.
import { createContext, use, useSyncExternalStore } from 'react'

/** Times on a page are relative to a minute at most, so they are written again this often. */
const TICK_MS = 15_000

/** How far a team's clock is ahead of the system clock, in milliseconds. */
export const ClockOffsetContext = createContext(0)

/** The present by the team's clock, in milliseconds since 1970. The component renders again as time passes. */
export function useNow(): number {
  const offset_ms = use(ClockOffsetContext)
  return useSyncExternalStore(subscribe, readTick) + offset_ms
}

let tick_ms = Date.now()

function subscribe(onTick: () => void): () => void {
  const timer = setInterval(() => {
    tick_ms = Date.now()
    onTick()
  }, TICK_MS)
  return () => clearInterval(timer)
}

/** The instant of the last tick: the same for all components, until the next. */
function readTick(): number {
  if (Date.now() - tick_ms > TICK_MS) tick_ms = Date.now()
  return tick_ms
}
