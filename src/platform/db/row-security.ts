// Row-level security: the database keeps teams apart once more than the conditions of the statements do. Each schema has roles of its own,
// which see no other schema: the connections of this program take one of them. On those that work for teams a policy lets a statement see
// the rows of the team alone that `drawbridge.team` names; others see the whole cell. Roles, grants and policies are made after the migrations, for
// whatever tables there are then. Why so: docs/decisions/row-security.md.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { NoRowSecurity } from './no-row-security.ts'
import { prepareTeamSetting } from './send-statement.ts'

/** What the statements of a connection see: the whole schema, or the rows of the team that each of them names. */
export type Reach = 'cell' | 'team'

export const rowSecurityModes = ['on', 'required', 'off'] as const
/** `on`: where the login may take the roles. `required`: nothing is served without them. `off`: connections stay with their login. */
export type RowSecurityMode = (typeof rowSecurityModes)[number]

/** Tells the roles of two installations apart that share a PostgreSQL cluster. */
export const installationOf = (database: string): string => createHash('sha256').update(database).digest('hex').slice(0, 8)

const CELL_ROLE = (installation: string, schema: string): string => `drawbridge_${installation}_${schema}`
const TEAM_ROLE = (installation: string, schema: string): string => `${CELL_ROLE(installation, schema)}_team`

/** In PostgreSQL 16 and later a member may be one that cannot take the role. */
const MAY_TAKE = `case when current_setting('server_version_num')::integer >= 160000 then pg_has_role(oid, 'SET') else pg_has_role(oid, 'MEMBER') end`

/** The role is none where there are no roles that the login may take, and, unless one is required, before they can reach the schema. */
const TAKE_ROLE = `
  select set_config('role', coalesce((
    select rolname from pg_roles
    where rolname = 'drawbridge_' || coalesce($1, left(encode(sha256(convert_to(current_database(), 'UTF8')), 'hex'), 8)) || '_' || $2
      and ${MAY_TAKE} and ($3 or has_schema_privilege(oid, to_regnamespace($4), 'usage'))), 'none'), false) as role`

const IN_FORCE = `select coalesce(row_security_active(to_regclass($1)), false) as in_force`

export interface RowSecurityOptions {
  schema: string
  /** In place of what the name of the database gives: for databases that are copies of another. */
  installation?: string | undefined
  /** `on` unless it is said. */
  row_security?: RowSecurityMode | undefined
}

/**
 * Take the role of a new connection, where there is one.
 * Errors: NoRowSecurity where a role was taken and no policy holds it yet, where one is required and there is none, and where none is taken
 * by a login that policies hold: it would find every table empty.
 */
export async function takeRole(client: pg.ClientBase, options: RowSecurityOptions, reach: Reach): Promise<void> {
  const { schema, installation, row_security } = options
  const suffix = reach === 'team' ? `${schema}_team` : schema
  const isRequired = row_security === 'required'
  const isTaken =
    row_security !== 'off' &&
    (await client.query<{ role: string }>(TAKE_ROLE, [installation ?? null, suffix, isRequired, schema])).rows[0]!.role !== 'none'
  if (!isTaken && isRequired)
    throw new NoRowSecurity(`The login may not take a role of schema "${schema}", and ROW_SECURITY is "required". ${RUN_MIGRATE}`)
  if (!isTaken && (await isInForce(client, schema)))
    throw new NoRowSecurity(
      `The login does not own the tables of schema "${schema}" and takes no role, so row-level security hides all rows from it. ${
        row_security === 'off' ? 'Connect as the owner, or set ROW_SECURITY to "on".' : RUN_MIGRATE
      }`,
    )
  if (row_security === 'off' || reach === 'cell') return
  if (isTaken && !(await isInForce(client, schema)))
    throw new NoRowSecurity(`Row-level security is not in force in schema "${schema}". ${RUN_MIGRATE}`)
  await prepareTeamSetting(client)
}

const RUN_MIGRATE = 'Run "bin/drawbridge migrate" as the owner of its tables; docs/OPERATING.md has the roles that it needs.'

/** Whether policies hold what the present role asks of the teams of a schema. */
async function isInForce(client: pg.ClientBase, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ in_force: boolean }>(IN_FORCE, [`${schema}.team`])
  return rows[0]!.in_force
}

/** How the rows of a schema are kept apart: by roles, or by the program alone: where the login may neither create nor take them, or they are off. */
export type Protection =
  | {
      by: 'roles'
      roles: string[]
      /** Other roles that have rights on tables of teams and find them empty, since policies hold them. */
      hidden_from: string[]
    }
  | { by: 'program'; statements: string[] }

