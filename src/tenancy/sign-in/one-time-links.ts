// Links that work once: for the first administrator of an installation, and to set a password. The token is in the fragment of the address,
// which browsers do not send, and its hash is stored. Invites have tokens of their own (members/invites.ts).
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { generateKey, hashKey } from '../../platform/crypto/api-keys.ts'
import { sql } from '../../platform/db/sql.ts'
import { createOrg } from '../organizations/organizations.ts'
import { addMember } from '../members/members.ts'
import { findInvite, takeInvite } from '../members/invites.ts'
import type { PasswordAccount } from './passwords.ts'
import { LinkOwner } from './schema.ts'

const TOKEN_PREFIX = 'ol_'
/** In the format of `generateKey`, of a link or of an invite. */
const TOKEN = /^(ol|inv)_[\w-]{43}$/
export const isLinkToken = (text: string): boolean => TOKEN.test(text)

const DAY_S = 86_400
const RESET_S = 3600
/** Links of one member, or of the first administrator, that work at the same time. */
const LINKS_MAX = 5
const ORG_NAME = 'Organization'

/** The page of the console that a link opens. */
export const linkAddress = (publicUrl: string, page: 'setup' | 'reset' | 'invite', token: string): string =>
  `${publicUrl}/console/${page}#token=${token}`

/** Adds a link; the oldest beyond `LINKS_MAX` stop working. Writes one_time_link. */
async function addLink(tx: PlainTx, member_id: string | null, lifetime_s: number): Promise<string> {
  const token = generateKey(TOKEN_PREFIX)
  await tx.run(sql`
    insert into one_time_link (id, member_id, token_hash, created_at, expires_at)
    values (${tx.uuid()}, ${member_id}, ${hashKey(token)}, ${tx.now}, ${addSeconds(tx.now, lifetime_s)})`)
  await tx.run(sql`
    delete from one_time_link where id in (
      select id from one_time_link where member_id is not distinct from ${member_id}::uuid order by created_at desc, id desc
      offset ${LINKS_MAX})`)
  return token
}

const Credentials = T.Object({ exist: T.Boolean() })

/**
 * Creates the link of the first administrator, valid for a day. Writes one_time_link.
 * @returns undefined if a member has a password: then there is an administrator
 */
export async function createSetupLink(tx: PlainTx): Promise<string | undefined> {
  const { exist } = await tx.one(
    Credentials,
    sql`select exists (select from member_password) or exists (select from passkey) as exist`,
  )
  return exist ? undefined : addLink(tx, null, DAY_S)
}

/** Creates a link with which a member sets a password, valid for a day. Writes one_time_link. */
export const createMemberLink = (tx: PlainTx, member_id: string): Promise<string> => addLink(tx, member_id, DAY_S)

/** Sends a member a link to set a password, valid for an hour. Writes one_time_link, mail. */
export async function sendResetMail(tx: PlainTx, { member_id, email }: PasswordAccount, publicUrl: string): Promise<void> {
  const token = await addLink(tx, member_id, RESET_S)
  sendMail(tx, {
    to: email,
    subject: 'Set your password',
    text: `We received a request to set a new password for this address. Open this page within an hour:\n\n${linkAddress(publicUrl, 'reset', token)}\n\nIf it was not you, ignore this mail: your password stays as it is.`,
    lifetime_s: RESET_S,
  })
}

/** Whom a link is for; undefined if it is unknown, used or expired. `kind`: `setup`, `reset` or `invitation`. */
export async function findLink(control: Queries, token: string, now: Date): Promise<LinkOwner | undefined> {
  if (token.startsWith('inv_')) {
    const invite = await findInvite(control, token, now)
    return invite && { kind: 'invitation', email: invite.email, name: null }
  }
  return control.maybe(
    LinkOwner,
    sql`
    select case when l.member_id is null then 'setup' else 'reset' end as kind, m.email, m.name
    from one_time_link l left join member m on m.id = l.member_id
    where l.token_hash = ${hashKey(token)} and l.expires_at > ${now}`,
  )
}

const MemberOfOrg = T.Object({ member_id: T.String(), org_id: T.String() })
type MemberOfOrg = Static<typeof MemberOfOrg>
const UsedLink = T.Object({ member_id: Nullable(T.String()) })
const Organization = T.Object({ id: T.String() })

/**
 * Uses a link up, and all others of its member. Writes one_time_link, and invite, member, org where the person becomes a member.
 * @param person how a new member is called
 * @returns the member; undefined if the link is unknown, used or expired. 409: the address belongs to a member
 */
export async function takeLink(
  tx: PlainTx,
  token: string,
  person: { name: string; email: string },
): Promise<MemberOfOrg | undefined> {
  if (token.startsWith('inv_')) {
    const member = await takeInvite(tx, token, person.name)
    return member && tx.one(MemberOfOrg, sql`select id as member_id, org_id from member where id = ${member.id}`)
  }
  const used = await tx.maybe(
    UsedLink,
    sql`delete from one_time_link where token_hash = ${hashKey(token)} and expires_at > ${tx.now} returning member_id`,
  )
  if (!used) return undefined
  await tx.run(sql`delete from one_time_link where member_id is not distinct from ${used.member_id}::uuid`)
  if (used.member_id !== null)
    return tx.one(MemberOfOrg, sql`select id as member_id, org_id from member where id = ${used.member_id}`)
  return addFirstAdministrator(tx, person)
}

/** Adds the administrator to the oldest organization, or to a new one if there is none. Writes org, member. */
async function addFirstAdministrator(tx: PlainTx, person: { name: string; email: string }): Promise<MemberOfOrg> {
  const oldest = await tx.maybe(Organization, sql`select id from org order by created_at, id limit 1`)
  const org_id = oldest?.id ?? (await createOrg(tx, ORG_NAME))
  const { id } = await addMember(tx, { ...person, org_id, role: 'org_admin', team_ids: [], team_roles: {} })
  return { member_id: id, org_id }
}

/** Deletes links that have expired. */
export const linkCleanup = cleanup({ table: 'one_time_link', column: 'expires_at', control: 'alone' })
