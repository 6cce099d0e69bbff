import { operation, type Operation } from '../../platform/http/operation.ts'
import { listMessages } from './messages.ts'
import { listInbox } from './inbox.ts'
import { previewMessages } from './message-previews.ts'
import {
  CommunicationSettings,
  Inbox,
  InboxQuery,
  MessagePreviews,
  OrderParams,
  PatchCommunicationSettings,
  PatientMessages,
} from './schema.ts'
import { getSettings, setSettings } from './settings.ts'

export const messagesRoutes: Operation[] = [
  operation({
    id: 'get_order_communication_settings',
    logsAccess: true,
    method: 'GET',
    path: '/v3/order/{order_id}/communication_settings',
    summary: 'Get communication settings of an order',
    description: "The team's switch until the order has one of its own.",
    params: OrderParams,
    reply: CommunicationSettings,
    run: (tx, { params }) => getSettings(tx, params.order_id),
  }),
  operation({
    id: 'create_or_update_order_communication_settings',
    logsAccess: true,
    method: 'PATCH',
    path: '/v3/order/{order_id}/communication_settings',
    summary: 'Update communication settings of an order',
    params: OrderParams,
    body: PatchCommunicationSettings,
    reply: CommunicationSettings,
    example: { sms_enabled: false },
    run: (tx, { params, body }) => setSettings(tx, params.order_id, body.sms_enabled),
  }),
  operation({
    id: 'get_order_messages',
    logsAccess: true,
    method: 'GET',
    path: '/v3/order/{order_id}/messages',
    summary: 'List messages sent to the patient of an order',
    description:
      'Text messages and emails, oldest first, including messages that were only recorded because no carrier is configured. At most 200.',
    params: OrderParams,
    reply: PatientMessages,
    run: (tx, { params }) => listMessages(tx, params.order_id),
  }),
  operation({
    id: 'list_patient_messages',
    isUnlisted: true,
    logsAccess: true,
    method: 'GET',
    path: '/console/v1/messages',
    summary: "List the team's messages to patients, newest first",
    description: 'Text messages and emails; their texts in sandboxes only.',
    query: InboxQuery,
    reply: Inbox,
    run: (tx, { query }) => listInbox(tx, query),
  }),
  operation({
    id: 'list_message_previews',
    isUnlisted: true,
    logsAccess: false,
    method: 'GET',
    path: '/console/v1/message_previews',
    summary: 'Show the texts of all messages to patients',
    description: "With the team's brand, and with links that are examples.",
    reply: MessagePreviews,
    run: async (tx) => previewMessages(tx),
  }),
]
