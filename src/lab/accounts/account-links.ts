// The link of a lab account: at most one, with the profile of its messages, its mode and its state. Owns lab_link.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { LinkProfile, ProfileOptions } from '../links/profile/link-profile.ts'
import { readProfileFile, wholeProfile, type StoredProfile } from '../links/profile/read-profile.ts'
import type { PresetName } from '../links/profile/presets.ts'
import { withSecrets, type Secrets } from '../links/profile/secrets.ts'
import { linkModes, type LinkMode, type LinkState } from '../links/link-modes.ts'
import { invalidateUsableAccounts } from './account-selection.ts'

/** An encrypted secret can only be decrypted in its own row. */
const encryptionContext = (account_id: string): string => `secrets of lab link ${account_id}`

export const encryptedLinkSecretsColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'lab_link',
  isShared: true,
  column: 'secrets',
  of: ['account_id'],
  context: encryptionContext,
}

const SecretsRow = T.Object({ secrets: Nullable(T.String()) })

/**
 * Sets the profile of an account's link. A new link is in mode `off`. Writes lab_link.
 * Errors: 400 with every fault of the profile; 404 unknown account.
 * @param file the written form of a profile. A mask keeps a stored secret; a secret that is absent is deleted.
 * @param vault needed if the profile has secrets
 */
export async function saveLink(tx: PlainTx, account_id: string, file: unknown, vault?: Vault): Promise<void> {
  const row = await tx.locking.maybe(
    SecretsRow,
    sql`select secrets from lab_link where account_id = ${account_id} for no key update`,
  )
  const { preset, options, secrets } = readProfileFile(file, row && vault ? decryptSecrets(vault, account_id, row.secrets) : {})
  const encrypted = Object.keys(secrets).length
    ? requireVault(vault).encrypt(JSON.stringify(secrets), encryptionContext(account_id))
    : null
  const { transport, order_content } = wholeProfile({ preset, options })
  const sends_orders = transport.orders !== 'none'
  const sends_kits = order_content.kits === 'staff'
  const count = await tx.run(sql`
    insert into lab_link (account_id, preset, options, secrets, sends_orders, sends_kits, mode, state, state_at, created_at, updated_at)
    select id, ${preset}, ${JSON.stringify(options)}, ${encrypted}, ${sends_orders}, ${sends_kits}, 'off', 'ok', ${tx.now}, ${tx.now}, ${tx.now}
    from lab_account where id = ${account_id}
    on conflict (account_id) do update
    set preset = excluded.preset, options = excluded.options, secrets = excluded.secrets, sends_orders = excluded.sends_orders,
        sends_kits = excluded.sends_kits, updated_at = excluded.updated_at`)
  if (!count) throw notFound('Lab account not found')
  await invalidateAccount(tx, account_id)
}

function requireVault(vault: Vault | undefined): Vault {
  if (!vault) throw new Error('a vault is needed for the secrets of a link')
  return vault
}

const decryptSecrets = (vault: Vault, account_id: string, secrets: string | null): Secrets =>
  secrets === null ? {} : (JSON.parse(vault.decrypt(secrets, encryptionContext(account_id))) as Secrets)

const TeamRow = T.Object({ team_id: T.String() })

/** Invalidates the cached accounts of the account's teams. Other teams notice a change of the platform's account within 4 s. */
async function invalidateAccount(tx: PlainTx, account_id: string): Promise<void> {
  const teams = await tx.many(TeamRow, sql`select team_id from lab_account_team where account_id = ${account_id}`)
  for (const { team_id } of teams) invalidateUsableAccounts(tx, team_id)
}

const LinkRow = T.Object({
  account_id: T.String(),
  /** Null: the platform's. */
  org_id: Nullable(T.String()),
  lab_slug: T.String(),
  /** Of the account at the laboratory. */
  account_number: T.String(),
  preset: Nullable(T.Unsafe<PresetName>({ type: 'string' })),
  options: T.String(),
  mode: T.Unsafe<LinkMode>({ type: 'string' }),
  /** In mode `live_for_team`. */
  live_team_id: Nullable(T.String()),
  state: T.Unsafe<LinkState>({ type: 'string' }),
  /** Since when it is in the state. */
  state_at: Timestamp,
  /** Why it fails; without patient data. */
  state_reason: Nullable(T.String()),
  /** When the last message came and went, to within ten seconds. */
  received_at: Nullable(Timestamp),
  sent_at: Nullable(Timestamp),
  /** Changes with the profile and the mode. */
  version: T.String(),
})
type LinkRow = Static<typeof LinkRow>

export interface AccountLink extends Omit<LinkRow, keyof StoredProfile>, StoredProfile {
  /** Every option has a value. Without secrets, unless it comes from `findLinkWithSecrets`. */
  profile: LinkProfile
}

const selectLinks = sql`
  select k.account_id, a.org_id, l.slug as lab_slug, a.provider_account_id as account_number, k.preset, k.options, k.mode, k.live_team_id,
         k.state, k.state_at, k.state_reason, k.received_at, k.sent_at, k.updated_at::text as version
  from lab_link k join lab_account a on a.id = k.account_id join lab l on l.id = a.lab_id`

