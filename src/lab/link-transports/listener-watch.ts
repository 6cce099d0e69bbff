// Watches whether the laboratory of a link can connect to its port, at any of the processes that listen.
import type { Db } from '../../platform/db/database.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { LinkLoop, type LinkLoopOptions } from './link-loop.ts'
import { listListeners } from './listener-states.ts'
import { Pauses } from './pauses.ts'

export interface WatchTimes {
  poll_ms: number
  /** How long a port is missing before that is a failure: processes start one after the other. */
  missing_ms: number
}

export interface ListenerWatchOptions extends Omit<LinkLoopOptions, 'round' | 'pauses'> {
  db: Db
  listener: LinkProfile['transport']['listener']
  times?: WatchTimes
}

const TIMES: WatchTimes = { poll_ms: 15_000, missing_ms: 60_000 }

export function createListenerWatch({ db, listener, times = TIMES, ...options }: ListenerWatchOptions): LinkLoop {
  const { onState, onError } = options
  const { port, tls } = listener
  const pauses = new Pauses()
  let seen_ms = performance.now()
  const look = async () => {
    const all = await listListeners(db.queries, port)
    const usable = all.filter(({ is_tls }) => is_tls || !tls)
    if (usable.length > 0) {
      seen_ms = performance.now()
      return onState(usable.some(({ reason }) => reason === null) ? undefined : (usable[0]!.reason ?? undefined))
    }
    if (performance.now() - seen_ms < times.missing_ms) return
    onState(all.length > 0 ? `LAB_LISTEN has port ${port} without TLS` : `No server listens on port ${port}: LAB_LISTEN`)
  }
  const round = async () => {
    await look().catch(onError)
    await pauses.gap(times.poll_ms)
  }
  return new LinkLoop({ ...options, pauses, round })
}
