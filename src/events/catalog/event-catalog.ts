// The event types of all modules: endpoints filter by them, and samples are made for them. Source: events.md 1, 3, 6.8.
import type { EventType, Family, ExampleContext } from '../../platform/queue/event-type.ts'
import { EXAMPLE_USER } from '../../platform/queue/event-type.ts'

/** Lists show the types of these families one after the other. */
const FAMILIES: readonly (readonly Family[])[] = [
  ['summary', 'shallow', 'timeseries', 'historical'],
  ['provider'],
  ['lab'],
  ['query'],
  ['operational'],
]

export class EventCatalog {
  readonly #load: () => readonly EventType[]
  #types: ReadonlyMap<string, EventType> | undefined

  /** @param types the types of all modules, called when the first one is looked up */
  constructor(types: () => readonly EventType[]) {
    this.#load = types
  }

  get #byName(): ReadonlyMap<string, EventType> {
    return (this.#types ??= new Map(this.#load().map((type) => [type.name, type])))
  }

  /** All types, those of operational messages last. */
  list(): EventType[] {
    const types = [...this.#byName.values()]
    return FAMILIES.flatMap((families) => types.filter(({ family }) => families.includes(family)))
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** The whole body of a sample, as a test sends it. Throws for an unknown type. */
  exampleBody(name: string, context: ExampleContext): Record<string, unknown> {
    const type = this.#byName.get(name)
    if (!type) throw new Error('unrecognized event type')
    const data = type.example(context)
    if (type.family === 'operational') return { type: name, data }
    const body = { event_type: name, data, team_id: context.team_id }
    return type.namesNoUser ? body : { ...body, user_id: EXAMPLE_USER, client_user_id: 'a-fictional-user' }
  }
}
