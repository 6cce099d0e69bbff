// What a FIT file has besides its records, which are too many to be held: its sessions, laps and lengths, and when its clock ran.
import { fitMessages, numberIn, TIMESTAMP, type FitMessage } from './fit-messages.ts'

/** Global numbers of the kinds of messages that are read. */
export const kind = {
  file_id: 0,
  sport: 12,
  session: 18,
  lap: 19,
  record: 20,
  event: 21,
  activity: 34,
  length: 101,
  monitoring_info: 103,
  heart_rate: 132,
  correlation: 162,
  stress: 227,
} as const
const held: ReadonlySet<number> = new Set(
  Object.values(kind).filter((number) => number !== kind.record && number !== kind.heart_rate),
)
const everything: ReadonlySet<number> = new Set(Object.values(kind))

/** 1989-12-31T00:00:00Z, from which FIT counts seconds. */
const EPOCH_S = 631_065_600
/** Earlier times are seconds since the device was switched on. */
const ABSOLUTE_MIN = 0x1000_0000
const QUARTER_S = 900
const ZONE_S_MAX = 15 * 3600

export interface FitContents {
  id: FitMessage | undefined
  sport: FitMessage | undefined
  sessions: FitMessage[]
  laps: FitMessage[]
  lengths: FitMessage[]
  stress: FitMessage[]
  times: FitTimes
  /** Instants of the records, in their order. */
  records_ms: number[]
  /** Pauses and their ends, as the timer reports them. */
  timer: { at_ms: number; isRunning: boolean }[]
  hasHeartRateMessages: boolean
}

/** The clock of a file: its times as instants, and the offset of the place. */
class FitTimes {
  /** Seconds that are added to times since power-on; undefined if the file does not say. */
  readonly #power_on_s: number | undefined
  /** Seconds east of UTC; null if the file does not say. */
  readonly zone_s: number | null

  constructor(power_on_s: number | undefined, zone_s: number | null) {
    this.#power_on_s = power_on_s
    this.zone_s = zone_s
  }

  /** The instant of a time in a file; undefined for none, and for one since a power-on whose time is not known. */
  instant(seconds: number | undefined): number | undefined {
    if (seconds === undefined) return undefined
    const absolute = seconds < ABSOLUTE_MIN ? this.#power_on_s && seconds + this.#power_on_s : seconds
    return absolute === undefined ? undefined : (absolute + EPOCH_S) * 1000
  }

  instantIn(message: FitMessage, field = TIMESTAMP): number | undefined {
    return this.instant(numberIn(message, field))
  }
}

/** Reads everything but the records and their heart rates. Errors: ReadError `damaged`. */
export function contentsOf(file: Buffer): FitContents {
  const lists = new Map<number, FitMessage[]>([...held].map((number) => [number, []]))
  const records: number[] = []
  let hasHeartRateMessages = false
  for (const message of fitMessages(file, everything)) {
    const time = numberIn(message, TIMESTAMP)
    if (message.number === kind.record) {
      if (time !== undefined) records.push(time)
    } else if (message.number === kind.heart_rate) hasHeartRateMessages = true
    else lists.get(message.number)!.push(message)
  }
  const of = (name: keyof typeof kind): FitMessage[] => lists.get(kind[name]) ?? []
  const times = readTimes(of, records)
  return {
    id: of('file_id')[0],
    sport: of('sport')[0],
    sessions: of('session'),
    laps: of('lap'),
    lengths: of('length'),
    stress: of('stress'),
    times,
    records_ms: records.flatMap((time) => times.instant(time) ?? []),
    timer: of('event').flatMap((event) => readTimer(event, times)),
    hasHeartRateMessages,
  }
}

/** The event of the timer and its types. */
const TIMER = 0
const STARTED = 0
const STOPPED = new Set([1, 4, 8, 9])

function readTimer(event: FitMessage, times: FitTimes): FitContents['timer'] {
  const [at_ms, type] = [times.instantIn(event), numberIn(event, 1)]
  if (at_ms === undefined || type === undefined || numberIn(event, 0) !== TIMER) return []
  if (type !== STARTED && !STOPPED.has(type)) return []
  return [{ at_ms, isRunning: type === STARTED }]
}

const isRelative = (seconds: number | undefined): seconds is number => seconds !== undefined && seconds < ABSOLUTE_MIN
const isAbsolute = (seconds: number | undefined): seconds is number => seconds !== undefined && seconds >= ABSOLUTE_MIN

/**
 * When the device was switched on, and the zone that it showed. A correlation says the first exactly. Else the file was created with its
 * first message, and the local time at its end agrees with that but for the zone, in quarters of an hour. A local time alone does not say
 * which zone it is of, and so no instant.
 */
function readTimes(messagesOf: (name: keyof typeof kind) => FitMessage[], records: number[]): FitTimes {
  const [end] = messagesOf('activity')
  const [monitoring] = messagesOf('monitoring_info')
  const said = end
    ? [numberIn(end, TIMESTAMP), numberIn(end, 5)]
    : monitoring
      ? [numberIn(monitoring, TIMESTAMP), numberIn(monitoring, 0)]
      : []
  const [at, local] = said
  const power_on_s = findPowerOn(messagesOf, records)
  const absolute = isRelative(at) ? power_on_s && at + power_on_s : at
  if (absolute === undefined || !isAbsolute(local)) return new FitTimes(power_on_s, null)
  const zone_s = Math.round((local - absolute) / QUARTER_S) * QUARTER_S
  if (Math.abs(zone_s) > ZONE_S_MAX) return new FitTimes(power_on_s, null)
  return new FitTimes(isRelative(at) && !messagesOf('correlation').some(isCorrelation) ? local - zone_s - at : power_on_s, zone_s)
}

const isCorrelation = (message: FitMessage): boolean =>
  isAbsolute(numberIn(message, TIMESTAMP)) && isRelative(numberIn(message, 1))

function findPowerOn(messagesOf: (name: keyof typeof kind) => FitMessage[], records: number[]): number | undefined {
  const correlation = messagesOf('correlation').find(isCorrelation)
  if (correlation) return numberIn(correlation, TIMESTAMP)! - numberIn(correlation, 1)!
  const created = messagesOf('file_id').map((id) => numberIn(id, 4))[0]
  if (!isAbsolute(created)) return undefined
  const starts = (['session', 'lap', 'length'] as const).flatMap((name) =>
    messagesOf(name).map((message) => numberIn(message, 2)),
  )
  const events = messagesOf('event').map((event) => numberIn(event, TIMESTAMP))
  let first = Infinity
  for (const time of [...starts, ...events]) if (isRelative(time) && time < first) first = time
  for (const time of records) if (isRelative(time) && time < first) first = time
  return first === Infinity ? undefined : created - first
}
