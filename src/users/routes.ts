import { operation, noContent } from '../platform/operation.ts'
import { Fields, Maybe, T, Text, Uuid } from '../platform/schema.ts'
import { Demographics, DemographicsInput } from './demographics-schema.ts'
import { getDemographics, patchDemographics } from './demographics.ts'
import { ClientUserId, CreateUser, PatchUser, Success, User, UserPage, UserPageQuery } from './schema.ts'
import { createUser, deleteUser, getUser, listUsers, patchUser, resolveUser, searchUsers, undoDelete } from './users.ts'

const params = Fields({ user_id: Uuid })

export const routes = [
  operation({
    id: 'get_teams_users',
    method: 'GET',
    path: '/v2/user',
    summary: 'List users, newest first',
    query: UserPageQuery,
    reply: UserPage,
    run: (tx, { query }) => listUsers(tx, { offset: query.offset ?? 0, limit: query.limit ?? 100 }),
  }),
  operation({
    id: 'create_user',
    method: 'POST',
    path: '/v2/user',
    summary: 'Create a user',
    description:
      'A reference in use answers 400 with the `user_id` and `created_on` of its user, so that a repeated call finds the id.',
    body: CreateUser,
    reply: User,
    example: { client_user_id: 'your-own-reference-1' },
    run: (tx, { body }) => createUser(tx, body),
  }),
  operation({
    id: 'get_user',
    method: 'GET',
    path: '/v2/user/{user_id}',
    summary: 'Read a user',
    params,
    reply: User,
    run: (tx, { params }) => getUser(tx, params.user_id),
  }),
  operation({
    id: 'patch_user',
    method: 'PATCH',
    path: '/v2/user/{user_id}',
    summary: 'Change a user; null clears a field',
    params,
    body: PatchUser,
    reply: noContent,
    example: { fallback_time_zone: 'America/Chicago' },
    run: (tx, { params, body }) => patchUser(tx, params.user_id, body),
  }),
  operation({
    id: 'delete_user',
    method: 'DELETE',
    path: '/v2/user/{user_id}',
    summary: 'Delete a user; the data is erased after 7 days',
    params,
    reply: Success,
    run: (tx, { params }) => deleteUser(tx, params.user_id),
  }),
  operation({
    id: 'undo_user_delete',
    method: 'POST',
    path: '/v2/user/undo_delete',
    summary: 'Take a deletion back within 7 days',
    query: Fields({ user_id: Maybe(Uuid), client_user_id: Maybe(ClientUserId) }),
    reply: Success,
    run: (tx, { query }) => undoDelete(tx, query),
  }),
  operation({
    id: 'get_user_by_client_user_id',
    method: 'GET',
    path: '/v2/user/resolve/{client_user_id...}',
    summary: 'Read the user a reference stands for',
    params: Fields({ client_user_id: ClientUserId }),
    reply: User,
    run: (tx, { params }) => resolveUser(tx, params.client_user_id),
  }),
  operation({
    id: 'search_team_users',
    method: 'GET',
    path: '/v2/team/users/search',
    summary: 'Search users by part of either id',
    deprecated: true,
    query: Fields({ query_id: Text({ minLength: 2, maxLength: 512, example: 'your-own-reference' }) }),
    reply: T.Array(User),
    run: (tx, { query }) => searchUsers(tx, query.query_id),
  }),
  operation({
    id: 'create_user_demographics',
    method: 'PATCH',
    path: '/v2/user/{user_id}/info',
    summary: 'Create or change the demographics of a user',
    description:
      'What may be left out stays when it is absent, and is cleared by null. Orders keep what they say of their patient here, too.',
    params,
    body: DemographicsInput,
    reply: Demographics,
    example: {
      first_name: 'Testa',
      last_name: 'Fictional',
      email: 'testa@example.com',
      phone_number: '+15550100199',
      gender: 'female',
      dob: '1990-01-31',
      address: { first_line: '1 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
    },
    run: (tx, { params, body }) => patchDemographics(tx, params.user_id, body),
  }),
  operation({
    id: 'get_user_demographics',
    method: 'GET',
    path: '/v2/user/{user_id}/info/latest',
    summary: 'Read the demographics of a user, as last said',
    params,
    reply: Demographics,
    run: (tx, { params }) => getDemographics(tx, params.user_id),
  }),
]
