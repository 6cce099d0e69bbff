// Segments of a message in the making: texts by field, repetition, component and subcomponent. What is written is escaped later. Pure.
import { Unsendable } from './unsendable.ts'

/** A text, or its subcomponents. */
type Component = string | readonly string[]
/** A text, or the components of a field. */
export type FieldValue = string | readonly Component[]

/** Field, repetition, component and subcomponent, each from 0; the first field is the one after the name of the segment. */
export type SegmentFields = string[][][][]

/** `PID-5.1`: a segment, a field and a component. */
const FIELD_NAME = /^([A-Z][A-Z0-9]{2})-(\d{1,2})(?:\.(\d{1,2}))?$/u

export interface FieldPlace {
  segment: string
  field: number
  component: number
}

/** The place that a name of a field means. Errors: Unsendable the name has another form. */
export function placeOfField(name: string): FieldPlace {
  const [, segment, field, component = '1'] = FIELD_NAME.exec(name) ?? []
  if (segment === undefined) throw new Unsendable([`The profile names a field ${name}, which no message has`])
  return { segment, field: Number(field), component: Number(component) }
}

export class SegmentBuilder {
  readonly id: string
  readonly fields: SegmentFields = []

  constructor(id: string, values: Record<number, FieldValue | null | undefined>) {
    this.id = id
    for (const [field, value] of Object.entries(values)) if (value !== null && value !== undefined) this.add(Number(field), value)
  }

  /** Adds a repetition to a field, unless the value is empty. */
  add(field: number, value: FieldValue): this {
    const components = (typeof value === 'string' ? [value] : value).map((component) =>
      typeof component === 'string' ? [component] : [...component],
    )
    if (components.some((component) => component.some((text) => text !== ''))) this.#repetitions(field).push(components)
    return this
  }

  /** Replaces a component in the first repetition of a field. */
  setText(field: number, component: number, text: string): this {
    const repetitions = this.#repetitions(field)
    const components = (repetitions[0] ??= [])
    while (components.length < component) components.push([''])
    components[component - 1] = [text]
    return this
  }

  #repetitions(field: number): string[][][] {
    while (this.fields.length < field) this.fields.push([])
    return this.fields[field - 1]!
  }
}
