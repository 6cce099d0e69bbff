// The devices that phones name in the metadata of samples and records. Source: users-wearables.md 16.7.
import type { IncomingDevice } from '../../wearables/devices/devices.ts'
import type { SourceType } from '../../wearables/resources/timeseries.ts'
import type { Quantity } from './schema.ts'

const LENGTH_MAX = 200

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LENGTH_MAX || value.includes('\0') || !value.isWellFormed()) return null
  return value.trim() || null
}

/** Kinds of devices by the models of Apple, for records of apps on them whose source does not tell: electrocardiograms come from one. */
const appleTypes: ReadonlyMap<string | null, SourceType> = new Map([
  ['Watch', 'watch'],
  ['iPhone', 'phone'],
])

/** The device that recorded something; null if the phone names neither its model nor its manufacturer. */
export function deviceOf(metadata: Quantity['metadata'], source_type: SourceType): IncomingDevice | null {
  if (!metadata) return null
  const [manufacturer, model] = [textOf(metadata._DMA), textOf(metadata._DMO)]
  if (manufacturer === null && model === null) return null
  const version = textOf(metadata._DSV) ?? textOf(metadata._DFV) ?? textOf(metadata._DHV)
  const kind = source_type === 'unknown' ? (appleTypes.get(model) ?? source_type) : source_type
  return { source_type: kind, manufacturer, model, version, device_id: null }
}
