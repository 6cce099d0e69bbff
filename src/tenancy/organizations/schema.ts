// Schemas of organizations. Source: openapi-management.json; management-auth.md 5.
import { Name } from './management-shapes.ts'
import { Fields, Nullable, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

export const Org = Fields({ id: Uuid, name: T.String(), expires_at: Nullable(Timestamp) }, { title: 'Organization' })
export type Org = Static<typeof Org>
export const UpdateOrg = Fields({ name: Name }, { title: 'UpdateOrganization', additionalProperties: false })
