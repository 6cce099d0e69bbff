import { Fields, Maybe, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'

export const PortalParams = Fields({ user_id: Uuid })

export const CreatePortalUrl = Fields(
  {
    context: OpenEnum(['launch', 'communications'], {
      description:
        '`launch`: your own signed-in page sends the patient there at once; valid for ten minutes. `communications`: a short link for an email or a text message; valid for two weeks, and shows orders only to a person who knows the birth date of the patient.',
    }),
    order_id: Maybe({ ...Uuid, description: 'The portal opens with this order of the user.' }),
  },
  { title: 'CreateUserPortalURLBody' },
)
export type CreatePortalUrl = Static<typeof CreatePortalUrl>

export const PortalUrl = Fields(
  { url: T.String(), expires_in: T.Integer({ description: 'In seconds.' }) },
  { title: 'CreateUserPortalURLResponse' },
)
export type PortalUrl = Static<typeof PortalUrl>
