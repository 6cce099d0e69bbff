// Row-level security: besides the conditions of the statements, the database itself separates teams. Each schema has its own roles, which
// see no other schema; the connections of this program take one of them. On connections for teams a policy lets a statement see only the
// rows of the team in `drawbridge.team`; other connections see the whole cell. Roles, grants and policies are created after the migrations,
// for all tables that exist then. Reasons: docs/decisions/row-security.md.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { inTransaction } from './in-transaction.ts'
import { NoRowSecurity, type RowSecurityMode } from './no-row-security.ts'
import type { DatabaseConnection } from './database-connection.ts'

/** Which rows the statements of a connection see: the whole schema, or those of the team that each statement names. */
export type Reach = 'cell' | 'team'

/** Distinguishes the roles of two installations that share a PostgreSQL cluster. */
export const installationOf = (database: string): string => createHash('sha256').update(database).digest('hex').slice(0, 8)

const CELL_ROLE = (installation: string, schema: string): string => `drawbridge_${installation}_${schema}`
const TEAM_ROLE = (installation: string, schema: string): string => `${CELL_ROLE(installation, schema)}_team`

/** In PostgreSQL 16 and later a member may lack the right to take the role. */
const MAY_TAKE = `case when current_setting('server_version_num')::integer >= 160000 then pg_has_role(oid, 'SET') else pg_has_role(oid, 'MEMBER') end`

/**
 * The role is null if there are no roles that the login may take, and, unless a role is required, before the roles can reach the schema.
 */
const TAKE_ROLE = `
  select set_config('role', coalesce((
    select rolname from pg_roles
    where rolname = 'drawbridge_' || coalesce($1, left(encode(sha256(convert_to(current_database(), 'UTF8')), 'hex'), 8)) || '_' || $2
      and ${MAY_TAKE} and ($3 or has_schema_privilege(oid, to_regnamespace($4), 'usage'))), 'none'), false) as role`

const IN_FORCE = `select coalesce(row_security_active(to_regclass($1)), false) as in_force`

export interface RowSecurityOptions {
  schema: string
  /** Replaces the value that the database name gives: for databases that are copies of another. */
  installation?: string | undefined
  /** Default: `on`. */
  row_security?: RowSecurityMode | undefined
}

/**
 * Takes the role of a new connection, if there is one. Errors: NoRowSecurity if a role was taken and no policy applies to it yet, if a role
 * is required and there is none, and if the login keeps its own role although policies apply to it: it would find every table empty.
 */
export async function takeRole(client: DatabaseConnection, options: RowSecurityOptions, reach: Reach): Promise<void> {
  const { schema, installation, row_security } = options
  const suffix = reach === 'team' ? `${schema}_team` : schema
  const isRequired = row_security === 'required'
  const isTaken =
    row_security !== 'off' &&
    (await client.send({ text: TAKE_ROLE, values: [installation ?? null, suffix, isRequired, schema] })).rows[0]!.role !== 'none'
  if (!isTaken && isRequired)
    throw new NoRowSecurity(`The login may not take a role of schema "${schema}", and ROW_SECURITY is "required". ${RUN_MIGRATE}`)
  if (!isTaken && (await isInForce(client, schema)))
    throw new NoRowSecurity(
      `The login does not own the tables of schema "${schema}" and takes no role, so row-level security hides all rows from it. ${
        row_security === 'off' ? 'Connect as the owner, or set ROW_SECURITY to "on".' : RUN_MIGRATE
      }`,
    )
  if (reach === 'team' && isTaken && !(await isInForce(client, schema)))
    throw new NoRowSecurity(`Row-level security is not in force in schema "${schema}". ${RUN_MIGRATE}`)
}

const RUN_MIGRATE =
  'Run "bin/drawbridge migrate" as the owner of its tables; docs/operating/database.md has the roles that it needs.'

/** Whether policies apply to the current role's statements on the teams of a schema. */
async function isInForce(client: DatabaseConnection, schema: string): Promise<boolean> {
  const { rows } = await client.send({ text: IN_FORCE, values: [`${schema}.team`] })
  return rows[0].in_force
}

/**
 * How the rows of a schema are separated: by roles, or only by the program: the login may neither create nor take roles, or they are off.
 */
export type Protection =
  | {
      by: 'roles'
      roles: string[]
      /** Other roles that have rights on tables of teams and find them empty, because policies apply to them. */
      hidden_from: string[]
    }
  | { by: 'program'; statements: string[] }

/**
 * Creates the roles of a schema if the login may. Until `secureSchema` has granted them the schema they can access nothing.
 * @param client connected as the owner of the tables, with the schema in its search path
 * @returns without roles, the statements with which an administrator creates what is missing
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
 * Creates the policies and then the grants that a schema lacks, after its migrations. Changes nothing if they exist. Each table is changed
 * in a transaction of its own; the roles get access to the schema last. The caller ensures that no other process does the same at the same
 * time.
 * @param client connected as the owner of the tables, with the schema in its search path
 * @param roles the result of `makeRoles`: the role of the cell, then that of its teams
 * @returns other roles to which policies hide tables that they have rights on
 */
