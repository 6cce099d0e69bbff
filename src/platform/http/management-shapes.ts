// Shapes that every part of the management interface speaks. Source: openapi-management.json; management-auth.md 5-10.
import { Fields, Maybe, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../schema/schema.ts'

/** A name as dashboards show it: letters, digits and a few signs, spaces but no tabs. */
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

/** What an operation answers that has nothing to say. */
export const Nothing = Fields({}, { title: 'Nothing' })

export const OrgParams = Fields({ org_id: Uuid })
export const TeamParams = Fields({ org_id: Uuid, team_id: Uuid })
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
