// Developer fields of FIT records that say of which native field they are another measurement: a power meter or a strap that an app of the
// watch reads. Such a field counts where the record has no native value, if its unit is known. Source: the FIT protocol, field_description.

/** A value of a field. */
export type FitValue = number | string | (number | undefined)[]

export const RECORD = 20
export const FIELD_DESCRIPTION = 206

/** A developer field in the definition of a message. */
export interface DeveloperField {
  number: number
  size: number
  /** Which app it is of. */
  index: number
}

interface Native {
  field: number
  type: number
  /** From the number in the file to the number that the native field would hold. */
  factor: number
  offset: number
}

/** By native field of records, the scale and offset of the profile, and the units with their factors to its unit. */
const natives: ReadonlyMap<number, { scale: number; offset: number; units: Readonly<Record<string, number>> }> = new Map([
  [2, { scale: 5, offset: 500, units: { m: 1, meters: 1, ft: 0.3048, feet: 0.3048 } }],
  [3, { scale: 1, offset: 0, units: { bpm: 1, 'beats/min': 1 } }],
  [4, { scale: 1, offset: 0, units: { rpm: 1, 'strides/min': 1, spm: 0.5, 'steps/min': 0.5 } }],
  [5, { scale: 100, offset: 0, units: { m: 1, meters: 1, km: 1000, mi: 1609.344, miles: 1609.344 } }],
  [6, { scale: 1000, offset: 0, units: { 'm/s': 1, mps: 1, 'km/h': 1 / 3.6, kph: 1 / 3.6, mph: 0.44704 } }],
  [7, { scale: 1, offset: 0, units: { w: 1, watt: 1, watts: 1 } }],
  [13, { scale: 1, offset: 0, units: { c: 1, '°c': 1, celsius: 1 } }],
])
/** Native fields with the same meaning and a larger range. */
const widened: ReadonlyMap<number, number> = new Map([
  [73, 6],
  [78, 2],
])
/** Native fields that say the same: a value of either is one. */
const alternatives: ReadonlyMap<number, number> = new Map([...widened].map(([wide, narrow]) => [narrow, wide]))

/** The developer fields that a file describes. */
export class DeveloperFields {
  readonly #natives = new Map<string, Native>()

  /** Reads a description. One of another kind of message, of a unit that is not known or of no native field counts for nothing. */
  describe(fields: ReadonlyMap<number, FitValue>): void {
    const number = (field: number): number | undefined => {
      const value = fields.get(field)
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    }
    const [index, own, type, said] = [number(0), number(1), number(2), number(15)]
    if (index === undefined || own === undefined) return
    const key = `${index} ${own}`
    this.#natives.delete(key)
    if (type === undefined || said === undefined || (number(14) ?? RECORD) !== RECORD) return
    const field = widened.get(said) ?? said
    const native = natives.get(field)
    const units = fields.get(8)
    const unit = typeof units === 'string' ? units.trim().toLowerCase() : ''
    if (!native || !Object.hasOwn(native.units, unit)) return
    const [scale, offset] = [number(6) || 1, number(7) ?? 0]
    const factor = native.units[unit]!
    this.#natives.set(key, {
      field,
      type: type & 0x1f,
      factor: (factor / scale) * native.scale,
      offset: (native.offset - offset * factor) * native.scale,
    })
  }

  /**
   * Adds the values of a record's developer fields where it has no native ones.
   * @param read the value of a field of a base type at a place of the file
   */
  complete(
    values: Map<number, FitValue>,
    fields: readonly DeveloperField[],
    offset: number,
    read: (offset: number, size: number, type: number) => FitValue | undefined,
  ): void {
    for (const { number, size, index } of fields) {
      const native = this.#natives.get(`${index} ${number}`)
      if (native && !values.has(native.field) && !values.has(alternatives.get(native.field) ?? -1)) {
        const value = read(offset, size, native.type)
        if (typeof value === 'number' && Number.isFinite(value)) values.set(native.field, value * native.factor + native.offset)
      }
      offset += size
    }
  }
}