export async function secureSchema(client: pg.Client, schema: string, roles: string[]): Promise<string[]> {
  for (const statements of [
    await strangers(client, schema, roles),
    ...(await missingPolicies(client, schema, roles[0]!)),
    await missingGrants(client, schema, roles),
    await missingUsage(client, schema, roles),
  ])
    if (statements.length) await inTransaction(client, async () => void (await client.query(statements.join(';\n'))))
  return hiddenFrom(client, schema, roles)
}

/** Whether the roles have access to the schema, so that new objects of a migration need their policies and grants when it commits. */
export async function isSecured(client: pg.Client, schema: string, roles: string[]): Promise<boolean> {
  return (await missingUsage(client, schema, roles)).length === 0
}

/** Adds policies and grants to the new objects of a migration, within its transaction. */
export const missingSecurity = async (client: pg.Client, schema: string, roles: string[]): Promise<string[]> => [
  ...(await missingPolicies(client, schema, roles[0]!)).flat(),
  ...(await missingGrants(client, schema, roles)),
]

/**
 * The statements that end row-level security in a schema: for each table that has it, and for every role that `makeRoles` has created, also
 * those of other installations.
 */
export async function removalOfSecurity(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where c.relnamespace = $1::regnamespace and c.relrowsecurity order by 1`,
    [schema],
  )
  return [
    ...(await strangers(client, schema, [])),
    ...rows.flatMap(({ name }) => [
      `drop policy if exists whole_cell on ${name}`,
      `alter table ${name} disable row level security`,
    ]),
  ]
}

const INSUFFICIENT_PRIVILEGE = '42501'
/** Another process has just created it: roles belong to all databases of a cluster. */
const EXISTS = new Set(['42710', '23505'])

/** The roles that do not exist or that the login may not take, after creating what is allowed. */
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

/**
 * Roles of other programs that have rights on tables of teams, do not own them, and to which policies apply: they find the tables empty.
 */
async function hiddenFrom(client: pg.Client, schema: string, roles: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct r.rolname as name
     from pg_class c, aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
     where c.relnamespace = $1::regnamespace and c.relrowsecurity and r.rolname <> all ($2)
       and not r.rolsuper and not r.rolbypassrls and not pg_has_role(r.oid, c.relowner, 'usage')
     order by 1`,
    [schema, roles],
  )
  return rows.map(({ name }) => name)
}

/** Revokes the grants of other installations: this database is a copy of theirs. */
async function strangers(client: pg.Client, schema: string, roles: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct r.rolname as name
     from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
     where n.nspname = $1 and r.rolname ~ '^drawbridge_[0-9a-f]{8}_' and r.rolname <> all ($2)`,
    [schema, roles],
  )
  return rows.flatMap(({ name }) =>
    ['all tables in schema', 'all sequences in schema', 'all functions in schema', 'schema'].map(
      (objects) => `revoke all on ${objects} ${schema} from ${client.escapeIdentifier(name)}`,
    ),
  )
}

/** Tables that the program only reads: `migrate` writes them, or the functions of the access log, which have the rights of the owner. */
const READ_ONLY = ['migration', 'access_log', 'access_day', 'access_log_retention', 'access_archive']
/**
 * Every table and sequence of the schema, and nothing else. Partitions are reached through their table. Functions
 * that PUBLIC may not execute are granted to the role of the cell, and not to that of teams.
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
       and not case when relkind = 'S' then has_sequence_privilege(role, c.oid, 'usage')
                    when relkind = 'v' or relname = any ($4) then has_table_privilege(role, c.oid, 'select')
                    else has_table_privilege(role, c.oid, 'select') and has_table_privilege(role, c.oid, 'insert')
                     and has_table_privilege(role, c.oid, 'update') and has_table_privilege(role, c.oid, 'delete') end
     union all
     select format('grant execute on function %s to %I', p.oid::regprocedure, $3::text)
     from pg_proc p where p.pronamespace = $1::regnamespace and not has_function_privilege($3::text, p.oid, 'execute')
     order by 1`,
    [schema, roles, roles[0], READ_ONLY],
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
  /** The role to which the policy of the whole cell applies. */
  whole_cell: string | null
}

/**
 * For each table with the column team_id, and each table whose migration gives it a policy: one policy for teams, and one for the role that
 * works on the whole cell. They do not apply to the owner.
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

/** Changes with the statements above: a copy that was made with other statements is not reused. */
export const protectionChecksum = (): string =>
  createHash('sha256')
    .update(readFileSync(new URL(import.meta.url)))
    .digest('hex')
