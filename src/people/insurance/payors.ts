// Payors: insurers that a laboratory can bill. Owns payor, together with load.ts: the platform's directory and the payors that teams have
// added. Does not know insurances. Source: lab-testing.md 26.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, missingField } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { joinConditions, likeAnywhere, likeText, sql, type Sql } from '../../platform/db/sql.ts'
import { ContactAddress, toContactAddress } from '../person/address.ts'
import type { Clearinghouse, CreatePayor, Payor } from './schema.ts'

/** Maximum number of payors that a team can add. */
const TEAM_PAYORS_MAX = 1000
const FOUND_MAX = 100

const Row = T.Object({
  code: T.String(),
  team_id: Nullable(T.String()),
  name: T.String(),
  aliases: T.Array(T.String()),
  org_address: ContactAddress,
})

const payorColumns = sql`code, team_id, name, aliases, org_address`

/** The platform's payors, and the team's own. */
const visible = (tx: Tx): Sql => sql`(team_id is null or team_id = ${tx.team})`

const toPayor = ({ code, team_id, ...payor }: Static<typeof Row>): Payor => ({
  payor_code: code,
  ...payor,
  source: team_id === null ? 'platform' : 'team',
})

/** The fields by which a payor is searched. */
export interface PayorReference {
  insurance_name?: string | undefined
  provider?: Clearinghouse | undefined
  external_code?: string | undefined
}

const nameCondition = (name: string): Sql =>
  sql`concat_ws(' ', name, array_to_string(aliases, ' ')) ilike all (${wordsOf(name).map(likeAnywhere)}::text[])`

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean).slice(0, 20)

/** The code of a clearinghouse; if there is none, the electronic payer id. */
const codeCondition = (provider: Clearinghouse, code: string): Sql =>
  sql`upper(coalesce(external_codes->>${provider}, payer_id)) = upper(${code})`

/**
 * Searches the platform's and the team's own payors: those that contain every word of a name in their name or aliases, or that have a
 * clearinghouse's code. Returns the 100 most relevant, exact names first, then names with that prefix.
 * Errors: 422 neither a name nor both provider and code. @param codeField name of the code field in the request
 */
export async function searchPayors(tx: Tx, reference: PayorReference, codeLocation: string, codeField: string): Promise<Payor[]> {
  const { insurance_name, provider, external_code } = reference
  const name = insurance_name?.trim() || undefined
  if (name === undefined && provider === undefined && external_code === undefined)
    throw invalidField([codeLocation], `insurance_name, or provider and ${codeField}, must be given`)
  if ((provider === undefined) !== (external_code === undefined))
    throw missingField([codeLocation, provider ? codeField : 'provider'])
  const conditions = [
    visible(tx),
    ...(name === undefined ? [] : [nameCondition(name)]),
    ...(provider && external_code !== undefined ? [codeCondition(provider, external_code)] : []),
  ]
  const rows = await tx.many(
    Row,
    sql`
    select ${payorColumns} from payor where ${joinConditions(conditions)}
    order by lower(${name ?? ''}) = any (array(select lower(n) from unnest(aliases || name) as n)) desc,
             name ilike ${`${likeText(name ?? '')}%`} desc, length(name), name, code
    limit ${FOUND_MAX}`,
  )
  return rows.map(toPayor)
}

/** Codes of public programs, which have a different plan in every state. */
const programs: Record<string, string> = { MEDFED: 'medicare', MAIDFED: 'medicaid' }

/**
 * Returns the payor of a code. Errors: 400 neither the platform nor the team has one; 400 a public program without a plan in the state.
 * @param state of the patient, for the code of a public program
 */
export async function resolvePayor(tx: Tx, code: string, state: string): Promise<Payor> {
  const program = Object.hasOwn(programs, code.toUpperCase()) ? programs[code.toUpperCase()]! : undefined
  const which = program ? sql`program = ${program} and state = ${state}` : sql`code = ${code}`
  const row = await tx.maybe(Row, sql`select ${payorColumns} from payor where ${which} and ${visible(tx)}`)
  if (row) return toPayor(row)
  throw badRequest(program ? 'No plan of this program is known in the state of the patient' : 'Payor code does not exist')
}

const Found = T.Object({ owner: T.String(), n: T.Integer() })

/**
 * Adds a payor that only the team sees. Writes payor.
 * Errors: 400 the platform or the team already has this name or code; 400 the team already has 1,000; 422 only one of provider and code.
 */
export async function createPayor(tx: Tx, body: CreatePayor): Promise<Payor> {
  const { name, provider, provider_payor_id } = body
  if ((provider === undefined) !== (provider_payor_id === undefined))
    throw missingField(['body', provider ? 'provider_payor_id' : 'provider'])
  await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
  const same = [
    sql`lower(${name}) = any (array(select lower(n) from unnest(aliases || name) as n))`,
    ...(provider && provider_payor_id !== undefined ? [codeCondition(provider, provider_payor_id)] : []),
  ]
  const found = await tx.many(
    Found,
    sql`
    select 'platform' as owner, count(*) as n from payor where team_id is null and (${eitherCondition(same)})
    union all select 'team', count(*) from payor where team_id = ${tx.team} and (${eitherCondition(same)})
    union all select 'all', count(*) from payor where team_id = ${tx.team}`,
  )
  const count = (owner: string) => found.find((row) => row.owner === owner)!.n
  if (count('platform')) throw badRequest('The platform already has this payor; search for it')
  if (count('team')) throw badRequest('The team already has this payor; search for it')
  if (count('all') >= TEAM_PAYORS_MAX) throw badRequest(`A team has at most ${TEAM_PAYORS_MAX} payors of its own`)
  const external = provider && provider_payor_id !== undefined ? { [provider]: provider_payor_id } : {}
  const row = await tx.one(
    Row,
    sql`
    insert into payor (code, team_id, origin, name, aliases, org_address, external_codes, created_at)
    values (${tx.uuid()}, ${tx.team}, 'team', ${name}, '{}', ${JSON.stringify(toContactAddress(body.address))},
            ${JSON.stringify(external)}, ${tx.now})
    returning ${payorColumns}`,
  )
  return toPayor(row)
}

const eitherCondition = (conditions: Sql[]): Sql => conditions.reduce((left, right) => sql`${left} or ${right}`)
