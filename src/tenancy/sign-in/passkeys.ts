// Passkeys of members (WebAuthn): alone, or as a second factor after a password. Each ceremony has a challenge that counts once.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { addAuditEntries } from '../../platform/http/call.ts'
import { assertBelowLimit, badRequest, conflict, notFound, unauthorized } from '../../platform/http/errors.ts'
import { StatusReply, type MemberSession } from '../../platform/http/operation.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { attemptCookie, endOfAttempt, readAttemptCookie } from './browser-requests.ts'
import { assertMaySignIn, signInBrowser, type BrowserRequest, type SignInDependencies } from './browser-sign-in.ts'
import { findAccount } from './passwords.ts'
import { Passkey, type AddPasskey, type PasskeyOptions, type PasskeySignIn, type SignInResult } from './schema.ts'
import { ATTEMPT_S, startAttempt, takeAttempt } from './sign-in-attempts.ts'

const PASSKEYS_MAX = 20
/** In base64url, at most 1,023 bytes. */
const CREDENTIAL_ID = /^[\w-]{1,1364}$/
const RP_NAME = 'Drawbridge'
const TOO_MANY_STARTS = 'Too many sign-ins from this address, try again later (WRONG_KEYS_PER_MINUTE)'
const loadWebAuthn = () => import('@simplewebauthn/server')
const wrongPasskey = () => unauthorized('The passkey is not valid here')

/** The constraints of the table and the responses when statements violate them. */
export const passkeyConstraints = { passkey__credential: () => conflict('This passkey is known') }

const StoredPasskey = T.Object({
  id: T.String(),
  member_id: T.String(),
  org_id: T.String(),
  credential_id: T.String(),
  /** In base64url. */
  public_key: T.String(),
  counter: T.Integer(),
  transports: T.Array(T.String()),
})
type StoredPasskey = Static<typeof StoredPasskey>
const selectPasskey = sql`
  select p.id, p.member_id, m.org_id, p.credential_id, p.public_key, p.counter, to_json(p.transports) as transports
  from passkey p join member m on m.id = p.member_id`

const listStoredPasskeys = (control: Queries, member_id: string): Promise<StoredPasskey[]> =>
  control.many(StoredPasskey, sql`${selectPasskey} where p.member_id = ${member_id} order by p.created_at, p.id`)

/** Whether a member must show a passkey after the password. */
export const hasPasskey = async (control: Queries, member_id: string): Promise<boolean> =>
  (await control.run(sql`select from passkey where member_id = ${member_id} limit 1`)) > 0

/**
 * Starts a sign-in with a passkey. Writes sign_in_attempt. 403: not from a page of this server. 429: too many from the address.
 * @param member_id whose passkey is the second factor; null: any passkey that the browser has
 */
export async function startPasskeySignIn(
  { cells, attempts, ...dependencies }: SignInDependencies,
  request: BrowserRequest,
  member_id: string | null,
): Promise<{ options: PasskeyOptions; cookie: string }> {
  const origin = assertMaySignIn(dependencies, request)
  const refused = attempts.starts.hit(request.address, TOO_MANY_STARTS)
  if (refused) throw refused
  const { generateAuthenticationOptions } = await loadWebAuthn()
  const known = member_id === null ? [] : await listStoredPasskeys(cells.control.queries, member_id)
  const options = await generateAuthenticationOptions({
    rpID: origin.hostname,
    userVerification: member_id === null ? 'required' : 'preferred',
    ...(known.length > 0 && { allowCredentials: known.map(({ credential_id: id, transports }) => ({ id, transports })) }),
  })
  const purpose = member_id === null ? 'passkey' : 'second_factor'
  const data = { challenge: options.challenge }
  const token = await cells.control.plainTx((tx) => startAttempt(tx, { purpose, member_id, data }))
  return { options: options as PasskeyOptions, cookie: attemptCookie(origin, token, ATTEMPT_S) }
}

/**
 * Signs in with a passkey, alone or after the password. Writes sign_in_attempt, passkey, console_session, audit_log. 401: an unknown passkey,
 * one of another member, or an answer to another challenge. 403: not from a page of this server. 429: too many wrong ones.
 */
export async function signInWithPasskey(
  dependencies: SignInDependencies,
  request: BrowserRequest,
  { response }: PasskeySignIn,
): Promise<StatusReply<SignInResult>> {
  const { cells, checks } = dependencies
  const origin = assertMaySignIn(dependencies, request)
  const attempt = await cells.control.plainTx((tx) =>
    takeAttempt(tx, readAttemptCookie(request.headers), ['passkey', 'second_factor']),
  )
  if (!attempt) throw checks.refusal(request.address, wrongPasskey())
  const lookUp = async () => {
    // A text that no credential has is not looked up.
    if (!CREDENTIAL_ID.test(String(response.id))) return undefined
    const stored = await cells.control.queries.maybe(
      StoredPasskey,
      sql`${selectPasskey} where p.credential_id = ${String(response.id)}`,
    )
    if (!stored || (attempt.member_id !== null && stored.member_id !== attempt.member_id)) return undefined
    const isAlone = attempt.purpose === 'passkey'
    return await verify(stored, response as unknown as AuthenticationResponseJSON, {
      origin,
      challenge: attempt.data.challenge!,
      isAlone,
    })
  }
  const { passkey, counter } = await checks.find(request.address, undefined, lookUp, wrongPasskey)
  await cells.control.plainTx((tx) =>
    tx.run(sql`update passkey set counter = ${counter}, last_used_at = ${tx.now} where id = ${passkey.id}`),
  )
  const { member_id, org_id } = passkey
  const reply = await signInBrowser(
    dependencies,
    request,
    { member_id, org_id, method: 'passkey' },
    { status: 'signed_in' as const },
  )
  const cookies = [reply.headers['set-cookie']!, endOfAttempt()].flat()
  return new StatusReply(200, reply.body, { 'set-cookie': cookies })
}

