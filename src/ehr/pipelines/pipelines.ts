// EHR pipelines: the destination of a team's records, and the credentials for it. Owns ehr_pipeline; ehr/observations sends. Source:
// management-auth.md 14.
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { badRequest, unprocessable } from '../../platform/http/errors.ts'
import { valueFault, type Fault } from '../../platform/schema/fault.ts'
import type { RecordAuditSubject, ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { MASK } from '../../platform/crypto/api-keys.ts'
import { joinConditions, sql } from '../../platform/db/sql.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { teamAccessCondition, authorizedTeamsInRegion, authorizedTeam } from '../../tenancy/teams/team-access.ts'
import { TEAMS_MAX, type Authentication, type EhrType, type Pipeline, type UpsertPipelines } from './schema.ts'

/** The cell of a request. */
export interface TeamCell {
  environment: string
  region: string
}

const Row = T.Object({
  id: T.String(),
  team_id: T.String(),
  ehr_type: T.String(),
  base_url: T.String(),
  authentication: T.Record(T.String(), T.String()),
  allowed_mappers: Nullable(T.Array(T.String())),
  created_at: T.String(),
})
type Row = Omit<Static<typeof Row>, 'id' | 'created_at'>

const toWire = ({ team_id, ehr_type, base_url, authentication, allowed_mappers }: Row): Pipeline => ({
  team_id,
  type: 'native',
  ehr_type: ehr_type as EhrType,
  base_url,
  authentication: maskSecret(authentication),
  allowed_mappers,
})

/** The secret field of each kind of authentication. */
const secretField: Record<string, string> = { client_credentials: 'client_secret', api_key: 'api_key' }

function maskSecret(authentication: Record<string, string>): Authentication {
  const field = secretField[authentication.type!]
  return { ...authentication, ...(field && { [field]: MASK }) } as unknown as Authentication
}

/** Splits an authentication into its readable fields and its secret. */
function splitSecret(authentication: Authentication): { open: Record<string, string>; secret: string | undefined } {
  const field = secretField[authentication.type]
  if (!field) return { open: authentication, secret: undefined }
  const { [field]: secret, ...open } = authentication as Record<string, string>
  return { open: open as Record<string, string>, secret }
}

const pipelineColumns = sql`p.id, p.team_id, p.ehr_type, p.base_url, p.authentication, p.allowed_mappers, p.created_at`

/**
 * Lists pipelines of the accessible teams, newest first, 50 a page, with secrets masked.
 * Errors: 400 a cursor of another list; 403 or 404 an inaccessible team in the filter. A team of another region has none here.
 */
export async function listPipelines(
  tx: PlainTx,
  control: Queries,
  manager: ManagementPrincipal,
  place: TeamCell,
  query: { team_id?: string; next_cursor?: string },
) {
  const list = `ehr pipelines ${manager.org} ${place.environment} ${place.region} ${query.team_id ?? ''}`
  const pages = new Pages(list, query, byCreation('p'))
  const conditions = [teamAccessCondition(manager), pages.afterCursor]
  if (query.team_id !== undefined) {
    await authorizedTeam(control, manager, query.team_id)
    conditions.push(sql`p.team_id = ${query.team_id}`)
  }
  const rows = await tx.many(
    Row,
    sql`
    select ${pipelineColumns} from ehr_pipeline p join team t on t.id = p.team_id
    where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { data: page.map(toWire), next_token: next_cursor }
}

/**
 * Creates or replaces a pipeline of a type for teams: the given ones, or all accessible ones in the cell. Writes ehr_pipeline.
 * Errors: 400 a team of another region, or more than 1,000 teams; 403 or 404 an inaccessible team; 422 not https in production.
 */
export async function upsertPipelines(
  tx: PlainTx,
  { control, vault }: { control: Queries; vault: Vault },
  manager: ManagementPrincipal,
  place: TeamCell,
  body: UpsertPipelines,
  recordSubject: RecordAuditSubject,
): Promise<Pipeline[]> {
  if (place.environment === 'production') assertEncrypted(body)
  const teams = await resolveTargetTeams(tx, control, manager, place, body.team_ids)
  const { open, secret } = splitSecret(body.authentication)
  const encrypted = teams.map((team) =>
    secret === undefined ? null : vault.encrypt(secret, encryptionContext(team, body.ehr_type)),
  )
  const rows = await tx.many(
    Row,
    sql`
    insert into ehr_pipeline as p (id, team_id, ehr_type, base_url, authentication, secret, allowed_mappers, created_at, updated_at)
    select n.id, n.team_id, ${body.ehr_type}, ${body.base_url}, ${JSON.stringify(open)}::jsonb, n.secret,
           ${body.allowed_mappers?.length ? body.allowed_mappers : null}::text[], ${tx.now}, ${tx.now}
    from unnest(${teams.map(() => tx.uuid())}::uuid[], ${teams}::uuid[], ${encrypted}::text[]) as n (id, team_id, secret)
    on conflict (team_id, ehr_type) do update
    set base_url = excluded.base_url, authentication = excluded.authentication, secret = excluded.secret,
        allowed_mappers = excluded.allowed_mappers, updated_at = excluded.updated_at
    returning ${pipelineColumns}`,
  )
  for (const team of teams) recordSubject(team, body.ehr_type)
  const pipelineByTeam = new Map(rows.map((row) => [row.team_id, toWire(row)]))
  return teams.map((team) => pipelineByTeam.get(team)!)
}

/** An encrypted secret can only be decrypted in its own row. */
const encryptionContext = (team_id: string, ehr_type: string): string => `secret of EHR pipeline ${ehr_type} of ${team_id}`

export const encryptedPipelineSecretsColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'ehr_pipeline',
  column: 'secret',
  of: ['team_id', 'ehr_type'],
  context: encryptionContext,
}

/** Secrets and patient data do not leave production unencrypted. */
function assertEncrypted({ base_url, authentication }: UpsertPipelines): void {
  const faults: Fault[] = []
  const check = (url: string, ...loc: string[]) => {
    if (!/^https:/i.test(url)) faults.push(valueFault(['body', ...loc], 'must be https in production'))
  }
  check(base_url, 'base_url')
  if (authentication.type === 'client_credentials') check(authentication.token_url, 'authentication', 'token_url')
  if (faults.length) throw unprocessable(faults)
}

/**
 * Deletes the pipelines of a type: of the given teams that are accessible and in this cell, or of all accessible teams. Writes
 * ehr_pipeline.
 */
export async function deletePipelines(
  tx: PlainTx,
  manager: ManagementPrincipal,
  query: { team_id?: string[]; ehr_type: EhrType },
  recordSubject: RecordAuditSubject,
): Promise<void> {
  const deleted = await tx.many(
    Deleted,
    sql`
    delete from ehr_pipeline where ehr_type = ${query.ehr_type}
      and team_id in (select t.id from team t where ${teamAccessCondition(manager, query.team_id)}) returning team_id`,
  )
  for (const { team_id } of deleted) recordSubject(team_id, query.ehr_type)
}

const Deleted = T.Object({ team_id: T.String() })
const Id = T.Object({ id: T.String() })

async function resolveTargetTeams(
  tx: PlainTx,
  control: Queries,
  manager: ManagementPrincipal,
  place: TeamCell,
  names: readonly string[] | undefined,
): Promise<string[]> {
  const authorizedTeams = names && (await authorizedTeamsInRegion(control, manager, place.region, names))
  const rows = await tx.locking.many(
    Id,
    sql`select t.id from team t where ${teamAccessCondition(manager, authorizedTeams)} order by t.id limit ${TEAMS_MAX + 1} for key share`,
  )
  if (rows.length > TEAMS_MAX) throw badRequest(`More than ${TEAMS_MAX} teams match; specify team_ids in smaller batches`)
  if (authorizedTeams && rows.length < authorizedTeams.length) throw badRequest('A team does not exist in this environment')
  return authorizedTeams ?? rows.map(({ id }) => id)
}

const FhirRow = T.Object({
  base_url: T.String(),
  authentication: T.Record(T.String(), T.String()),
  secret: Nullable(T.String()),
  allowed_mappers: Nullable(T.Array(T.String())),
})

/** The secret is encrypted; `context` decrypts it. */
export type FhirPipeline = Static<typeof FhirRow> & { context: string }

/** The key of a team's cached pipeline. */
export const FHIR_PIPELINE = 'FHIR pipeline'

/** Where a team's Observations are sent; undefined if nowhere. */
export async function fhirPipeline(tx: Tx): Promise<FhirPipeline | undefined> {
  const row = await tx.maybe(
    FhirRow,
    sql`select base_url, authentication, secret, allowed_mappers from ehr_pipeline where team_id = ${tx.team} and ehr_type = 'fhir'`,
  )
  return row && { ...row, context: encryptionContext(tx.team, 'fhir') }
}
