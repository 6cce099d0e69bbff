// Invites to join an organization in a role. The transaction of the invite writes the email with the token to the email outbox. Source:
// management-auth.md 8.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { conflict, notFound } from '../../platform/http/errors.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import { instantKey, Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { hashKey, generateKey } from '../../platform/crypto/api-keys.ts'
import { likeAnywhere, joinConditions, sql } from '../../platform/db/sql.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import type { CredentialChecks, FixedWindowLimiter } from '../../platform/http/rate-limits.ts'
import { addMember } from './members.ts'
import { creatorColumn } from '../organizations/creators.ts'
import { getOrg, lockOrg } from '../organizations/organizations.ts'
import { assertTeams, roleBindings, resolveRoleTeams } from '../teams/role-bindings.ts'
import { Invite, type AcceptInvite, type CreateInvite, type InviteLink, type Member, type PeopleQuery } from './schema.ts'

const LIFETIME_S = 7 * 86_400
/** In the format of `newKey`. */
const TOKEN = /^inv_[\w-]{43}$/

/** The dependencies of inviting. */
export interface InviteDependencies {
  cells: Cells
  checks: CredentialChecks
  /** The base URL for browsers, without a final slash. */
  publicUrl: () => string
  /** Invite emails: by organization, and by organization and recipient. */
  inviteMails: { ofOrg: FixedWindowLimiter; toAddress: FixedWindowLimiter }
}

