import { Fields, Int, Maybe, Nullable, OpenEnum, T, Timestamp, type Static } from '../../platform/schema/schema.ts'

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

export const ClockPreviewQuery = Fields({
  seconds: Maybe(Int({ minimum: 1, maximum: 315_360_000 })),
  to: Maybe(Timestamp),
})
export type ClockPreviewQuery = Static<typeof ClockPreviewQuery>

const workKinds = ['simulated_step', 'order_dispatch', 'deadline', 'reminder', 'health_data', 'retry', 'other'] as const
export type WorkKind = (typeof workKinds)[number]
const WorkKind = OpenEnum(workKinds, { description: '`retry`: an earlier attempt of the job has failed.' })
const JobName = T.String({ description: 'The name of the job.' })

export const ClockPreview = Fields(
  {
    now: Timestamp,
    to: Timestamp,
    next_at: Nullable(T.String({ format: 'date-time', description: 'When the next job becomes due.' })),
    total: T.Integer({ description: 'Jobs that become due until `to`, at most 100,000.' }),
    is_complete: T.Boolean(),
    data: T.Array(
      Fields(
        {
          kind: WorkKind,
          job: JobName,
          count: T.Integer(),
          first_at: Timestamp,
          last_at: Timestamp,
        },
        { title: 'DueWork' },
      ),
      { description: 'Earliest first. Jobs that these will queue are not among them.' },
    ),
  },
  { title: 'ClockPreview' },
)
export type ClockPreview = Static<typeof ClockPreview>

const RunJobCount = Fields({ kind: WorkKind, job: JobName, count: T.Integer() }, { title: 'RunJobCount' })
export type RunJobCount = Static<typeof RunJobCount>

export const AdvancedClock = Fields(
  {
    now: Timestamp,
    offset_s: T.Integer(),
    jobs_run: T.Integer({ description: 'Number of due jobs that were run.' }),
    complete: T.Boolean({
      description: 'False if the job limit was reached; repeat the call to continue.',
    }),
    jobs: T.Array(RunJobCount, {
      description: 'The jobs that were run, by name, in the order of their first run.',
    }),
  },
  { title: 'AdvancedClock' },
)
