// `bin/drawbridge clock`: the clock of a sandbox team, read and advanced.
import { UsageError, type ClientContext, type Typed } from '../command-tree.ts'
import { assertOk, createApiClient, request, type ApiClient, type RemoteValues } from './api-client.ts'

interface Clock {
  now: string
  offset_s: number
}

type Values = RemoteValues & { json?: boolean }

/** `clock show`. @throws Error for a key of production */
export async function printClock({ values }: Typed<Values>, { env, printNow }: ClientContext): Promise<void> {
  print(await readClock(createApiClient(values, env)), values, printNow)
}

/**
 * `clock advance`: what becomes due runs in order, each at its time, before this returns. @throws UsageError for what is not a time; Error for a
 * key of production
 */
export async function advance({ args, values }: Typed<Values>, { env, printNow }: ClientContext): Promise<void> {
  const seconds = secondsOf(args.join(' '))
  const remote = createApiClient(values, env)
  const to = new Date(Date.parse((await readClock(remote)).now) + seconds * 1000)
  let jobs_run = 0
  // The server runs a limited number of jobs in a call. A further call goes on to the same time.
  for (let body: object = { seconds }; ; body = { to: to.toISOString() }) {
    const response = await request(remote, 'POST', '/v1/sandbox/clock/advance', { body })
    const answer = assertOk<Clock & { jobs_run: number; complete: boolean }>(response, 'the clock')
    jobs_run += answer.jobs_run
    if (answer.complete || new Date(answer.now) >= to)
      return print({ now: answer.now, offset_s: answer.offset_s, jobs_run }, values, printNow)
  }
}

async function readClock(remote: ApiClient): Promise<Clock> {
  const answer = await request(remote, 'GET', '/v1/sandbox/clock')
  if (answer.status === 404) throw new Error('The key belongs to a production cell, whose clock cannot be moved.')
  return assertOk<Clock>(answer, 'the clock')
}

function print(clock: Clock & { jobs_run?: number }, { json }: Values, printNow: (text: string) => void): void {
  if (json) return printNow(`${JSON.stringify(clock, null, 2)}\n`)
  const ran = clock.jobs_run === undefined ? '' : `; ${clock.jobs_run} jobs ran`
  printNow(`${clock.now}  ${clock.offset_s} seconds ahead${ran}\n`)
}

const UNIT_S: Record<string, number> = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 }
const SECONDS_MAX = 315_360_000

/** `90`, `2 days` or `1 hour 30 minutes` in seconds. @throws UsageError */
function secondsOf(text: string): number {
  const parts = [...text.trim().matchAll(/(\d{1,9}) *(second|minute|hour|day|week)s?(?: +|$)/gy)]
  const seconds = /^\d{1,9}$/.test(text.trim())
    ? Number(text)
    : parts.map(([part]) => part).join('') === text.trim()
      ? parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_S[unit!]!, 0)
      : Number.NaN
  if (!(seconds >= 1 && seconds <= SECONDS_MAX))
    throw new UsageError('The time must be a number of seconds, or words such as 2 days or 1 hour 30 minutes, at most ten years.')
  return seconds
}