/**
 * Make the roles of a schema, where the login may. Until `secureSchema` has granted them the schema they reach nothing.
 * @param client connected as the owner of the tables, with the schema in its search path
 * @returns without roles, the statements with which an administrator makes what is missing
 */
export async function makeRoles(client: pg.Client, { schema, installation }: RowSecurityOptions): Promise<Protection> {
  const { rows } = await client.query<{ database: string; login: string }>(
    'select current_database() as database, current_user as login',
  )
  const { database, login } = rows[0]!
  const named = installation ?? installationOf(database)
  const roles = schema === 'control' ? [CELL_ROLE(named, schema)] : [CELL_ROLE(named, schema), TEAM_ROLE(named, schema)]
  const { toCreate, toGrant } = await missingRoles(client, roles)
  if (toGrant.length === 0) return { by: 'roles', roles, hidden_from: [] }
  const grant = `grant ${toGrant.join(', ')} to ${client.escapeIdentifier(login)}`
  return { by: 'program', statements: [...toCreate.map((role) => `create role ${role}`), grant] }
}

/**
 * Make the policies and then the grants that a schema lacks, after its migrations. Changes nothing where they are there. Each table is
 * changed in a transaction of its own; the roles reach the schema when everything else is done. The caller sees to it that nobody else
 * does so at the same time.
 * @param client connected as the owner of the tables, with the schema in its search path
 * @param roles as `makeRoles` made them: that of the cell, then that of its teams
 * @returns other roles from which policies hide what they have rights on
 */
export async function secureSchema(client: pg.Client, schema: string, roles: string[]): Promise<string[]> {
  if (schema !== 'control' && !(await knowsTeams(client))) return []
  for (const statements of [
    await strangers(client, schema, roles),
    ...(await missingPolicies(client, schema, roles[0]!)),
    await missingGrants(client, schema, roles),
    await missingUsage(client, schema, roles),
  ])
    if (statements.length) await together(client, statements)
  return hiddenFrom(client, schema, roles)
}

/** Whether the roles reach the schema, so that what a migration makes has to have its policies and grants when it is committed. */
export async function isSecured(client: pg.Client, schema: string, roles: string[]): Promise<boolean> {
  return (await missingUsage(client, schema, roles)).length === 0
}

/** What secures what a migration has made, within its transaction. */
export const missingSecurity = async (client: pg.Client, schema: string, roles: string[]): Promise<string[]> => [
  ...(await missingPolicies(client, schema, roles[0]!)).flat(),
  ...(await missingGrants(client, schema, roles)),
]

/** A cell whose migrations go less far, as tests make it, has nothing that policies could ask. */
async function knowsTeams(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(`select to_regprocedure('current_team()') is not null as is_there`)
  return rows[0]!.is_there
}

