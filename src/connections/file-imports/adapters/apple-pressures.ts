// Blood pressures of an Apple Health export, whose two halves are records of their own.
import type { Sink } from '../reading.ts'
import { sourceKey, type AppleSource, type AppleTime } from './apple-values.ts'

const PRESSURES_MAX = 200_000

interface Pressure {
  start: AppleTime
  source: AppleSource
  systolic?: number
  diastolic?: number
}

/** Halves find each other by their time and source. */
export class ApplePressures {
  readonly #of = new Map<string, Pressure>()

  /** @returns false if no more fit into memory */
  add(half: 'systolic' | 'diastolic', value: number, start: AppleTime, source: AppleSource): boolean {
    const key = `${start.at_ms} ${sourceKey(source)}`
    let pressure = this.#of.get(key)
    if (!pressure) {
      if (this.#of.size === PRESSURES_MAX) return false
      this.#of.set(key, (pressure = { start, source }))
    }
    pressure[half] = value
    return true
  }

  /** Passes on the pressures; halves alone are skipped. */
  finish(sink: Sink): void {
    for (const { start, source, systolic, diastolic } of this.#of.values()) {
      if (systolic === undefined || diastolic === undefined) {
        sink.skip('no_value', 'BloodPressure')
        continue
      }
      const sample = { at_ms: start.at_ms, value: systolic, second: diastolic, length_ms: null, zone_s: start.zone_s, type: null }
      sink.sample('blood_pressure', { ...sample, ...source })
    }
  }
}
