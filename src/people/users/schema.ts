import {
  Clearable,
  DateOnly,
  Fields,
  Int,
  Maybe,
  Nullable,
  T,
  Text,
  TimeZone,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'

/** The caller's own id of a user. Limited so that it can be indexed. */
export const ClientUserId = Text({ minLength: 1, maxLength: 512, example: 'your-own-reference-1' })

const Provider = Fields({ name: T.String(), slug: T.String(), logo: T.String() })

export const User = Fields(
  {
    user_id: Uuid,
    team_id: Uuid,
    client_user_id: T.String(),
    created_on: Timestamp,
    connected_sources: T.Array(Fields({ created_on: Timestamp, provider: Provider, source: Provider })),
    fallback_time_zone: Nullable(Fields({ id: T.String(), source_slug: T.String(), updated_at: Timestamp })),
    fallback_birth_date: Nullable(Fields({ value: DateOnly, source_slug: T.String(), updated_at: Timestamp })),
    ingestion_start: Nullable(DateOnly),
    ingestion_end: Nullable(DateOnly),
  },
  { title: 'User' },
)
export type User = Static<typeof User>

export const CreateUser = Fields(
  {
    client_user_id: ClientUserId,
    fallback_time_zone: Maybe(TimeZone),
    fallback_birth_date: Maybe(DateOnly),
    ingestion_start: Maybe(DateOnly),
    ingestion_end: Maybe(DateOnly),
  },
  { title: 'CreateUser' },
)
export type CreateUser = Static<typeof CreateUser>

export const PatchUser = Fields(
  {
    client_user_id: Maybe(ClientUserId),
    fallback_time_zone: Clearable(TimeZone),
    fallback_birth_date: Clearable(DateOnly),
    ingestion_start: Clearable(DateOnly),
    ingestion_end: Clearable(DateOnly),
  },
  { title: 'PatchUser' },
)
export type PatchUser = Static<typeof PatchUser>

export const UserPage = Fields(
  { users: T.Array(User), total: T.Integer(), offset: T.Integer(), limit: T.Integer() },
  { title: 'UserPage' },
)

/** Users of a page at most. */
const USERS_MAX = 500

export const UserPageQuery = Fields({
  offset: Maybe(Int({ minimum: 0, default: 0 })),
  limit: Maybe(Int({ minimum: 1, maximum: USERS_MAX, default: 100 })),
})

export const Success = Fields({ success: T.Boolean() }, { title: 'Success' })

export const UserRowQuery = Fields({
  search_input: Maybe(Text({ minLength: 1, maxLength: 512 })),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})
export type UserRowQuery = Static<typeof UserRowQuery>

export const UserRow = Fields(
  {
    user_id: Uuid,
    client_user_id: T.String(),
    created_on: Timestamp,
    first_name: Nullable(T.String()),
    last_name: Nullable(T.String()),
    dob: Nullable(DateOnly),
    gender: Nullable(T.String()),
    connected_source_count: T.Integer(),
  },
  { title: 'UserRow' },
)
export const UserRowPage = Fields(
  {
    data: T.Array(UserRow),
    total: Nullable(T.Integer({ description: 'Null for a search.' })),
    next_cursor: Nullable(T.String()),
  },
  { title: 'UserRowPage' },
)
