import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { collectionMethods } from '../../lab/catalog/enums.ts'
import { channels } from './message-rules.ts'

export const OrderParams = Fields({ order_id: Uuid })

export const CommunicationSettings = Fields({ order_id: Uuid, sms_enabled: T.Boolean() }, { title: 'CommunicationSettings' })
export type CommunicationSettings = Static<typeof CommunicationSettings>
export const PatchCommunicationSettings = Fields({ sms_enabled: T.Boolean() }, { title: 'PatchCommunicationSettings' })

export const PatientMessage = Fields(
  {
    id: Uuid,
    order_id: Uuid,
    kind: T.String({
      description: 'The low-level status that the message reports, or `reminder_1`, `appointment_reminder_1`, ….',
    }),
    channel: OpenEnum(channels),
    recipient: T.String(),
    body: T.String(),
    state: Nullable(
      OpenEnum(['recorded', 'waiting', 'sent', 'failed'], {
        description: '`recorded`: no carrier is configured for this channel. Null: an email whose state has been deleted.',
      }),
    ),
    error: Nullable(T.String({ description: 'A code for the reason why it was not sent, or not yet.' })),
    created_at: Timestamp,
  },
  { title: 'PatientMessage' },
)
export const PatientMessages = Fields({ data: T.Array(PatientMessage) }, { title: 'PatientMessages' })
export type PatientMessages = Static<typeof PatientMessages>

const deliveryStates = ['recorded', 'waiting', 'sent', 'failed'] as const

export const InboxQuery = Fields({
  user_id: Maybe(Uuid),
  order_id: Maybe(Uuid),
  channel: Maybe(OpenEnum(channels)),
  state: Maybe(OpenEnum(deliveryStates)),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})
export type InboxQuery = Static<typeof InboxQuery>

export const InboxMessage = Fields(
  {
    ...PatientMessage.properties,
    user_id: Uuid,
    subject: Nullable(T.String({ description: 'Of an email, in sandboxes.' })),
    body: Nullable(T.String({ description: 'Null in production: `get_order_messages` has it.' })),
  },
  { title: 'InboxMessage' },
)
export const Inbox = Fields({ data: T.Array(InboxMessage), next_cursor: Nullable(T.String()) }, { title: 'Inbox' })

export const MessagePreviews = Fields(
  {
    data: T.Array(
      Fields(
        {
          method: OpenEnum(collectionMethods),
          kind: T.String({ description: 'As of a message that was sent.' }),
          channel: OpenEnum(channels),
          after_s: Nullable(
            T.Integer({ description: 'Of a reminder: seconds after the status began; negative: before the appointment.' }),
          ),
          is_enabled: T.Boolean({ description: 'Whether the settings of the team turn the channel on.' }),
          subject: Nullable(T.String({ description: 'Of an email.' })),
          body: T.String(),
        },
        { title: 'MessagePreview' },
      ),
    ),
  },
  { title: 'MessagePreviews' },
)
export type MessagePreviews = Static<typeof MessagePreviews>
