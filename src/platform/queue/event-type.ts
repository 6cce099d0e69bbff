// A type of events, as the record of the module that emits such events declares it. Source: events.md 3.

export type Family = 'summary' | 'shallow' | 'timeseries' | 'historical' | 'provider' | 'lab' | 'query' | 'operational'

export interface EventType {
  readonly name: string
  /** `operational`: a message about deliveries, in an envelope of its own. */
  readonly family: Family
  /** The resource of `daily` and `historical` events. */
  readonly resource?: string
  /** It is not known whom the events are about, so they name no user. */
  readonly namesNoUser?: true
  /** The data of an example: complete, of fictional persons. */
  readonly example: (context: ExampleContext) => unknown
}

export interface ExampleContext {
  team_id: string
  /** The instant of the event, an ISO 8601 text. */
  at_text: string
}

/** The fictional user of examples. */
export const EXAMPLE_USER = '00000000-0000-4000-8000-000000000001'
/** Ids of other objects in examples. */
export const EXAMPLE_OBJECT = '00000000-0000-4000-8000-000000000002'
export const EXAMPLE_TEST = '00000000-0000-4000-8000-000000000003'
export const EXAMPLE_OTHER = '00000000-0000-4000-8000-000000000004'
