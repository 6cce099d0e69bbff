// Shapes of the sign-in of phones. Source: users-wearables.md 16.2.
import { Fields, Maybe, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'

const TOKEN_MAX = 4000
export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const SIGN_IN_TOKEN = 'urn:junction:sign-in-token'

export const UserParams = Fields({ user_id: Uuid })

export const SignInToken = Fields(
  {
    user_id: Uuid,
    sign_in_token: T.String({ description: 'Base64 of JSON with `public_key` and `user_token`; valid for 15 minutes.' }),
  },
  { title: 'UserSignInTokenResponse' },
)

export const TokenRequest = Fields(
  {
    grant_type: OpenEnum([EXCHANGE, 'refresh_token']),
    subject_token_type: Maybe(OpenEnum([SIGN_IN_TOKEN])),
    subject_token: Maybe(Text({ minLength: 1, maxLength: TOKEN_MAX })),
    refresh_token: Maybe(Text({ minLength: 1, maxLength: TOKEN_MAX })),
  },
  { title: 'TokenRequest' },
)
export type TokenRequest = Static<typeof TokenRequest>

export const TokenReply = Fields(
  {
    access_token: T.String(),
    refresh_token: T.String(),
    expires_in: T.Integer({ description: 'Seconds; the access token is accepted for 15 minutes more.' }),
    token_type: T.String(),
    issued_token_type: T.String(),
  },
  { title: 'TokenResponse' },
)
export type TokenReply = Static<typeof TokenReply>
