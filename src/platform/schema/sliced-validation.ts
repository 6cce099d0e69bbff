// Reading long requests by their schemas without keeping the event loop: their long lists are read first, in slices, and then the rest.
import type { TSchema } from 'typebox'
import { yieldIfLong } from '../runtime/loop-work.ts'
import type { Fault, Loc } from './fault.ts'
import { FAULTS_MAX, keepList, LenientFaults, LenientList } from './lists.ts'
import type { Mode } from './numbers.ts'
import { validate, type Shape } from './request-validation.ts'

/** Shorter lists are read at once. */
const ITEMS_MIN = 100

/** As `validate`, in slices. */
export async function validateInSlices(schema: TSchema, value: unknown, loc: Loc, faults: Fault[], mode: Mode): Promise<unknown> {
  const reader = new ListReader(mode, faults instanceof LenientFaults)
  await reader.read(schema as Shape, value, [...loc])
  return validate(schema, value, loc, faults, mode)
}

/** Reads the long lists of a value, the inner ones first. */
class ListReader {
  readonly #mode: Mode
  readonly #isLenient: boolean

  constructor(mode: Mode, isLenient: boolean) {
    this.#mode = mode
    this.#isLenient = isLenient
  }

  async read(shape: Shape, value: unknown, loc: Loc): Promise<void> {
    if (!hasLists(shape) || typeof value !== 'object' || value === null) return
    if (shape.type === 'array') return Array.isArray(value) ? this.#readList(shape, value, loc) : undefined
    const given = value as Record<string, unknown>
    const { properties, patternProperties } = (this.#mode === 'abroad' && shape.abroad) || shape
    const each = patternProperties && Object.values(patternProperties)[0]
    for (const name of Object.keys(each ? given : (properties ?? {})))
      if (Object.hasOwn(given, name)) await this.read(each ?? properties![name]!, given[name], [...loc, name])
  }

  async #readList(shape: Shape, list: unknown[], loc: Loc): Promise<void> {
    const { items = {}, leavesOutFaulty = false, maxItems = Infinity } = shape
    if (list.length > maxItems) return
    if (hasLists(items))
      for (const [i, item] of list.entries()) {
        await this.read(items, item, [...loc, i])
        const turn = yieldIfLong()
        if (turn) await turn
      }
    if (list.length < ITEMS_MIN) return
    const isLenient = this.#isLenient && leavesOutFaulty
    const lenient = isLenient ? new LenientList() : undefined
    const strict: unknown[] = []
    const faults = this.#isLenient ? new LenientFaults() : []
    let i = 0
    const read = (faults: Fault[]) => validate(items as TSchema, list[i], [...loc, i], faults, this.#mode)
    for (; i < list.length && faults.length < FAULTS_MAX; i++) {
      const turn = yieldIfLong()
      if (turn) await turn
      if (lenient) lenient.add(i, list[i], read)
      else strict.push(read(faults))
    }
    keepList(list, this.#isLenient, { result: lenient ? lenient.end() : strict, faults })
  }
}

const known = new WeakMap<Shape, boolean>()

/** Whether a value of a schema may have lists; those of unions are read with the union. */
function hasLists(shape: Shape): boolean {
  let has = known.get(shape)
  if (has === undefined) {
    const { type, properties = {}, patternProperties = {}, anyOf, discriminator } = shape
    const parts = [...Object.values(properties), ...Object.values(patternProperties)]
    has = !anyOf && discriminator === undefined && (type === 'array' || parts.some(hasLists))
    known.set(shape, has)
  }
  return has
}
