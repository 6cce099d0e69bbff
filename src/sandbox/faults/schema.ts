import { DELAY_MS_MAX } from './request-faults.ts'
import { Fields, Int, Maybe, Nullable, T, Text, Timestamp, type Static } from '../../platform/schema/schema.ts'

const FAULTS_MAX = 20
const TIMES_MAX = 1000
/** A late event is held back for an hour at most. */
const LATE_S_MAX = 3600
const COPIES_MAX = 5
/** Faults end by themselves. */
export const LIFETIME_S = 3600

const times = Maybe(
  Int({ minimum: 1, maximum: TIMES_MAX, default: 1, description: 'How many are faulty; in a response, how many are left.' }),
)

export const RequestFaultRule = Fields(
  {
    operation: Maybe(
      Nullable(Text({ minLength: 1, maxLength: 100, description: 'The id of an operation; null for every one.' })),
    ),
    status: Maybe(Int({ minimum: 429, maximum: 503, description: 'The answer: 429, 500 or 503.' })),
    delay_ms: Maybe(Int({ minimum: 1, maximum: DELAY_MS_MAX, description: 'How long the request is held, in milliseconds.' })),
    drop: Maybe(T.Boolean({ description: 'Whether the connection is closed without an answer.' })),
    after: Maybe(
      T.Boolean({ description: 'Whether the operation runs first: its change is made, and its answer is lost or late.' }),
    ),
    times,
  },
  { title: 'RequestFault' },
)
export type RequestFaultRule = Static<typeof RequestFaultRule>

export const DeliveryFaultRule = Fields(
  {
    type: Maybe(Nullable(Text({ minLength: 1, maxLength: 120, description: 'A type of event; null for every one.' }))),
    delay_s: Maybe(
      Int({ minimum: 1, maximum: LATE_S_MAX, description: 'How late the event is, in seconds; later events overtake it.' }),
    ),
    out_of_order: Maybe(
      T.Boolean({
        description: 'Whether each event is late by another time, of at most `delay_s` (default 5): they change places.',
      }),
    ),
    copies: Maybe(Int({ minimum: 2, maximum: COPIES_MAX, description: 'How often the event is sent, with the same id.' })),
    times,
  },
  { title: 'DeliveryFault' },
)
export type DeliveryFaultRule = Static<typeof DeliveryFaultRule>

export const SetFaults = Fields(
  {
    requests: Maybe(T.Array(RequestFaultRule, { maxItems: FAULTS_MAX, description: 'The first that matches is taken.' })),
    deliveries: Maybe(T.Array(DeliveryFaultRule, { maxItems: FAULTS_MAX, description: 'The first that matches is taken.' })),
  },
  { title: 'SetSandboxFaults' },
)
export type SetFaults = Static<typeof SetFaults>

export const Faults = Fields(
  {
    requests: T.Array(RequestFaultRule),
    deliveries: T.Array(DeliveryFaultRule),
    expires_at: Nullable(Timestamp),
  },
  {
    title: 'SandboxFaults',
    description: 'Faults that are left. They end by themselves at `expires_at`, an hour after they were set.',
  },
)
export type Faults = Static<typeof Faults>
