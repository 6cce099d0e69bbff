// Shapes of demo connections. Source: users-wearables.md 2.4.
import { Fields, Maybe, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { connectionErrors } from '../../connections/connections/schema.ts'
import { resourceNameOf } from '../../wearables/resources/timeseries.ts'
import { demoProviders, devices } from './demo-devices.ts'

const NOTE_MAX = 1000
/** What demo connections record as samples. */
const recorded = [...new Set(demoProviders.flatMap((name) => devices[name].timeseries.map(resourceNameOf)))]

export const DemoConnection = Fields(
  {
    user_id: Uuid,
    provider: OpenEnum(demoProviders, { title: 'DemoProviders' }),
    timeseries: Maybe(T.Boolean({ description: 'False: summaries only.' })),
  },
  { title: 'DemoConnectionCreationPayload' },
)
export type DemoConnection = Static<typeof DemoConnection>

export const DemoConnectionStatus = Fields({ success: T.Boolean(), detail: T.String() }, { title: 'DemoConnectionStatus' })

export const DemoSample = Fields(
  {
    user_id: Uuid,
    provider: OpenEnum(demoProviders, { title: 'DemoProviders' }),
    resource: OpenEnum(recorded, { description: 'A timeseries that the provider records.' }),
    value: Maybe(
      T.Union([T.Number(), Text({ minLength: 1, maxLength: NOTE_MAX })], {
        description: 'In the unit of the resource, or the text of a note; without it that of the newest sample.',
      }),
    ),
    timestamp: Maybe(T.String({ format: 'date-time', description: "Without it the present of the team's clock." })),
  },
  { title: 'RecordDemoSample' },
)
export type DemoSample = Static<typeof DemoSample>

export const RecordedDemoSample = Fields({ success: T.Boolean(), timestamp: Timestamp }, { title: 'RecordedDemoSample' })

export const DemoFailure = Fields(
  {
    user_id: Uuid,
    provider: OpenEnum(demoProviders, { title: 'DemoProviders' }),
    error_type: OpenEnum(connectionErrors),
  },
  { title: 'FailDemoConnection' },
)
export type DemoFailure = Static<typeof DemoFailure>

export const FailedDemoConnection = Fields({ success: T.Boolean() }, { title: 'FailedDemoConnection' })
