// Shared schemas of the Management API. Source: openapi-management.json; management-auth.md 5-10.
import { Fields, Maybe, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'

/** A display name: letters, digits, some punctuation and spaces, no tabs. */
export const Name = Text({
  pattern: "^[A-Za-zÀ-ÖØ-öø-ÿ0-9(),/:'|&_\\- ’]{0,80}$",
  says: "have only letters, digits, spaces and ( ) , / : ' | & _ -",
  maxLength: 80,
})
export const Label = Text({ minLength: 1, maxLength: 100 })
/** The caller's own reference of a team or a member. */
export const Reference = Text({ maxLength: 256 })
export const Environment = OpenEnum(['sandbox', 'production'])
export const Region = OpenEnum(['us', 'eu'])
export const NextCursor = Maybe(Text({ maxLength: 1000 }))
export const Cursor = Nullable(T.String())

/** The response of an operation without data. */
export const Nothing = Fields({}, { title: 'Nothing' })

export const OrgParams = Fields({ org_id: Uuid })
export const TeamParams = Fields({ org_id: Uuid, team_id: Uuid })
/** The path of what a team has in one environment. */
export const teamInEnvironment = { org_id: Uuid, team_id: Uuid, environment: Environment }
export const CellParams = Fields({ org_id: Uuid, env: Environment, region: Region })
export type CellParams = Static<typeof CellParams>

export const Creator = T.Union(
  [
    Fields({ type: T.Literal('org_member'), id: Uuid, name: T.String(), email: T.String(), avatar: T.String() }),
    Fields({ type: T.Literal('removed_org_member'), id: Nullable(Uuid) }),
    Fields({ type: T.Literal('management_key') }),
  ],
  { title: 'Creator' },
)