async function together(client: pg.Client, statements: string[]): Promise<void> {
  await client.query('begin')
  try {
    for (const statement of statements) await client.query(statement)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

const INSUFFICIENT_PRIVILEGE = '42501'
/** Somebody else has just made it: roles belong to all databases of a cluster. */
const EXISTS = new Set(['42710', '23505'])

/** The roles that are not there and those that may not be taken, after what is allowed was made. */
async function missingRoles(client: pg.Client, names: string[]): Promise<{ toCreate: string[]; toGrant: string[] }> {
  const look = async () => {
    const { rows } = await client.query<{ name: string; usable: boolean }>(
      `select rolname as name, ${MAY_TAKE} as usable from pg_roles where rolname = any ($1)`,
      [names],
    )
    const found = new Map(rows.map(({ name, usable }) => [name, usable]))
    return { toCreate: names.filter((name) => !found.has(name)), toGrant: names.filter((name) => !found.get(name)) }
  }
  const attempt = (statement: string): Promise<unknown> =>
    client.query(statement).catch((error: { code?: string }) => {
      if (!EXISTS.has(error.code ?? '') && error.code !== INSUFFICIENT_PRIVILEGE) throw error
    })
  for (const name of (await look()).toCreate) await attempt(`create role ${name}`)
  const { toCreate, toGrant } = await look()
  for (const name of toGrant) if (!toCreate.includes(name)) await attempt(`grant ${name} to current_user`)
  return look()
}

/** Roles of others that have rights on tables of teams, do not own them and are held by policies: they find the tables empty. */
async function hiddenFrom(client: pg.Client, schema: string, own: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct r.rolname as name
     from pg_class c, aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
     where c.relnamespace = $1::regnamespace and c.relrowsecurity and r.rolname <> all ($2)
       and not r.rolsuper and not r.rolbypassrls and not pg_has_role(r.oid, c.relowner, 'usage')
     order by 1`,
    [schema, own],
  )
  return rows.map(({ name }) => name)
}

/** What takes back the grants of other installations: this database is a copy of theirs. */
async function strangers(client: pg.Client, schema: string, own: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct r.rolname as name
     from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
     where n.nspname = $1 and r.rolname ~ '^drawbridge_[0-9a-f]{8}_' and r.rolname <> all ($2)`,
    [schema, own],
  )
  return rows.flatMap(({ name }) =>
    ['all tables in schema', 'all sequences in schema', 'all functions in schema', 'schema'].map(
      (what) => `revoke all on ${what} ${schema} from ${client.escapeIdentifier(name)}`,
    ),
  )
}

/** Tables that the program only reads: others are written by `migrate`, and by the functions of the access log, which have the rights of the owner. */
const READ_ONLY = ['migration', 'access_log', 'access_day']
/** Tables that name no team and have what is in flight of all teams. */
const NOT_FOR_TEAMS = ['handful']

/**
 * Every table and sequence of the schema, but for those above, and nothing else. Partitions are reached through their table. Functions that
 * not everybody may execute are for the role of the cell, and not for that of teams.
 */
async function missingGrants(client: pg.Client, schema: string, roles: string[]): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format(case relkind when 'S' then 'grant usage on sequence %s to %I'
                                when 'v' then 'grant select on %s to %I'
                                else case when relname = any ($4) then 'grant select on %s to %I'
                                          else 'grant select, insert, update, delete on %s to %I' end end,
                   c.oid::regclass, role) as statement
     from pg_class c, unnest($2::text[]) as role
     where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p', 'S', 'v') and not c.relispartition
       and not (relname = any ($5) and role <> $3)
       and not case when relkind = 'S' then has_sequence_privilege(role, c.oid, 'usage')
                    when relkind = 'v' or relname = any ($4) then has_table_privilege(role, c.oid, 'select')
                    else has_table_privilege(role, c.oid, 'select') and has_table_privilege(role, c.oid, 'insert')
                     and has_table_privilege(role, c.oid, 'update') and has_table_privilege(role, c.oid, 'delete') end
     union all
     select format('grant execute on function %s to %I', p.oid::regprocedure, $3::text)
     from pg_proc p where p.pronamespace = $1::regnamespace and not has_function_privilege($3::text, p.oid, 'execute')
     order by 1`,
    [schema, roles, roles[0], READ_ONLY, NOT_FOR_TEAMS],
  )
  return rows.map(({ statement }) => statement)
}

async function missingUsage(client: pg.Client, schema: string, roles: string[]): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('grant usage on schema %I to %I', $1::text, role) as statement
     from unnest($2::text[]) as role where not has_schema_privilege(role, $1, 'usage')`,
    [schema, roles],
  )
  return rows.map(({ statement }) => statement)
}

interface TableRow {
  name: string
  has_team: boolean
  enabled: boolean
  policies: string[]
  /** The role for which the policy of the whole cell is. */
  whole_cell: string | null
}

/**
 * For each table with the column team_id, and each that has a policy by its migration: a policy for teams, and one for the role that works on
 * the whole cell. They do not hold the owner: programs of releases without row-level security go on.
 */
async function missingPolicies(client: pg.Client, schema: string, role: string): Promise<string[][]> {
  if (schema === 'control') return []
  const { rows } = await client.query<TableRow>(
    `select c.oid::regclass::text as name, c.relrowsecurity as enabled,
            exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'team_id' and not a.attisdropped) as has_team,
            array(select polname::text from pg_policy where polrelid = c.oid) as policies,
            (select r.rolname::text from pg_policy p join pg_roles r on r.oid = p.polroles[1]
             where p.polrelid = c.oid and p.polname = 'whole_cell') as whole_cell
     from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by 1`,
    [schema],
  )
  return rows
    .filter(({ has_team, policies }) => has_team || policies.length)
    .map(({ name, has_team, enabled, policies, whole_cell }) => {
      const statements: string[] = []
      if (has_team && !policies.includes('of_team'))
        statements.push(`create policy of_team on ${name} using (team_id = current_team()) with check (team_id = current_team())`)
      if (whole_cell !== role) {
        if (policies.includes('whole_cell')) statements.push(`drop policy whole_cell on ${name}`)
        statements.push(`create policy whole_cell on ${name} to ${role} using (true) with check (true)`)
      }
      if (!enabled) statements.push(`alter table ${name} enable row level security`)
      return statements
    })
}

/** Changes with the statements above: a copy that was made with others is not used again. */
export const protectionChecksum = (): string =>
  createHash('sha256')
    .update(readFileSync(new URL(import.meta.url)))
    .digest('hex')
