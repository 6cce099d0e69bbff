import { operation, type Operation } from '../../platform/http/operation.ts'
import { countAttention } from './attention.ts'
import { Attention } from './schema.ts'

export const overviewRoutes: Operation[] = [
  operation({
    id: 'get_attention',
    isUnlisted: true,
    logsAccess: false,
    method: 'GET',
    path: '/console/v1/attention',
    summary: 'Count what needs attention',
    description:
      'Endpoints that fail or were disabled because they failed, deliveries and jobs that are tried no more, results and lab reports that wait for a review, orders that wait for staff, connections in error, text messages that were not sent.',
    reply: Attention,
    run: (tx) => countAttention(tx),
  }),
]
