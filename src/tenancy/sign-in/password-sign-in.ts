// Sign-in with a password, and the ways to set one: links that work once, and the page of the account. What is answered about an account
// that does not exist is the same, and takes as long, as about one that does.
import { addAuditEntries } from '../../platform/http/call.ts'
import { badRequest, missingField, notFound, unauthorized } from '../../platform/http/errors.ts'
import { StatusReply, type MemberSession } from '../../platform/http/operation.ts'
import { maskAddress } from '../../platform/net/network.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import { errorFields } from '../../platform/telemetry/log.ts'
import { assertMaySignIn, signInBrowser, type BrowserRequest, type SignInDependencies } from './browser-sign-in.ts'
import { findLink, isLinkToken, sendResetMail, takeLink } from './one-time-links.ts'
import { hasPasskey, startPasskeySignIn } from './passkeys.ts'
import { assertGoodPassword, findAccount, findAccountByEmail, hashPassword, savePassword, verifyPassword } from './passwords.ts'
import type { ChangePassword, LinkOwner, PasswordSignIn, SignInResult, UseLink } from './schema.ts'
import { endSessions } from './sessions.ts'

const WRONG = 'Email or password is wrong'
const TOO_MANY_PASSWORDS = 'Too many passwords for this account, try again later (WRONG_KEYS_PER_MINUTE)'
const TOO_MANY_RESETS = 'Too many requests from this address, try again later (WRONG_KEYS_PER_MINUTE)'

/**
 * Signs in. Writes console_session, audit_log. 401: no such account, or another password; the answers are equal. 403: not from a page of
 * this server. 429: too many passwords for the account or from the address. 503: too many wait.
 */
export async function signInWithPassword(
  dependencies: SignInDependencies,
  request: BrowserRequest,
  { email, password }: PasswordSignIn,
): Promise<StatusReply<SignInResult>> {
  const { cells, checks, attempts } = dependencies
  assertMaySignIn(dependencies, request)
  const refused = attempts.passwords.hit(email.toLowerCase(), TOO_MANY_PASSWORDS)
  if (refused) throw refused
  const lookUp = async () => {
    const account = await findAccountByEmail(cells.control.queries, email)
    return (await verifyPassword(account?.password_hash, password)) ? account : undefined
  }
  const account = await checks.find(request.address, undefined, lookUp, () => unauthorized(WRONG))
  return signInOrAskForPasskey(dependencies, request, { ...account, method: 'password' })
}

/** A member with passkeys must show one of them after the password, and after a link that sets it. */
async function signInOrAskForPasskey(
  dependencies: SignInDependencies,
  request: BrowserRequest,
  member: { member_id: string; org_id: string; method: 'password' | 'link' },
): Promise<StatusReply<SignInResult>> {
  if (!(await hasPasskey(dependencies.cells.control.queries, member.member_id)))
    return signInBrowser(dependencies, request, member, { status: 'signed_in' })
  const { options, cookie } = await startPasskeySignIn(dependencies, request, member.member_id)
  return new StatusReply(200, { status: 'second_factor', options }, { 'set-cookie': cookie })
}

const unknownLink = () => notFound('The link is unknown, was used, or has expired')

/** Whom a link is for. 404: it is unknown, used or expired. 429: too many unknown links from the address. */
export function inspectLink({ cells, checks, clock }: SignInDependencies, address: string, token: string): Promise<LinkOwner> {
  if (!isLinkToken(token)) throw checks.refusal(address, unknownLink())
  return checks.find(address, undefined, () => findLink(cells.control.queries, token, clock()), unknownLink)
}

/**
 * Uses a link: its member gets the password, all sessions of the member end, and a new one begins. Writes one_time_link, invite, org, member,
 * member_password, console_session, audit_log. 403: not from a page of this server. 404: the link is unknown, used or expired. 409: the address
 * belongs to a member. 422: the password is not good enough, or name or address of a new member is missing.
 */
export async function useLink(
  dependencies: SignInDependencies,
  request: BrowserRequest,
  { token, password, ...sent }: UseLink,
): Promise<StatusReply<SignInResult>> {
  const { cells, sessions } = dependencies
  assertMaySignIn(dependencies, request)
  const link = await inspectLink(dependencies, request.address, token)
  const person = { name: link.name ?? sent.name, email: link.email ?? sent.email }
  const { name, email } = person
  if (name === undefined) throw missingField(['body', 'name'])
  if (email === undefined) throw missingField(['body', 'email'])
  assertGoodPassword(password, { email, name })
  const password_hash = await hashPassword(password)
  const member = await cells.control.plainTx(async (tx) => {
    const found = await takeLink(tx, token, { name, email })
    if (!found) throw unknownLink()
    await savePassword(tx, found.member_id, password_hash)
    await endSessions(tx, found.member_id)
    tx.afterCommit(() => sessions.invalidateMember(found.member_id))
    return found
  })
  return signInOrAskForPasskey(dependencies, request, { ...member, method: 'link' })
}

/** Sends a mail with a link to set a password, if the address is that of a member; the answer does not tell. 429: too many of the address. */
export function requestReset(dependencies: SignInDependencies, address: string, email: string): void {
  const { cells, attempts, publicUrl, log } = dependencies
  const refused = attempts.resetsOfAddress.hit(maskAddress(address), TOO_MANY_RESETS)
  if (refused) throw refused
  if (attempts.resetsOfAccount.hit(email.toLowerCase(), TOO_MANY_RESETS)) return
  // The answer does not wait for it, so that its time tells nothing.
  const send = async () => {
    const account = await findAccountByEmail(cells.control.queries, email)
    if (account) await cells.control.plainTx((tx) => sendResetMail(tx, account, publicUrl()))
  }
  send().catch((error: unknown) => log.error({ causes: errorFields(error) }, 'a mail to set a password was not written'))
}

/**
 * Changes the password of the member who has signed in; all other sessions of the member end. Writes member_password, console_session,
 * audit_log, mail. 400: the current password is another one, or there is none. 422: the new one is not good enough. 429: too many passwords.
 */
export async function changePassword(
  { cells, attempts, sessions }: SignInDependencies,
  { member_id, org, session_id, key_id }: MemberSession,
  { current_password, password }: ChangePassword,
): Promise<void> {
  const account = await findAccount(cells.control.queries, member_id)
  if (!account) throw unauthorized('Sign in to the console')
  const refused = attempts.passwords.hit(account.email.toLowerCase(), TOO_MANY_PASSWORDS)
  if (refused) throw refused
  if (!(await verifyPassword(account.password_hash, current_password))) throw badRequest('The current password is wrong')
  assertGoodPassword(password, account)
  const password_hash = await hashPassword(password)
  await cells.control.plainTx(async (tx) => {
    await savePassword(tx, member_id, password_hash)
    await endSessions(tx, member_id, session_id)
    addAuditEntries(tx, { org, key_id, member_id, operation: 'change_password' }, [{ team_id: null, object: member_id }])
    sendMail(tx, {
      to: account.email,
      subject: 'Your password was changed',
      text: 'The password of your account was changed, and all other sessions have ended. If it was not you, tell an administrator of your organization.',
    })
    tx.afterCommit(() => sessions.invalidateMember(member_id))
  })
}
