// Links of an organization's accounts, as its administrators manage them. Links of the platform's accounts are the operator's.
import { isDeepStrictEqual } from 'node:util'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, notFound, unprocessable } from '../../platform/http/errors.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { LinkMode } from '../links/link-modes.ts'
import { ProfileProblem, profileDifferences, toProfileFile, type ProfileFile } from '../links/profile/read-profile.ts'
import {
  findLink,
  findLinkWithSecrets,
  listLinks,
  listSecretOptions,
  saveLink,
  setLinkMode,
  type AccountLink,
} from './account-links.ts'
import type { LabLink } from './link-schema.ts'

/** The account that an operation names, and who asks. */
export interface OwnAccount {
  org: string
  account_id: string
}

/** The links of an organization's accounts, oldest first. */
export async function listOwnLinks(tx: PlainTx, vault: Vault, org_id: string): Promise<LabLink[]> {
  const links = await listLinks(tx, { org_id })
  return Promise.all(links.map((link) => toWire(tx, vault, link)))
}

/** Errors: 404 the organization has no such account, or the account has no link. */
export async function readOwnLink(tx: PlainTx, vault: Vault, account: OwnAccount): Promise<LabLink> {
  return toWire(tx, vault, await requireOwnLink(tx, account))
}

/** The written form of the profile, with masks for secrets. Errors: as `readOwnLink`. */
export async function exportOwnLink(tx: PlainTx, vault: Vault, account: OwnAccount): Promise<ProfileFile> {
  const link = await requireOwnLink(tx, account)
  return toProfileFile(link, await listSecretOptions(tx, vault, link.account_id))
}

/**
 * Replaces the profile of a link, or creates the link in mode `off`. The group `transport` stays as it is, because it reaches from this server
 * into networks and folders: only the operator sets it. Writes lab_link.
 * Errors: 400 another transport than the stored one; 404 the organization has no such account; 422 with every fault of the profile.
 */
export async function saveOwnLink(tx: PlainTx, vault: Vault, account: OwnAccount, file: ProfileFile): Promise<LabLink> {
  await assertOwnAccount(tx, account)
  const link = await findLink(tx, account.account_id)
  const transport = link && toProfileFile(link, await listSecretOptions(tx, vault, link.account_id)).transport
  if (file.transport !== undefined && !isDeepStrictEqual(file.transport, transport ?? {}))
    throw badRequest('The transport of a link is set by the operator with: bin/drawbridge links set')
  await saveLink(tx, account.account_id, { ...file, transport: transport ?? {} }, vault).catch((error: unknown) => {
    if (!(error instanceof ProfileProblem)) throw error
    throw unprocessable(error.faults.map((fault) => ({ ...fault, loc: ['body', ...fault.loc] })))
  })
  return readOwnLink(tx, vault, account)
}

/** Sets the mode of a link. Writes lab_link. Errors: as `setLinkMode`; 404 the organization has no such account. */
export async function setOwnMode(
  tx: PlainTx,
  vault: Vault,
  account: OwnAccount,
  { mode, team_id }: { mode: LinkMode; team_id?: string },
): Promise<LabLink> {
  await assertOwnAccount(tx, account)
  await setLinkMode(tx, account.account_id, mode, team_id ?? null)
  return readOwnLink(tx, vault, account)
}

/** The link with its secrets, to use its transport. Never show it. Errors: as `readOwnLink`. */
export async function findOwnLink(tx: PlainTx, vault: Vault, { org, account_id }: OwnAccount): Promise<AccountLink> {
  await requireOwnLink(tx, { org, account_id })
  return (await findLinkWithSecrets(tx, vault, account_id))!
}

async function requireOwnLink(tx: PlainTx, account: OwnAccount): Promise<AccountLink> {
  await assertOwnAccount(tx, account)
  const link = await findLink(tx, account.account_id)
  if (!link) throw notFound('The lab account has no link')
  return link
}

/** Errors: 404 the organization has no such account. */
export async function assertOwnAccount(tx: PlainTx, { org, account_id }: OwnAccount): Promise<void> {
  const row = await tx.maybe(
    T.Object({ id: T.String() }),
    sql`select id from lab_account where id = ${account_id} and org_id = ${org}`,
  )
  if (!row) throw notFound('Lab account not found')
}

async function toWire(tx: PlainTx, vault: Vault, link: AccountLink): Promise<LabLink> {
  const { account_id, lab_slug, account_number, mode, live_team_id, state, state_at, state_reason, received_at, sent_at } = link
  return {
    account_id,
    lab: lab_slug,
    account_number,
    mode,
    live_team_id,
    state,
    state_at,
    state_reason,
    received_at,
    sent_at,
    preset: link.preset,
    secrets: await listSecretOptions(tx, vault, account_id),
    differences: profileDifferences(link).map(({ option, standard = null, value }) => ({ option, standard, value })),
  }
}