async function verify(
  passkey: StoredPasskey,
  response: AuthenticationResponseJSON,
  { origin, challenge, isAlone }: { origin: URL; challenge: string; isAlone: boolean },
): Promise<{ passkey: StoredPasskey; counter: number } | undefined> {
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  const { credential_id: id, public_key, counter, transports } = passkey
  const credential = { id, publicKey: new Uint8Array(Buffer.from(public_key, 'base64url')), counter, transports }
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin.origin,
    expectedRPID: origin.hostname,
    credential,
    // Alone a passkey must show that its owner is there, by a PIN or a finger.
    requireUserVerification: isAlone,
  }).catch(() => ({ verified: false, authenticationInfo: undefined }))
  return verified && authenticationInfo ? { passkey, counter: authenticationInfo.newCounter } : undefined
}

/** The passkeys of a member, newest first. */
export const listPasskeys = (tx: PlainTx, { member_id }: MemberSession): Promise<Passkey[]> =>
  tx.many(
    Passkey,
    sql`select id, name, created_at, last_used_at from passkey where member_id = ${member_id} order by created_at desc, id desc`,
  )

/** Starts to add a passkey. Writes sign_in_attempt. */
export async function startPasskey(
  { cells, ...dependencies }: SignInDependencies,
  request: BrowserRequest,
  { member_id }: MemberSession,
): Promise<{ options: PasskeyOptions; cookie: string }> {
  const origin = assertMaySignIn(dependencies, request)
  const account = await findAccount(cells.control.queries, member_id)
  if (!account) throw unauthorized('Sign in to the console')
  const { generateRegistrationOptions } = await loadWebAuthn()
  const options = await generateRegistrationOptions({
    rpName: RP_NAME,
    rpID: origin.hostname,
    userID: new Uint8Array(Buffer.from(member_id)),
    userName: account.email,
    userDisplayName: account.name,
    excludeCredentials: (await listStoredPasskeys(cells.control.queries, member_id)).map(({ credential_id: id, transports }) => ({
      id,
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  const attempt = { purpose: 'new_passkey' as const, member_id, data: { challenge: options.challenge } }
  const token = await cells.control.plainTx((tx) => startAttempt(tx, attempt))
  return { options: options as unknown as PasskeyOptions, cookie: attemptCookie(origin, token, ATTEMPT_S) }
}

/**
 * Adds a passkey. Writes sign_in_attempt, passkey, audit_log. 400: an answer to another challenge, or not valid; a member has at most 20.
 * 409: the passkey is known.
 */
export async function addPasskey(
  dependencies: SignInDependencies,
  request: BrowserRequest,
  { member_id, org, key_id }: MemberSession,
  { name, response }: AddPasskey,
): Promise<Passkey> {
  const { cells } = dependencies
  const origin = assertMaySignIn(dependencies, request)
  const attempt = await cells.control.plainTx((tx) => takeAttempt(tx, readAttemptCookie(request.headers), ['new_passkey']))
  if (attempt?.member_id !== member_id) throw badRequest('The passkey is not valid here')
  const { verifyRegistrationResponse } = await loadWebAuthn()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: response as unknown as RegistrationResponseJSON,
    expectedChallenge: attempt.data.challenge!,
    expectedOrigin: origin.origin,
    expectedRPID: origin.hostname,
  }).catch(() => ({ verified: false as const, registrationInfo: undefined }))
  if (!verified || !registrationInfo) throw badRequest('The passkey is not valid here')
  const { id: credential_id, publicKey, counter, transports = [] } = registrationInfo.credential
  return cells.control.plainTx(async (tx) => {
    await tx.locking.run(sql`select id from member where id = ${member_id} for no key update`)
    await assertBelowLimit(
      tx,
      sql`select count(*) as n from passkey where member_id = ${member_id}`,
      PASSKEYS_MAX,
      'A member',
      'passkeys',
    )
    const id = tx.uuid()
    addAuditEntries(tx, { org, key_id, member_id, operation: 'add_passkey' }, [{ team_id: null, object: id }])
    return tx.one(
      Passkey,
      sql`
      insert into passkey (id, member_id, credential_id, public_key, counter, transports, name, created_at)
      values (${id}, ${member_id}, ${credential_id}, ${Buffer.from(publicKey).toString('base64url')}, ${counter}, ${transports}, ${name},
              ${tx.now})
      returning id, name, created_at, last_used_at`,
    )
  })
}

/** Removes a passkey. Writes passkey. 404: the member has no such passkey. */
export async function removePasskey(tx: PlainTx, { member_id }: MemberSession, passkey_id: string): Promise<void> {
  const removed = await tx.run(sql`delete from passkey where id = ${passkey_id} and member_id = ${member_id}`)
  if (!removed) throw notFound('Passkey not found')
}
