// Shapes of refreshes and notifications. Source: users-wearables.md 1.
import { Fields, Maybe, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'

export const UserParams = Fields({ user_id: Uuid })
export const RefreshQuery = Fields({
  timeout: Maybe(T.Number({ minimum: 5, maximum: 60, default: 10, description: 'Seconds to wait for the providers.' })),
})

const sources = T.Array(T.String())
export const Refreshed = Fields(
  {
    success: T.Literal(true),
    user_id: Uuid,
    refreshed_sources: sources,
    in_progress_sources: sources,
    failed_sources: sources,
  },
  { title: 'UserRefreshSuccessResponse' },
)
export type Refreshed = Static<typeof Refreshed>

export const NotificationParams = Fields({
  cell: Text({ maxLength: 20, example: 'sandbox-us' }),
  team_id: Uuid,
  provider: Text({ maxLength: 40, example: 'oura' }),
})

/** What Oura sends; other providers have parameters of their own. */
export const HandshakeQuery = Fields({
  verification_token: Maybe(Text({ maxLength: 500 })),
  challenge: Maybe(Text({ maxLength: 500 })),
})
