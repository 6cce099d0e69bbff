import { Fields, Int, Maybe, T, Timestamp } from '../../platform/schema/schema.ts'

export const Clock = Fields(
  { now: Timestamp, offset_s: T.Integer({ description: 'Number of seconds ahead of the system clock.' }) },
  { title: 'Clock' },
)

export const AdvanceClock = Fields(
  {
    seconds: Maybe(Int({ minimum: 1, maximum: 315_360_000, description: 'Number of seconds to advance, at most ten years.' })),
    to: Maybe(Timestamp),
  },
  { title: 'AdvanceClock' },
)

export const AdvancedClock = Fields(
  {
    now: Timestamp,
    offset_s: T.Integer(),
    jobs_run: T.Integer({ description: 'Number of due jobs that were run.' }),
    complete: T.Boolean({
      description: 'False if the job limit was reached; repeat the call to continue.',
    }),
  },
  { title: 'AdvancedClock' },
)