/** Invites that are neither accepted nor expired, newest first, 50 per page. 400: a cursor of another list. */
export async function listInvites(tx: PlainTx, org_id: string, query: PeopleQuery) {
  const keys = [instantKey(sql`invited_at`), uuidKey(sql`id`)]
  const pages = new Pages(`invites ${org_id} ${query.search_query ?? ''}`, query, keys)
  const conditions = [sql`org_id = ${org_id}`, sql`expires_at > ${tx.now}`, pages.afterCursor]
  if (query.search_query) conditions.push(sql`email ilike ${likeAnywhere(query.search_query)}`)
  const rows = await tx.many(
    Invite,
    sql`
    select id, email, invited_at, resent_at, ${creatorColumn(sql`creator_member_id`)}, role, ${roleBindings}
    from invite where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ invited_at, id }) => [invited_at, id])
  return { invites: page, next_cursor }
}

const ExistingMember = T.Object({ org_id: T.String() })
const Pending = T.Object({ id: T.String() })
const NAME_LENGTH_MAX = 100
/** A name in the form that a subject line allows. */
const truncateName = (name: string): string => name.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, NAME_LENGTH_MAX)
type Status = 'invite_created' | 'invite_resent' | 'already_in_org'

/**
 * Creates or renews an invite: role and teams are those of the new invite, and the older token becomes invalid. Writes invite; sends mail.
 * 404: a team that the organization does not have. 409: a member of another organization. 422: the role team_admin without a team. 429: too
 * many emails of the organization within an hour, or to this address within a day.
 */
export async function invite(
  tx: PlainTx,
  dependencies: InviteDependencies,
  { org: org_id, member_id }: Pick<ManagementPrincipal, 'org' | 'member_id'>,
  body: CreateInvite,
): Promise<{ status: Status }> {
  const role = body.role ?? 'org_admin'
  const { team_ids, team_roles } = resolveRoleTeams(role, body.team_role_bindings)
  await lockOrg(tx, org_id)
  await assertTeams(tx, org_id, team_ids)
  const member = await tx.maybe(ExistingMember, sql`select org_id from member where lower(email) = lower(${body.email})`)
  if (member && member.org_id !== org_id) throw conflict('This address belongs to a member of another organization')
  if (member) return { status: 'already_in_org' }
  const { toAddress, ofOrg } = dependencies.inviteMails
  const recipient = `${org_id} ${body.email.toLowerCase()}`
  const [ofAddress, ofAll] = [
    'Too many invites to this address (INVITES_PER_ADDRESS_PER_DAY)',
    'Too many invites of this organization (INVITES_PER_HOUR)',
  ]
  const refused = toAddress.refusal(recipient, ofAddress) ?? ofOrg.refusal(org_id, ofAll)
  if (refused) throw refused
  // Invites of an organization wait for its lock, so the next check includes this one.
  tx.afterCommit(() => {
    toAddress.hit(recipient, ofAddress)
    ofOrg.hit(org_id, ofAll)
  })
  const token = generateKey('inv_')
  const until = addSeconds(tx.now, LIFETIME_S)
  const pending = await tx.maybe(
    Pending,
    sql`
    update invite
    set role = ${role}, team_ids = ${team_ids}::uuid[], team_roles = ${JSON.stringify(team_roles)}, token_hash = ${hashKey(token)},
        resent_at = ${tx.now}, expires_at = ${until}
    where org_id = ${org_id} and lower(email) = lower(${body.email}) and expires_at > ${tx.now} returning id`,
  )
  if (!pending) {
    await tx.run(sql`delete from invite where org_id = ${org_id} and lower(email) = lower(${body.email})`)
    await tx.run(sql`
      insert into invite (id, org_id, email, role, team_ids, team_roles, token_hash, invited_at, expires_at, creator_member_id)
      values (${tx.uuid()}, ${org_id}, ${body.email}, ${role}, ${team_ids}::uuid[], ${JSON.stringify(team_roles)}, ${hashKey(token)},
              ${tx.now}, ${until}, ${member_id})`)
  }
  const { name } = await getOrg(tx, org_id)
  sendMail(tx, {
    to: body.email,
    subject: `You are invited to ${truncateName(name)}`,
    text: `You are invited to join ${name}. Accept within seven days on this page:\n\n${inviteAddress(dependencies.publicUrl(), token)}\n\nPrograms accept with this token: ${token}`,
    lifetime_s: LIFETIME_S,
  })
  return { status: pending ? 'invite_resent' : 'invite_created' }
}

/** The page on which the holder of a token becomes a member. The token is in the fragment, which browsers do not send. */
const inviteAddress = (publicUrl: string, token: string): string => `${publicUrl}/console/invite#token=${token}`

const Renewed = T.Object({ email: T.String(), expires_at: T.String() })

/**
 * Creates a link that accepts a pending invite, for a person whom no mail reaches; the links before stop working. Writes invite. 404: no such
 * invite, or it has expired.
 * @returns the address, which cannot be read again
 */
export async function createInviteLink(
  tx: PlainTx,
  { publicUrl }: Pick<InviteDependencies, 'publicUrl'>,
  org_id: string,
  invite_id: string,
): Promise<InviteLink> {
  const token = generateKey('inv_')
  const renewed = await tx.maybe(
    Renewed,
    sql`
    update invite set token_hash = ${hashKey(token)}, expires_at = ${addSeconds(tx.now, LIFETIME_S)}
    where id = ${invite_id} and org_id = ${org_id} and expires_at > ${tx.now} returning email, expires_at`,
  )
  if (!renewed) throw notFound('Invite not found')
  return { ...renewed, url: inviteAddress(publicUrl(), token) }
}

/** Revokes an invite: its token becomes invalid at once. Writes invite. 404: no such invite, or it has expired. */
export async function revokeInvite(tx: PlainTx, org_id: string, invite_id: string): Promise<void> {
  const deletedCount = await tx.run(
    sql`delete from invite where id = ${invite_id} and org_id = ${org_id} and expires_at > ${tx.now}`,
  )
  if (!deletedCount) throw notFound('Invite not found')
}

const Accepted = T.Object({
  org_id: T.String(),
  email: T.String(),
  role: T.String(),
  team_ids: T.Array(T.String()),
  team_roles: T.Record(T.String(), T.String()),
})

/**
 * Accepts an invite: the holder of its token becomes a member. Writes invite, member. 404: no such token, or it has expired. 409: the
 * address belongs to a member of an organization by now. 429: too many invalid tokens or keys from the address.
 */
export async function acceptInvite(
  dependencies: InviteDependencies,
  address: string,
  { token, name }: AcceptInvite,
): Promise<Member> {
  const unknown = () => notFound('Invite not found')
  if (!TOKEN.test(token)) throw dependencies.checks.refusal(address, unknown())
  const lookUp = () => dependencies.cells.control.plainTx((tx) => takeInvite(tx, token, name))
  return dependencies.checks.find(address, undefined, lookUp, unknown)
}

/**
 * Uses an invite up: its person becomes a member. Writes invite, member. 409: as of `acceptInvite`.
 * @returns undefined: no such token, or it has expired
 */
export async function takeInvite(tx: PlainTx, token: string, name: string): Promise<Member | undefined> {
  const accepted = await tx.maybe(
    Accepted,
    sql`
    delete from invite where token_hash = ${hashKey(token)} and expires_at > ${tx.now}
    returning org_id, email, role, to_json(team_ids) as team_ids, team_roles`,
  )
  return accepted && addMember(tx, { ...accepted, name })
}

const InvitedPerson = T.Object({ email: T.String() })

/** Whom a token invites; undefined: no such token, or it has expired. */
export const findInvite = (control: Queries, token: string, now: Date): Promise<Static<typeof InvitedPerson> | undefined> =>
  control.maybe(InvitedPerson, sql`select email from invite where token_hash = ${hashKey(token)} and expires_at > ${now}`)