function toLink({ options: text, ...row }: LinkRow): AccountLink {
  const options = JSON.parse(text) as ProfileOptions
  return { ...row, options, profile: wholeProfile({ preset: row.preset, options }) }
}

/** The link of an account; undefined if it has none. */
export async function findLink(db: Queries, account_id: string): Promise<AccountLink | undefined> {
  const row = await db.maybe(LinkRow, sql`${selectLinks} where k.account_id = ${account_id}`)
  return row && toLink(row)
}

/** Maximum number of links that are listed. */
const LINKS_MAX = 5000

/** The links of the cell, oldest first; those of an organization, or in some of the modes. */
export async function listLinks(
  db: Queries,
  { org_id, modes }: { org_id?: string; modes?: readonly LinkMode[] } = {},
): Promise<AccountLink[]> {
  const ofOrg: Sql = org_id === undefined ? sql`true` : sql`a.org_id = ${org_id}`
  const rows = await db.many(
    LinkRow,
    sql`${selectLinks} where ${ofOrg} and k.mode = any (${modes ?? linkModes}) order by k.created_at, k.account_id limit ${LINKS_MAX}`,
  )
  return rows.map(toLink)
}

/** The paths of the options of a link for which secrets are stored. */
export async function listSecretOptions(db: Queries, vault: Vault, account_id: string): Promise<string[]> {
  const row = await db.maybe(SecretsRow, sql`select secrets from lab_link where account_id = ${account_id}`)
  return row ? Object.keys(decryptSecrets(vault, account_id, row.secrets)) : []
}

/** A link whose profile has its secrets, for a transport. Never print it. */
export async function findLinkWithSecrets(db: Queries, vault: Vault, account_id: string): Promise<AccountLink | undefined> {
  const [link, row] = await Promise.all([
    findLink(db, account_id),
    db.maybe(SecretsRow, sql`select secrets from lab_link where account_id = ${account_id}`),
  ])
  return link && row && { ...link, profile: withSecrets(link.profile, decryptSecrets(vault, account_id, row.secrets)) }
}

/**
 * Sets the mode of a link. Writes lab_link.
 * Errors: 400 `live_for_team` without a team that may order under the account, or another mode with a team; 404 no link.
 */
export async function setLinkMode(tx: PlainTx, account_id: string, mode: LinkMode, team_id: string | null = null): Promise<void> {
  if ((mode === 'live_for_team') !== (team_id !== null))
    throw badRequest('A team is required for the mode live_for_team, and only for it')
  if (team_id !== null) await assertMayOrder(tx, account_id, team_id)
  const count = await tx.run(sql`
    update lab_link set mode = ${mode}, live_team_id = ${team_id}, updated_at = ${tx.now} where account_id = ${account_id}`)
  if (!count) throw notFound('The lab account has no link')
  await invalidateAccount(tx, account_id)
}

async function assertMayOrder(tx: PlainTx, account_id: string, team_id: string): Promise<void> {
  const row = await tx.maybe(
    TeamRow,
    sql`
    select t.id as team_id from team t
    where t.id = ${team_id} and t.deleted_at is null
      and (exists (select from lab_account_team l where l.account_id = ${account_id} and l.team_id = t.id)
           or exists (select from lab_account a where a.id = ${account_id} and a.org_id is null))`,
  )
  if (!row) throw badRequest('The team may not order under the lab account')
}

/**
 * Notes that a link works, or why it does not. Writes lab_link.
 * @param reason without patient data
 * @returns whether the state has changed
 */
export async function setLinkState(tx: PlainTx, account_id: string, reason: string | null): Promise<boolean> {
  const state: LinkState = reason === null ? 'ok' : 'failing'
  const changed = await tx.run(sql`
    update lab_link set state = ${state}, state_at = ${tx.now}, state_reason = ${reason}
    where account_id = ${account_id} and state <> ${state}`)
  if (!changed && reason !== null)
    await tx.run(sql`
      update lab_link set state_reason = ${reason} where account_id = ${account_id} and state_reason is distinct from ${reason}`)
  return changed > 0
}

/** Notes that a message came or went over a link, at most once in ten seconds. Writes lab_link. */
export async function noteTraffic(tx: PlainTx, account_id: string, direction: 'in' | 'out'): Promise<void> {
  const column = direction === 'in' ? sql`received_at` : sql`sent_at`
  const stale = new Date(tx.now.getTime() - TRAFFIC_MS)
  await tx.run(sql`
    update lab_link set ${column} = ${tx.now} where account_id = ${account_id} and (${column} is null or ${column} < ${stale})`)
}

const TRAFFIC_MS = 10_000

/** Ends the mode `live_for_team` of links whose team is erased: they receive in mode `shadow`. Writes lab_link. */
export const endLinksOfTeam = (tx: PlainTx, team_id: string): Promise<number> =>
  tx.run(sql`update lab_link set mode = 'shadow', live_team_id = null where live_team_id = ${team_id}`)
