// Shapes of demo connections. Source: users-wearables.md 2.4.
import { Fields, Maybe, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'
import { demoProviders } from './devices.ts'

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
