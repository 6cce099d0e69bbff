import { multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { receiveNotification, wrongNotices, type NotificationDependencies } from './notifications.ts'
import { refreshLimiter, refreshUser } from './refresh.ts'
import { HandshakeQuery, NotificationParams, Refreshed, RefreshQuery, UserParams } from './schema.ts'

const path = '/v2/link/webhook/{cell}/{team_id}/{provider}'

export function pullsRoutes(dependencies: NotificationDependencies): Operation[] {
  const limiter = refreshLimiter()
  const wrong = wrongNotices(dependencies)
  const notification = (method: 'GET' | 'POST', id: string, summary: string) =>
    multiTransactionOperation({
      id,
      logsAccess: false,
      auth: 'none',
      method,
      path,
      summary,
      description:
        'The address is entered at the provider, or this server enters it. A notification leads to a pull and never brings data. One that is not signed as the provider signs is refused.',
      params: NotificationParams,
      ...(method === 'GET' && { query: HandshakeQuery }),
      reply: T.Unknown(),
      run: (request, { params }) => receiveNotification(dependencies, wrong, method, request, params),
    })
  return [
    multiTransactionOperation({
      id: 'refresh_user_data',
      logsAccess: true,
      method: 'POST',
      path: '/v2/user/refresh/{user_id}',
      userTokens: 'path',
      summary: 'Ask the clouds that a user is connected to for the last day',
      description:
        'Waits `timeout` seconds at most: 200 if all sources have answered, 202 if some have not. A user without connections answers 400, more than 8 calls for a user within an hour 429. Phones send by themselves and are left out.',
      params: UserParams,
      query: RefreshQuery,
      reply: Refreshed,
      run: (context, { params, query }) => refreshUser(context, limiter, params.user_id, query.timeout ?? 10),
    }),
    notification('GET', 'confirm_provider_notifications', 'Confirm to a provider that its notifications are expected'),
    notification('POST', 'receive_provider_notification', 'Receive a notification of a provider'),
  ]
}
