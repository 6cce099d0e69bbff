// Instants and sources in an Apple Health export.
import type { SourceType } from '../../../wearables/resources/timeseries.ts'
import type { IncomingDevice } from '../../../wearables/devices/devices.ts'
import { toDevice } from '../../mobile-sdk/phone-samples.ts'
import { storable } from '../reading.ts'

export interface AppleTime {
  at_ms: number
  /** Seconds east of UTC. */
  zone_s: number
}

/** The number of digits in a text, or NaN. */
function digits(text: string, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return NaN
    value = value * 10 + digit
  }
  return value
}

/** `2026-01-31 08:30:00 -0700`; undefined for anything else. Read by position, since an export has ten million of them. */
export function appleTime(text: string | undefined): AppleTime | undefined {
  if (text?.length !== 25) return undefined
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)]
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)]
  const zone_s = (digits(text, 21, 23) * 60 + digits(text, 23, 25)) * 60 * (text[20] === '-' ? -1 : 1)
  // `Date.UTC` takes the years before 100 for others.
  if (!(year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && second < 60))
    return undefined
  if (Math.abs(zone_s) > 15 * 3600) return undefined
  const at_ms = Date.UTC(year, month - 1, day, hour, minute, second) - zone_s * 1000
  return Number.isNaN(at_ms) ? undefined : { at_ms, zone_s }
}

export const localDay = ({ at_ms, zone_s }: AppleTime): string => new Date(at_ms + zone_s * 1000).toISOString().slice(0, 10)

/**
 * The day of a record that stands for a day: at the place that its metadata names, else in UTC, since Apple Health writes noon of UTC for such
 * a day.
 */
export const localDayAt = ({ at_ms, zone_s }: AppleTime, metadata: Record<string, string>): string =>
  localDay({ at_ms, zone_s: metadata.HKTimeZone === undefined ? 0 : zone_s })

/** A zone with a fixed offset, by the name that `Intl` understands: `-07:00`. */
export function zoneName(zone_s: number): string {
  const minutes = Math.abs(zone_s) / 60
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0')
  return `${zone_s < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

export interface AppleSource {
  source_type: SourceType
  app_id: string | null
  device: IncomingDevice | null
}

/** What a source is known by: a new version of its software is the same one. */
export const sourceKey = ({ source_type, app_id }: AppleSource): string => JSON.stringify([source_type, app_id])

/** A field of a device's description: `<<HKDevice: 0x28…>, name:Apple Watch, model:Watch, hardware:Watch6,1, software:9.1>`. */
const readField = (device: string, name: string): string | undefined =>
  new RegExp(`, ${name}:(.*?)(?:, [a-zA-Z ]+:|>?$)`).exec(device)?.[1]

const CACHED_MAX = 5000
const APP_ID_MAX = 300

/**
 * What recorded a record: the kind of device, from its hardware, and the name of the source. The pointer and the software version in the
 * description of a device change, and are left out.
 */
export class AppleSources {
  readonly #known = new Map<string, AppleSource>()

  resolve(source_name: string | undefined, device: string | undefined, was_user_entered: boolean): AppleSource {
    const key = `${was_user_entered ? 1 : 0}${source_name ?? ''}\n${device ?? ''}`
    let source = this.#known.get(key)
    if (!source) {
      if (this.#known.size === CACHED_MAX) this.#known.clear()
      this.#known.set(key, (source = readSource(source_name, device, was_user_entered)))
    }
    return source
  }
}

function readSource(source_name: string | undefined, device: string | undefined, was_user_entered: boolean): AppleSource {
  const hardware = device === undefined ? '' : (readField(device, 'hardware') ?? readField(device, 'model') ?? '')
  const source_type = was_user_entered
    ? 'app'
    : hardware.startsWith('Watch')
      ? 'watch'
      : hardware.startsWith('iPhone')
        ? 'phone'
        : 'unknown'
  // The names of the fields are those under which phones send them.
  const fields = { _DMA: 'manufacturer', _DMO: 'model', _DSV: 'software' }
  const metadata = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, readField(device ?? '', field)]))
  return { source_type, app_id: storable(source_name, APP_ID_MAX), device: toDevice(metadata, source_type) }
}
