// Who created what an organization has, in API format. Source: management-auth.md 5.
import { sql, type Sql } from '../../platform/db/sql.ts'

/** The creator of a row. @param member the column with the id of the member; null: a management key or a command did it */
export const creatorColumn = (member: Sql): Sql => sql`
  case when ${member} is null then json_build_object('type', 'management_key')
       else coalesce(
         (select json_build_object('type', 'org_member', 'id', m.id, 'name', m.name, 'email', m.email, 'avatar', '')
          from member m where m.id = ${member}),
         json_build_object('type', 'removed_org_member', 'id', ${member})) end as creator`
