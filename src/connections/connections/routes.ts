import { forbidden } from '../../platform/http/errors.ts'
import { multiTransactionOperation, operation } from '../../platform/http/operation.ts'
import { providerName } from '../../people/users/sources.ts'
import { Success } from '../../people/users/schema.ts'
import { Fields, Maybe, T, Uuid } from '../../platform/schema/schema.ts'
import { connectManually, deregister, listConnections, listFailingConnections } from './connections.ts'
import { connectableProviders, providerOf } from './providers.ts'
import {
  ConnectedProviders,
  FailingConnectionPage,
  FailingConnectionQuery,
  ManualConnection,
  ManualProviderSlug,
  ProviderDetails,
  ProviderQuery,
  ProviderSlug,
} from './schema.ts'

export const connectionsRoutes = [
  multiTransactionOperation({
    id: 'get_list_of_providers',
    logsAccess: false,
    auth: 'none',
    method: 'GET',
    path: '/v2/providers',
    summary: 'List providers',
    description:
      'Providers that users can be connected to, with their resources. `source_type` keeps those of one `auth_type`. Needs no key.',
    query: ProviderQuery,
    reply: T.Array(ProviderDetails),
    run: async (_request, { query }) =>
      connectableProviders
        .map((slug) => {
          const { resources, ...entry } = providerOf(slug)
          return { ...entry, name: providerName(slug), slug, logo: null, supported_resources: [...resources] }
        })
        .filter(({ auth_type }) => query.source_type === undefined || auth_type === query.source_type),
  }),
  operation({
    id: 'get_connected_providers',
    logsAccess: true,
    method: 'GET',
    path: '/v2/user/providers/{user_id}',
    userTokens: 'path',
    summary: 'List the connections of a user',
    params: Fields({ user_id: Uuid }),
    reply: ConnectedProviders,
    run: (tx, { params }) => listConnections(tx, params.user_id),
  }),
  operation({
    id: 'list_failing_connections',
    isUnlisted: true,
    logsAccess: true,
    method: 'GET',
    path: '/console/v1/failing_connections',
    summary: 'List the connections in error, the newest error first',
    query: FailingConnectionQuery,
    reply: FailingConnectionPage,
    run: (tx, { query }) => listFailingConnections(tx, query),
  }),
  operation({
    id: 'deregister_provider',
    logsAccess: true,
    method: 'DELETE',
    path: '/v2/user/{user_id}/{provider}',
    userTokens: 'path',
    summary: 'End a connection of a user; its data stays, unless it is to be deleted',
    description:
      'With `delete_data=true` all that came from the provider for this user is deleted for ever, also if the connection has ended before: samples, summaries, streams, devices and the events about them. 403: with the access token of a phone.',
    params: Fields({ user_id: Uuid, provider: ProviderSlug }),
    query: Fields({ delete_data: Maybe(T.Boolean({ description: 'Deletes the data of the provider. Default false.' })) }),
    reply: Success,
    run(tx, { params, query, user }) {
      if (user && query.delete_data) throw forbidden('Data is deleted with a key of the team')
      return deregister(tx, params.user_id, params.provider, query)
    },
  }),
  operation({
    id: 'connect_manual_provider',
    logsAccess: true,
    method: 'POST',
    path: '/v2/link/provider/manual/{provider}',
    userTokens: 'body',
    summary: 'Connect a user to a provider whose data a phone or a client sends',
    description:
      'A repeated call changes `provider_id` and `granted_permissions` where they are given, and succeeds. The permissions name resources.',
    params: Fields({ provider: ManualProviderSlug }),
    body: ManualConnection,
    reply: Success,
    example: { user_id: '01890000-0000-7000-8000-000000000001', granted_permissions: ['activity', 'heartrate'] },
    run: (tx, { params, body }) => connectManually(tx, params.provider, body),
  }),
]
