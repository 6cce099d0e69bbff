// The table of operations and roles in docs/reference/roles.md: written from the operations, and read by the test that tries every one of them.
import { readFileSync } from 'node:fs'
import type { Operation } from '../../src/platform/http/operation.ts'
import { isPermitted, teamRoles, type TeamRole } from '../../src/tenancy/roles/roles.ts'

/** In which environments a role permits an operation. */
export type Reach = 'both' | 'sandbox' | 'none'
const MARKS: Record<Reach, string> = { both: '●', sandbox: '○', none: '' }

/** Operations that sessions of members may reach, by a role in a team. */
export const isOfTeams = ({ auth, keyScope }: Operation): boolean =>
  auth === 'team' || (auth === 'management' && keyScope !== 'org')
/** Operations of the organization, for its administrators alone. */
export const isOfOrganization = ({ auth, keyScope }: Operation): boolean => auth === 'management' && keyScope === 'org'

function findReach(operation: Operation, role: TeamRole): Reach {
  if (isPermitted(operation, role, 'production')) return 'both'
  return isPermitted(operation, role, 'sandbox') ? 'sandbox' : 'none'
}

/** The text of the table: a row for the operations that the same roles may use. */
export function roleTable(operations: readonly Operation[]): string {
  const rows = new Map<string, string[]>()
  for (const operation of operations.filter(isOfTeams)) {
    const marks = teamRoles.map((role) => MARKS[findReach(operation, role)]).join(' | ')
    rows.set(marks, [...(rows.get(marks) ?? []), `\`${operation.id}\``])
  }
  const lines = [...rows].toSorted(([, a], [, b]) => b.length - a.length || (a[0]! < b[0]! ? -1 : 1))
  return [
    `| Operations | ${teamRoles.join(' | ')} |`,
    `|---${'|:-:'.repeat(teamRoles.length)}|`,
    ...lines.map(([marks, ids]) => `| ${ids.toSorted().join(', ')} | ${marks} |`),
  ].join('\n')
}

/** The list of operations of the organization. */
export const organizationList = (operations: readonly Operation[]): string =>
  operations
    .filter(isOfOrganization)
    .map(({ id }) => `\`${id}\``)
    .toSorted()
    .join(', ')

/** Operation → role → where it is permitted, as the page says. */
export function readRoleTable(): Map<string, Record<TeamRole, Reach>> {
  const page = readFileSync('docs/reference/roles.md', 'utf8')
  const rows = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) +\|(.*)\|$/gm)].flatMap(([, ids, cells]) => {
    const marks = cells!.split('|').map((cell) => cell.trim())
    const reaches = teamRoles.map((role, i) => {
      const found = Object.entries(MARKS).find(([, mark]) => mark === marks[i])
      if (!found) throw new Error(`docs/reference/roles.md: ${ids} has the mark ${marks[i]}`)
      return [role, found[0] as Reach] as const
    })
    return ids!
      .replaceAll('`', '')
      .split(', ')
      .map((id) => [id, Object.fromEntries(reaches) as Record<TeamRole, Reach>] as const)
  })
  return new Map(rows)
}
